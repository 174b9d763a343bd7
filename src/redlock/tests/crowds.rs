//! Many locks at a time: what is done for all of them together counts as if it were done for each.

use super::*;

/// More locks than a small heap of timers has, and than one group of releases has.
const LOCKS: usize = 100;

/// Hands bytes of a node over in pieces of this length, as a driver does.
fn receive_in_pieces(rig: &mut Rig, index: usize, bytes: &[u8], len: usize) {
    let mut unread = Vec::new();
    for piece in bytes.chunks(len) {
        unread.extend_from_slice(piece);
        let done = rig.redlock.handle_received(rig.now, node(index), &unread);
        unread.drain(..done);
    }
    assert!(unread.is_empty(), "all replies are whole");
}

/// Acquires locks at different moments. Of ten votes one is a refusal.
fn voted(len: usize) -> Rig {
    let mut rig = Rig::new(3);
    for number in 0..LOCKS {
        rig.acquire(&number.to_string(), NO_WAIT);
        rig.advance(Duration::from_micros(7));
    }
    for index in 0..3 {
        rig.transmit(index);
        rig.advance(Duration::from_micros(300));
        let vote = |number| if number % 10 == index { "$-1\r\n" } else { "+OK\r\n" };
        let votes: String = (0..LOCKS).map(vote).collect();
        receive_in_pieces(&mut rig, index, votes.as_bytes(), len);
    }
    rig
}

#[test]
fn grants_that_come_together_count_as_those_that_come_in_pieces() {
    let mut whole = voted(usize::MAX);
    let events = whole.events();
    assert_eq!(events.len(), LOCKS);
    for len in [1, 2, 3, 7, 64] {
        let mut pieces = voted(len);
        assert_eq!(pieces.events(), events, "in pieces of {len}");
        for index in 0..3 {
            let [found, expected] = [&pieces, &whole]
                .map(|rig| rig.redlock.node(rig.now, node(index)).expect("the node is there"));
            assert_eq!(found.counters, expected.counters, "in pieces of {len}");
            assert_eq!(found.latencies, expected.latencies, "in pieces of {len}");
            assert_eq!(found.round_trip, expected.round_trip, "in pieces of {len}");
        }
    }
}

#[test]
fn a_grant_behind_the_last_request_ends_the_session() {
    let mut rig = Rig::new(3);
    let locks = [rig.acquire("a", NO_WAIT), rig.acquire("b", NO_WAIT)];
    rig.sent(0);
    rig.sent(1);
    rig.reply(0, "+OK\r\n+OK\r\n+OK");
    assert_ne!(rig.state(0), NodeState::Ready);
    rig.reply(1, "+OK\r\n+OK");
    for (event, lock) in rig.events().iter().zip(locks) {
        // The two grants before the end of the session count.
        assert!(matches!(event, Event::Acquired { lock: held, .. } if *held == lock), "{event:?}");
    }
}

/// Releases locks that one node has.
fn release_all(rig: &mut Rig, locks: &[LockId]) {
    for lock in locks {
        rig.redlock.release(rig.now, *lock).expect("it is held");
    }
    rig.sent(0);
    for group in locks.chunks(64) {
        rig.reply(0, &format!("*{}{}", group.len(), "\r\n:1".repeat(group.len())));
    }
    assert_eq!(rig.events().len(), locks.len());
}

/// Returns an engine that has had many locks at a time, and has one of them left.
fn after_a_crowd() -> Rig {
    let mut rig = Rig::new(1);
    rig.held("kept");
    let locks: Vec<_> = (0..LOCKS).map(|number| rig.held(&number.to_string())).collect();
    release_all(&mut rig, &locks);
    assert_eq!(rig.redlock.in_use(), 1);
    rig
}

#[test]
fn timers_of_locks_that_have_ended_come_up_once_and_do_nothing() {
    let mut rig = after_a_crowd();
    let end = rig.now + TTL / 2;
    for _ in 0..=LOCKS + 1 {
        match rig.redlock.poll_timeout() {
            Some((at, Reason::Lock)) if at < end => rig.advance(at - rig.now),
            _ => return,
        }
        assert_eq!(rig.events(), []);
    }
    panic!("more is due than there were locks");
}

#[test]
fn no_timer_is_left_when_no_lock_is() {
    let mut rig = Rig::new(1);
    let locks: Vec<_> = (0..LOCKS).map(|number| rig.held(&number.to_string())).collect();
    release_all(&mut rig, &locks);
    let next = rig.redlock.poll_timeout();
    assert!(!matches!(next, Some((_, Reason::Lock))), "{next:?}");
}

#[test]
fn timers_of_locks_that_have_ended_hold_up_no_deadline_of_the_next() {
    let failed_after = |mut rig: Rig| {
        let start = rig.now;
        rig.acquire("next", NO_WAIT);
        let mut events = Vec::new();
        rig.until(|rig| {
            events.extend(rig.events());
            !events.is_empty()
        });
        assert!(matches!(events[..], [Event::AcquireFailed { .. }]), "{events:?}");
        rig.now - start
    };
    let mut other = Rig::new(1);
    other.held("kept");
    assert_eq!(failed_after(after_a_crowd()), failed_after(other));
}

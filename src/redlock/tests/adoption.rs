//! Adoption: locks whose token another process hands over.

use super::*;

const TOKEN: Token = Token::from_bytes(*b"nonce-nonce-\0\0\0\0\0\0\x03\xe7");

impl Rig {
    fn adopt(&mut self, wait: Duration) -> LockId {
        let lock = self.redlock.adopt(self.now, &["r"], TOKEN, TTL, wait);
        lock.expect("the request is in bounds")
    }

    /// Returns what has left for a node, and lets the node answer: it refuses every `SET`, has no
    /// key to release, and answers `looked` to the adoption.
    fn answer_adoption(&mut self, index: usize, looked: &str) -> Vec<String> {
        let mut all = Vec::new();
        while self.has_output(index) {
            for command in self.sent(index) {
                let reply = match &command[..] {
                    set if set.starts_with("SET") => "$-1",
                    release if release.starts_with("EVALSHA release") => ":-1",
                    _ => looked,
                };
                self.reply(index, reply);
                all.push(command);
            }
        }
        all
    }
}

#[test]
fn a_majority_that_has_the_token_makes_it_ours() {
    let mut rig = Rig::new(3);
    let lock = rig.adopt(NO_WAIT);
    let started = rig.now;
    for index in 0..2 {
        assert_eq!(rig.sent(index), ["EVALSHA extend 1 r #999 10000"]);
        assert_eq!(rig.events(), []);
        rig.reply(index, ":1");
    }
    let valid_until = Drift::default().valid_until(started, TTL);
    assert_eq!(rig.event(), Event::Acquired { lock, valid_until, fence: None });
    assert_eq!(rig.redlock.token(lock), Some(TOKEN));
    rig.redlock.release(rig.now, lock).expect("it is held");
    // The third node may have the token as well.
    for index in 0..3 {
        assert_eq!(rig.sent(index).last().map(String::as_str), Some("EVALSHA release 1 r #999"));
    }
}

#[test]
fn a_token_that_a_majority_does_not_have_is_gone_and_nothing_is_released() {
    let mut rig = Rig::new(3);
    rig.adopt(WAIT);
    for (index, reply) in [":1", ":0", ":-1"].into_iter().enumerate() {
        rig.sent(index);
        rig.reply(index, reply);
    }
    assert!(matches!(rig.event(), Event::AcquireFailed { error: AcquireError::Gone, .. }));
    for index in 0..3 {
        assert_eq!(rig.sent(index), [""; 0]);
    }
}

#[test]
fn nodes_that_do_not_answer_are_asked_again_while_there_is_time() {
    let mut rig = Rig::new(3);
    rig.adopt(WAIT);
    rig.sent(0);
    rig.reply(0, ":1");
    rig.until(|rig| rig.sent(0).iter().any(|sent| sent == "EVALSHA extend 1 r #999 10000"));
    let events = rig.wait();
    let failed =
        matches!(events[..], [Event::AcquireFailed { error: AcquireError::NoQuorum(_), .. }]);
    assert!(failed, "{events:?}");
}

#[test]
fn a_node_in_quarantine_has_no_say() {
    let mut rig = Rig::new(3);
    rig.close(2);
    rig.connect_as(2, 9, "uptime_in_seconds:0\r\n");
    rig.adopt(NO_WAIT);
    assert_eq!(rig.sent(2), [""; 0]);
    rig.sent(0);
    rig.reply(0, ":1");
    assert_eq!(rig.events(), []);
}

#[test]
fn a_lock_that_is_disowned_is_left_on_the_nodes() {
    let mut rig = Rig::new(3);
    let lock = rig.held("r");
    let token = rig.redlock.token(lock);
    assert_eq!(rig.redlock.counters().held_now(), 1);
    assert_eq!(rig.redlock.disown(rig.now, lock).ok(), token);
    let counters = rig.redlock.counters();
    assert_eq!((counters.held_now(), counters.handed_over), (0, 1));
    assert!(!rig.redlock.is_held(rig.now, lock));
    rig.advance(2 * TTL);
    assert_eq!(rig.events(), []);
    for index in 0..3 {
        assert_eq!(rig.sent(index), [""; 0]);
    }
    assert_eq!(rig.redlock.in_use(), 0);
}

#[test]
fn an_adopted_lock_that_is_cancelled_leaves_the_keys_alone() {
    let mut rig = Rig::new(3);
    let lock = rig.adopt(WAIT);
    rig.sent(0);
    rig.redlock.cancel(rig.now, lock).expect("it is not held");
    assert!(matches!(rig.event(), Event::AcquireFailed { error: AcquireError::Cancelled, .. }));
    assert_eq!(rig.sent(0), [""; 0]);
}

#[test]
fn an_adopted_lock_is_cleaned_up_under_its_own_token() {
    let mut rig = Rig::new(3);
    let lock = rig.adopt(NO_WAIT);
    for index in 0..2 {
        rig.sent(index);
        rig.reply(index, ":1");
    }
    rig.events();
    rig.close(0);
    rig.redlock.release(rig.now, lock).expect("it is held");
    rig.connect(0);
    rig.until(|rig| rig.has_output(0));
    assert_eq!(rig.sent(0), ["EVALSHA release 1 r #999"]);
}

/// S6: the `SET` of the former owner is still on its way to node 2.
#[test]
fn a_node_that_says_last_that_it_misses_an_adopted_key_is_cleaned_up() {
    let mut rig = Rig::new(3);
    let lock = rig.adopt(NO_WAIT);
    for (index, reply) in [":1", ":1", ":0"].into_iter().enumerate() {
        rig.sent(index);
        rig.reply(index, reply);
    }
    assert!(matches!(rig.event(), Event::Acquired { .. }));
    rig.advance(ms(50));
    assert_eq!(rig.sent(2), [""; 0], "to be given the key it would have to be known to miss it");
    rig.redlock.release(rig.now, lock).expect("it is held");
    assert_eq!(rig.sent(2), ["EVALSHA release 1 r #999"]);
    rig.reply(2, ":0");
    assert!(rig.redlock.cleanup() > 0, "it may still come");
}

/// S6: as above, but node 2 has not answered the adoption when the lock is released.
#[test]
fn a_node_that_has_not_answered_an_adoption_is_cleaned_up() {
    let mut rig = Rig::new(3);
    let lock = rig.adopt(NO_WAIT);
    for index in 0..2 {
        rig.sent(index);
        rig.reply(index, ":1");
    }
    assert!(matches!(rig.event(), Event::Acquired { .. }));
    rig.sent(2);
    rig.redlock.release(rig.now, lock).expect("it is held");
    rig.reply(2, ":0");
    rig.sent(2);
    rig.reply(2, ":0");
    assert!(rig.redlock.cleanup() > 0, "the SET of its former owner may still come");
}

/// A local request for the lock cannot succeed while the token is there, whatever its phase.
#[test]
fn an_adoption_goes_ahead_of_those_who_wait_for_the_lock() {
    for phase in ["ready", "under way", "pausing"] {
        let mut rig = Rig::new(3);
        if phase == "ready" {
            rig.close(0);
            rig.close(1);
        }
        let first = rig.acquire("r", WAIT);
        let second = rig.acquire("r", WAIT);
        // An attempt needs two nodes.
        let asked: &[usize] = if phase == "ready" { &[] } else { &[0, 1, 2] };
        let reply = |rig: &mut Rig| asked.iter().for_each(|index| rig.reply(*index, "$-1"));
        asked.iter().for_each(|index| assert_eq!(rig.sent(*index), ["SET r #1 NX PX 10000"]));
        if phase == "pausing" {
            reply(&mut rig);
        }
        let adopted = rig.adopt(WAIT);
        match phase {
            "ready" => (0..2).for_each(|index| rig.connect(index)),
            "under way" => reply(&mut rig),
            _ => {}
        }
        // Node 1 comes too late to be asked.
        let asked: &[usize] = if phase == "ready" { &[2, 0] } else { &[0, 1, 2] };
        for index in asked.iter().copied() {
            let sent = rig.answer_adoption(index, ":1");
            assert!(
                sent.contains(&"EVALSHA extend 1 r #999 10000".to_owned()),
                "{phase}: {sent:?}"
            );
            // The attempt was given up (S5).
            let releases = sent.contains(&"EVALSHA release 1 r #1".to_owned());
            assert!(releases || phase != "under way", "{phase}: {sent:?}");
        }
        let event = rig.event();
        assert!(matches!(event, Event::Acquired { lock, .. } if lock == adopted), "{phase}");

        // From now on everybody stands behind the adopted lock, in the order as before.
        let mut holder = adopted;
        for next in [first, second] {
            rig.release_on_nodes(holder);
            for index in asked.iter().copied() {
                let sent = rig.sent(index);
                assert!(sent[0].starts_with("EVALSHA release"), "{phase}: {sent:?}");
                assert!(sent[1].starts_with("SET r"), "{phase}: {sent:?}");
                rig.reply(index, ":1");
                rig.reply(index, "+OK");
            }
            let events = rig.events();
            let is_next =
                |event: &Event| matches!(event, Event::Acquired { lock, .. } if *lock == next);
            assert!(events.iter().any(is_next), "{phase}: {events:?}");
            holder = next;
        }
    }
}

#[test]
fn a_waiter_gets_its_turn_when_the_adopted_token_is_gone() {
    let mut rig = Rig::new(3);
    let waiter = rig.acquire("r", WAIT);
    (0..3).for_each(|index| drop(rig.sent(index)));
    (0..3).for_each(|index| rig.reply(index, "$-1"));
    rig.adopt(WAIT);
    drop(rig.answer_adoption(0, ":0"));
    assert_eq!(rig.sent(1), ["EVALSHA extend 1 r #999 10000"]);
    rig.reply(1, ":0");
    assert!(matches!(rig.event(), Event::AcquireFailed { error: AcquireError::Gone, .. }));
    for index in 0..2 {
        assert_eq!(rig.sent(index), ["SET r #4 NX PX 10000"]);
        rig.reply(index, "+OK");
    }
    assert!(matches!(rig.event(), Event::Acquired { lock, .. } if lock == waiter));
}

#[test]
fn a_waiter_that_stepped_back_for_an_adoption_tries_for_its_whole_wait() {
    let mut rig = Rig::new(3);
    let options = AcquireOptions::new().retry_delay(|_| Duration::MAX);
    let waiter = rig.redlock.acquire_with(rig.now, &["r"], TTL, WAIT, &options);
    let refuse = |rig: &mut Rig| {
        (0..3).for_each(|index| drop(rig.sent(index)));
        (0..3).for_each(|index| rig.reply(index, "$-1"));
    };
    // The pause is longer than the wait: one last try comes in the middle.
    refuse(&mut rig);
    rig.adopt(WAIT);
    (0..2).for_each(|index| drop(rig.answer_adoption(index, ":0")));
    assert!(matches!(rig.event(), Event::AcquireFailed { error: AcquireError::Gone, .. }));
    refuse(&mut rig);
    assert_eq!(rig.events(), [], "only a try after a pause that was cut short is the last");
    rig.advance(WAIT / 2);
    refuse(&mut rig);
    let failed = waiter.expect("in bounds");
    assert!(matches!(rig.event(), Event::AcquireFailed { lock, .. } if lock == failed));
}

#[test]
fn a_waiter_whose_wait_ends_behind_an_adoption_fails_in_time() {
    let mut rig = Rig::new(3);
    let waiter = rig.acquire("r", ms(100));
    (0..3).for_each(|index| rig.reply(index, "$-1"));
    rig.adopt(WAIT);
    rig.advance(ms(100));
    let error = AcquireError::InLine;
    assert_eq!(rig.event(), Event::AcquireFailed { lock: waiter, error });
}

#[test]
fn an_adoption_waits_behind_a_lock_that_is_held() {
    let mut rig = Rig::new(3);
    let held = rig.held("r");
    let adopted = rig.adopt(NO_WAIT);
    let error = AcquireError::HELD_HERE;
    assert_eq!(rig.event(), Event::AcquireFailed { lock: adopted, error });
    assert!(rig.redlock.is_held(rig.now, held));
}

/// S1: an attempt under a token of the caller is the only one. The adoption is next, ahead of all
/// others, and so it is behind an attempt that is the last for want of time or of tries.
#[test]
fn an_adoption_is_next_behind_an_attempt_that_cannot_be_made_again() {
    let own = Token::from_bytes(*b"a-token-of-my-making");
    let rows = [
        (WAIT, AcquireOptions::new().token(own)),
        (WAIT, AcquireOptions::new().tries(1)),
        (NO_WAIT, AcquireOptions::new()),
    ];
    for (wait, options) in rows {
        let mut rig = Rig::new(3);
        rig.redlock.acquire_with(rig.now, &["r"], TTL, wait, &options).expect("in bounds");
        rig.acquire("r", WAIT);
        (0..3).for_each(|index| assert_eq!(rig.sent(index).len(), 1));
        let adopted = rig.adopt(WAIT);
        (0..3).for_each(|index| assert_eq!(rig.sent(index), [""; 0], "{options:?}"));
        (0..3).for_each(|index| rig.reply(index, "$-1"));
        (0..3).for_each(|index| drop(rig.answer_adoption(index, ":1")));
        let events = rig.events();
        assert!(matches!(events[0], Event::AcquireFailed { .. }), "{options:?}: {events:?}");
        let is_adopted = matches!(events[1], Event::Acquired { lock, .. } if lock == adopted);
        assert!(is_adopted, "{options:?}: {events:?}");
    }
}

#[test]
fn adoptions_of_one_resource_come_in_their_order_and_before_the_requests_in_line() {
    let mut rig = Rig::new(3);
    let held = rig.held("r");
    rig.acquire("r", WAIT);
    let adopted = [1, 2, 3].map(|number| {
        let token = Token::from_bytes([number; 20]);
        rig.redlock.adopt(rig.now, &["r"], token, TTL, WAIT).expect("in bounds")
    });
    rig.redlock.release(rig.now, held).expect("it is held");
    let (mut sent, mut gone) = (Vec::new(), Vec::new());
    while gone.len() < adopted.len() {
        // A majority does not have any of the tokens.
        sent.extend(rig.answer_adoption(0, ":0"));
        drop(rig.answer_adoption(1, ":0"));
        gone.extend(rig.events().into_iter().filter_map(|event| match event {
            Event::AcquireFailed { lock, error: AcquireError::Gone } => Some(lock),
            _ => None,
        }));
    }
    assert_eq!(gone, adopted);
    sent.extend(rig.answer_adoption(0, ":0"));
    let starts: Vec<_> = sent.iter().filter_map(|sent| sent.split(' ').next()).collect();
    assert_eq!(starts, ["EVALSHA", "EVALSHA", "EVALSHA", "EVALSHA", "SET"], "{sent:?}");
}

/// The `SET`s of the attempt were taken back: neither its answers nor their absence say who has the
/// lock.
#[test]
fn votes_of_an_attempt_that_is_given_up_for_an_adoption_do_not_count() {
    let mut rig = Rig::new(3);
    let waiter = rig.acquire("r", ms(100));
    assert_eq!(rig.sent(0), ["SET r #1 NX PX 10000"]);
    rig.reply(0, "$-1");
    rig.adopt(WAIT);
    rig.close(1);
    rig.close(2);
    rig.advance(ms(100));
    let events = rig.events();
    let [Event::AcquireFailed { lock, error: AcquireError::NoQuorum(outcomes) }] = &events[..]
    else {
        panic!("{events:?}");
    };
    assert_eq!(*lock, waiter);
    let [first, others @ ..] = outcomes.as_slice() else { panic!("{outcomes:?}") };
    assert_eq!(*first, NodeOutcome::NotAsked);
    assert!(others.iter().all(|outcome| *outcome == NodeOutcome::Connecting), "{outcomes:?}");
}

/// An attempt that is given up for an adoption was one.
#[test]
fn an_attempt_that_is_given_up_for_an_adoption_counts() {
    let mut rig = Rig::new(3);
    let options = AcquireOptions::new().tries(2);
    let lock = rig.redlock.acquire_with(rig.now, &["r"], TTL, WAIT, &options).expect("in bounds");
    (0..3).for_each(|index| assert_eq!(rig.sent(index).len(), 1));
    rig.adopt(WAIT);
    (0..3).for_each(|index| rig.reply(index, "$-1"));
    rig.answer_adoption(0, ":0");
    rig.answer_adoption(1, ":0");
    assert!(matches!(rig.events()[0], Event::AcquireFailed { error: AcquireError::Gone, .. }));
    rig.answer_adoption(2, ":0");
    let events = rig.wait();
    assert!(matches!(events[..], [Event::AcquireFailed { lock: failed, .. }] if failed == lock));
    assert_eq!(rig.redlock.counters().attempts, 2);
}

//! The queues inside the engine: which lock waits, and for what.

use super::*;

#[test]
fn waiters_for_one_resource_stand_in_line_with_one_attempt_under_way() {
    let mut rig = Rig::new(3);
    let first = rig.held("r");
    let second = rig.acquire("r", WAIT);
    let third = rig.acquire("r", WAIT);
    assert_eq!(rig.sent(0), [""; 0], "the holder is one of us: nobody needs to be asked");
    for (holder, next, number) in [(first, second, 1), (second, third, 2)] {
        rig.release_on_nodes(holder);
        for index in 0..3 {
            // One write: the next `SET` is right behind the release.
            let expected = [
                format!("EVALSHA release 1 r #{number}"),
                format!("SET r #{} NX PX 10000", number + 1),
            ];
            assert_eq!(rig.sent(index), expected);
            rig.reply(index, ":1");
            rig.reply(index, "+OK");
        }
        let events = rig.events();
        assert!(matches!(events[0], Event::Released { lock, .. } if lock == holder));
        assert!(matches!(events[1], Event::Acquired { lock, .. } if lock == next));
    }
}

#[test]
fn a_lock_that_does_not_wait_fails_at_once_behind_another_of_this_engine() {
    let mut rig = Rig::new(3);
    rig.held("r");
    let lock = rig.acquire("r", NO_WAIT);
    assert_eq!(rig.events(), [Event::AcquireFailed { lock, error: AcquireError::HELD_HERE }]);
    assert_eq!(rig.redlock.in_use(), 1);
}

#[test]
fn a_wait_that_ends_in_line_says_why() {
    let mut rig = Rig::new(3);
    rig.held("a");
    let behind_holder = rig.acquire("a", ms(100));
    rig.acquire("b", WAIT);
    let behind_attempt = rig.acquire("b", ms(10));
    rig.advance(ms(10));
    let error = AcquireError::InLine;
    assert_eq!(rig.events(), [Event::AcquireFailed { lock: behind_attempt, error }]);
    rig.advance(ms(90));
    let error = AcquireError::HELD_HERE;
    let failed = Event::AcquireFailed { lock: behind_holder, error };
    assert!(rig.events().contains(&failed));
}

/// The one ahead cannot get the lock either: somebody who is told of contention would try again.
#[test]
fn a_wait_that_ends_in_line_while_the_nodes_are_missing_is_no_contention() {
    let mut rig = Rig::unconnected(3, |_| ());
    rig.acquire("r", WAIT);
    let behind = rig.acquire("r", ms(10));
    rig.advance(ms(10));
    let [Event::AcquireFailed { lock, error: AcquireError::NoQuorum(_) }] = rig.events()[..] else {
        panic!("it ended in another way");
    };
    assert_eq!(lock, behind);
}

/// An attempt takes a node timeout at most, and a wait in line asks no node.
#[test]
fn a_wait_in_line_is_never_stretched_to_a_node_timeout() {
    let mut rig = Rig::with(3, |config| config.retry_max = ms(1));
    let first = rig.held("r");
    let short = rig.acquire("r", ms(1));
    let longer = rig.acquire("r", ms(30));
    rig.advance(ms(1));
    let error = AcquireError::HELD_HERE;
    assert_eq!(rig.events(), [Event::AcquireFailed { lock: short, error }]);
    rig.advance(ms(28));
    rig.release_on_nodes(first);
    assert!(rig.sent(0)[1].starts_with("SET r #2 NX PX"), "its turn came in time");
    // The attempt is under way, and has its node timeout.
    rig.advance(ms(10));
    (0..3).for_each(|index| [":1", "+OK"].iter().for_each(|reply| rig.reply(index, reply)));
    let events = rig.events();
    assert!(matches!(events[1], Event::Acquired { lock, .. } if lock == longer), "{events:?}");
}

/// The owner polls late: everything that was due before is due now.
#[test]
fn nobody_gets_a_turn_after_the_wait_is_over() {
    let mut rig = Rig::new(3);
    let first = rig.held("r");
    let short = [ms(10), ms(20)].map(|wait| rig.acquire("r", wait));
    let patient = rig.acquire("r", WAIT);
    rig.now = rig.now + ms(25);
    rig.redlock.release(rig.now, first).expect("held");
    assert_eq!(rig.sent(0), ["EVALSHA release 1 r #1"], "nobody has a turn");
    rig.advance(ms(0));
    assert_eq!(rig.sent(0), ["SET r #2 NX PX 10000"], "one attempt");
    let failed = rig.events();
    assert_eq!(failed.iter().map(Event::lock).collect::<Vec<_>>(), short.map(Some));
    (0..3).for_each(|index| [":1", "+OK"].iter().for_each(|reply| rig.reply(index, reply)));
    let events = rig.events();
    assert!(events.iter().any(|event| event.lock() == Some(patient)), "{events:?}");
    assert_eq!(rig.redlock.in_use(), 1);
}

#[test]
fn whoever_leaves_the_line_closes_the_gap() {
    let mut rig = Rig::new(1);
    let first = rig.held("r");
    let waiting: Vec<_> = (0..4).map(|_| rig.acquire("r", WAIT)).collect();
    rig.redlock.cancel(rig.now, waiting[1]).expect("not held");
    rig.redlock.cancel(rig.now, waiting[3]).expect("not held");
    let last = rig.acquire("r", WAIT);
    rig.events();
    let mut holder = first;
    for next in [waiting[0], waiting[2], last] {
        rig.redlock.release(rig.now, holder).expect("held");
        rig.reply(0, ":1");
        rig.reply(0, "+OK");
        let events = rig.events();
        assert!(matches!(events[1], Event::Acquired { lock, .. } if lock == next));
        holder = next;
    }
}

#[test]
fn a_lost_lock_makes_way_for_the_next_in_line() {
    let mut rig = Rig::with(1, |config| config.tenure = Duration::MAX);
    let first = rig.held("r");
    let second = rig.redlock.acquire(rig.now, b"r", TTL, 2 * TTL).expect("in bounds");
    rig.advance(TTL - ms(102));
    assert_eq!(rig.events(), [Event::Lost { lock: first, reason: LostReason::Expired }]);
    assert_eq!(rig.sent(0), ["EVALSHA release 1 r #1", "SET r #2 NX PX 10000"]);
    rig.reply(0, ":1");
    rig.reply(0, "+OK");
    assert!(matches!(rig.event(), Event::Acquired { lock, .. } if lock == second));
}

#[test]
fn attempts_wait_inside_while_the_pipelines_of_a_quorum_are_full() {
    let mut rig = Rig::with(3, |config| config.max_pipeline = 4);
    let locks: Vec<_> = (0..10).map(|i| rig.acquire(&format!("r{i}"), WAIT)).collect();
    assert_eq!(rig.sent(0).len(), 4);
    assert_eq!(rig.sent(1).len(), 4);
    // Node 2 stays silent; the other two nodes are a quorum.
    for (round, expected) in locks.into_iter().enumerate() {
        for index in 0..2 {
            rig.reply(index, "+OK");
        }
        let acquired = rig.event();
        assert!(matches!(acquired, Event::Acquired { lock, .. } if lock == expected));
        assert_eq!(rig.sent(0).len(), usize::from(round < 6), "round {round}");
        assert_eq!(rig.sent(1).len(), usize::from(round < 6), "round {round}");
    }
    assert_eq!(rig.sent(2).len(), 4, "the slow node was not given more than it can hold");
}

#[test]
fn a_stalled_node_costs_nothing_until_it_answers() {
    let mut rig = Rig::new(3);
    let lock = rig.acquire("a", NO_WAIT);
    rig.reply(0, "+OK");
    rig.reply(1, "+OK");
    rig.events();
    rig.sent(2);
    rig.advance(ms(50));
    assert_eq!(rig.state(2), NodeState::Stalled);
    rig.acquire("b", NO_WAIT);
    assert_eq!(rig.sent(2), [""; 0], "it is passed over");
    // Node 2 is still owed a release: the token may be there.
    rig.redlock.release(rig.now, lock).expect("held");
    assert_eq!(rig.sent(2), ["EVALSHA release 1 a #1"]);
    rig.reply(2, "+OK");
    rig.reply(2, ":1");
    assert_eq!(rig.state(2), NodeState::Ready);
    rig.acquire("c", NO_WAIT);
    assert_eq!(rig.sent(2).len(), 1);
}

#[test]
fn a_request_before_the_first_connection_waits_for_it() {
    let mut rig = Rig::unconnected(3, |_| ());
    let lock = rig.acquire("r", WAIT);
    rig.connect(0);
    rig.connect(2);
    assert_eq!(rig.sent(0), ["SET r #1 NX PX 10000"]);
    rig.reply(0, "+OK");
    rig.reply(2, "+OK");
    assert!(matches!(rig.event(), Event::Acquired { lock: held, .. } if held == lock));
}

/// FAULTS 70: nobody takes the events, and their queue is the only place for them.
#[test]
fn events_that_nobody_takes_stop_new_requests_and_lose_nothing() {
    let mut rig = Rig::with(1, |config| config.max_locks = 4);
    rig.held("r");
    let mut failed = 0;
    while rig.redlock.acquire(rig.now, b"r", TTL, NO_WAIT).is_ok() {
        failed += 1;
    }
    // Each of them keeps the place with its name until its event is taken.
    assert_eq!(failed, 3);
    assert_eq!(rig.events().len(), 3);
    rig.acquire("r", NO_WAIT);
}

#[test]
fn an_early_timeout_does_nothing() {
    let mut rig = Rig::new(3);
    rig.acquire("r", WAIT);
    let next = rig.redlock.poll_timeout();
    rig.redlock.handle_timeout(rig.now);
    assert_eq!(rig.redlock.poll_timeout(), next);
    assert_eq!(rig.events(), []);
}

#[test]
fn the_same_inputs_give_the_same_outputs() {
    let run = || {
        let mut rig = Rig::new(3);
        let mut trace = Vec::new();
        for i in 0..20 {
            rig.acquire(&format!("r{}", i % 7), WAIT);
            for index in 0..3 {
                trace.push(rig.redlock.poll_transmit(rig.now, node(index)).map(<[u8]>::to_vec));
                rig.sent(index);
            }
            let (at, _) = rig.redlock.poll_timeout().expect("something is due");
            rig.advance(at - rig.now);
            let (now, events) = (rig.now, rig.events());
            trace.push(Some(format!("{now:?} {events:?}").into_bytes()));
        }
        trace
    };
    assert_eq!(run(), run());
}

#[test]
fn a_request_that_has_ended_takes_no_place_in_the_queue() {
    let mut rig = Rig::unconnected(1, |config| config.max_locks = 2);
    rig.acquire("patient", WAIT);
    for _ in 0..10 {
        let lock = rig.acquire("fickle", WAIT);
        rig.redlock.cancel(rig.now, lock).expect("not held");
        assert_eq!(rig.redlock.in_use(), 1);
        rig.events();
    }
}

/// Whether a node has stalled is the same for all locks. Otherwise the first lock in the queue
/// would hold up the locks behind it.
#[test]
fn a_lock_with_a_short_ttl_does_not_hold_up_those_behind_it() {
    let mut rig = Rig::new(1);
    rig.acquire("slow", NO_WAIT);
    rig.advance(ms(6));
    rig.redlock.acquire(rig.now, b"short", ms(50), WAIT).expect("in bounds");
    rig.acquire("long", WAIT);
    assert_eq!(rig.sent(0).len(), 3);
}

/// A node that has just said that it cannot serve must not be sent the next lock in line.
#[test]
fn an_error_is_held_against_the_node_before_the_next_lock_gets_its_turn() {
    for error in ["-OOM command not allowed", "-LOADING Redis is loading", "-NOAUTH required"] {
        let mut rig = Rig::new(1);
        rig.acquire("r", NO_WAIT);
        rig.acquire("r", WAIT);
        rig.sent(0);
        rig.reply(0, error);
        let status = rig.redlock.node(rig.now, node(0)).expect("the node is there");
        assert_eq!((status.counters.asked, status.cleanup), (1, 0), "{error}");
    }
}

/// Other engines would be refused as long as locks stand in line here.
#[test]
fn a_line_leaves_the_resource_to_others_once_in_a_while() {
    let mut rig = Rig::with(1, |config| config.tenure = ms(100));
    let mut lock = rig.acquire("r", WAIT);
    let mut turns = 0;
    loop {
        assert_eq!(rig.sent(0).last(), Some(&format!("SET r #{} NX PX 10000", turns + 1)));
        rig.reply(0, "+OK");
        turns += 1;
        let next = rig.acquire("r", WAIT);
        rig.advance(ms(30));
        rig.release_on_nodes(lock);
        lock = next;
        let mut sent = rig.sent(0);
        if sent[0].starts_with("EVALSHA release 1 redbolt:wanted:r ") {
            sent.remove(0);
            rig.reply(0, ":0");
        }
        if sent.len() == 1 {
            break;
        }
        rig.outputs[0].push(format!("SET r #{} NX PX 10000", turns + 1));
        rig.reply(0, ":1");
    }
    assert_eq!(turns, 4, "after 30, 60, 90 and 120 ms");
    rig.reply(0, ":1");
    let start = rig.now;
    rig.until(|rig| rig.has_output(0));
    let gap = rig.now - start;
    assert!(gap >= ms(25) && gap <= ms(50), "{gap:?}");
}

#[test]
fn who_does_not_wait_is_not_made_to() {
    let mut rig = Rig::with(1, |config| config.tenure = ms(1));
    let lock = rig.held("r");
    rig.advance(ms(30));
    rig.redlock.release(rig.now, lock).expect("it is held");
    rig.acquire("r", NO_WAIT);
    assert_eq!(rig.sent(0), ["EVALSHA release 1 r #1", "SET r #2 NX PX 10000"]);
}

/// The previous lock was released long ago, and only a slow node still owes the answer.
#[test]
fn a_resource_that_nobody_has_had_for_a_while_is_not_left_to_others() {
    let mut rig = Rig::new(3);
    let lock = rig.held("r");
    rig.redlock.release(rig.now, lock).expect("it is held");
    for index in 0..2 {
        rig.sent(index);
        rig.reply(index, ":1");
    }
    rig.sent(2);
    assert!(matches!(rig.event(), Event::Released { .. }));
    rig.advance(ms(3_000));
    rig.acquire("r", WAIT);
    assert!(rig.has_output(0), "at once");
}

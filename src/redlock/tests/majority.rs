//! Asking a majority first: who is asked, when the others are, and what a held lock hangs on.

mod hedges;

use super::*;

/// A sixth of the validity of a lock, and more than one.
const SIXTH: Duration = Duration::from_millis(1_670);

/// Five nodes, of which three are asked first.
fn rig() -> Rig {
    Rig::with(5, |config| config.ask = Ask::Majority)
}

impl Rig {
    /// Takes what was sent to each node. Returns the nodes that got something, and checks that all
    /// of them got `expected`.
    fn got(&mut self, expected: &[&str]) -> Vec<usize> {
        let outputs: Vec<_> = (0..5).map(|index| (index, self.sent(index))).collect();
        let got = outputs.into_iter().filter(|(_, sent)| !sent.is_empty());
        got.map(|(index, sent)| {
            assert_eq!(sent, expected, "node {index}");
            index
        })
        .collect()
    }

    /// Acquires a lock from a majority. Returns the lock, the nodes that have it, and the others.
    fn held_by_three(&mut self, resource: &str) -> (LockId, Vec<usize>, Vec<usize>) {
        let lock = self.acquire(resource, NO_WAIT);
        let asked: Vec<_> = (0..5).filter(|index| !self.sent(*index).is_empty()).collect();
        assert_eq!(asked.len(), 3);
        asked.iter().for_each(|index| self.reply(*index, "+OK"));
        assert!(matches!(self.event(), Event::Acquired { .. }));
        let others = (0..5).filter(|index| !asked.contains(index)).collect();
        (lock, asked, others)
    }
}

#[test]
fn a_lock_costs_a_quorum_of_nodes_and_its_release_the_same() {
    let mut rig = rig();
    let (lock, asked, _) = rig.held_by_three("r");
    rig.redlock.release(rig.now, lock).expect("it is held");
    assert_eq!(rig.got(&["EVALSHA release 1 r #1"]), asked);
    asked.iter().for_each(|index| rig.reply(*index, ":1"));
    let Event::Released { outcome, .. } = rig.event() else { panic!("it was released") };
    assert!(outcome.is_quorum_free);
    assert_eq!(rig.redlock.counters().widened, 0);
}

#[test]
fn the_same_resource_goes_to_the_same_nodes_and_others_to_others() {
    let mut rig = rig();
    let mut seen = std::collections::BTreeSet::new();
    for number in 0..40 {
        let (first, second) = (format!("r{number}"), format!("r{number}"));
        let (lock, asked, _) = rig.held_by_three(&first);
        rig.redlock.release(rig.now, lock).expect("it is held");
        for index in &asked {
            rig.sent(*index);
            rig.reply(*index, ":1");
        }
        rig.events();
        let (_, again, _) = rig.held_by_three(&second);
        assert_eq!(asked, again);
        seen.insert(asked);
    }
    assert_eq!(seen.len(), 10, "all ways to take three of five: {seen:?}");
}

#[test]
fn nobody_else_is_asked_when_all_of_the_first_refuse() {
    let mut rig = rig();
    rig.acquire("r", NO_WAIT);
    let asked = rig.got(&["SET r #1 NX PX 10000"]);
    asked.iter().for_each(|index| rig.reply(*index, "$-1"));
    let Event::AcquireFailed { error: AcquireError::Held { refused }, .. } = rig.event() else {
        panic!("somebody has it")
    };
    assert_eq!(refused.len(), 3);
    assert_eq!(rig.got(&[]), [0; 0]);
}

#[test]
fn a_refusal_among_grants_makes_the_attempt_ask_the_others() {
    let mut rig = rig();
    let lock = rig.acquire("r", NO_WAIT);
    let asked = rig.got(&["SET r #1 NX PX 10000"]);
    rig.reply(asked[0], "$-1");
    assert_eq!(rig.got(&[]), [0; 0], "mostly all of them refuse");
    rig.reply(asked[1], "+OK");
    rig.reply(asked[2], "+OK");
    assert_eq!(rig.events(), []);
    let others = rig.got(&["SET r #1 NX PX 10000"]);
    assert_eq!(others.len(), 2);
    rig.reply(others[0], "+OK");
    assert!(matches!(rig.event(), Event::Acquired { .. }));
    assert_eq!(rig.redlock.counters().widened, 1);
    rig.redlock.release(rig.now, lock).expect("it is held");
    let mut released = rig.got(&["EVALSHA release 1 r #1"]);
    released.push(asked[0]);
    released.sort_unstable();
    assert_eq!(released, [0, 1, 2, 3, 4], "all but the node that refused");
}

#[test]
fn an_error_makes_the_attempt_ask_the_others_at_once() {
    let mut rig = rig();
    rig.acquire("r", NO_WAIT);
    let asked = rig.got(&["SET r #1 NX PX 10000"]);
    rig.reply(asked[0], "-OOM command not allowed when used memory > 'maxmemory'.");
    let others = rig.got(&["SET r #1 NX PX 10000"]);
    assert_eq!(others.len(), 2);
    for index in [asked[1], asked[2], others[0]] {
        rig.reply(index, "+OK");
    }
    assert!(matches!(rig.event(), Event::Acquired { .. }));
}

#[test]
fn a_lost_connection_makes_the_attempt_ask_the_others_at_once() {
    let mut rig = rig();
    rig.acquire("r", NO_WAIT);
    let asked = rig.got(&["SET r #1 NX PX 10000"]);
    rig.close(asked[1]);
    assert_eq!(rig.got(&["SET r #1 NX PX 10000"]).len(), 2);
}

#[test]
fn a_node_that_cannot_vote_is_not_among_the_first() {
    let mut rig = rig();
    let (_, asked, others) = rig.held_by_three("r");
    for index in [asked[0], others[0]] {
        rig.close(index);
    }
    rig.events();
    rig.acquire("r2", NO_WAIT);
    let again = rig.got(&["SET r2 #2 NX PX 10000"]);
    let mut left = [asked[1], asked[2], others[1]];
    left.sort_unstable();
    assert_eq!(again, left);
}

#[test]
fn a_lock_that_lives_on_is_given_to_the_others_after_a_sixth() {
    let mut rig = rig();
    let (_, _, others) = rig.held_by_three("r");
    rig.advance(SIXTH - ms(100));
    assert_eq!(rig.got(&[]), [0; 0], "short locks are over by now");
    rig.advance(ms(100));
    let given: Vec<_> = others.iter().map(|index| rig.sent(*index)).collect();
    assert!(given.iter().all(|sent| sent[0].starts_with("SET r #1 NX PX 83")), "{given:?}");
}

#[test]
fn a_lock_is_given_to_the_others_ahead_of_its_extension() {
    let mut rig = rig();
    let (lock, asked, others) = rig.held_by_three("r");
    rig.advance(ms(100));
    rig.redlock.extend(rig.now, lock, TTL).expect("it is held");
    for index in &asked {
        assert_eq!(rig.sent(*index), ["EVALSHA extend 1 r #1 10000"]);
    }
    for index in &others {
        assert_eq!(rig.sent(*index), ["SET r #1 NX PX 9897", "EVALSHA extend 1 r #1 10000"]);
        rig.reply(*index, "+OK");
        rig.reply(*index, ":1");
    }
    assert_eq!(rig.events(), []);
    // The others count, once their own answers to the extension are there.
    rig.reply(asked[0], ":1");
    assert!(matches!(rig.event(), Event::Extended { .. }));
}

#[test]
fn a_lock_that_is_kept_alive_is_given_to_the_others_before_its_first_renewal() {
    let mut rig = rig();
    let (lock, asked, others) = rig.held_by_three("r");
    rig.redlock.keep_alive(rig.now, lock, TTL, Duration::from_secs(60)).expect("it is held");
    rig.until(|rig| rig.has_output(others[0]));
    assert!(rig.sent(others[0])[0].starts_with("SET r #1 NX PX 8"));
    assert_eq!(rig.sent(asked[0]), [""; 0]);
    rig.until(|rig| rig.has_output(asked[0]));
    assert_eq!(rig.sent(asked[0]), ["EVALSHA extend 1 r #1 10000"]);
}

#[test]
fn a_lock_is_kept_where_asking_all_would_have_kept_it() {
    for gone in 0..=3 {
        let mut rig = rig();
        let (lock, asked, others) = rig.held_by_three("r");
        rig.redlock.extend(rig.now, lock, TTL).expect("it is held");
        for (place, index) in asked.iter().enumerate() {
            rig.sent(*index);
            rig.reply(*index, if place < gone { ":0" } else { ":1" });
        }
        for index in &others {
            rig.sent(*index);
            rig.reply(*index, "+OK");
            rig.reply(*index, ":1");
        }
        let is_lost = rig.events().iter().any(|event| matches!(event, Event::Lost { .. }));
        // Of five nodes that were asked, three must be left.
        assert_eq!(is_lost, gone == 3, "{gone} of three have forgotten the lock");
    }
}

#[test]
fn without_repair_a_lock_hangs_on_its_quorum() {
    let mut rig = Rig::with(5, |config| (config.ask, config.repair) = (Ask::Majority, false));
    let (lock, asked, others) = rig.held_by_three("r");
    rig.redlock.extend(rig.now, lock, TTL).expect("it is held");
    asked.iter().for_each(|index| assert_eq!(rig.sent(*index).len(), 1));
    others.iter().for_each(|index| assert_eq!(rig.sent(*index), [""; 0]));
    rig.reply(asked[0], ":0");
    let events = rig.events();
    assert!(events.iter().any(|event| matches!(event, Event::Lost { .. })), "{events:?}");
}

#[test]
fn a_request_has_its_own_choice() {
    let mut rig = Rig::new(5);
    let (ttl, wait) = (TTL, NO_WAIT);
    let options = AcquireOptions::new().ask(Ask::Majority);
    let lock = rig.redlock.acquire_with(rig.now, &["r"], ttl, wait, &options);
    lock.expect("the request is in bounds");
    assert_eq!(rig.got(&["SET r #1 NX PX 10000"]).len(), 3);

    let mut rig = Rig::with(5, |config| config.ask = Ask::Majority);
    let options = AcquireOptions::new().ask(Ask::All);
    let lock = rig.redlock.acquire_with(rig.now, &["r"], ttl, wait, &options);
    lock.expect("the request is in bounds");
    assert_eq!(rig.got(&["SET r #1 NX PX 10000"]).len(), 5);
}

#[test]
fn a_set_goes_to_the_nodes_of_its_smallest_key() {
    let mut rig = rig();
    let (_, asked, _) = rig.held_by_three("a");
    let lock = rig.redlock.acquire_all(rig.now, &["z", "a", "b"], TTL, Duration::ZERO);
    assert!(lock.is_ok());
    assert_eq!(rig.got(&["EVALSHA acquire-set 3 a b z #2 10000"]), asked);
}

#[test]
fn numbers_and_adoptions_ask_all() {
    let mut rig = rig();
    let options = AcquireOptions::new().fenced();
    let lock = rig.redlock.acquire_with(rig.now, &["r"], TTL, NO_WAIT, &options);
    lock.expect("the request is in bounds");
    assert_eq!((0..5).filter(|index| !rig.sent(*index).is_empty()).count(), 5);
    let token = Token::from_bytes([9; 20]);
    rig.redlock.adopt(rig.now, &["s"], token, TTL, NO_WAIT).expect("in bounds");
    assert_eq!((0..5).filter(|index| !rig.sent(*index).is_empty()).count(), 5);
}

#[test]
fn a_lock_that_is_handed_over_is_given_to_the_others() {
    let mut rig = rig();
    let (lock, _, others) = rig.held_by_three("r");
    rig.redlock.disown(rig.now, lock).expect("it is held");
    assert_eq!(rig.got(&["SET r #1 NX PX 9998"]), others);
}

#[test]
fn without_a_restart_guard_a_majority_is_refused() {
    let mut rig = Rig::with(5, |config| config.restart_guard = RestartGuard::Off);
    let options = AcquireOptions::new().ask(Ask::Majority);
    let lock = rig.redlock.acquire_with(rig.now, &["r"], TTL, NO_WAIT, &options);
    assert_eq!(lock, Err(RequestError::UnguardedMajority));
}

#[test]
fn a_doubt_leaves_the_time_that_the_caller_has_set() {
    let mut rig = rig();
    let options = AcquireOptions::new().node_timeout(ms(50));
    let lock = rig.redlock.acquire_with(rig.now, &["r"], TTL, NO_WAIT, &options);
    lock.expect("the request is in bounds");
    let asked = rig.got(&["SET r #1 NX PX 10000"]);
    rig.reply(asked[0], "-OOM command not allowed when used memory > 'maxmemory'.");
    let others = rig.got(&["SET r #1 NX PX 10000"]);
    rig.advance(ms(40));
    assert_eq!(rig.events(), []);
    for index in [asked[1], asked[2], others[0]] {
        rig.reply(index, "+OK");
    }
    assert!(matches!(rig.event(), Event::Acquired { .. }));
}

/// The replies of the first nodes may have waited for the same turn.
#[test]
fn a_turn_that_comes_late_leaves_the_others_some_of_the_time() {
    let mut rig = rig();
    let options = AcquireOptions::new().node_timeout(ms(10));
    let lock = rig.redlock.acquire_with(rig.now, &["r"], TTL, NO_WAIT, &options);
    lock.expect("the request is in bounds");
    let asked = rig.got(&["SET r #1 NX PX 10000"]);
    rig.now = rig.now + ms(12);
    rig.reply(asked[0], "+OK");
    rig.reply(asked[1], "+OK");
    rig.advance(Duration::ZERO);
    let others = rig.got(&["SET r #1 NX PX 10000"]);
    assert_eq!(rig.events(), []);
    rig.reply(others[0], "+OK");
    assert!(matches!(rig.event(), Event::Acquired { .. }));
}

#[test]
fn an_error_behind_two_refusals_is_still_somebody_elses_lock() {
    let mut rig = rig();
    rig.acquire("r", NO_WAIT);
    let asked = rig.got(&["SET r #1 NX PX 10000"]);
    rig.reply(asked[0], "$-1");
    rig.reply(asked[1], "$-1");
    rig.reply(asked[2], "-OOM command not allowed when used memory > 'maxmemory'.");
    rig.got(&["SET r #1 NX PX 10000"]);
    let Event::AcquireFailed { error, .. } = rig.event() else { panic!("two of three refuse") };
    assert!(matches!(error, AcquireError::Held { .. }), "{error}");
}

#[test]
fn a_node_without_room_is_asked_when_it_has_some() {
    let mut rig = Rig::with(5, |config| (config.ask, config.max_pipeline) = (Ask::Majority, 1));
    rig.acquire("f", NO_WAIT);
    let full = rig.got(&["SET f #1 NX PX 10000"]);
    rig.reply(full[2], "+OK");
    rig.acquire("g", NO_WAIT);
    let asked = rig.got(&["SET g #2 NX PX 10000"]);
    assert!(asked.contains(&full[2]), "{full:?}, {asked:?}");
    rig.reply(full[2], "-OOM command not allowed when used memory > 'maxmemory'.");
    assert_eq!(rig.got(&[]), [0; 0], "the other two still owe an answer about the first lock");
    rig.reply(full[0], "+OK");
    rig.reply(full[1], "+OK");
    assert!(matches!(rig.event(), Event::Acquired { .. }));
    rig.advance(ms(1));
    assert_eq!(rig.got(&["SET g #2 NX PX 10000"]), full[..2]);
    for index in asked.iter().filter(|index| **index != full[2]).chain(&full[..1]) {
        rig.reply(*index, "+OK");
    }
    assert!(matches!(rig.event(), Event::Acquired { .. }));
}

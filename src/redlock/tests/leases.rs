//! A held lock: how long it is valid, how it is extended, how it ends.

use super::*;

/// S8: nothing is cached, the clock decides.
#[test]
fn a_lock_is_held_exactly_until_its_deadline() {
    let mut rig = Rig::new(3);
    let lock = rig.held("r");
    let until = rig.now + TTL - ms(102);
    let before = until - Duration::from_nanos(1);
    assert!(rig.redlock.is_held(before, lock));
    assert!(!rig.redlock.is_held(until, lock));
    assert_eq!(rig.redlock.remaining(before, lock), Duration::from_nanos(1));
    rig.advance(until - ms(1) - Duration::from_nanos(1) - rig.now);
    assert_eq!(rig.events(), []);
    rig.advance(Duration::from_nanos(1));
    assert_eq!(rig.event(), Event::Lost { lock, reason: LostReason::Expired });
    rig.advance(before - rig.now);
    assert_eq!(rig.sent(0), [""; 0], "its owner may not have heard it yet");
    rig.advance(Duration::from_nanos(1));
    assert_eq!(rig.sent(0), ["EVALSHA release 1 r #1"], "nodes keep keys a little longer");
    assert_eq!(rig.redlock.extend(rig.now, lock, TTL), Err(RequestError::UnknownLock));
}

#[test]
fn an_extension_counts_from_its_own_start() {
    let mut rig = Rig::new(3);
    let lock = rig.held("r");
    rig.advance(Duration::from_secs(3));
    let start = rig.now;
    rig.redlock.extend(rig.now, lock, TTL).expect("held");
    assert_eq!(rig.sent(0), ["EVALSHA extend 1 r #1 10000"]);
    rig.advance(ms(10));
    rig.reply(0, ":1");
    assert_eq!(rig.events(), []);
    rig.reply(1, ":1");
    let valid_until = start + TTL - ms(102);
    assert_eq!(rig.events(), [Event::Extended { lock, valid_until }]);
    rig.advance(Duration::from_secs(7));
    assert!(rig.redlock.is_held(rig.now, lock));
}

/// S7: a shorter ttl does not take back what was promised. FAULTS 59.
#[test]
fn an_extension_never_shortens() {
    let mut rig = Rig::new(3);
    let lock = rig.held("r");
    let before = rig.redlock.remaining(rig.now, lock);
    rig.redlock.extend(rig.now, lock, ms(500)).expect("held");
    rig.reply(0, ":1");
    rig.reply(1, ":1");
    assert!(matches!(rig.event(), Event::Extended { .. }));
    assert_eq!(rig.redlock.remaining(rig.now, lock), before);
}

/// S7: one bad round must not destroy a live lock. FAULTS 59: a minority, and replies that come
/// late.
#[test]
fn a_failed_extension_leaves_the_old_validity() {
    let mut rig = Rig::new(3);
    let lock = rig.held("r");
    let before = rig.now + rig.redlock.remaining(rig.now, lock);
    // A short ttl has a short node timeout. After it, the nodes have not stalled for a long ttl.
    rig.redlock.extend(rig.now, lock, ms(100)).expect("held");
    (0..3).for_each(|index| rig.transmit(index));
    rig.reply(0, ":1");
    let again = rig.redlock.extend(rig.now, lock, TTL);
    assert_eq!(again, Err(RequestError::ExtensionPending));
    rig.advance(ms(5));
    let Event::ExtendFailed { error: ExtendError::NoQuorum(outcomes), .. } = rig.event() else {
        panic!("not for want of a quorum");
    };
    use NodeOutcome::{Granted, NoReply};
    assert_eq!(outcomes.as_slice(), [Granted, NoReply, NoReply]);
    assert_eq!(rig.now + rig.redlock.remaining(rig.now, lock), before);
    // The answers of that round come late, and do not count for the next round.
    rig.redlock.extend(rig.now, lock, TTL).expect("held");
    rig.reply(0, ":1");
    rig.reply(1, ":1");
    rig.reply(2, ":1");
    assert_eq!(rig.events(), [], "one answer to this round, two to the last");
    rig.reply(1, ":1");
    assert!(matches!(rig.event(), Event::Extended { .. }));
}

/// S7: the old validity limits the round as well. FAULTS 59.
#[test]
fn an_extension_that_is_answered_after_the_validity_is_too_late() {
    let mut rig = Rig::with(3, |config| {
        config.node_timeout = Some(Duration::from_secs(20));
        config.close_timeout = Duration::from_secs(60);
    });
    let lock = rig.held("r");
    let until = rig.now + rig.redlock.remaining(rig.now, lock);
    rig.advance(Duration::from_secs(9));
    rig.redlock.extend(rig.now, lock, TTL).expect("held");
    // The process slept until the validity had ended. Then the replies are handled first.
    rig.now = until;
    rig.reply(0, ":1");
    assert_eq!(
        rig.events(),
        [
            Event::ExtendFailed { lock, error: ExtendError::Lost(LostReason::Expired) },
            Event::Lost { lock, reason: LostReason::Expired },
        ]
    );
    rig.reply(1, ":1");
    rig.reply(2, ":1");
    assert_eq!(rig.events(), []);
    assert!(!rig.redlock.is_held(rig.now, lock));
}

#[test]
fn a_lock_is_lost_as_soon_as_a_quorum_cannot_have_it() {
    let mut rig = Rig::new(5);
    let lock = rig.held("r");
    rig.redlock.extend(rig.now, lock, TTL).expect("held");
    rig.reply(0, ":0");
    rig.reply(1, ":-1");
    assert_eq!(rig.events(), []);
    rig.reply(2, ":0");
    assert_eq!(
        rig.events(),
        [
            Event::ExtendFailed { lock, error: ExtendError::Lost(LostReason::Majority) },
            Event::Lost { lock, reason: LostReason::Majority },
        ]
    );
    assert!(!rig.redlock.is_held(rig.now, lock));
}

#[test]
fn an_extension_is_not_sent_where_the_lock_is_not() {
    let mut rig = Rig::new(3);
    let lock = rig.acquire("r", NO_WAIT);
    rig.reply(0, "+OK");
    rig.reply(1, "$-1");
    rig.reply(2, "+OK");
    rig.events();
    for index in 0..3 {
        rig.sent(index);
    }
    rig.redlock.extend(rig.now, lock, TTL).expect("held");
    assert_eq!(rig.sent(0).len(), 1);
    assert_eq!(rig.sent(1).len(), 0);
    assert_eq!(rig.sent(2).len(), 1);
}

/// S12: renewal is bounded.
#[test]
fn a_lock_cannot_be_kept_for_longer_than_max_hold() {
    let mut rig = Rig::with(1, |config| config.max_hold = Duration::from_secs(15));
    let lock = rig.held("r");
    rig.advance(Duration::from_secs(5));
    rig.redlock.extend(rig.now, lock, TTL).expect("15 s in all");
    rig.reply(0, ":1");
    rig.events();
    rig.advance(ms(1));
    let max = Duration::from_secs(15);
    let error = rig.redlock.extend(rig.now, lock, TTL).expect_err("a millisecond too long");
    assert_eq!(error, RequestError::HoldTooLong { hold: max + ms(1), max });
    assert_eq!(error.to_string(), "the hold is 15.001s, at most max_hold = 15s is possible");
}

#[test]
fn a_release_is_reported_at_the_quorum_and_goes_on_behind() {
    let mut rig = Rig::new(5);
    let lock = rig.held("r");
    rig.redlock.release(rig.now, lock).expect("held");
    assert!(!rig.redlock.is_held(rig.now, lock));
    assert_eq!(rig.redlock.release(rig.now, lock), Err(RequestError::NotHeld));
    rig.reply(0, ":1");
    rig.reply(1, ":0");
    assert_eq!(rig.events(), []);
    rig.reply(2, ":-1");
    let outcome = ReleaseOutcome {
        released: nodes([0]),
        absent: nodes([1]),
        foreign: nodes([2]),
        unconfirmed: nodes([3, 4]),
        is_quorum_free: true,
        is_passed_on: false,
    };
    assert_eq!(rig.events(), [Event::Released { lock, outcome }]);
    let text = "released; goes on in the background at node 3, node 4; another value at node 2";
    assert_eq!(outcome.to_string(), text);
    assert_eq!(rig.redlock.in_use(), 1, "two answers are owed");
    rig.reply(3, ":1");
    rig.reply(4, ":1");
    assert_eq!(rig.redlock.in_use(), 0);
}

#[test]
fn a_release_that_nobody_answers_is_reported_in_time() {
    let mut rig = Rig::new(3);
    let lock = rig.held("r");
    rig.redlock.release(rig.now, lock).expect("held");
    rig.advance(ms(999));
    assert_eq!(rig.events(), []);
    rig.advance(ms(1));
    let outcome = ReleaseOutcome { unconfirmed: nodes([0, 1, 2]), ..ReleaseOutcome::default() };
    assert_eq!(rig.events(), [Event::Released { lock, outcome }]);
    let text = "released, but no quorum has confirmed; no answer from node 0, node 1, node 2";
    assert_eq!(outcome.to_string(), text);
}

/// FAULTS 59: an extension races a release.
#[test]
fn a_release_during_an_extension_ends_both_and_runs_last() {
    let mut rig = Rig::new(3);
    let lock = rig.held("r");
    rig.redlock.extend(rig.now, lock, TTL).expect("held");
    rig.transmit(0);
    rig.redlock.release(rig.now, lock).expect("held");
    assert_eq!(rig.events(), [Event::ExtendFailed { lock, error: ExtendError::Released }]);
    assert_eq!(rig.sent(0), ["EVALSHA extend 1 r #1 10000"]);
    rig.reply(0, ":1");
    assert_eq!(rig.sent(0), ["EVALSHA release 1 r #1"]);
    rig.reply(0, ":1");
    // An extension that has not left before the release never leaves.
    assert_eq!(rig.sent(1), ["EVALSHA release 1 r #1"]);
    rig.reply(1, ":1");
    assert!(matches!(rig.event(), Event::Released { .. }));
}

/// A node that was flushed forgets its scripts: one call by text follows, on the same connection.
#[test]
fn a_script_that_is_not_loaded_goes_once_by_its_text() {
    let mut rig = Rig::new(1);
    let lock = rig.held("r");
    rig.redlock.extend(rig.now, lock, TTL).expect("held");
    rig.sent(0);
    rig.reply(0, "-NOSCRIPT No matching script.");
    assert_eq!(rig.sent(0), ["EVAL extend-text 1 r #1 10000"]);
    rig.reply(0, ":1");
    assert!(matches!(rig.event(), Event::Extended { .. }));

    rig.redlock.release(rig.now, lock).expect("held");
    rig.sent(0);
    rig.reply(0, "-NOSCRIPT No matching script.");
    assert_eq!(rig.sent(0), ["EVAL release-text 1 r #1"]);
    // A server that refuses even the text does not make the engine repeat the call for ever.
    rig.reply(0, "-NOSCRIPT No matching script.");
    assert_eq!(rig.sent(0), [""; 0]);
    let Event::Released { outcome, .. } = rig.event() else { panic!("not released") };
    assert_eq!(outcome.unconfirmed, nodes([0]));
}

#[test]
fn the_token_is_known_while_the_lock_is_held() {
    let mut rig = Rig::new(1);
    let lock = rig.acquire("r", NO_WAIT);
    assert_eq!(rig.redlock.token(lock), None);
    rig.reply(0, "+OK");
    let token = rig.redlock.token(lock).expect("held");
    assert_eq!(token.as_bytes()[..12], NONCE);
    rig.redlock.release(rig.now, lock).expect("held");
    assert_eq!(rig.redlock.token(lock), None);
}

/// A node whose vote was lost on the way can still confirm an extension.
#[test]
fn an_extension_asks_a_node_whose_vote_never_came() {
    let mut rig = Rig::new(3);
    let lock = rig.acquire("r", NO_WAIT);
    rig.sent(0);
    rig.reply(1, "+OK");
    rig.reply(2, "+OK");
    rig.events();
    rig.close(0);
    rig.connect(0);
    rig.redlock.extend(rig.now, lock, TTL).expect("held");
    assert_eq!(rig.sent(0), ["EVALSHA extend 1 r #1 10000"]);
    rig.reply(0, ":1");
    rig.reply(1, ":1");
    assert!(matches!(rig.event(), Event::Extended { .. }));
    // The `SET` was executed and cannot be executed once more, so no cleanup is needed.
    rig.redlock.release(rig.now, lock).expect("held");
    assert_eq!(rig.sent(0), ["EVALSHA release 1 r #1"]);
    assert_eq!(rig.redlock.cleanup(), 0);
}

/// The connection dies after the loss was reported and before the keys are released.
#[test]
fn a_set_that_is_lost_on_its_way_while_its_lock_lapses_is_cleaned_up() {
    let mut rig = Rig::new(3);
    let lock = rig.acquire("r", NO_WAIT);
    for index in 0..2 {
        rig.sent(index);
        rig.reply(index, "+OK");
    }
    rig.sent(2);
    assert!(matches!(rig.event(), Event::Acquired { .. }));
    let left = rig.redlock.remaining(rig.now, lock);
    rig.advance(left - ms(1));
    assert!(matches!(rig.event(), Event::Lost { .. }));
    rig.close(2);
    rig.advance(ms(1));
    rig.connect(2);
    rig.until(|rig| rig.has_output(2));
    assert_eq!(rig.sent(2), ["EVALSHA release 1 r #1"]);
}

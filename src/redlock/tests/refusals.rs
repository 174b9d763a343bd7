//! Attempts that fail against a holder: which releases they cost.
//!
//! Three of five nodes have refused, and nodes 3 and 4 have not answered yet.

use super::*;

const SET: &str = "SET r #1 NX PX 10000";
const RELEASE: &str = "EVALSHA release 1 r #1";

/// Asks for a lock that nodes 0, 1 and 2 refuse.
fn refused(rig: &mut Rig, wait: Duration) -> LockId {
    let lock = rig.acquire("r", wait);
    for index in 0..5 {
        assert_eq!(rig.sent(index), [SET]);
    }
    (0..3).for_each(|index| rig.reply(index, "$-1"));
    lock
}

/// Has a failed attempt, which was the only one.
fn failed() -> Rig {
    let mut rig = Rig::new(5);
    refused(&mut rig, NO_WAIT);
    assert!(matches!(rig.event(), Event::AcquireFailed { error: AcquireError::Held { .. }, .. }));
    rig
}

#[test]
fn a_refusal_that_is_under_way_costs_no_release() {
    let mut rig = failed();
    for index in [3, 4] {
        assert_eq!(rig.sent(index), [""; 0]);
        assert_eq!(rig.redlock.in_use(), 1, "an answer is owed");
        rig.reply(index, "$-1");
    }
    assert_eq!((rig.redlock.in_use(), rig.redlock.cleanup()), (0, 0));
    (0..5).for_each(|index| assert_eq!(rig.sent(index), [""; 0]));
}

/// S5: the token may exist.
#[test]
fn a_vote_that_is_no_refusal_after_all_is_followed_by_the_release_at_once() {
    for vote in ["+OK", "-ERR something else"] {
        let mut rig = failed();
        rig.reply(3, "$-1");
        rig.reply(4, vote);
        assert_eq!(rig.sent(3), [""; 0]);
        assert_eq!(rig.sent(4), [RELEASE], "{vote}");
        rig.reply(4, ":1");
        assert_eq!((rig.redlock.in_use(), rig.redlock.cleanup()), (0, 0));
        assert_eq!(rig.events(), [], "nobody waits for it");
    }
}

#[test]
fn an_error_that_rules_the_token_out_costs_no_release() {
    let mut rig = failed();
    rig.reply(3, "-OOM command not allowed");
    rig.reply(4, "-MISCONF Errors writing");
    assert_eq!((rig.sent(3), rig.sent(4)), (vec![], vec![]));
    assert_eq!(rig.redlock.in_use(), 0);
}

/// S6: the answer never comes.
#[test]
fn a_connection_that_dies_before_the_vote_puts_the_token_on_the_cleanup_list() {
    let mut rig = failed();
    rig.close(4);
    rig.reply(3, "$-1");
    assert_eq!((rig.redlock.in_use(), rig.redlock.cleanup()), (0, 1));
    rig.connect(4);
    rig.until(|rig| rig.has_output(4));
    assert_eq!(rig.sent(4), [RELEASE]);
}

/// A node that has stopped has the release in its socket, right behind the `SET`.
#[test]
fn no_vote_is_waited_for_longer_than_a_node_timeout() {
    let mut rig = failed();
    rig.advance(ms(49));
    assert_eq!(rig.sent(4), [""; 0]);
    rig.advance(ms(1));
    assert_eq!((rig.sent(3), rig.sent(4)), (vec![RELEASE.into()], vec![RELEASE.into()]));
    rig.reply(4, "+OK");
    assert_eq!(rig.sent(4), [""; 0], "once is enough");
}

#[test]
fn the_release_goes_ahead_of_the_next_attempt_of_the_same_request() {
    let mut rig = Rig::new(5);
    refused(&mut rig, WAIT);
    assert_eq!((rig.sent(3), rig.sent(4)), (vec![], vec![]));
    rig.reply(3, "$-1");
    rig.until(|rig| rig.has_output(0));
    let second = "SET r #2 NX PX 10000";
    assert_eq!(rig.sent(3), [second]);
    assert_eq!(rig.sent(4), [RELEASE, second]);
    // Both votes come late, and neither leads to another release.
    rig.reply(4, "+OK");
    rig.reply(4, ":1");
    assert_eq!(rig.sent(4), [""; 0]);
}

#[test]
fn the_release_goes_ahead_of_the_attempt_of_the_next_request() {
    for is_in_line in [false, true] {
        let mut rig = Rig::new(5);
        let first = refused(&mut rig, WAIT);
        if is_in_line {
            rig.acquire("r", WAIT);
        }
        rig.redlock.cancel(rig.now, first).expect("it is not held");
        if !is_in_line {
            assert_eq!(rig.sent(4), [""; 0]);
            rig.acquire("r", WAIT);
        }
        assert_eq!(rig.sent(0), ["SET r #2 NX PX 10000"]);
        assert_eq!(rig.sent(4), [RELEASE, "SET r #2 NX PX 10000"], "{is_in_line}");
    }
}

#[test]
fn an_owner_that_is_about_to_stop_waits_for_no_vote() {
    let mut rig = failed();
    rig.redlock.flush_batches(rig.now);
    assert_eq!((rig.sent(3), rig.sent(4)), (vec![RELEASE.into()], vec![RELEASE.into()]));
}

/// Two that split the votes: the grants are more likely than not, and are given back at once.
#[test]
fn an_attempt_with_a_grant_waits_for_no_vote() {
    let mut rig = Rig::new(5);
    rig.acquire("r", NO_WAIT);
    for (index, reply) in ["+OK", "$-1", "$-1", "$-1"].into_iter().enumerate() {
        rig.sent(index);
        rig.reply(index, reply);
    }
    assert_eq!(rig.sent(0), [RELEASE]);
    assert_eq!(rig.sent(4), [SET, RELEASE]);
}

/// The token of a lock that was handed over is not ours any more, however late the votes come.
#[test]
fn a_late_vote_for_a_lock_that_was_given_up_releases_nothing() {
    let mut rig = Rig::new(5);
    let lock = rig.acquire("r", NO_WAIT);
    (0..5).for_each(|index| drop(rig.sent(index)));
    (0..3).for_each(|index| rig.reply(index, "+OK"));
    assert!(matches!(rig.event(), Event::Acquired { .. }));
    rig.redlock.disown(rig.now, lock).expect("it is held");
    rig.reply(3, "+OK");
    rig.close(4);
    rig.redlock.flush_batches(rig.now);
    (0..4).for_each(|index| assert_eq!(rig.sent(index), [""; 0]));
    assert_eq!((rig.redlock.in_use(), rig.redlock.cleanup()), (0, 0));
}

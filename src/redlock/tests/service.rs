//! Service (S11): what a time in which nobody looked at a node says about its data.

use super::looks::{SPAN, quarantine, rig};
use super::*;

/// A former member comes back under its name. Its witness is old, and says nothing about the locks
/// that were granted by the process which had the name meanwhile.
#[test]
fn a_former_member_is_not_believed_because_others_were_in_use() {
    let mut rig = rig(3);
    let former = rig.masters[0].clone();
    rig.masters[0] = Master { process: 50, ..Master::default() };
    rig.close(0);
    rig.connect_as(0, 50, "");
    rig.advance(SPAN * 3);
    let mut other = rig.later(Duration::ZERO);
    other.masters[0] = former;
    other.connect(0);
    assert_eq!((other.state(0), quarantine(&other, 0)), (NodeState::Handshake, None));
    other.events();
    other.connect(1);
    assert_eq!(quarantine(&other, 0), Some(QuarantineReason::OutOfService));
    let told = core::iter::from_fn(|| other.redlock.poll_event());
    assert!(told.into_iter().any(|event| event == Event::Node(node(0))), "it is decided now");
    other.connect(2);
    assert_eq!(other.state(1), NodeState::Ready);
    other.advance(SPAN);
    assert_eq!(other.state(0), NodeState::Ready);
}

/// Another process has the name for one round of looks. What this process granted can be believed
/// until one and a half spans after the round.
#[test]
fn a_former_member_is_not_believed_because_others_were_idle_one_round_later() {
    let begin = || {
        let mut rig = rig(3);
        rig.advance(SPAN);
        let former = rig.masters[0].clone();
        rig.masters[0] = Master { process: 50, ..Master::default() };
        rig.close(0);
        rig.connect_as(0, 50, "");
        let last = |master: &Master| master.stamp.map(|stamp| stamp.0);
        assert_eq!(last(&former), last(&rig.masters[1]), "all nodes together");
        rig.until(|rig| last(&rig.masters[1]) != last(&former));
        rig.masters[0] = former;
        rig
    };
    let rows = [
        (SPAN + ms(1), NodeState::Quarantined, Some(QuarantineReason::OutOfService)),
        (SPAN * 3 / 2, NodeState::Ready, None),
    ];
    for (idle, state, reason) in rows {
        let mut other = begin().later(idle);
        other.connect_all(3);
        let seen = [0, 1, 2].map(|index| (other.state(index), quarantine(&other, index)));
        assert_eq!(seen, [(state, reason), (NodeState::Ready, None), (NodeState::Ready, None)]);
    }
}

#[test]
fn an_idle_deployment_serves_at_once() {
    for idle in [SPAN + ms(4_000), SPAN * 3 / 2, SPAN * 100] {
        let rig = rig(3);
        let mut other = rig.later(idle);
        // Nobody is alarmed by what is not decided.
        for index in 0..2 {
            other.connect(index);
            let seen = (other.state(0), quarantine(&other, 0));
            assert_eq!(seen, (NodeState::Handshake, None), "{idle:?}, node {index}");
        }
        other.connect(2);
        for index in 0..3 {
            assert_eq!(other.state(index), NodeState::Ready, "{idle:?}, node {index}");
        }
        let mut third = other.later(SPAN / 2);
        third.connect_all(3);
        assert_eq!(third.state(0), NodeState::Ready, "{idle:?}, and one more client");
    }
}

/// Of five nodes, four need no more than two others that were idle as well, and none that was not.
#[test]
fn a_node_that_cannot_be_reached_does_not_keep_an_idle_deployment_from_serving() {
    let rig = rig(3);
    let mut other = rig.later(SPAN * 5);
    other.connect(0);
    other.connect(1);
    assert_eq!(other.state(1), NodeState::Handshake);
    other.close(2);
    assert_eq!((other.state(0), other.state(1)), (NodeState::Ready, NodeState::Ready));
}

/// A node that comes back says that the deployment was in use after all. What was asked before
/// counts for nothing.
#[test]
fn votes_of_nodes_whose_excuse_is_taken_back_do_not_count() {
    let mut rig = rig(3);
    rig.close(0);
    rig.close(1);
    rig.advance(SPAN * 5);
    let mut other = rig.later(Duration::ZERO);
    other.connect(0);
    other.connect(1);
    other.close(2);
    // The connection that was wanted at first is not wanted any more.
    other.wanted.remove(node(2));
    assert_eq!((other.state(0), other.state(1)), (NodeState::Ready, NodeState::Ready));
    other.acquire("r", NO_WAIT);
    assert_eq!((other.sent(0).len(), other.sent(1).len()), (1, 1));
    other.connect(2);
    assert_eq!(quarantine(&other, 0), Some(QuarantineReason::OutOfService));
    other.events();
    other.reply(0, "+OK");
    other.reply(1, "+OK");
    let event = other.event();
    let is_refused = matches!(event, Event::AcquireFailed { .. });
    assert!(is_refused, "nobody whose word counts has granted it: {event:?}");
    assert_eq!(other.sent(0), ["EVALSHA release 1 r #1"], "the keys are there all the same");
}

#[test]
fn a_request_that_ends_before_it_is_decided_is_not_told_to_wait_for_a_span() {
    let rig = rig(3);
    let mut other = rig.later(SPAN * 3);
    other.connect(0);
    other.connect(1);
    let lock = other.acquire("r", ms(1));
    let [Event::AcquireFailed { lock: failed, ref error }] = other.wait()[..] else {
        panic!("no more than a failure")
    };
    assert_eq!(failed, lock);
    assert!(matches!(error, AcquireError::NoQuorum(_)), "{error}");
}

#[test]
fn a_new_client_knows_no_idle_deployment_before_it_has_asked_all() {
    let mut rig = rig(3);
    let former = rig.masters[0].clone();
    rig.masters[0] = Master { process: 50, ..Master::default() };
    rig.close(0);
    rig.connect_as(0, 50, "");
    // The link to node 1 breaks: it is out of use as well.
    rig.close(1);
    rig.advance(SPAN * 3);
    let mut other = rig.later(Duration::ZERO);
    other.masters[0] = former;
    other.connect(0);
    other.connect(1);
    assert_eq!(other.state(0), NodeState::Handshake);
    other.connect(2);
    assert_eq!(quarantine(&other, 0), Some(QuarantineReason::OutOfService), "2 was in use");
}

/// One node is connected anew, some seconds behind the last looks at the others. Then all is idle.
#[test]
fn a_reconnect_before_an_idle_time_keeps_nobody_out() {
    for count in [3, 5, 7] {
        for idle in [ms(9_000), ms(9_900), ms(10_500), SPAN * 5 / 4, SPAN * 7 / 5, SPAN * 2] {
            let mut rig = rig(count);
            rig.advance(SPAN * 3);
            let last = |rig: &Rig| rig.masters[1].stamp.map(|stamp| stamp.0);
            let before = last(&rig);
            rig.until(|rig| last(rig) != before);
            rig.advance(ms(2_500));
            rig.close(0);
            rig.connect(0);
            rig.advance(Duration::ZERO);
            let mut other = rig.later(idle);
            other.connect_all(count);
            let is_ready = |index| other.state(index) == NodeState::Ready;
            assert!((0..count).all(is_ready), "{count} nodes, idle for {idle:?}");
        }
    }
}

/// Handshakes one after the other would have each node looked at again and again.
#[test]
fn a_reconnect_soon_after_the_looks_has_nobody_else_looked_at() {
    let mut rig = rig(5);
    let looks = |rig: &Rig| -> u64 {
        rig.masters[1..].iter().filter_map(|master| master.stamp).map(|stamp| stamp.3).sum()
    };
    for (after, expected) in [(100, 0), (400, 0), (900, 4), (100, 0)] {
        let before = looks(&rig);
        rig.close(0);
        rig.advance(ms(after));
        rig.connect(0);
        rig.advance(Duration::ZERO);
        assert_eq!(looks(&rig) - before, expected, "{after} ms later");
    }
}

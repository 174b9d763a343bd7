//! Delayed restart (S11): a node that may have forgotten locks does not vote.

use super::*;

/// The lines of `INFO` of a server that has just started.
const YOUNG: &str = "uptime_in_seconds:0\r\n";

/// Creates a machine whose nodes have been up for long, with ttls of at most ten seconds.
fn rig(count: usize) -> Rig {
    Rig::with(count, |config| config.max_ttl = TTL)
}

/// Returns how long a restarted node of such a machine does not vote: ten seconds and their drift.
fn span() -> Duration {
    TTL + ms(102)
}

/// Replaces the server behind a node by a new process.
fn restart(rig: &mut Rig, index: usize, extra: &str) {
    let process = 100 + rig.redlock.node(rig.now, node(index)).expect("there").counters.connects;
    rig.close(index);
    rig.connect_as(index, process as u8, extra);
}

fn quarantine(rig: &Rig, index: usize) -> Option<Quarantine> {
    rig.redlock.node(rig.now, node(index)).expect("the node is there").quarantine
}

#[test]
fn a_restarted_node_is_not_asked_until_the_longest_lock_is_over() {
    let mut rig = rig(3);
    restart(&mut rig, 1, YOUNG);
    let since = rig.now;
    assert_eq!(rig.state(1), NodeState::Quarantined);
    let expected = Quarantine { reason: QuarantineReason::Restarted, remaining: span() };
    assert_eq!(quarantine(&rig, 1), Some(expected));
    rig.acquire("a", NO_WAIT);
    assert_eq!((rig.sent(0).len(), rig.sent(1).len(), rig.sent(2).len()), (1, 0, 1));
    rig.reply(0, "+OK");
    rig.reply(2, "+OK");
    rig.advance(since + span() - rig.now - Duration::from_nanos(1));
    assert_eq!(rig.state(1), NodeState::Quarantined);
    rig.advance(Duration::from_nanos(1));
    assert_eq!(rig.state(1), NodeState::Ready);
    rig.acquire("b", NO_WAIT);
    assert_eq!(rig.sent(1).len(), 1);
}

/// The double hold that this rule prevents. Two of three nodes granted the first lock. One of these
/// two forgot the lock, and together with the third node would grant it to another client.
#[test]
fn a_node_that_forgot_a_lock_does_not_grant_it_again_while_it_is_held() {
    let mut holder = rig(3);
    let lock = holder.acquire("r", NO_WAIT);
    holder.reply(0, "+OK");
    holder.reply(1, "+OK");
    assert!(matches!(holder.event(), Event::Acquired { .. }));
    let mut other = Rig::unconnected(3, |config| config.max_ttl = TTL);
    other.now = holder.now;
    other.connect(0);
    other.connect_as(1, 100, YOUNG);
    other.connect(2);
    let wanted = other.acquire("r", WAIT);
    other.reply(0, "$-1");
    other.reply(2, "+OK");
    assert!(!other.has_output(1), "a node that may have forgotten");
    assert!(holder.redlock.is_held(other.now, lock));
    assert!(!other.redlock.is_held(other.now, wanted));
}

#[test]
fn uptime_shortens_the_quarantine_of_a_node_that_is_met_for_the_first_time() {
    for (uptime, remaining) in [(0, 10_102), (1, 10_102), (4, 7_102), (11, 102), (12, 0)] {
        let mut rig = Rig::unconnected(1, |config| config.max_ttl = TTL);
        rig.connect_as(0, 1, &format!("uptime_in_seconds:{uptime}\r\n"));
        let found = quarantine(&rig, 0).map_or(Duration::ZERO, |found| found.remaining);
        assert_eq!(found, ms(remaining), "{uptime} s");
    }
}

#[test]
fn a_waiting_request_outlasts_the_quarantine() {
    let mut rig = Rig::unconnected(3, |config| config.max_ttl = TTL);
    for index in 0..3 {
        rig.connect_as(index, index as u8, YOUNG);
    }
    let lock = rig.acquire("r", Duration::from_secs(60));
    let start = rig.now;
    rig.until(|rig| rig.has_output(0) && rig.has_output(1));
    assert!(rig.now - start <= span());
    rig.reply(0, "+OK");
    rig.reply(1, "+OK");
    assert!(rig.redlock.is_held(rig.now, lock));
}

/// FAULTS 27: the request is told that nodes are unavailable, and until when.
#[test]
fn a_request_that_cannot_outlast_it_says_when_a_quorum_is_possible() {
    let mut rig = Rig::unconnected(5, |config| config.max_ttl = TTL);
    rig.connect_as(0, 0, YOUNG);
    rig.connect_as(1, 1, YOUNG);
    rig.connect_as(2, 2, "uptime_in_seconds:5\r\n");
    let third = rig.now + Duration::from_secs(1);
    rig.advance(third - rig.now);
    rig.connect_as(3, 3, YOUNG);
    rig.events();
    let lock = rig.acquire("r", NO_WAIT);
    let event = rig.wait().remove(0);
    let Event::AcquireFailed { lock: failed, error } = event else { panic!("{event:?}") };
    assert_eq!(failed, lock);
    let AcquireError::Unavailable { outcomes, at, retry_after } = error else {
        panic!("{error}");
    };
    // Node 4 is down. Three of the other nodes are a quorum as soon as the quarantines of nodes 0,
    // 1 and 2 have ended.
    assert_eq!(at, rig.now + retry_after);
    assert_eq!(at, third - Duration::from_secs(1) + span());
    let expected = [[NodeOutcome::Quarantined; 4].as_slice(), &[NodeOutcome::Connecting]].concat();
    assert_eq!(outcomes.as_slice(), expected);
}

#[test]
fn too_few_nodes_even_after_their_quarantine_are_no_quorum() {
    let mut rig = Rig::unconnected(3, |config| config.max_ttl = TTL);
    rig.connect_as(0, 0, YOUNG);
    rig.acquire("r", NO_WAIT);
    let events = rig.wait();
    let failed =
        matches!(events[..], [Event::AcquireFailed { error: AcquireError::NoQuorum(_), .. }]);
    assert!(failed, "{events:?}");
}

#[test]
fn a_quarantined_node_still_releases() {
    let mut rig = rig(3);
    let lock = rig.held("r");
    restart(&mut rig, 1, YOUNG);
    rig.redlock.release(rig.now, lock).expect("held");
    assert_eq!(rig.sent(1), ["EVALSHA release 1 r #1"]);
}

/// S11 and S7: the node says that it has the key now, but nobody knows what it had before it
/// forgot.
#[test]
fn a_quarantined_node_extends_and_is_not_counted() {
    let mut rig = rig(3);
    let lock = rig.held("r");
    restart(&mut rig, 1, YOUNG);
    rig.close(2);
    rig.events();
    rig.redlock.extend(rig.now, lock, TTL).expect("held");
    assert_eq!(rig.sent(1), ["EVALSHA extend 1 r #1 10000"]);
    rig.reply(0, ":1");
    rig.reply(1, ":1");
    let events = rig.wait();
    let [Event::ExtendFailed { error: ExtendError::NoQuorum(outcomes), .. }] = events[..] else {
        panic!("{events:?}");
    };
    assert_eq!(outcomes.as_slice()[1], NodeOutcome::Quarantined);
}

/// FAULTS 29, FAULTS 47: the quarantine counts from that error, and lasts the whole time.
#[test]
fn a_node_that_stops_serving_is_distrusted_from_then_on() {
    for error in ["-LOADING x", "-READONLY x", "-MASTERDOWN x"] {
        let mut rig = rig(3);
        rig.acquire("r", NO_WAIT);
        rig.sent(0);
        rig.reply(0, error);
        let since = rig.now;
        // The process is the same, and has been up for long.
        rig.connect(0);
        let found = quarantine(&rig, 0).expect("in quarantine");
        assert_eq!(found.reason, QuarantineReason::StoppedServing, "{error}");
        assert_eq!(rig.now + found.remaining, since + span(), "{error}");
    }
}

#[test]
fn a_broken_connection_alone_is_no_reason() {
    let mut rig = Rig::unconnected(3, |config| config.max_ttl = TTL);
    rig.connect_as(0, 0, YOUNG);
    rig.advance(span());
    assert_eq!(rig.state(0), NodeState::Ready);
    rig.close(0);
    rig.connect_as(0, 0, YOUNG);
    assert_eq!(rig.state(0), NodeState::Ready);
}

#[test]
fn a_quarantine_that_ends_while_the_node_is_down_is_over_when_it_is_back() {
    let mut rig = rig(3);
    restart(&mut rig, 0, YOUNG);
    let process = 100 + 1;
    rig.close(0);
    rig.advance(span());
    rig.connect_as(0, process, YOUNG);
    assert_eq!(rig.state(0), NodeState::Ready);
}

//! Delayed restart (S11): a node that may have forgotten locks does not vote.

use super::looked_at::Witness;
use super::*;

/// Creates a machine whose nodes have been in use for long, with ttls of at most ten seconds.
fn rig(count: usize) -> Rig {
    Rig::with(count, |config| config.max_ttl = TTL)
}

/// Returns how long a restarted node of such a machine does not vote: ten seconds and their drift.
fn span() -> Duration {
    TTL + ms(102)
}

/// Creates a machine whose nodes have no witness yet, with ttls of at most ten seconds.
fn unconnected_and_new(count: usize) -> Rig {
    let mut rig = Rig::unconnected(count, |config| config.max_ttl = TTL);
    rig.masters.iter_mut().for_each(Master::flush);
    rig
}

/// Replaces the server behind a node by a new process, which finds the keys of the old one.
fn restart(rig: &mut Rig, index: usize) {
    let process = 100 + rig.redlock.node(rig.now, node(index)).expect("there").counters.connects;
    rig.close(index);
    rig.connect_as(index, process as u8, "");
}

fn quarantine(rig: &Rig, index: usize) -> Option<Quarantine> {
    rig.redlock.node(rig.now, node(index)).expect("the node is there").quarantine
}

#[test]
fn a_restarted_node_is_not_asked_until_the_longest_lock_is_over() {
    let change = |config: &mut RedlockConfig| {
        (config.max_ttl, config.repair) = (TTL, false);
    };
    let mut rig = Rig::with(3, change);
    restart(&mut rig, 1);
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

/// The clock of a caller may be past the end of a quarantine before the machine is told the time.
#[test]
fn a_quarantine_that_is_over_and_not_yet_ended_is_shown_with_its_reason() {
    let mut rig = rig(3);
    restart(&mut rig, 1);
    for late in [Duration::ZERO, ms(1)] {
        let status = rig.redlock.node(rig.now + span() + late, node(1)).expect("the node is there");
        assert_eq!(status.state, NodeState::Quarantined);
        let expected =
            Quarantine { reason: QuarantineReason::Restarted, remaining: Duration::ZERO };
        assert_eq!(status.quarantine, Some(expected));
    }
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
    other.advance(holder.now - other.now);
    other.connect(0);
    other.connect_as(1, 100, "");
    other.connect(2);
    let wanted = other.acquire("r", WAIT);
    other.reply(0, "$-1");
    other.reply(2, "+OK");
    assert!(!other.has_output(1), "a node that may have forgotten");
    assert!(holder.redlock.is_held(other.now, lock));
    assert!(!other.redlock.is_held(other.now, wanted));
}

/// A spare that has been up for years knows nothing of the locks of the node whose name it has.
#[test]
fn a_process_without_a_witness_is_not_believed_however_long_it_has_been_up() {
    let mut rig = unconnected_and_new(1);
    rig.connect_as(0, 1, "uptime_in_seconds:90000000\r\n");
    let expected = Quarantine { reason: QuarantineReason::FirstContact, remaining: span() };
    assert_eq!(quarantine(&rig, 0), Some(expected));
}

/// One client waits for all that come later.
#[test]
fn a_witness_shortens_the_quarantine_of_a_node_that_is_met_for_the_first_time() {
    for (age, remaining) in [(0, 10_102), (1_000, 9_102), (10_000, 102), (10_102, 0)] {
        let mut first = unconnected_and_new(1);
        first.connect(0);
        first.advance(ms(age));
        let mut second = first.later(Duration::ZERO);
        second.connect(0);
        let found = quarantine(&second, 0).map_or(Duration::ZERO, |found| found.remaining);
        assert_eq!(found, ms(remaining), "{age} ms");
    }
}

#[test]
fn a_waiting_request_outlasts_the_quarantine() {
    let mut rig = unconnected_and_new(3);
    rig.connect_all(3);
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
    let mut rig = unconnected_and_new(5);
    let born = micros(rig.now) - 5_000_000;
    let old = Master::old(2, rig.now, TTL, 5);
    let witness = old.witness.map(|witness| Witness { born, wall: born, ..witness });
    rig.masters[2] = Master { witness, process: 2, ..Master::default() };
    rig.connect(0);
    rig.connect(1);
    rig.connect(2);
    let third = rig.now + Duration::from_secs(1);
    rig.advance(third - rig.now);
    rig.connect(3);
    rig.events();
    let lock = rig.acquire("r", NO_WAIT);
    let event = rig.wait().remove(0);
    let Event::AcquireFailed { lock: failed, error } = event else { panic!("{event:?}") };
    assert_eq!(failed, lock);
    let AcquireError::Quarantined { outcomes, at, retry_after } = error else {
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
    let mut rig = unconnected_and_new(3);
    rig.connect(0);
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
    restart(&mut rig, 1);
    rig.redlock.release(rig.now, lock).expect("held");
    assert_eq!(rig.sent(1), ["EVALSHA release 1 r #1"]);
}

/// S11 and S7: the node says that it has the key now, but nobody knows what it had before it
/// forgot.
#[test]
fn a_quarantined_node_extends_and_is_not_counted() {
    let mut rig = rig(3);
    let lock = rig.held("r");
    restart(&mut rig, 1);
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
    let mut rig = unconnected_and_new(3);
    rig.connect(0);
    rig.advance(span());
    assert_eq!(rig.state(0), NodeState::Ready);
    rig.close(0);
    rig.connect(0);
    assert_eq!(rig.state(0), NodeState::Ready);
}

#[test]
fn a_quarantine_that_ends_while_the_node_is_down_is_over_when_it_is_back() {
    let mut rig = rig(3);
    restart(&mut rig, 0);
    let process = 100 + 1;
    rig.advance(span() / 2);
    rig.close(0);
    rig.advance(span() / 2);
    rig.connect_as(0, process, "");
    assert_eq!(rig.state(0), NodeState::Ready);
}

/// The evidence of a restart is a file that has every answered write, and the node says so.
#[test]
fn a_durable_node_votes_at_once_after_a_restart() {
    const DURABLE: &str = "aof_enabled:1\r\naof_last_write_status:ok\r\nappendfsync:always\r\n";
    let change = |config: &mut RedlockConfig| {
        (config.max_ttl, config.restart_guard) = (TTL, RestartGuard::Durable);
    };
    for (extra, is_believed) in [
        (DURABLE.to_owned(), true),
        (DURABLE.replace("always", "everysec"), false),
        (DURABLE.replace("ok", "err"), false),
        (DURABLE.to_owned() + "no-appendfsync-on-rewrite:yes\r\n", false),
        (DURABLE.to_owned() + "second_repl_offset:7\r\n", false),
    ] {
        let mut rig = Rig::with(1, change);
        rig.close(0);
        rig.connect_as(0, 100, &extra);
        assert_eq!(quarantine(&rig, 0).is_none(), is_believed, "{extra}");
    }
    let mut rig = Rig::unconnected(1, change);
    rig.masters[0].flush();
    rig.connect_as(0, 100, DURABLE);
    assert!(quarantine(&rig, 0).is_some(), "an empty spare");
}

#[test]
fn a_strict_client_waits_for_a_span_after_its_own_start() {
    let mut rig = Rig::unconnected(1, |config| {
        (config.max_ttl, config.restart_guard) = (TTL, RestartGuard::Strict);
    });
    rig.connect(0);
    let expected = Quarantine { reason: QuarantineReason::FirstContact, remaining: span() };
    assert_eq!(quarantine(&rig, 0), Some(expected));
    rig.advance(span());
    rig.close(0);
    rig.connect(0);
    assert_eq!(quarantine(&rig, 0), None);
}

/// Another process may have had the name meanwhile, and may have granted what this one knows
/// nothing of. A client that believes no witness has only its own looks to tell.
#[test]
fn a_client_without_a_witness_that_was_away_for_a_span_waits_once_more() {
    let denied = Some("-NOPERM No permissions to access a key");
    for (guard, refusal) in [(RestartGuard::Strict, None), (RestartGuard::On, denied)] {
        let mut rig = Rig::unconnected(1, |config| {
            (config.max_ttl, config.restart_guard) = (TTL, guard);
        });
        rig.masters[0].refusal = refusal;
        rig.connect(0);
        rig.advance(span());
        rig.close(0);
        rig.advance(span() / 2);
        rig.connect(0);
        assert_eq!(quarantine(&rig, 0), None, "{guard:?}: too short for another process");
        rig.close(0);
        rig.advance(span());
        rig.connect(0);
        let expected = Quarantine { reason: QuarantineReason::OutOfService, remaining: span() };
        assert_eq!(quarantine(&rig, 0), Some(expected), "{guard:?}");
        rig.advance(span());
        assert_eq!(quarantine(&rig, 0), None, "{guard:?}");
    }
}

#[test]
fn without_a_guard_nothing_is_written_and_every_node_votes() {
    let mut rig = Rig::unconnected(1, |config| config.restart_guard = RestartGuard::Off);
    rig.masters[0].flush();
    rig.connect(0);
    assert_eq!(rig.state(0), NodeState::Ready);
    assert!(rig.masters[0].witness.is_none());
}

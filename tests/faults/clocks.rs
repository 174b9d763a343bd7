//! Masters whose wall clock is stepped. Redis ends keys and dates the witness by that clock.

use std::time::Duration;

use redbolt::AcquireError;
use redbolt::redlock::{QuarantineReason, RestartGuard};

use crate::guarded::{KEY, hasty, hold_on_two, quarantined};
use crate::owner::{Owner, PATIENCE, TTL, config};
use crate::support::clocks::Clocks;
use crate::support::servers::Node;
use crate::support::until;

const DAY: Duration = Duration::from_secs(86_400);

/// Starts three masters with the right time, whose clocks may be stepped.
fn start() -> Option<(Clocks, Vec<Node>, Owner)> {
    let clocks = Clocks::new(3)?;
    let nodes = clocks.start_all();
    let mut owner = Owner::of(nodes.iter().map(Node::addr));
    owner.all_ready();
    Some((clocks, nodes, owner))
}

/// FAULTS 30: the witness looks a day old by the clock of the server, and is seconds old by the
/// clock of the client that was there.
#[test]
fn a_witness_is_not_older_than_either_of_two_clocks_says() {
    let Some(clocks) = Clocks::new(1) else { return };
    let nodes = clocks.start_all();
    let mut first = hasty(&nodes, RestartGuard::On);
    quarantined(&mut first, 0, QuarantineReason::FirstContact);
    first.finish([]);
    clocks.set(0, DAY);
    for guard in [RestartGuard::On, RestartGuard::Strict] {
        let mut second = hasty(&nodes, guard);
        let left = quarantined(&mut second, 0, QuarantineReason::FirstContact);
        assert!(left > TTL / 2, "{guard}: {left:?}");
        second.attempt(KEY);
        let error = second.not_acquired();
        assert!(matches!(error, AcquireError::Quarantined { .. }), "{error}");
        second.finish(&nodes);
    }
}

/// FAULTS 30: the clock was ahead when the witness was born, which puts its birth into the future.
#[test]
fn a_witness_from_the_future_is_born_anew() {
    let Some(clocks) = Clocks::new(1) else { return };
    clocks.set(0, DAY);
    let nodes = clocks.start_all();
    let mut first = hasty(&nodes, RestartGuard::On);
    quarantined(&mut first, 0, QuarantineReason::FirstContact);
    first.finish([]);
    clocks.set(0, Duration::ZERO);
    let mut owner = hasty(&nodes, RestartGuard::On);
    let remaining = quarantined(&mut owner, 0, QuarantineReason::FirstContact);
    assert!(remaining > Duration::from_secs(50), "{remaining:?}: no credit for it");
    owner.attempt(KEY);
    owner.not_acquired();
    assert_eq!(owner.status(0).counters.asked, 0);
    owner.finish(&nodes);
}

/// FAULTS 31: one step ends one vote, and the others are still a majority.
#[test]
fn a_lock_that_all_have_outlasts_the_step_of_one_clock() {
    let Some((clocks, nodes, mut holder)) = start() else { return };
    let lock = holder.hold(KEY);
    holder.all_answered();
    clocks.set(1, TTL);
    assert!(until(PATIENCE, || nodes[1].get(KEY).is_none()));
    let mut rival = Owner::of(nodes.iter().map(Node::addr));
    rival.all_ready();
    rival.attempt(KEY);
    assert!(matches!(rival.not_acquired(), AcquireError::Held { .. }));
    assert!(holder.engine.is_held(lock));
    rival.all_answered();
    assert_eq!(rival.status(1).counters.granted, 1, "the vote of the stepped node is not enough");
    holder.extend(lock);
    holder.extended();
    holder.let_go(lock);
    rival.finish([]);
    holder.finish(&nodes);
}

/// FAULTS 31, the control, and the limit of Redlock: a node that never had the lock and a node that
/// forgot the lock early are a majority. Steps must be configured, or must not happen.
#[test]
fn a_lock_of_a_bare_majority_is_held_twice_after_the_step_of_one_clock() {
    let Some((clocks, nodes, mut holder)) = start() else { return };
    let lock = hold_on_two(&nodes, &mut holder, TTL);
    clocks.set(1, TTL);
    let mut rival = Owner::of(nodes.iter().map(Node::addr));
    let second = rival.hold(KEY);
    assert!(holder.engine.is_held(lock) && rival.engine.is_held(second));
    rival.let_go(second);
    holder.let_go(lock);
    rival.finish([]);
    holder.finish(&nodes);
}

/// FAULTS 31: a step within the configured drift ends the validity before the key can end.
#[test]
fn a_step_within_the_drift_leaves_the_key_for_longer_than_the_validity() {
    let Some((clocks, nodes, owner)) = start() else { return };
    owner.finish([]);
    let mut config = config(nodes.iter().map(Node::addr));
    config.redlock.max_ttl = 4 * TTL;
    config.redlock.drift.step = TTL;
    let mut owner = Owner::new(config);
    owner.all_ready();
    let lock = owner.acquire_for(KEY, 4 * TTL, PATIENCE);
    owner.acquired();
    owner.all_answered();
    for (index, node) in nodes.iter().enumerate() {
        clocks.set(index, TTL);
        // The node is asked first: the time between the two readings counts against the test.
        let left = Duration::from_millis(node.pttl(KEY).try_into().expect("the key is there"));
        assert!(left <= 3 * TTL, "the clock was not stepped: {left:?}");
        assert!(owner.engine.remaining(lock) < left, "{left:?}, {owner:?}");
    }
    owner.let_go(lock);
    owner.finish(&nodes);
}

/// FAULTS 32: the key of a dead client stays on one node for an hour, and nobody needs that node.
#[test]
fn a_clock_that_is_set_back_costs_the_vote_of_one_node() {
    const BACK: Duration = Duration::from_secs(3_600);
    let Some((clocks, nodes, mut owner)) = start() else { return };
    clocks.set(1, BACK);
    // Keys that all nodes would have, one of which lasts until after its clock is set back.
    nodes[1].set_px(KEY, b"of a client that died", TTL);
    for node in [&nodes[0], &nodes[2]] {
        node.set_px(KEY, b"of a client that died", Duration::from_millis(500));
    }
    clocks.set(1, Duration::ZERO);
    let lock = owner.hold(KEY);
    owner.extend(lock);
    owner.extended();
    assert!(nodes[1].pttl(KEY) > 3_000_000, "{}", nodes[1].pttl(KEY));
    owner.let_go(lock);
    owner.all_answered();
    assert_eq!(owner.status(1).counters.granted, 0);
    assert!(owner.status(1).counters.refused > 0);
    owner.finish([&nodes[0], &nodes[2]]);
    assert!(nodes[1].get(KEY).is_some(), "it is not ours to delete");
}

/// FAULTS 33: outside of the model, a majority that ends keys early grants the lock again.
#[test]
fn a_lock_is_held_twice_after_the_step_of_a_majority_of_clocks() {
    let Some((clocks, nodes, mut holder)) = start() else { return };
    let lock = holder.hold(KEY);
    holder.all_answered();
    clocks.set(0, TTL);
    clocks.set(1, TTL);
    let mut rival = Owner::of(nodes.iter().map(Node::addr));
    let second = rival.hold(KEY);
    assert!(holder.engine.is_held(lock) && rival.engine.is_held(second));
    // The holder learns of the loss with the next request.
    holder.extend(lock);
    holder.not_extended();
    holder.lost();
    rival.let_go(second);
    rival.finish([]);
    holder.finish(&nodes);
}

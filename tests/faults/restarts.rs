//! Masters that come back from a restart, with the locks they had granted or without.

use redbolt::AcquireError;
use redbolt::redlock::{NodeOutcome, QuarantineReason, RestartGuard};

use crate::guarded::{DURABLE, KEY, SHORT, declare, hasty, hold_on_two, owner, quarantined, sets};
use crate::owner::{Owner, PATIENCE, TTL};
use crate::support::servers::{Cluster, Node};

/// FAULTS 24: node 1 has forgotten the lock, and nodes 1 and 2 would be a majority for the rival.
#[test]
fn a_lock_forgotten_in_a_restart_is_not_granted_again_before_it_has_ended() {
    let mut cluster = Cluster::start(3);
    declare(&cluster, SHORT);
    let mut holder = owner(cluster.iter(), RestartGuard::On, SHORT);
    holder.all_ready();
    let lock = hold_on_two(&cluster, &mut holder, SHORT);
    cluster[1].restart();
    let mut rival = owner(cluster.iter(), RestartGuard::On, SHORT);
    let wanted = rival.acquire_for(KEY, SHORT, PATIENCE);
    assert_eq!(rival.acquired(), wanted);
    assert!(!holder.engine.is_held(lock), "two hold it");
    holder.lost();
    rival.release(wanted);
    // On a slow machine the lock may have ended by itself.
    rival.released();
    rival.finish([]);
    holder.finish(cluster.iter());
}

/// FAULTS 24, without a wait: what the rival is told.
#[test]
fn a_restarted_node_is_not_asked_by_a_client_that_starts_after_it() {
    let durable = || Node::start_with(&DURABLE);
    let mut nodes = [durable(), Node::start(), durable()];
    declare(&nodes, TTL);
    let mut holder = Owner::of(nodes.iter().map(Node::addr));
    holder.all_ready();
    let lock = hold_on_two(&nodes, &mut holder, TTL);
    nodes[1].restart();
    let mut rival = owner(&nodes, RestartGuard::Durable, TTL);
    quarantined(&mut rival, 1, QuarantineReason::FirstContact);
    rival.attempt(KEY);
    rival.not_acquired();
    assert_eq!((rival.status(1).counters.asked, sets(&nodes[1])), (0, 0));
    assert!(holder.engine.is_held(lock));
    holder.let_go(lock);
    rival.finish([]);
    holder.finish(&nodes);
}

/// FAULTS 25: the control of the two tests above.
#[test]
fn without_the_guard_a_restart_makes_two_holders() {
    let mut cluster = Cluster::start(3);
    let mut holder = Owner::of(cluster.addrs());
    holder.all_ready();
    let lock = hold_on_two(&cluster, &mut holder, TTL);
    cluster[1].restart();
    let mut rival = Owner::of(cluster.addrs());
    let second = rival.hold(KEY);
    assert!(holder.engine.is_held(lock) && rival.engine.is_held(second));
    rival.let_go(second);
    holder.let_go(lock);
    rival.finish([]);
    holder.finish(cluster.iter());
}

/// FAULTS 26: every write is on the disk before the answer.
#[test]
fn durable_nodes_keep_the_lock_over_a_restart_and_vote_at_once() {
    let mut cluster = Cluster::start_with(3, &DURABLE);
    declare(&cluster, TTL);
    let mut holder = owner(cluster.iter(), RestartGuard::Durable, TTL);
    holder.all_ready();
    let lock = holder.hold(KEY);
    holder.all_answered();
    cluster.iter_mut().for_each(|node| node.restart());
    let token = holder.engine.token(lock).expect("it is held");
    assert_eq!(cluster.holding(KEY, token.as_ref()), 3);
    let mut rival = owner(cluster.iter(), RestartGuard::Durable, TTL);
    rival.all_ready();
    rival.attempt(KEY);
    assert!(matches!(rival.not_acquired(), AcquireError::Held { .. }));
    holder.poll_until("the end of all sessions", |owner| {
        owner.engine.nodes().all(|(_, _, status)| status.counters.failures > 0)
    });
    holder.all_ready();
    holder.extend(lock);
    holder.extended();
    assert!(holder.let_go(lock).released.len() >= 2);
    let lock = rival.hold(KEY);
    rival.let_go(lock);
    rival.finish([]);
    holder.finish(cluster.iter());
}

/// FAULTS 26: a file written once a second may lack the last grants.
#[test]
fn a_node_with_a_file_is_taken_as_one_that_forgot_unless_it_is_declared_durable() {
    let every_second = ["--appendonly", "yes", "--appendfsync", "everysec"];
    let mut cluster = Cluster::start_with(1, &every_second);
    cluster[0].restart();
    let mut guarded = hasty(&cluster, RestartGuard::On);
    quarantined(&mut guarded, 0, QuarantineReason::FirstContact);
    guarded.attempt(KEY);
    let error = guarded.not_acquired();
    let AcquireError::Quarantined { outcomes, .. } = error else { panic!("{error}") };
    assert_eq!(outcomes.as_slice(), [NodeOutcome::Quarantined]);
    guarded.finish(cluster.iter());
}

/// FAULTS 27: nodes restart too fast. Nobody gets a lock, and every caller is told when a retry
/// makes sense.
#[test]
fn nodes_restarted_together_are_no_quorum_and_say_until_when() {
    let mut cluster = Cluster::start(3);
    cluster.iter_mut().for_each(|node| node.restart());
    let mut owner = hasty(&cluster, RestartGuard::On);
    for index in 0..3 {
        quarantined(&mut owner, index, QuarantineReason::FirstContact);
    }
    owner.attempt(KEY);
    let error = owner.not_acquired();
    let AcquireError::Quarantined { at, retry_after, .. } = error else { panic!("{error}") };
    assert!(at > owner.engine.now() && retry_after < TTL + TTL / 50, "{error}");
    for node in cluster.iter() {
        assert_eq!(sets(node), 0);
    }
    owner.finish(cluster.iter());
}

/// FAULTS 27: with a quarantine between two restarts there always is a quorum.
#[test]
fn nodes_restarted_one_after_another_leave_a_quorum() {
    let mut cluster = Cluster::start(3);
    declare(&cluster, SHORT / 2);
    let mut owner = owner(cluster.iter(), RestartGuard::On, SHORT / 2);
    owner.all_ready();
    for index in 0..3 {
        let failures = owner.status(index).counters.failures;
        cluster[index].restart();
        owner.poll_until("the end", |owner| owner.status(index).counters.failures > failures);
        let lock = owner.acquire_for(KEY, SHORT / 2, PATIENCE);
        assert_eq!(owner.acquired(), lock);
        owner.release(lock);
        owner.released();
        owner.all_ready();
        assert_eq!(owner.status(index).quarantine, None);
    }
    owner.finish(cluster.iter());
}

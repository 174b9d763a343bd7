//! Clients that ask a majority of five masters first: where their locks stand, and what the stop
//! and the death of a master cost them.

use std::time::Duration;

use redbolt::redlock::NodeSet;
use redbolt::{AcquireError, Ask, NodeState};

use crate::guarded::{KEY, declare};
use crate::owner::{Owner, TTL, config, node};
use crate::support::servers::{Cluster, Node};

const MAX_TTL: Duration = Duration::from_secs(60);

/// Returns five masters that may vote at once.
fn five() -> Cluster {
    let cluster = Cluster::start(5);
    declare(&cluster, MAX_TTL);
    cluster
}

fn owner(nodes: &[Node], ask: Ask) -> Owner {
    let mut config = config(nodes.iter().map(Node::addr));
    config.redlock.restart_guard = redbolt::RestartGuard::On;
    config.redlock.ask = ask;
    let mut owner = Owner::new(config);
    owner.all_ready();
    owner
}

/// Returns the nodes that have the key.
fn having(nodes: &[Node], key: &[u8]) -> NodeSet {
    let has_key = |index: &usize| nodes[*index].get(key).is_some();
    (0..nodes.len()).filter(has_key).map(node).collect()
}

fn first(nodes: NodeSet) -> usize {
    nodes.into_iter().next().expect("a lock stands somewhere").index()
}

#[test]
fn a_lock_stands_on_three_nodes_and_after_a_sixth_of_its_validity_on_all() {
    let cluster = five();
    let mut owner = owner(&cluster, Ask::Majority);
    let lock = owner.acquire_for("resource", Duration::from_secs(6), Duration::ZERO);
    assert_eq!(owner.acquired(), lock);
    assert_eq!(having(&cluster, KEY).len(), 3);
    owner.poll_until("the other nodes", |_| having(&cluster, KEY).len() == 5);
    let outcome = owner.let_go(lock);
    assert!(outcome.is_quorum_free, "{outcome:?}");
    let sets: u64 = (0..5).map(|index| owner.status(index).counters.asked).sum();
    assert_eq!((sets, owner.engine.counters().widened), (3, 0));
    owner.finish(cluster.iter());
}

#[test]
fn a_master_that_is_stopped_costs_a_hedge_and_no_lock() {
    let cluster = five();
    let mut owner = owner(&cluster, Ask::Majority);
    let lock = owner.hold(KEY);
    let stopped = first(having(&cluster, KEY));
    owner.let_go(lock);
    owner.all_answered();
    cluster[stopped].stop();
    // The first attempt asks the node that is stopped, and then the others.
    let lock = owner.attempt(KEY);
    assert_eq!(owner.acquired(), lock);
    assert_eq!(owner.engine.counters().widened, 1);
    cluster[stopped].cont();
    owner.let_go(lock);
    owner.finish(cluster.iter());
}

#[test]
fn a_held_lock_outlives_the_master_that_is_killed() {
    let mut cluster = five();
    let mut owner = owner(&cluster, Ask::Majority);
    let lock = owner.hold(KEY);
    let token = owner.engine.token(lock).expect("it is held");
    let killed = first(having(&cluster, KEY));
    cluster[killed].kill();
    owner.poll_until("the end of its session", |owner| {
        owner.status(killed).state != NodeState::Ready
    });
    owner.extend(lock);
    owner.extended();
    assert_eq!(holding_without(&cluster, killed, token.as_ref()), 4);
    owner.let_go(lock);
    owner.finish(cluster.iter().enumerate().filter(|(at, _)| *at != killed).map(|(_, node)| node));
}

/// Returns how many nodes have this value at the key, without the one that was killed.
fn holding_without(nodes: &[Node], killed: usize, value: &[u8]) -> usize {
    let others = nodes.iter().enumerate().filter(|(index, _)| *index != killed);
    others.filter(|(_, node)| node.get(KEY).as_deref() == Some(value)).count()
}

#[test]
fn clients_that_ask_all_and_clients_that_ask_a_majority_exclude_each_other() {
    let cluster = five();
    let mut owners = [Ask::All, Ask::Majority].map(|ask| owner(&cluster, ask));
    for holder in [0, 1] {
        let lock = owners[holder].acquire_for(KEY, TTL, Duration::ZERO);
        assert_eq!(owners[holder].acquired(), lock);
        owners[1 - holder].attempt(KEY);
        let error = owners[1 - holder].not_acquired();
        assert!(matches!(error, AcquireError::Held { .. }), "{error}");
        owners[holder].let_go(lock);
        owners[holder].all_answered();
        owners[1 - holder].all_answered();
    }
    for owner in owners {
        owner.finish(cluster.iter());
    }
}

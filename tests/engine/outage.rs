//! Nodes that are not there, go away, or come back.

use std::time::Duration;

use redbolt::redlock::{NodeError, NodeOutcome};
use redbolt::{AcquireError, ExtendError, LostReason, NodeState};

use crate::owner::{Owner, PATIENCE, config};
use crate::support::servers::{Cluster, Node};
use crate::support::until;

/// A port below all that servers and kernels hand out; connecting to it is refused.
const REFUSED: &str = "127.0.0.1:1";

/// FAULTS 16; PEERS 2.16.
#[test]
fn a_node_that_refuses_connections_is_no_loss() {
    let cluster = Cluster::start(2);
    let mut owner = Owner::of([cluster[0].addr(), REFUSED.to_owned(), cluster[1].addr()]);
    owner.failed_with(1, NodeError::Connect(std::io::ErrorKind::ConnectionRefused));
    for _ in 0..20 {
        let lock = owner.hold("resource");
        let token = owner.engine.token(lock).expect("it is held");
        assert_eq!(cluster.holding(b"resource", token.as_ref()), 2);
        owner.extend(lock);
        owner.extended();
        owner.let_go(lock);
    }
    owner.finish(cluster.iter());
}

/// FAULTS 16: the pauses between connection attempts grow, and between them the loop sleeps.
#[test]
fn a_node_that_refuses_connections_keeps_nobody_busy() {
    let mut config = config([REFUSED]);
    config.redlock.reconnect_max = Duration::from_secs(2);
    let mut owner = Owner::new(config);
    let start = owner.engine.now();
    let window = Duration::from_millis(600);
    while owner.engine.now() < start + window {
        owner.engine.poll(Some(window)).expect("polling works");
        while owner.engine.next_event().is_some() {}
    }
    // At the shortest the pauses are 10, 20, 40 … ms, and each costs a few turns.
    let failures = owner.status(0).counters.failures;
    assert!((2..=7).contains(&failures), "{failures} attempts");
    let waits = owner.engine.io_counters().waits;
    assert!(waits <= 4 * failures + 4, "{waits} waits for {failures} attempts");
    owner.finish([]);
}

/// FAULTS 16; PEERS 2.16: a name that means nothing is a node that is down.
#[test]
fn a_name_that_cannot_be_resolved_is_no_loss() {
    let cluster = Cluster::start(2);
    let unknown = "no-such-node.invalid:6379".to_owned();
    let mut owner = Owner::of([unknown, cluster[0].addr(), cluster[1].addr()]);
    let lock = owner.hold("resource");
    owner.let_go(lock);
    owner.failed_with(0, NodeError::NameNotResolved);
    owner.finish(cluster.iter());
}

/// PEERS 2.14: an error says which nodes were out, and why.
#[test]
fn without_any_node_the_error_says_so() {
    let mut config = config([REFUSED, "127.0.0.1:2", "127.0.0.1:3"]);
    config.redlock.node_timeout = Some(Duration::from_millis(50));
    config.redlock.reconnect_max = PATIENCE;
    let mut owner = Owner::new(config);
    owner.poll_until("refusals", |owner| {
        owner.engine.nodes().all(|(_, _, status)| status.error.is_some())
    });
    owner.attempt("resource");
    let error = owner.not_acquired();
    let AcquireError::NoQuorum(outcomes) = error else { panic!("{error}") };
    let down =
        |outcome: &NodeOutcome| matches!(outcome, NodeOutcome::Down | NodeOutcome::Connecting);
    assert!(outcomes.as_slice().iter().all(down) && outcomes.as_slice().len() == 3, "{error}");
    owner.finish([]);
}

/// A request that comes before the nodes do waits for them.
#[test]
fn a_cluster_that_starts_late_is_waited_for() {
    let mut cluster = Cluster::start(3);
    cluster.iter_mut().for_each(Node::kill);
    let mut owner = Owner::of(cluster.addrs());
    let lock = owner.acquire("resource");
    owner.poll_until("refusals", |owner| {
        owner.engine.nodes().all(|(_, _, status)| status.error.is_some())
    });
    cluster.iter_mut().for_each(Node::restart);
    assert_eq!(owner.acquired(), lock);
    owner.let_go(lock);
    owner.finish(cluster.iter());
}

/// PEERS 1d: a node that dies under a held lock.
#[test]
fn a_lock_survives_the_death_of_a_minority() {
    let mut cluster = Cluster::start(5);
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    let lock = owner.hold("resource");
    cluster[1].kill();
    cluster[4].kill();
    owner.extend(lock);
    owner.extended();
    assert!(!owner.let_go(lock).released.is_empty());
    cluster[1].restart();
    cluster[4].restart();
    owner.all_ready();
    owner.finish(cluster.iter());
}

/// FAULTS 15: a connection that ends between two requests costs nothing but the reconnect.
#[test]
fn connections_that_are_closed_while_idle_come_back() {
    let cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    let lock = owner.hold("resource");
    owner.all_answered();
    for node in cluster.iter() {
        node.command(&[b"CLIENT", b"KILL", b"TYPE", b"normal"]);
    }
    owner.poll_until("new connections", |owner| {
        owner.engine.nodes().all(|(_, _, status)| status.counters.connects == 2)
    });
    owner.all_ready();
    assert!(owner.engine.is_held(lock), "a lock does not hang on a connection");
    owner.extend(lock);
    owner.extended();
    assert!(owner.let_go(lock).released.len() >= 2);
    owner.finish(cluster.iter());
}

/// FAULTS 15: a release without a connection goes out after the reconnect.
#[test]
fn a_release_while_no_connection_is_there_is_made_up_for() {
    let cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    let lock = owner.hold("resource");
    for node in cluster.iter() {
        node.command(&[b"CLIENT", b"KILL", b"TYPE", b"normal"]);
    }
    owner.poll_until("the ends of the sessions", |owner| {
        owner.engine.nodes().all(|(_, _, status)| status.counters.failures == 1)
    });
    owner.release(lock);
    owner.released();
    owner.finish(cluster.iter());
}

/// FAULTS 15: a server that dies with a `SET` in its socket leaves an unknown behind, no vote.
#[test]
fn a_server_killed_with_requests_unanswered_is_no_vote() {
    let mut cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    cluster.iter().for_each(Node::stop);
    let lock = owner.attempt("resource");
    owner.turn();
    cluster[0].kill();
    cluster[1].kill();
    let error = owner.not_acquired();
    let AcquireError::NoQuorum(outcomes) = error else { panic!("{error}") };
    assert_eq!(outcomes.as_slice()[..2], [NodeOutcome::NoReply; 2]);
    assert!(!owner.engine.is_held(lock));
    cluster[2].cont();
    cluster[0].restart();
    cluster[1].restart();
    owner.all_ready();
    owner.finish(cluster.iter());
}

/// PEERS 2.6: nodes that come back empty have forgotten the lock, and an extension finds it out.
#[test]
fn a_lock_is_lost_when_a_majority_has_forgotten_it() {
    let mut cluster = Cluster::start(3);
    let mut config = config(cluster.addrs());
    config.redlock.repair = false;
    let mut owner = Owner::new(config);
    owner.all_ready();
    let lock = owner.hold("resource");
    // A node whose reply never came might still have it.
    owner.all_answered();
    cluster[0].restart();
    owner.poll_until("its return", |owner| owner.status(0).counters.connects == 2);
    owner.all_ready();
    owner.extend(lock);
    owner.extended();
    owner.poll_until("the last replies", |owner| owner.status(0).in_flight == 0);
    assert_eq!(cluster[0].get(b"resource"), None, "an extension never creates a key");

    cluster[1].restart();
    owner.poll_until("its return", |owner| owner.status(1).counters.connects == 2);
    owner.all_ready();
    owner.extend(lock);
    assert_eq!(owner.not_extended(), ExtendError::Lost(LostReason::Majority));
    assert_eq!(owner.lost(), LostReason::Majority);
    owner.finish(cluster.iter());
}

/// The connection dies while the answers to many locks are on their way, again and again.
#[test]
fn a_flapping_node_disturbs_nobody() {
    let cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    for round in 0..30_u8 {
        let locks: Vec<_> = (0..20_u8).map(|number| owner.acquire([round, number])).collect();
        owner.flush();
        cluster[usize::from(round % 3)].command(&[b"CLIENT", b"KILL", b"TYPE", b"normal"]);
        for _ in &locks {
            let lock = owner.acquired();
            owner.release(lock);
        }
        for _ in &locks {
            owner.released();
        }
    }
    assert!(until(PATIENCE, || {
        owner.turn();
        owner.engine.nodes().all(|(_, _, status)| status.state == NodeState::Ready)
    }));
    owner.finish(cluster.iter());
}

//! Nodes that are stopped for a while: the kernel goes on to accept bytes for them, nobody answers.

use std::time::Duration;

use redbolt::redlock::{MAX_RESOURCE, NodeError, NodeOutcome};
use redbolt::{AcquireError, NodeState, RequestError};

use crate::owner::{Owner, PATIENCE, TTL, config, node};
use crate::support::servers::{Cluster, Node};
use crate::support::until;

const SHORT: Duration = Duration::from_millis(100);

/// An owner that gives a node up after a short while.
fn hasty(nodes: &[Node]) -> Owner {
    let mut config = config(nodes.iter().map(Node::addr));
    config.redlock.node_timeout = Some(SHORT);
    config.redlock.close_timeout = 4 * SHORT;
    config.redlock.connect_timeout = 4 * SHORT;
    Owner::new(config)
}

/// FAULTS 20; PEERS 1d: the others decide, and a vote that comes late is still a vote.
#[test]
fn a_node_that_stops_for_less_than_a_timeout_is_waited_for_by_nobody_and_counts_late() {
    let cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    cluster[2].stop();
    let lock = owner.hold("resource");
    let token = owner.engine.token(lock).expect("it is held");
    cluster[2].cont();
    owner.poll_until("the late vote", |owner| owner.status(2).in_flight == 0);
    assert_eq!(owner.status(2).counters.granted, 1);
    assert_eq!(cluster.holding(b"resource", token.as_ref()), 3);

    // It holds the lock like any other: an extension needs it, with another node out.
    cluster[0].stop();
    owner.extend(lock);
    owner.extended();
    cluster[0].cont();
    owner.let_go(lock);
    owner.finish(cluster.iter());
}

/// FAULTS 21: the release stands behind the `SET` in the same socket.
#[test]
fn a_node_that_wakes_after_the_ttl_runs_the_release_behind_the_late_set() {
    let cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    cluster[2].stop();
    let ttl = Duration::from_millis(300);
    owner.acquire_for("resource", ttl, PATIENCE);
    owner.acquired();
    owner.lost();
    cluster[2].cont();
    owner.poll_until("its end", |owner| owner.engine.in_use() == 0);
    owner.all_answered();
    assert!(cluster[2].calls("set") > 0, "it was never asked");
    assert_eq!(cluster[2].calls("del"), cluster[2].calls("set"));
    owner.finish(cluster.iter());
}

/// FAULTS 21: alone it makes no lock, however many votes come when it wakes.
#[test]
fn votes_that_come_after_the_attempt_make_no_lock() {
    let cluster = Cluster::start(3);
    let mut config = config(cluster.addrs());
    config.redlock.node_timeout = Some(SHORT);
    let mut owner = Owner::new(config);
    owner.all_ready();
    cluster.iter().for_each(Node::stop);
    let lock = owner.attempt("resource");
    let error = owner.not_acquired();
    let AcquireError::NoQuorum(outcomes) = error else { panic!("{error}") };
    assert_eq!(outcomes.as_slice(), [NodeOutcome::NoReply; 3]);
    cluster.iter().for_each(Node::cont);
    owner.all_answered();
    let granted: u64 = (0..3).map(|index| owner.status(index).counters.granted).sum();
    assert_eq!(granted, 3, "the votes came");
    assert!(!owner.engine.is_held(lock));
    owner.finish(cluster.iter());
}

/// FAULTS 22: the connection is closed with the `SET` in the socket; the server finds it there when
/// it wakes, and with nothing behind it.
#[test]
fn a_ghost_of_a_closed_connection_is_found_and_removed() {
    let cluster = Cluster::start(3);
    let mut owner = hasty(&cluster);
    owner.all_ready();
    // A second attempt would send the release of the first one behind its `SET`.
    let lock = loop {
        let attempts = owner.engine.counters().attempts;
        cluster[2].stop();
        let lock = owner.hold("resource");
        if owner.engine.counters().attempts == attempts + 1 {
            break lock;
        }
        owner.let_go(lock);
        cluster[2].cont();
        owner.all_ready();
    };
    owner.poll_until("the end of the session", |owner| {
        !matches!(owner.status(2).state, NodeState::Ready | NodeState::Stalled)
    });
    owner.let_go(lock);
    assert!(owner.status(2).cleanup > 0, "it may come to exist");
    cluster[2].cont();
    // Nobody polls the engine meanwhile: this is the ghost.
    assert!(until(PATIENCE, || cluster[2].get(b"resource").is_some()), "the SET was not executed");
    owner.poll_until("the cleanup", |owner| owner.status(2).cleanup == 0);
    owner.finish(cluster.iter());
}

/// FAULTS 22: the same when the lock was never acquired, and the ghosts are many.
#[test]
fn ghosts_of_a_stopped_majority_are_removed() {
    let cluster = Cluster::start(3);
    let mut owner = hasty(&cluster);
    owner.all_ready();
    cluster[1].stop();
    cluster[2].stop();
    for number in 0..200_u8 {
        owner.acquire_for([number], TTL, SHORT);
    }
    for _ in 0..200 {
        let error = owner.not_acquired();
        assert!(matches!(error, AcquireError::NoQuorum(_)), "{error}");
    }
    owner.poll_until("the end of the sessions", |owner| {
        owner.status(1).cleanup > 0 && owner.status(2).cleanup > 0
    });
    cluster[1].cont();
    cluster[2].cont();
    assert!(until(PATIENCE, || cluster[1].calls("set") == 200 && cluster[2].calls("set") == 200));
    owner.all_ready();
    owner.finish(cluster.iter());
}

/// FAULTS 23; PEERS 2.15: acquire returns, by its deadline, and says why.
#[test]
fn a_stopped_majority_makes_no_lock_and_leaves_none() {
    let cluster = Cluster::start(5);
    let mut config = config(cluster.addrs());
    config.redlock.node_timeout = Some(SHORT);
    let mut owner = Owner::new(config);
    owner.all_ready();
    for node in &cluster[2..] {
        node.stop();
    }
    owner.acquire_for("resource", TTL, 3 * SHORT);
    let error = owner.not_acquired();
    let AcquireError::NoQuorum(outcomes) = error else { panic!("{error}") };
    for outcome in &outcomes.as_slice()[2..] {
        assert!(matches!(outcome, NodeOutcome::NoReply | NodeOutcome::Stalled), "{error}");
    }
    for node in &cluster[2..] {
        node.cont();
    }
    owner.all_answered();
    let lock = owner.hold("resource");
    owner.let_go(lock);
    owner.finish(cluster.iter());
}

/// FAULTS 65; PEERS 1d, 17: a stopped node is asked until it has kept silent for a node timeout,
/// and then costs nothing.
#[test]
fn a_stopped_node_is_passed_over() {
    let cluster = Cluster::start(3);
    let mut config = config(cluster.addrs());
    config.redlock.node_timeout = Some(SHORT);
    let mut owner = Owner::new(config);
    owner.all_ready();
    cluster[2].stop();
    let first = owner.hold("resource");
    owner.let_go(first);
    owner.poll_until("the silence", |owner| owner.status(2).state == NodeState::Stalled);
    let (asked, in_flight) = (owner.status(2).counters.asked, owner.status(2).in_flight);
    for _ in 0..100 {
        let lock = owner.hold("resource");
        let outcome = owner.let_go(lock);
        let may_have_it = outcome.released.union(outcome.unconfirmed);
        assert!(!may_have_it.contains(node(2)), "it was never asked: {outcome:?}");
    }
    assert_eq!(owner.status(2).counters.asked, asked);
    assert_eq!(owner.status(2).in_flight, in_flight);
    cluster[2].cont();
    owner.all_ready();
    let lock = owner.hold("resource");
    owner.poll_until("its vote", |owner| owner.status(2).counters.granted == asked + 1);
    owner.let_go(lock);
    owner.finish(cluster.iter());
}

/// FAULTS 18: more bytes than the kernel takes for a node that does not read.
#[test]
fn a_node_that_does_not_read_blocks_nobody_and_its_queue_is_bounded() {
    const PIPELINE: usize = 1_000;
    let cluster = Cluster::start(3);
    let mut config = config(cluster.addrs());
    config.redlock.max_locks = 4_000;
    config.redlock.max_pipeline = PIPELINE;
    let mut owner = Owner::new(config);
    owner.all_ready();
    cluster[2].stop();
    let names = (0..3_000).map(|number| format!("{number:0>MAX_RESOURCE$}"));
    let locks: Vec<_> = names.map(|name| owner.acquire(name)).collect();
    owner.poll_until("all locks", |owner| locks.iter().all(|lock| owner.engine.is_held(*lock)));
    let status = owner.status(2);
    assert_eq!(status.state, NodeState::Ready, "its timeout is far away");
    assert_eq!(status.counters.asked, PIPELINE as u64);
    let of_locks = status.in_flight - status.looks;
    assert!(of_locks <= PIPELINE, "{of_locks}");
    for lock in &locks {
        owner.acquired();
        owner.release(*lock);
    }
    for _ in &locks {
        owner.released();
    }
    assert!(owner.status(2).in_flight <= 2 * PIPELINE, "{}", owner.status(2).in_flight);
    cluster[2].cont();
    owner.poll_until("the late replies", |owner| owner.status(2).in_flight == 0);
    assert_eq!(owner.status(2).counters.granted, PIPELINE as u64, "no byte was lost");
    owner.finish(cluster.iter());
}

/// FAULTS 65: locks that have ended but for its replies must not take the places of new ones,
/// however few those are.
#[test]
fn a_stopped_node_does_not_fill_the_engine() {
    let cluster = Cluster::start(3);
    let mut config = config(cluster.addrs());
    config.redlock.node_timeout = Some(SHORT);
    config.redlock.max_locks = 4;
    let mut owner = Owner::new(config);
    owner.all_ready();
    cluster[2].stop();
    let deadline = owner.engine.now() + PATIENCE / 2;
    let mut cycles = 0;
    while cycles < 50 {
        // For a node timeout there is hope that it answers, and the engine is full indeed.
        match owner.try_acquire("resource") {
            Ok(_) => {
                let lock = owner.acquired();
                owner.let_go(lock);
                cycles += 1;
            }
            Err(RequestError::Full { .. }) => owner.turn(),
            Err(error) => panic!("{error}"),
        }
        assert!(owner.engine.now() < deadline, "{cycles} cycles, {owner:?}");
    }
    cluster[2].cont();
    owner.all_ready();
    owner.finish(cluster.iter());
}

/// FAULTS 17 as far as a stopped server can show it: silence ends the session in the end.
#[test]
fn a_node_that_stays_silent_is_closed_and_comes_back() {
    let cluster = Cluster::start(3);
    let mut owner = hasty(&cluster);
    owner.all_ready();
    cluster[0].stop();
    let lock = owner.hold("resource");
    owner.failed_with(0, NodeError::NoReply);
    owner.failed_with(0, NodeError::HandshakeTimeout);
    owner.let_go(lock);
    cluster[0].cont();
    owner.all_ready();
    owner.finish(cluster.iter());
}

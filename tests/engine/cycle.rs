//! What every user does: acquire, extend, release, on one to five nodes.

use std::time::Duration;

use redbolt::{AcquireError, Event, NodeState};

use crate::owner::{Owner, TTL, config};
use crate::support::servers::Cluster;

#[test]
fn a_lock_is_acquired_extended_and_released() {
    let cluster = Cluster::start(5);
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    let asked_at = owner.engine.now();
    let lock = owner.acquire("orders/42");
    let Event::Acquired { valid_until, .. } = owner.next() else { panic!("not acquired") };
    assert!(owner.engine.is_held(lock) && owner.engine.remaining(lock) < TTL);
    assert!(valid_until > asked_at && valid_until < owner.engine.now() + TTL);
    let token = owner.engine.token(lock).expect("a held lock has a token");
    assert!(cluster.holding(b"orders/42", token.as_ref()) >= 3);

    owner.extend(lock);
    let Event::Extended { valid_until: extended, .. } = owner.next() else {
        panic!("not extended");
    };
    assert!(extended > valid_until && owner.engine.is_held(lock));
    assert_eq!(owner.engine.token(lock), Some(token), "an extension keeps the token");

    let outcome = owner.let_go(lock);
    assert!(!owner.engine.is_held(lock));
    assert!(outcome.released.len() >= 3 && outcome.foreign.is_empty(), "{outcome:?}");
    assert!(outcome.absent.is_empty(), "{outcome:?}");
    owner.finish(cluster.iter());
}

/// FAULTS 68.
#[test]
fn any_number_of_nodes_makes_a_lock() {
    for (nodes, majority) in [(1, 1), (2, 2), (3, 2), (4, 3)] {
        let cluster = Cluster::start(nodes);
        let mut owner = Owner::of(cluster.addrs());
        let lock = owner.hold("resource");
        let token = owner.engine.token(lock).expect("a held lock has a token");
        assert!(cluster.holding(b"resource", token.as_ref()) >= majority, "of {nodes}");

        let mut rival = Owner::of(cluster.addrs());
        rival.all_ready();
        rival.attempt("resource");
        assert!(matches!(rival.not_acquired(), AcquireError::Held { .. }), "of {nodes}");

        owner.let_go(lock);
        let lock = rival.hold("resource");
        rival.let_go(lock);
        rival.finish(cluster.iter());
        owner.finish(cluster.iter());
    }
}

/// FAULTS 68; PEERS 2.36: a quorum is counted over the configured nodes, never the reachable ones.
#[test]
fn all_that_can_be_reached_is_not_a_quorum_unless_it_is_a_majority() {
    for (nodes, alive) in [(2, 1), (4, 2), (5, 2)] {
        let mut cluster = Cluster::start(nodes);
        for node in &mut cluster[alive..] {
            node.kill();
        }
        let mut config = config(cluster.addrs());
        config.redlock.node_timeout = Some(Duration::from_millis(100));
        let mut owner = Owner::new(config);
        owner.poll_until("the living nodes", |owner| {
            (0..alive).all(|index| owner.status(index).state == NodeState::Ready)
        });
        owner.attempt("resource");
        let error = owner.not_acquired();
        assert!(matches!(error, AcquireError::NoQuorum(_)), "{alive} of {nodes}: {error}");
        owner.finish(&cluster[..alive]);
    }
}

/// More than a majority can be demanded.
#[test]
fn a_quorum_of_all_needs_all() {
    let mut cluster = Cluster::start(3);
    let mut config = config(cluster.addrs());
    config.redlock.quorum = Some(3);
    config.redlock.node_timeout = Some(Duration::from_millis(100));
    let mut owner = Owner::new(config);
    let lock = owner.hold("resource");
    let token = owner.engine.token(lock).expect("a held lock has a token");
    assert_eq!(cluster.holding(b"resource", token.as_ref()), 3);
    owner.let_go(lock);

    cluster[2].kill();
    owner.poll_until("the end of node 2", |owner| owner.status(2).state != NodeState::Ready);
    owner.attempt("resource");
    let error = owner.not_acquired();
    assert!(matches!(error, AcquireError::NoQuorum(_)), "{error}");
    owner.finish(&cluster[..2]);
}

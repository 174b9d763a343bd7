//! Taking back a request, wherever it has got to.

use std::time::Duration;

use redbolt::{AcquireError, NodeState, RequestError};

use crate::owner::{Owner, TTL, config};
use crate::support::servers::{Cluster, Node};
use crate::support::until;

#[test]
fn in_line_behind_another_of_this_engine() {
    let cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    let holder = owner.hold("resource");
    let (second, third) = (owner.acquire("resource"), owner.acquire("resource"));
    owner.cancel(second);
    assert_eq!(owner.not_acquired(), AcquireError::Cancelled);
    assert_eq!(owner.engine.cancel(second), Err(RequestError::UnknownLock), "once is enough");
    owner.release(holder);
    owner.poll_until("the third", |owner| owner.engine.is_held(third));
    owner.released();
    owner.acquired();
    owner.let_go(third);
    owner.finish(cluster.iter());
}

#[test]
fn while_too_few_nodes_are_there() {
    let mut node = Node::start();
    node.kill();
    let mut owner = Owner::of([node.addr()]);
    let lock = owner.acquire("resource");
    owner.poll_until("a refused connection", |owner| owner.status(0).error.is_some());
    owner.cancel(lock);
    assert_eq!(owner.not_acquired(), AcquireError::Cancelled);
    node.restart();
    owner.all_ready();
    assert_eq!(owner.status(0).counters.asked, 0, "nothing was sent for it");
    owner.finish([&node]);
}

/// PEERS 1c, redsync: cleanup derives from the caller's context, so that cancelling aborts it, and
/// releases run on other connections than the `SET`s they are to follow. PEERS 2.27.
/// FAULTS 67: a cancelled acquisition is released.
#[test]
fn while_the_votes_are_out() {
    let cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    cluster.iter().for_each(Node::stop);
    let lock = owner.acquire("resource");
    owner.flush();
    owner.cancel(lock);
    assert_eq!(owner.not_acquired(), AcquireError::Cancelled);
    cluster.iter().for_each(Node::cont);
    owner.all_answered();
    for node in cluster.iter() {
        // The SET was executed, and yet nothing is left.
        assert_eq!((node.calls("set"), node.calls("del")), (1, 1));
    }
    owner.finish(cluster.iter());
}

/// FAULTS 67.
#[test]
fn before_the_first_byte_has_left() {
    let cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    let lock = owner.acquire("resource");
    owner.cancel(lock);
    assert_eq!(owner.not_acquired(), AcquireError::Cancelled);
    owner.finish(cluster.iter());
}

#[test]
fn between_two_attempts() {
    let node = Node::start();
    let mut owner = Owner::of([node.addr()]);
    owner.all_ready();
    node.set_px(b"resource", b"somebody else's", TTL);
    let lock = owner.acquire("resource");
    // With nothing on its way, it waits for the time of its next attempt.
    owner.poll_until("a pause", |owner| {
        let status = owner.status(0);
        status.counters.refused > 0 && status.in_flight == 0
    });
    owner.cancel(lock);
    assert_eq!(owner.not_acquired(), AcquireError::Cancelled);
    let asked = owner.status(0).counters.asked;
    node.command(&[b"DEL", b"resource"]);
    let again = owner.hold("resource");
    assert_eq!(owner.status(0).counters.asked, asked + 1, "the cancelled one tries no more");
    owner.let_go(again);
    owner.finish([&node]);
}

/// The next in line inherits the turn, also from one that never got the lock.
#[test]
fn the_first_of_a_line() {
    let node = Node::start();
    let mut owner = Owner::of([node.addr()]);
    owner.all_ready();
    node.set_px(b"resource", b"somebody else's", TTL);
    let (first, second) = (owner.acquire("resource"), owner.acquire("resource"));
    owner.poll_until("a refusal", |owner| owner.status(0).counters.refused > 0);
    owner.cancel(first);
    assert_eq!(owner.not_acquired(), AcquireError::Cancelled);
    node.command(&[b"DEL", b"resource"]);
    assert_eq!(owner.acquired(), second);
    owner.let_go(second);
    owner.finish([&node]);
}

/// A cancelled request whose node died with the `SET` on its way: S6.
/// FAULTS 67.
#[test]
fn when_the_connections_have_died_with_the_votes_out() {
    let node = Node::start();
    let mut config = config([node.addr()]);
    config.redlock.node_timeout = Some(Duration::from_millis(100));
    config.redlock.close_timeout = Duration::from_millis(100);
    config.redlock.connect_timeout = Duration::from_millis(100);
    let mut owner = Owner::new(config);
    owner.all_ready();
    node.stop();
    let lock = owner.acquire("resource");
    owner.poll_until("the end of the session", |owner| {
        !matches!(owner.status(0).state, NodeState::Ready | NodeState::Stalled)
    });
    owner.cancel(lock);
    assert_eq!(owner.not_acquired(), AcquireError::Cancelled);
    node.cont();
    assert!(until(TTL, || node.calls("set") > 0), "the SET lay in the socket of the server");
    owner.finish([&node]);
}

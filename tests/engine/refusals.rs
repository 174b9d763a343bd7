//! Servers that answer with an error for a while: they are passed over, and come back by
//! themselves.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use redbolt::redlock::{NodeError, NodeOutcome, ServerError};
use redbolt::{AcquireError, ExtendError, NodeState};

use crate::owner::{Owner, PATIENCE, config};
use crate::support::fake::{Action, Fake};
use crate::support::master::Master;
use crate::support::servers::{Cluster, Node};
use crate::support::until;
use crate::support::wire::{Connection, Reply, request};

const OVERLOADED: NodeError = NodeError::Server(ServerError::Overloaded);

/// The only attempt on the only node: what it said.
fn outcome_of_attempt(owner: &mut Owner) -> NodeOutcome {
    owner.attempt("another resource");
    match owner.not_acquired() {
        AcquireError::NoQuorum(outcomes) => outcomes.as_slice()[0],
        other => panic!("{other}"),
    }
}

fn set_config(node: &Node, name: &str, value: &str) {
    let reply = node.command(&[b"CONFIG", b"SET", name.as_bytes(), value.as_bytes()]);
    assert_eq!(reply, Reply::Simple("OK".to_owned()));
}

/// Keeps the node busy with a script that never ends, until [`end_script`].
fn begin_script(node: &Node) -> Connection {
    let mut connection = node.connect(PATIENCE).expect("the node accepts");
    let endless: [&[u8]; 3] = [b"EVAL", b"while true do end", b"0"];
    connection.send(&request(&endless)).expect("the kernel takes it");
    let busy = |reply: &Reply| matches!(reply, Reply::Error(text) if text.starts_with("BUSY"));
    assert!(until(PATIENCE, || busy(&node.command(&[b"PING"]))), "the script does not run");
    connection
}

fn end_script(node: &Node, mut connection: Connection) {
    node.command(&[b"SCRIPT", b"KILL"]);
    let reply = connection.reply().expect("the script was killed");
    assert!(matches!(reply, Reply::Error(_)), "{reply:?}");
}

fn busy_soon(node: &Node) {
    // Its name since Redis 7 is busy-reply-threshold; the old one is still understood.
    set_config(node, "lua-time-limit", "1");
}

/// FAULTS 44; PEERS 2.25.
#[test]
fn a_busy_node_is_passed_over_without_reconnecting_and_comes_back() {
    let cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    busy_soon(&cluster[2]);
    let before = owner.hold("before");
    let script = begin_script(&cluster[2]);
    let lock = owner.hold("resource");
    owner.failed_with(2, OVERLOADED);
    assert!(owner.status(2).message.starts_with("BUSY"), "{}", owner.status(2));
    owner.let_go(lock);
    for _ in 0..20 {
        let lock = owner.hold("resource");
        owner.let_go(lock);
    }
    // A release that it does not execute is kept for later.
    owner.let_go(before);
    owner.poll_until("the answer", |owner| owner.status(2).cleanup > 0);
    end_script(&cluster[2], script);
    owner.all_ready();
    assert_eq!(owner.status(2).counters.connects, 1);
    let granted = owner.status(2).counters.granted;
    let lock = owner.hold("resource");
    owner.poll_until("its vote", |owner| owner.status(2).counters.granted > granted);
    owner.let_go(lock);
    owner.finish(cluster.iter());
}

/// FAULTS 44; PEERS 2.33: an error is not a loss.
#[test]
fn an_extension_that_a_busy_node_refuses_can_be_tried_again() {
    let node = Node::start();
    let mut owner = Owner::of([node.addr()]);
    busy_soon(&node);
    let lock = owner.hold("resource");
    let script = begin_script(&node);
    owner.extend(lock);
    let error = owner.not_extended();
    let ExtendError::NoQuorum(outcomes) = error else { panic!("{error}") };
    assert_eq!(outcomes.as_slice(), [NodeOutcome::Failed]);
    assert!(owner.engine.is_held(lock));
    end_script(&node, script);
    owner.extend(lock);
    owner.extended();
    owner.let_go(lock);
    owner.finish([&node]);
}

/// FAULTS 45.
#[test]
fn a_node_without_memory_refuses_locks_and_takes_them_back() {
    let node = Node::start();
    let mut owner = Owner::of([node.addr()]);
    let lock = owner.hold("resource");
    set_config(&node, "maxmemory", "1");
    assert_eq!(outcome_of_attempt(&mut owner), NodeOutcome::Failed);
    assert_eq!(owner.status(0).error, Some(OVERLOADED));
    assert!(owner.status(0).message.starts_with("OOM"), "{}", owner.status(0));
    assert_eq!(owner.status(0).state, NodeState::Unhealthy);
    owner.extend(lock);
    owner.extended();
    assert_eq!(owner.let_go(lock).released.len(), 1);
    assert_eq!(node.get(b"resource"), None);

    set_config(&node, "maxmemory", "0");
    let lock = owner.hold("resource");
    owner.let_go(lock);
    assert_eq!(owner.status(0).counters.connects, 1);
    owner.finish([&node]);
}

/// FAULTS 48.
#[test]
fn a_node_without_its_replicas_refuses_locks_and_comes_back() {
    let node = Node::start();
    let mut owner = Owner::of([node.addr()]);
    let lock = owner.hold("resource");
    set_config(&node, "min-replicas-to-write", "1");
    assert_eq!(outcome_of_attempt(&mut owner), NodeOutcome::Failed);
    assert!(owner.status(0).message.starts_with("NOREPLICAS"), "{}", owner.status(0));
    // It does not even delete, so that the release is left to the cleanup.
    assert_eq!(owner.let_go(lock).unconfirmed.len(), 1);
    set_config(&node, "min-replicas-to-write", "0");
    let lock = owner.hold("another resource");
    owner.let_go(lock);
    assert_eq!(owner.status(0).counters.connects, 1);
    owner.finish([&node]);
}

/// FAULTS 48.
#[test]
fn an_error_that_rules_out_execution_is_a_definite_no() {
    let rows: [(&[u8], bool); 5] = [
        (b"-MISCONF Redis is configured to save RDB snapshots\r\n", true),
        (b"-OOM command not allowed when used memory > 'maxmemory'.\r\n", true),
        (b"-TRYAGAIN Multiple keys request during rehashing of slot\r\n", true),
        // Whoever says this may have executed it.
        (b"-ERR Protocol error\r\n", false),
        (b"-WHATEVER it is\r\n", false),
    ];
    for (bytes, is_definite) in rows {
        let fake = Fake::after_handshake(Master::new(), |request| {
            Action::Reply(match request.name().as_str() {
                "SET" => bytes.to_vec(),
                _ => b":0\r\n".to_vec(),
            })
        });
        let mut owner = Owner::of([fake.addr()]);
        owner.all_ready();
        assert_eq!(outcome_of_attempt(&mut owner), NodeOutcome::Failed);
        owner.all_answered();
        let released = fake.requests().iter().any(|request| request.name() == "EVALSHA");
        assert_eq!(released, !is_definite, "{}", owner.status(0));
        assert_eq!(owner.status(0).counters.failures, 0, "the session goes on");
        owner.finish([]);
    }
}

/// FAULTS 47: a master that becomes a replica is not the node we knew.
#[test]
fn a_replica_loses_its_session_and_its_vote() {
    let cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    let held = owner.hold("held");
    // Nobody listens there; the node keeps its data and refuses to write.
    cluster[2].command(&[b"REPLICAOF", b"127.0.0.1", b"1"]);
    let lock = owner.hold("resource");
    owner.poll_until("the end of the session", |owner| owner.status(2).counters.failures > 0);
    owner.failed_with(2, NodeError::Replica);
    owner.let_go(lock);
    owner.extend(held);
    owner.extended();
    owner.let_go(held);
    assert!(owner.status(2).cleanup > 0, "it still has the lock");
    assert_eq!(cluster[2].keys(), [b"held"]);

    cluster[2].command(&[b"REPLICAOF", b"NO", b"ONE"]);
    owner.all_ready();
    let lock = owner.hold("resource");
    owner.let_go(lock);
    owner.finish(cluster.iter());
}

/// FAULTS 29: no vote while it loads, and no hurry.
#[test]
fn a_loading_node_is_asked_again_ever_more_slowly() {
    let loading = Arc::new(AtomicBool::new(false));
    let (ready, busy) = (Master::new(), Master { loading: true, ..Master::new() });
    let fake = Fake::scripted({
        let loading = Arc::clone(&loading);
        move |request| {
            let is_loading = loading.load(Ordering::SeqCst);
            let master = if is_loading { &busy } else { &ready };
            let bytes = match (request.name().as_str(), is_loading) {
                ("INFO", _) | (_, false) => master.answer(request),
                _ => Some(b"-LOADING Redis is loading the dataset in memory\r\n".to_vec()),
            };
            Action::Reply(bytes.unwrap_or_else(|| b"+OK\r\n".to_vec()))
        }
    });
    let mut config = config([fake.addr()]);
    config.redlock.reconnect_max = Duration::from_secs(2);
    let mut owner = Owner::new(config);
    owner.all_ready();
    loading.store(true, Ordering::SeqCst);
    assert_eq!(outcome_of_attempt(&mut owner), NodeOutcome::Failed);
    owner.failed_with(0, NodeError::Loading);
    let start = owner.engine.now();
    owner.poll_until("the window to pass", |owner| {
        owner.engine.now() >= start + Duration::from_millis(600)
    });
    // At the shortest the pauses are 10, 20, 40 … ms.
    assert!(fake.accepted() <= 9, "{} connections", fake.accepted());
    assert_eq!(owner.status(0).counters.asked, 1);
    loading.store(false, Ordering::SeqCst);
    owner.all_ready();
    owner.finish([]);
}

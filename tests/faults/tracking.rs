//! Real servers that tell their clients at once when their keys are gone (S11).
//!
//! The locks here can last for a day, so that no look comes by itself while a test runs.

use std::time::Duration;

use redbolt::NodeState;
use redbolt::redlock::{QuarantineReason, RAISE_MAX_TTL, RestartGuard};

use crate::guarded::{KEY, SHORT, deaf, declare, owner};
use crate::owner::{Owner, PATIENCE, config};
use crate::support::proxy::{Proxy, Rule, Way};
use crate::support::servers::{Cluster, Node};
use crate::support::until;
use crate::support::wire::Reply;

type Change = fn(&Node);

const LONG: Duration = Duration::from_secs(24 * 60 * 60);

fn ok(node: &Node, command: &[&[u8]]) {
    assert_eq!(node.command(command), Reply::Simple("OK".to_owned()));
}

fn flush(nodes: &[Node]) {
    nodes.iter().for_each(|node| ok(node, &[b"FLUSHALL"]));
}

/// Returns an owner with all nodes ready, which tell at once.
fn told(nodes: &[Node]) -> Owner {
    let mut owner = owner(nodes, RestartGuard::On, LONG);
    owner.all_ready();
    (0..nodes.len()).for_each(|index| assert!(owner.status(index).tracks_witness, "{owner:?}"));
    owner
}

/// Waits until each node was in quarantine because it has lost data.
fn all_lost(owner: &mut Owner) {
    let mut noticed = [false; 3];
    owner.poll_until("a quarantine of each node", |owner| {
        for (index, noticed) in noticed.iter_mut().enumerate() {
            let why = owner.status(index).quarantine.map(|quarantine| quarantine.reason);
            *noticed |= why == Some(QuarantineReason::DataLost);
        }
        noticed == [true; 3]
    });
}

/// Returns how often clients have looked at a node.
fn looks(node: &Node) -> u64 {
    let stamp = node.get(b"redbolt:seen").expect("somebody has looked");
    let stamp = String::from_utf8(stamp).expect("a stamp is text");
    let count = stamp.split(' ').nth(3).and_then(|count| count.parse().ok());
    count.expect("the fourth word is a number")
}

/// One client holds a lock and another one tries again and again, while all keys go.
#[test]
fn a_flush_of_all_nodes_is_noticed_at_once_by_whoever_tracks() {
    let cluster = Cluster::start(3);
    declare(&cluster, LONG);
    let [mut holder, mut waiter] = [(); 2].map(|()| told(&cluster));
    let held = holder.acquire_for(KEY, LONG, PATIENCE);
    assert_eq!(holder.acquired(), held);
    let wanted = waiter.acquire_for(KEY, LONG, LONG);
    waiter.poll_until("a refusal", |waiter| waiter.status(0).counters.refused > 0);
    flush(&cluster);
    for owner in [&mut waiter, &mut holder] {
        all_lost(owner);
    }
    assert_eq!(waiter.next_now(), None, "nobody else gets the lock");
    waiter.cancel(wanted);
    waiter.not_acquired();
    assert!(holder.engine.is_held(held), "and the owner still believes in it");
    holder.let_go(held);
    holder.finish(cluster.iter());
    waiter.finish(cluster.iter());
}

/// The votes were given after the flush, and are read together with what the nodes say of it.
#[test]
fn votes_that_were_given_behind_a_flush_do_not_count() {
    let cluster = Cluster::start(3);
    declare(&cluster, LONG);
    let mut holder = told(&cluster);
    let held = holder.acquire_for(KEY, LONG, PATIENCE);
    assert_eq!(holder.acquired(), held);
    let proxies: Vec<_> = cluster.iter().map(|node| Proxy::start(&node.addr())).collect();
    let mut config = config(proxies.iter().map(Proxy::addr));
    (config.redlock.restart_guard, config.redlock.max_ttl) = (RestartGuard::On, LONG);
    let mut other = Owner::new(config);
    other.all_ready();
    proxies.iter().for_each(|proxy| proxy.set(Way::Replies, Rule::Hold));
    flush(&cluster);
    other.acquire_for(KEY, LONG, Duration::ZERO);
    let is_given = || {
        let keys = cluster.iter().map(|node| node.get(KEY));
        keys.filter(Option::is_some).count() == 3
    };
    assert!(until(PATIENCE, || {
        other.turn();
        is_given()
    }));
    proxies.iter().for_each(|proxy| proxy.set(Way::Replies, Rule::Pass));
    other.not_acquired();
    assert!(holder.engine.is_held(held));
    all_lost(&mut other);
    holder.let_go(held);
    holder.finish(cluster.iter());
    other.finish(cluster.iter());
}

/// Whoever may not track is told nothing, and looks.
#[test]
fn a_flush_under_clients_that_may_not_track_is_noticed_by_the_next_look() {
    let cluster = Cluster::start(3);
    declare(&cluster, SHORT);
    let mut owner = deaf(&cluster, RestartGuard::On, SHORT);
    owner.all_ready();
    (0..3).for_each(|index| assert!(!owner.status(index).tracks_witness, "{owner:?}"));
    let lock = owner.acquire_for(KEY, SHORT, PATIENCE);
    assert_eq!(owner.acquired(), lock);
    owner.let_go(lock);
    flush(&cluster);
    all_lost(&mut owner);
    owner.finish(cluster.iter());
}

/// Somebody raises `max_ttl`, empties another database, or loads the same data again.
#[test]
fn a_node_whose_witness_is_the_same_votes_on_after_one_more_look() {
    let cluster = Cluster::start_with(1, &["--enable-debug-command", "yes"]);
    let node = &cluster[0];
    declare(&cluster, LONG);
    let mut owner = told(&cluster);
    let held = owner.acquire_for("held", LONG, PATIENCE);
    assert_eq!(owner.acquired(), held);
    // Who raises looks as well.
    let changes: [(Change, u64); 3] = [(raise, 2), (flush_another, 1), (reload, 1)];
    for (change, expected) in changes {
        let before = looks(node);
        change(node);
        owner.poll_until("a look", |_| looks(node) >= before + expected);
        owner.all_ready();
        let lock = owner.acquire_for(KEY, LONG, PATIENCE);
        assert_eq!(owner.acquired(), lock);
        owner.let_go(lock);
        assert_eq!(owner.status(0).state, NodeState::Ready);
        assert_eq!(owner.status(0).counters.connects, 1);
    }
    assert!(owner.engine.is_held(held));
    owner.let_go(held);
    owner.finish(cluster.iter());
}

/// Raises `max_ttl`, which writes the witness.
fn raise(node: &Node) {
    let max_ttl = (LONG + LONG).as_millis().to_string();
    let script: [&[u8]; 5] =
        [b"EVAL", RAISE_MAX_TTL.text.as_bytes(), b"2", b"redbolt:witness", b"redbolt:seen"];
    let words: [&[u8]; 5] = [b"0", b"0", max_ttl.as_bytes(), b"1", b"1"];
    assert!(matches!(node.command(&[&script[..], &words].concat()), Reply::Array(_)));
}

/// Empties a database in which no lock is.
fn flush_another(node: &Node) {
    let mut connection = node.connect(PATIENCE).expect("it listens");
    for command in [&[&b"SELECT"[..], b"5"][..], &[b"FLUSHDB"]] {
        let reply = connection.command(command).expect("it answers");
        assert_eq!(reply, Reply::Simple("OK".to_owned()));
    }
}

/// Saves all keys and loads them again.
fn reload(node: &Node) {
    ok(node, &[b"DEBUG", b"RELOAD"]);
}

//! Links between the engine and real servers that harm what they carry.

use std::time::Duration;

use redbolt::redlock::NodeError;
use redbolt::{AcquireError, NodeOutcome, NodeState};

use crate::guarded::KEY;
use crate::owner::{Owner, PATIENCE, config};
use crate::support::proxy::{Harm, Proxy, Rule, Way};
use crate::support::servers::{Cluster, Node};
use crate::support::until;

/// Starts a proxy in front of every node.
fn proxies(nodes: &[Node]) -> Vec<Proxy> {
    nodes.iter().map(|node| Proxy::start(&node.addr())).collect()
}

/// Returns an owner behind these proxies, with all nodes ready.
fn owner(proxies: &[Proxy]) -> Owner {
    let mut owner = Owner::of(proxies.iter().map(Proxy::addr));
    owner.all_ready();
    owner
}

/// Returns an owner that also gives up connections that stay silent for 200 ms.
fn impatient(proxies: &[Proxy]) -> Owner {
    let mut config = config(proxies.iter().map(Proxy::addr));
    config.redlock.node_timeout = Some(Duration::from_millis(50));
    config.redlock.close_timeout = Duration::from_millis(200);
    let mut owner = Owner::new(config);
    owner.all_ready();
    owner
}

fn is_ok(reply: &[u8]) -> bool {
    reply == b"+OK\r\n"
}

/// FAULTS 13, FAULTS 11: the second reply answers nothing, or the request behind.
#[test]
fn a_doubled_vote_counts_once_and_ends_its_connection() {
    let cluster = Cluster::start(3);
    let proxies = proxies(&cluster);
    let mut owner = owner(&proxies);
    proxies[0].harm(is_ok, Harm::Double);
    let lock = owner.hold(KEY);
    owner.failed_with(0, NodeError::UnsolicitedReply);
    assert_eq!(owner.status(0).counters.granted, 1);
    owner.let_go(lock);
    owner.finish(cluster.iter());
}

/// FAULTS 12: the next reply has a type that no `SET` has, which voids all replies still due.
#[test]
fn a_lost_vote_is_noticed_at_the_next_reply_of_another_type() {
    let cluster = Cluster::start(3);
    let proxies = proxies(&cluster);
    let mut owner = owner(&proxies);
    proxies[0].harm(is_ok, Harm::Lose);
    let lock = owner.hold(KEY);
    assert!(until(PATIENCE, || proxies[0].is_harmed()));
    owner.let_go(lock);
    owner.failed_with(0, NodeError::UnexpectedReply);
    assert_eq!(owner.status(0).counters.granted, 0);
    owner.finish(cluster.iter());
}

/// FAULTS 15: half a vote is no vote.
#[test]
fn a_vote_that_is_cut_off_does_not_count_and_its_key_is_cleaned_up() {
    let cluster = Cluster::start(3);
    let proxies = proxies(&cluster);
    let mut owner = owner(&proxies);
    for proxy in &proxies[..2] {
        proxy.harm(is_ok, Harm::Cut);
    }
    owner.attempt(KEY);
    let AcquireError::NoQuorum(outcomes) = owner.not_acquired() else { panic!("{owner:?}") };
    assert_eq!(outcomes.as_slice()[..2], [NodeOutcome::NoReply; 2]);
    owner.finish(cluster.iter());
}

/// FAULTS 17: a peer that has vanished stays silent for ever, and the kernel reports nothing.
#[test]
fn a_vanished_node_is_given_up_and_delays_nobody() {
    let cluster = Cluster::start(3);
    let proxies = proxies(&cluster);
    let mut owner = impatient(&proxies);
    for way in [Way::Requests, Way::Replies] {
        proxies[0].set_all(way, Rule::Swallow);
    }
    let lock = owner.hold(KEY);
    owner.let_go(lock);
    owner.failed_with(0, NodeError::NoReply);
    for way in [Way::Requests, Way::Replies] {
        proxies[0].set_all(way, Rule::Pass);
    }
    owner.all_ready();
    owner.finish(cluster.iter());
}

/// FAULTS 28: the node that gets the `SET` is not the node that answered the handshake.
#[test]
fn a_restart_between_the_handshake_and_the_set_gives_no_vote() {
    let mut cluster = Cluster::start(3);
    let proxies = proxies(&cluster);
    let mut owner = owner(&proxies);
    for proxy in &proxies[..2] {
        proxy.set(Way::Requests, Rule::Hold);
    }
    owner.attempt(KEY);
    owner.poll_until("the third vote", |owner| owner.status(2).counters.granted == 1);
    for (node, proxy) in cluster.iter_mut().zip(&proxies[..2]) {
        node.kill();
        node.restart();
        proxy.set(Way::Requests, Rule::Pass);
    }
    let AcquireError::NoQuorum(outcomes) = owner.not_acquired() else { panic!("{owner:?}") };
    assert_eq!(outcomes.as_slice()[..2], [NodeOutcome::NoReply; 2]);
    owner.finish(cluster.iter());
}

/// FAULTS 52: the release of the first attempt is executed while the second attempt holds the lock.
#[test]
fn a_late_release_of_an_older_attempt_does_not_touch_the_lock() {
    let cluster = Cluster::start(1);
    let proxies = proxies(&cluster);
    let mut owner = impatient(&proxies);
    proxies[0].set(Way::Requests, Rule::Hold);
    owner.attempt(KEY);
    assert!(matches!(owner.not_acquired(), AcquireError::NoQuorum(_)));
    // The first connection is given up while the `SET` and its release are in the proxy.
    owner.poll_until("another connection", |_| proxies[0].connections() > 1);
    owner.all_ready();
    let lock = owner.hold(KEY);
    let token = owner.engine.token(lock).expect("it is held");
    let releases = cluster[0].calls("evalsha");
    proxies[0].set(Way::Requests, Rule::Pass);
    assert!(until(PATIENCE, || cluster[0].calls("evalsha") > releases), "nothing came late");
    assert_eq!(cluster[0].get(KEY).as_deref(), Some(token.as_ref()));
    owner.let_go(lock);
    owner.finish(cluster.iter());
}

/// FAULTS 64: requests arrive, replies do not. The key exists and nobody knows; the release behind
/// the `SET` removes the key.
#[test]
fn votes_that_nobody_hears_leave_no_key() {
    let cluster = Cluster::start(3);
    let proxies = proxies(&cluster);
    let mut owner = impatient(&proxies);
    for proxy in &proxies[..2] {
        proxy.set_all(Way::Replies, Rule::Swallow);
    }
    owner.attempt(KEY);
    let AcquireError::NoQuorum(outcomes) = owner.not_acquired() else { panic!("{owner:?}") };
    assert_eq!(outcomes.as_slice()[..2], [NodeOutcome::NoReply; 2]);
    let is_gone = until(PATIENCE, || {
        owner.turn();
        cluster.iter().all(|node| node.keys().is_empty())
    });
    assert!(is_gone, "{owner:?}");
    for proxy in &proxies[..2] {
        proxy.set_all(Way::Replies, Rule::Pass);
    }
    owner.all_ready();
    owner.finish(cluster.iter());
}

/// FAULTS 63: links clog one by one until no quorum is left, and open in another order.
#[test]
fn clogged_links_heal_without_a_lock_too_many_or_too_few() {
    let cluster = Cluster::start(5);
    let proxies = proxies(&cluster);
    let mut owner = impatient(&proxies);
    for (clogged, index) in [3, 0, 4, 1, 2].into_iter().enumerate() {
        proxies[index].set_all(Way::Requests, Rule::Hold);
        if clogged < 2 {
            let lock = owner.hold(format!("clogged {clogged}"));
            owner.let_go(lock);
        } else {
            owner.attempt(format!("clogged {clogged}"));
            assert!(matches!(owner.not_acquired(), AcquireError::NoQuorum(_)), "{clogged}");
        }
    }
    for index in [4, 2, 0, 3, 1] {
        proxies[index].set_all(Way::Requests, Rule::Pass);
    }
    owner.poll_until("all nodes to be ready", |owner| {
        owner.engine.nodes().all(|(_, _, node)| node.state == NodeState::Ready)
    });
    let lock = owner.hold("healed");
    owner.poll_until("all votes", |owner| {
        owner.engine.nodes().all(|(_, _, node)| node.in_flight == 0)
    });
    owner.let_go(lock);
    owner.finish(cluster.iter());
}

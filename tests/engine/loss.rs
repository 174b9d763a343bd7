//! Third parties that touch our keys: delete, overwrite, persist, flush.

use redbolt::{ExtendError, LockId, LostReason};

use crate::owner::{Owner, TTL};
use crate::support::servers::{Cluster, Node};
use crate::support::wire::Reply;

const KEY: &[u8] = b"resource";
const FOREIGN: &[u8] = b"somebody else's";

/// A lock that all of three nodes have.
fn start() -> (Cluster, Owner, LockId) {
    let cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    let lock = owner.hold(KEY);
    owner.poll_until("all votes", |owner| {
        owner.engine.nodes().all(|(_, _, status)| status.counters.granted == 1)
    });
    (cluster, owner, lock)
}

/// Extends it in vain, because too few nodes have it.
fn lose(owner: &mut Owner, lock: LockId) {
    owner.extend(lock);
    assert_eq!(owner.not_extended(), ExtendError::Lost(LostReason::Majority));
    assert_eq!(owner.lost(), LostReason::Majority);
    assert!(!owner.engine.is_held(lock));
}

fn remove(node: &Node, key: &[u8]) {
    assert_eq!(node.command(&[b"DEL", key]), Reply::Integer(1));
}

/// FAULTS 60.
#[test]
fn a_key_deleted_on_a_minority_costs_nothing() {
    let (cluster, mut owner, lock) = start();
    remove(&cluster[1], KEY);
    owner.extend(lock);
    owner.extended();
    // A majority has confirmed us, so what was lost there is given to it again.
    owner.poll_until("the key stands again", |_| cluster[1].get(KEY).is_some());
    owner.let_go(lock);
    owner.all_answered();
    assert_eq!((cluster[0].calls("del"), cluster[2].calls("del")), (1, 1));
    owner.finish(cluster.iter());
}

/// FAULTS 60; PEERS 1c, RedLock.net: its extension sets a missing key again.
#[test]
fn a_key_deleted_on_a_majority_is_a_lost_lock_and_does_not_come_back() {
    let (cluster, mut owner, lock) = start();
    remove(&cluster[0], KEY);
    remove(&cluster[2], KEY);
    lose(&mut owner, lock);
    owner.all_answered();
    for node in cluster.iter() {
        assert_eq!(node.get(KEY), None);
    }
    owner.finish(cluster.iter());
}

/// FAULTS 60: whoever overwrote it is left alone, by extension and release.
#[test]
fn a_key_that_was_overwritten_is_not_ours_any_more() {
    let (cluster, mut owner, lock) = start();
    cluster[0].set_px(KEY, FOREIGN, TTL);
    cluster[1].set_px(KEY, FOREIGN, TTL / 2);
    lose(&mut owner, lock);
    owner.all_answered();
    assert_eq!(cluster.holding(KEY, FOREIGN), 2);
    assert!(cluster[1].pttl(KEY) <= 30_000, "an extension does not touch it");
    assert_eq!(cluster[2].get(KEY), None, "what was ours is released");
    remove(&cluster[0], KEY);
    remove(&cluster[1], KEY);
    owner.finish(cluster.iter());
}

/// FAULTS 60: without an extension between.
#[test]
fn a_release_deletes_nothing_foreign() {
    let (cluster, mut owner, lock) = start();
    cluster.iter().for_each(|node| node.set_px(KEY, FOREIGN, TTL));
    let outcome = owner.let_go(lock);
    assert!(outcome.released.is_empty() && outcome.foreign.len() >= 2, "{outcome:?}");
    owner.all_answered();
    assert_eq!(cluster.holding(KEY, FOREIGN), 3);
    cluster.iter().for_each(|node| remove(node, KEY));
    owner.finish(cluster.iter());
}

/// FAULTS 60; PEERS 2.34: data of another type is somebody else's as well.
#[test]
fn a_key_that_became_a_list_is_not_ours_any_more() {
    let (cluster, mut owner, lock) = start();
    for node in cluster.iter() {
        remove(node, KEY);
        node.command(&[b"RPUSH", KEY, b"element"]);
    }
    let second = owner.acquire(KEY);
    lose(&mut owner, lock);
    owner.cancel(second);
    owner.not_acquired();
    owner.all_answered();
    for (node, (_, _, status)) in cluster.iter().zip(owner.engine.nodes()) {
        assert_eq!(node.command(&[b"LLEN", KEY]), Reply::Integer(1));
        assert_eq!(status.cleanup, 0, "nothing of ours is there to be cleaned up");
        remove(node, KEY);
    }
    owner.finish(cluster.iter());
}

/// FAULTS 61.
#[test]
fn an_extension_gives_a_persistent_key_its_end_again() {
    let (cluster, mut owner, lock) = start();
    for node in cluster.iter() {
        assert_eq!(node.command(&[b"PERSIST", KEY]), Reply::Integer(1));
        assert_eq!(node.pttl(KEY), -1);
    }
    owner.extend(lock);
    owner.extended();
    owner.all_answered();
    for node in cluster.iter() {
        assert!((1..=60_000).contains(&node.pttl(KEY)), "{}", node.pttl(KEY));
    }
    owner.let_go(lock);
    owner.finish(cluster.iter());
}

/// FAULTS 59 as far as a server can show it: S7, an extension never shortens.
#[test]
fn an_extension_by_less_than_is_left_changes_nothing() {
    let (cluster, mut owner, lock) = start();
    let before = owner.engine.remaining(lock);
    owner.extend_for(lock, TTL / 6);
    owner.extended();
    assert!(owner.engine.remaining(lock) > TTL / 3, "{before:?} was left");
    owner.all_answered();
    for node in cluster.iter() {
        assert!(node.pttl(KEY) > 20_000, "{}", node.pttl(KEY));
    }
    owner.let_go(lock);
    owner.finish(cluster.iter());
}

/// FAULTS 39, as far as it applies without fence keys.
#[test]
fn a_flushed_majority_is_a_lost_lock() {
    let (cluster, mut owner, lock) = start();
    cluster[0].command(&[b"FLUSHALL"]);
    cluster[1].command(&[b"FLUSHALL"]);
    lose(&mut owner, lock);
    owner.finish(cluster.iter());
}

/// The next in line of the same engine inherits what the lost one left.
#[test]
fn a_lost_lock_makes_way_for_the_next_in_line() {
    let (cluster, mut owner, lock) = start();
    let second = owner.acquire(KEY);
    cluster.iter().for_each(|node| remove(node, KEY));
    lose(&mut owner, lock);
    assert_eq!(owner.acquired(), second);
    owner.let_go(second);
    owner.finish(cluster.iter());
}

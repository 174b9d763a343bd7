//! Masters that stop and come back, with their memory or without.

use std::net::TcpStream;

use redbolt::embedded::Memory;
use redbolt::{LockNoticeKind, LostReason};

use super::support::until;
use super::{PATIENCE, TTL, client, cluster, standing};

#[test]
fn a_restart_with_memory_keeps_the_locks() {
    let (cluster, first) = cluster(3);
    let guard = first.lock("printer").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free");
    assert!(until(PATIENCE, || standing(&cluster, "printer") == 3));
    for node in cluster.nodes() {
        node.restart(Memory::Kept).expect("the port is free");
        assert_eq!(node.get("printer").as_deref(), Some(guard.token().as_ref()));
    }
    let second = client(cluster.config());
    let error = second.lock("printer").ttl(TTL).blocking_try_acquire().expect_err("another has it");
    assert!(error.is_contended(), "{error}");
    let extended = || guard.extend(TTL).blocking_wait().is_ok();
    assert!(until(PATIENCE, extended), "the first client reconnects, and its lock is there");
}

#[test]
fn a_restart_without_memory_frees_a_lock_that_is_held() {
    let (cluster, first) = cluster(3);
    let guard = first.lock("printer").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free");
    assert!(until(PATIENCE, || standing(&cluster, "printer") == 3));
    for node in cluster.nodes() {
        node.restart(Memory::Lost).expect("the port is free");
        assert!(node.keys().is_empty());
    }
    // This is why a master that was restarted must not vote: `restart_guard` is off here.
    let second = client(cluster.config());
    let other =
        second.lock("printer").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("forgotten");
    assert!(other.is_held() && guard.is_held(), "two hold the same lock");
    let is_told = || {
        guard.extend(TTL).blocking_wait().expect_err("the other client has it");
        !guard.is_held()
    };
    assert!(until(PATIENCE, is_told), "the first client is told once it has asked");
    assert_eq!(guard.lost().blocking_wait().kind(), LockNoticeKind::Lost(LostReason::Majority));
}

#[test]
fn a_master_that_forgot_a_lock_is_given_the_key_again() {
    let (cluster, client) = cluster(3);
    let guard = client.lock("printer").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free");
    assert!(until(PATIENCE, || standing(&cluster, "printer") == 3));
    cluster.nodes()[2].restart(Memory::Lost).expect("the port is free");
    assert!(until(PATIENCE, || {
        guard.extend(TTL).blocking_wait().expect("two of three have it");
        standing(&cluster, "printer") == 3
    }));
}

#[test]
fn a_stopped_minority_fails_nothing_and_a_stopped_majority_everything() {
    let (cluster, client) = cluster(3);
    let address = cluster.nodes()[0].addr();
    cluster.nodes()[0].stop().expect("the master ran");
    cluster.nodes()[0].stop().expect("to stop twice does nothing");
    TcpStream::connect(address).expect_err("nobody listens");
    let guard = client.lock("printer").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free");

    cluster.nodes()[1].stop().expect("the master ran");
    let is_down = || {
        let error =
            client.lock("scanner").ttl(TTL).blocking_try_acquire().expect_err("one of three");
        error.to_string().matches("down").count() == 2
    };
    assert!(until(PATIENCE, is_down), "the error says which masters are down");
    assert!(guard.is_held());

    for node in &cluster.nodes()[..2] {
        node.restart(Memory::Kept).expect("the port is free");
    }
    drop(client.lock("scanner").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("all are back"));
}

/// A test can prepare what a master comes back with.
#[test]
fn keys_of_a_stopped_master_can_be_listed_and_deleted() {
    let (cluster, client) = cluster(1);
    client.lock("printer").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free").leak();
    let node = &cluster.nodes()[0];
    node.stop().expect("the master ran");
    assert_eq!(node.keys(), [b"printer"]);
    assert!(node.delete("printer"));
    node.restart(Memory::Kept).expect("the port is free");
    drop(client.lock("printer").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("deleted"));
}

//! Masters that do nothing for a while.

use std::time::Duration;

use redbolt::embedded::Memory;

use super::support::{now, until};
use super::{PATIENCE, TTL, client, cluster, standing};

#[test]
fn a_paused_minority_costs_nothing() {
    let (cluster, _) = cluster(3);
    let timeout = Duration::from_secs(20);
    let mut config = cluster.config();
    config.redlock.node_timeout = Some(timeout);
    config.redlock.close_timeout = 2 * timeout;
    let client = client(config);
    cluster.nodes()[1].pause();
    let start = now();
    for number in 0..100 {
        let guard = client.lock(format!("{number}")).ttl(TTL).blocking_try_acquire();
        drop(guard.expect("two of three are a majority"));
    }
    // A single wait for the paused master would take longer than all of them.
    assert!(now() - start < timeout);
    cluster.nodes()[1].resume();
}

#[test]
fn a_paused_majority_ends_in_an_error_that_says_so() {
    let (cluster, client) = cluster(3);
    cluster.nodes()[0].pause();
    cluster.nodes()[2].pause();
    let error =
        client.lock("printer").ttl(TTL).blocking_try_acquire().expect_err("one of three answers");
    assert!(!error.is_contended());
    let text = error.to_string();
    assert!(text.starts_with("lock \"printer\": no quorum of nodes"), "{text}");
    assert_eq!(text.matches("no reply in time").count(), 2, "{text}");
    assert_eq!(text.matches("granted").count(), 1, "{text}");
}

#[test]
fn a_request_waits_for_masters_that_are_resumed_in_time() {
    let (cluster, client) = cluster(3);
    for node in cluster.nodes() {
        node.pause();
    }
    let waiting = client.lock("printer").ttl(TTL).wait(PATIENCE).acquire();
    for node in cluster.nodes() {
        node.resume();
    }
    let guard = waiting.blocking_wait().expect("all of them answer now");
    assert!(guard.is_held());
}

/// The kernel has taken the bytes, and the master has not: as with a process that is stopped.
#[test]
fn requests_of_the_time_of_a_pause_are_executed_after_it() {
    let (cluster, client) = cluster(1);
    let node = &cluster.nodes()[0];
    node.pause();
    let error = client.lock("printer").ttl(TTL).blocking_try_acquire().expect_err("nobody answers");
    assert!(!error.is_contended());
    assert_eq!(node.get("printer"), None);
    node.resume();
    // The client has sent its release behind the `SET`.
    assert!(client.blocking_shutdown(PATIENCE).is_complete(), "the release is confirmed");
    assert!(node.keys().is_empty());
}

#[test]
fn a_paused_master_loses_its_keys_to_time_alone() {
    let (cluster, client) = cluster(3);
    let guard =
        client.lock("printer").ttl(Duration::from_millis(200)).wait(PATIENCE).blocking_acquire();
    let guard = guard.expect("free");
    for node in cluster.nodes() {
        node.pause();
    }
    guard.leak();
    assert!(until(PATIENCE, || standing(&cluster, "printer") == 0));
}

/// A restarted process is not the one that was stopped.
#[test]
fn a_restart_ends_a_pause() {
    let (cluster, client) = cluster(1);
    let node = &cluster.nodes()[0];
    node.pause();
    node.restart(Memory::Kept).expect("the port is free");
    let guard = client.lock("printer").ttl(TTL).wait(PATIENCE).blocking_acquire();
    assert!(guard.expect("the master answers").is_held());
}

#[test]
fn a_cluster_ends_while_a_master_is_paused() {
    let (cluster, client) = cluster(3);
    let guard = client.lock("printer").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free");
    cluster.nodes()[0].pause();
    let address = cluster.nodes()[0].addr();
    drop(cluster);
    let error = std::net::TcpStream::connect(address).expect_err("nobody listens");
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
    drop(guard);
}

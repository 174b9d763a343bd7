//! Clients that are new.

use std::time::Duration;

use redbolt::embedded::{Cluster, Memory};
use redbolt::{Client, ReadyError};

use super::support::until;
use super::{PATIENCE, TTL, client, cluster, standing};

/// A client that has waited for a majority only would lose the lock every now and then: a master
/// that was asked for no lock has none.
#[test]
fn the_first_lock_of_a_client_outlives_the_crash_of_any_master() {
    for round in 0..30 {
        let (cluster, client) = cluster(3);
        let guard = client.lock("printer").ttl(TTL).blocking_try_acquire().expect("free");
        cluster.nodes()[round % 3].restart(Memory::Lost).expect("the port is free");
        guard.extend(TTL).blocking_wait().expect("two of three have it");
    }
}

/// Also on the only thread of a runtime, which the feature `tokio` keeps from blocking elsewhere.
#[tokio::test]
async fn a_task_can_make_a_client_of_a_cluster() {
    let (_cluster, client) = cluster(3);
    let guard = client.lock("printer").ttl(TTL).try_acquire().await.expect("free");
    guard.extend(TTL).await.expect("a majority has it");
    let nodes = client.nodes().await.expect("the client lives");
    assert!(nodes.iter().all(|node| node.is_ready()), "{nodes:?}");
}

#[test]
fn a_wait_for_all_masters_names_the_one_that_is_missing() {
    let cluster = Cluster::start(3).expect("the system gives sockets and threads");
    cluster.nodes()[2].stop().expect("the master ran");
    let client = Client::new(cluster.config()).expect("a client can be made");
    client.ready(PATIENCE).blocking_wait().expect("two of three are a quorum");
    let error = client.ready_all(Duration::from_millis(50)).blocking_wait().expect_err("two");
    assert!(error.is_unavailable() && error.retry_after().is_none(), "{error}");
    let text = error.to_string();
    assert!(text.starts_with("2 of 3 nodes vote, all were asked for; 127.0.0.1:"), "{text}");
    let ReadyError::NotAll { nodes } = error else { panic!("{text}") };
    let ready: Vec<_> = nodes.iter().map(|node| node.is_ready()).collect();
    assert_eq!(ready, [true, true, false]);

    let waiting = client.ready_all(PATIENCE);
    cluster.nodes()[2].restart(Memory::Lost).expect("the port is free");
    waiting.blocking_wait().expect("all are there again");
}

/// Each thread has connections of its own.
#[test]
fn a_wait_for_all_masters_is_that_of_all_threads() {
    let cluster = Cluster::start(3).expect("the system gives sockets and threads");
    let mut config = cluster.config();
    config.threads = 3;
    let client = client(config);
    for number in 0..12 {
        let name = format!("printer {number}");
        let _guard = client.lock(&name).ttl(TTL).blocking_try_acquire().expect("free");
        // A master that was not asked in the attempt gets no key later.
        assert!(until(PATIENCE, || standing(&cluster, &name) == 3), "{name}");
    }
}

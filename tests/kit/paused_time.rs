//! tokio's paused time, and the clock of a client, which knows nothing of that time. The module
//! `embedded::testing` says what to do.

use std::time::Duration;

use redbolt::Client;
use tokio::task::spawn_blocking;
use tokio::time;

use super::{PATIENCE, TTL, cluster};

/// Awaits a lock with a timer of the runtime beside it.
async fn within(client: &Client, limit: Duration) -> bool {
    let request = client.lock("printer").ttl(TTL).wait(PATIENCE);
    time::timeout(limit, async { request.await.is_ok() }).await.unwrap_or(false)
}

/// The runtime has nothing to do while the client's thread waits for its nodes, and so goes to the
/// next timer at once.
#[tokio::test(start_paused = true)]
async fn a_timer_in_paused_time_ends_before_the_nodes_can_answer() {
    let (cluster, client) = cluster(3);
    for node in cluster.nodes() {
        node.pause();
    }
    assert!(!within(&client, Duration::from_secs(3600)).await, "an hour is over at once");
}

/// A blocking task holds the paused clock.
#[tokio::test(start_paused = true)]
async fn a_lock_taken_in_a_blocking_task_is_not_overtaken_by_paused_time() {
    let (_cluster, client) = cluster(3);
    let start = time::Instant::now();
    let request = client.lock("printer").ttl(TTL).wait(PATIENCE);
    let taking = spawn_blocking(move || request.blocking_acquire());
    let guard = time::timeout(Duration::from_secs(1), taking).await;
    let guard = guard.expect("no second is over").expect("no panic").expect("free");
    assert!(guard.is_held());
    assert_eq!(time::Instant::now(), start);
}

#[tokio::test(start_paused = true)]
async fn advancing_the_runtime_ends_no_lock() {
    let (_cluster, client) = cluster(3);
    let guard = client.lock("printer").ttl(TTL).wait(PATIENCE).await.expect("free");
    time::advance(10 * TTL).await;
    assert!(guard.is_held());
    assert!(guard.remaining() > TTL / 2);
}

//! Masters that answer late.

use std::time::Duration;

use super::support::{now, until};
use super::{PATIENCE, TTL, client, cluster, standing};

#[test]
fn a_delayed_master_decides_nothing() {
    let (cluster, client) = cluster(3);
    cluster.nodes()[0].delay(Duration::MAX);
    let guard =
        client.lock("printer").ttl(TTL).blocking_try_acquire().expect("the other two decide");
    assert!(guard.is_held());
    assert!(
        client.lock("printer").ttl(TTL).blocking_try_acquire().expect_err("held").is_contended()
    );
}

/// The key stands before the vote is known, which is the point of a delay.
#[test]
fn a_delayed_majority_makes_keys_and_grants_nothing() {
    let (cluster, client) = cluster(3);
    for node in &cluster.nodes()[..2] {
        node.delay(Duration::MAX);
    }
    let waiting = client.lock("printer").ttl(TTL).wait(PATIENCE).acquire();
    assert!(until(PATIENCE, || standing(&cluster, "printer") == 3));
    drop(waiting);
    let error =
        client.lock("scanner").ttl(TTL).blocking_try_acquire().expect_err("one of three answers");
    assert!(error.is_unavailable(), "{error}");

    // What was held back leaves now, in its order, and the locks that nobody got are cleaned up.
    for node in cluster.nodes() {
        node.delay(Duration::ZERO);
    }
    let guard =
        client.lock("printer").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free again");
    drop(guard);
    assert!(client.blocking_shutdown(PATIENCE).is_complete());
    assert!(cluster.nodes().iter().all(|node| node.keys().is_empty()));
}

#[test]
fn a_reply_is_late_by_the_delay() {
    const DELAY: Duration = Duration::from_millis(100);
    let (cluster, _) = cluster(1);
    let mut config = cluster.config();
    config.redlock.node_timeout = Some(Duration::from_secs(20));
    config.redlock.close_timeout = Duration::from_secs(40);
    let client = client(config);
    cluster.nodes()[0].delay(DELAY);
    let start = now();
    let guard =
        client.lock("printer").ttl(TTL).blocking_try_acquire().expect("late, and yet in time");
    assert!(now() - start >= DELAY);
    // The round trip is taken off the validity.
    assert!(guard.remaining() < TTL - DELAY);
}

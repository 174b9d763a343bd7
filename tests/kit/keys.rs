//! Keys that a test looks at or takes away.

use std::time::Duration;

use redbolt::{ExtendError, LockErrorKind, LockNoticeKind, LostReason};

use super::support::until;
use super::{PATIENCE, TTL, client, cluster, standing};

#[test]
fn the_keys_are_the_resources_and_the_values_the_tokens() {
    let (cluster, client) = cluster(3);
    let both = client.lock_all(["scanner", "printer"]).ttl(TTL).wait(PATIENCE).blocking_acquire();
    let both = both.expect("free");
    for node in cluster.nodes() {
        // A majority has them at once, and the rest soon.
        assert!(until(PATIENCE, || node.keys() == [b"printer", b"scanner"]));
        assert_eq!(node.get("scanner").as_deref(), Some(both.token().as_ref()));
        assert_eq!(node.get("plotter"), None);
    }
}

#[test]
fn nothing_is_left_once_a_client_is_shut_down() {
    let (cluster, client) = cluster(3);
    let guards: Vec<_> = (0..10)
        .map(|number| client.lock(format!("{number}")).ttl(TTL).wait(PATIENCE).blocking_acquire())
        .collect::<Result<_, _>>()
        .expect("free");
    drop(guards);
    assert!(client.blocking_shutdown(PATIENCE).is_complete());
    assert!(cluster.nodes().iter().all(|node| node.keys().is_empty()));
}

#[test]
fn a_lock_is_lost_when_its_key_is_deleted_from_two_of_three() {
    let (cluster, client) = cluster(3);
    let guard = client.lock("printer").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free");
    assert!(until(PATIENCE, || standing(&cluster, "printer") == 3));
    for node in &cluster.nodes()[1..] {
        assert!(node.delete("printer"));
        assert!(!node.delete("printer"), "gone already");
    }
    let error = guard.extend(TTL).blocking_wait().expect_err("one of three has it");
    let lost = ExtendError::Lost(LostReason::Majority);
    assert_eq!(error.kind(), &LockErrorKind::Extend(lost));
    assert!(!guard.is_held());
}

/// Nobody asks: a renewal finds out.
#[test]
fn a_lock_that_is_kept_alive_notices_deleted_keys_by_itself() {
    let (cluster, client) = cluster(3);
    let request = client.lock("printer").ttl(Duration::from_secs(3)).wait(PATIENCE);
    let guard = request.keep_alive_for(TTL).blocking_acquire().expect("free");
    assert!(until(PATIENCE, || standing(&cluster, "printer") == 3));
    for node in cluster.nodes() {
        node.flush();
        assert!(node.keys().is_empty());
    }
    let notice = guard.lost().blocking_wait_timeout(PATIENCE);
    let kind = notice.map(|notice| notice.kind());
    assert_eq!(kind, Some(LockNoticeKind::Lost(LostReason::Majority)));
}

#[test]
fn a_key_deleted_from_one_of_three_is_given_back() {
    let (cluster, client) = cluster(3);
    let guard = client.lock("printer").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free");
    assert!(until(PATIENCE, || standing(&cluster, "printer") == 3));
    assert!(cluster.nodes()[0].delete("printer"));
    guard.extend(TTL).blocking_wait().expect("two of three have it");
    assert!(until(PATIENCE, || standing(&cluster, "printer") == 3));
}

#[test]
fn keys_have_the_configured_prefix() {
    let (cluster, _) = cluster(1);
    let mut config = cluster.config();
    config.redlock.prefix = b"lock:".to_vec();
    let client = client(config);
    let guard = client.lock("printer").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free");
    assert_eq!(cluster.nodes()[0].keys(), [b"lock:printer"]);
    drop(guard);
}

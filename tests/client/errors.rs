//! What an error tells: which lock, which nodes, and what is wrong with each of them.

use std::time::Duration;

use redbolt::{Client, NodeOutcome};

use crate::fixture::{Fixture, PATIENCE, TTL, config};

/// Somebody who reads the error in a log knows which lock is meant and whom to ask.
#[test]
fn a_lock_that_somebody_else_holds_names_the_nodes_that_refused() {
    let fixture = Fixture::new(3);
    let other = Client::new(config(&fixture.cluster)).expect("a client can be made");
    other.ready(PATIENCE).blocking_wait().expect("the nodes are there");
    let guard = fixture.client.lock("orders/42").ttl(TTL).wait(PATIENCE).blocking_acquire();
    let guard = guard.expect("free");
    let error = other.lock("orders/42").blocking_try_acquire().expect_err("it is held");
    assert!(error.is_contended() && error.resource() == b"orders/42", "{error}");
    let refused: Vec<_> = error.nodes().collect();
    assert!(refused.len() >= 2, "{error}");
    for node in refused {
        let addr = fixture.cluster[node.node.index()].addr();
        assert_eq!((node.outcome, node.reason), (NodeOutcome::Refused, ""));
        assert_eq!(node.to_string(), format!("{addr}: refused"));
        assert!(error.to_string().contains(&node.to_string()), "{error}");
    }
    assert!(error.to_string().starts_with("lock \"orders/42\": held by another ("), "{error}");

    // The nodes were not asked: the lock that is in the way is one of the same client.
    let error = fixture.client.lock("orders/42").blocking_try_acquire().expect_err("it is held");
    assert_eq!(error.nodes().count(), 0);
    assert_eq!(error.to_string(), "lock \"orders/42\": held by another lock of this client");
    drop(guard);
}

#[test]
fn a_missing_quorum_names_the_address_and_the_reason_of_every_node() {
    let mut fixture = Fixture::with(3, |config| config.redlock.node_timeout = None);
    fixture.client.ready(PATIENCE).blocking_wait().expect("the nodes are there");
    (1..3).for_each(|index| fixture.cluster[index].kill());
    let request = fixture.client.lock("orders/42").wait(Duration::from_millis(500));
    let error = request.blocking_acquire().expect_err("two of three nodes are gone");
    assert!(error.is_unavailable(), "{error}");
    assert_eq!(error.nodes().count(), 3);
    let text = error.to_string();
    assert!(text.starts_with("lock \"orders/42\": no quorum of nodes ("), "{text}");
    for node in error.nodes() {
        let addr = fixture.cluster[node.node.index()].addr();
        assert!(node.address.to_string() == addr && text.contains(&node.to_string()), "{text}");
        let has_reason = node.reason.contains("connecti") || node.reason.contains("server");
        assert_eq!(has_reason, node.node.index() > 0, "{text}");
    }
    assert_eq!(format!("{error:?}"), format!("LockError({text})"));
}

#[test]
fn an_extension_that_fails_names_the_lock_and_the_nodes() {
    let mut fixture = Fixture::with(3, |config| config.redlock.repair = false);
    let guard = fixture.client.lock("orders/42").ttl(TTL).wait(PATIENCE).blocking_acquire();
    let guard = guard.expect("free");
    (1..3).for_each(|index| fixture.cluster[index].kill());
    let error = guard.extend(TTL).blocking_wait().expect_err("two of three nodes are gone");
    assert_eq!(error.resource(), b"orders/42");
    assert_eq!(error.nodes().count(), 3);
    for index in 0..3 {
        let addr = fixture.cluster[index].addr();
        assert!(error.to_string().contains(&addr), "{error}");
    }
}

#[test]
fn a_long_resource_is_cut_in_the_text_and_whole_in_the_error() {
    let fixture = Fixture::new(1);
    let long = [b'x'; 1_000];
    let error = fixture.client.lock(long).ttl(Duration::ZERO).blocking_acquire();
    let error = error.expect_err("no such ttl");
    assert_eq!(error.resource(), long);
    let text = format!("lock \"{}…\": the ttl is 0s", "x".repeat(64));
    assert!(error.to_string().starts_with(&text), "{error}");
    let set = ["a\n", "b", "c"];
    let error = fixture.client.lock_all(set).ttl(Duration::ZERO).blocking_acquire();
    let error = error.expect_err("no such ttl");
    assert!(error.to_string().starts_with("lock \"a\\n\" and 2 more: the ttl"), "{error}");
}

//! What a client counts and measures.

use std::thread;
use std::time::Duration;

use redbolt::redlock::RestartGuard;
use redbolt::{Client, ClientBuilder, ClientCounters, ClientError, NodeState};

use crate::fixture::{Fixture, PATIENCE, TTL, config, expect_all};
use crate::support::{now, until};

fn counters(client: &Client) -> ClientCounters {
    client.counters().blocking_wait().expect("the client runs")
}

#[test]
fn the_counters_of_all_threads_are_summed() {
    let fixture = Fixture::new(3);
    let client = ClientBuilder::from(config(&fixture.cluster)).threads(3).build();
    let client = client.expect("a client can be made");
    let take = |name: &str| client.lock(name).ttl(TTL).wait(PATIENCE).blocking_acquire();
    let mut guards: Vec<_> =
        (0..24).map(|number| take(&format!("r{number}")).expect("free")).collect();
    let refused = client.lock("r0").blocking_try_acquire();
    assert!(refused.expect_err("it is held").is_contended());
    let counted = counters(&client);
    let locks = counted.locks;
    assert_eq!((locks.requested, locks.acquired, locks.acquire_failed.held), (25, 24, 1));
    assert_eq!((locks.held_now(), locks.waiting_now(), counted.wait.count()), (24, 0, 24));

    guards.pop().expect("24").release().blocking_wait().expect("the client runs");
    guards.pop().expect("23").hand_over().blocking_wait().expect("it is held");
    let waiting = client.lock("r0").ttl(TTL).wait(PATIENCE).acquire();
    assert!(until(PATIENCE, || counters(&client).locks.waiting_now() == 1));
    let locks = counters(&client).locks;
    assert_eq!((locks.released, locks.handed_over, locks.held_now()), (1, 1, 22));
    drop(waiting);
    drop(guards);
    assert!(until(PATIENCE, || counters(&client).locks.held_now() == 0));
    assert_eq!(counters(&client).locks.acquire_failed.cancelled, 1);
    client.blocking_shutdown(PATIENCE);
    assert_eq!(client.counters().blocking_wait().err(), Some(ClientError::Closed(None)));
}

#[test]
fn every_reason_is_counted_by_itself() {
    let fixture = Fixture::new(3);
    let client = &fixture.client;
    client.ready_all(PATIENCE).blocking_wait().expect("all are there");
    let other = Client::new(config(&fixture.cluster)).expect("a client can be made");
    let held = other.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free");
    client.lock("a").blocking_try_acquire().expect_err("another client has it");
    let first = client.lock("a").ttl(TTL).wait(PATIENCE).acquire();
    let second = client.lock("a").ttl(TTL).wait(Duration::from_millis(50)).blocking_acquire();
    second.expect_err("the first waits yet");
    drop(first);
    client.query("a").blocking_wait().expect("the nodes answer");
    client.adopt(["b"], held.token()).wait(PATIENCE).blocking_acquire().expect_err("not there");
    let short = client.lock("c").ttl(Duration::from_millis(50)).warn_before(TTL).wait(PATIENCE);
    let short = short.blocking_acquire().expect("free");
    assert!(short.lost().blocking_wait().is_lost());
    assert!(until(PATIENCE, || counters(client).locks.acquire_failed.cancelled == 1));

    let counted = counters(client).locks;
    let failed = &counted.acquire_failed;
    assert_eq!((failed.held, failed.in_line, failed.gone, failed.cancelled), (1, 1, 1, 1));
    assert_eq!((failed.total(), counted.lost.total(), counted.waiting_now()), (4, 1, 0));
    assert_eq!((counted.lost.expired, counted.expiring.expired, counted.queried), (1, 1, 1));
    assert_eq!(counted.expiring.total(), 1);

    let mut config = config(&fixture.cluster);
    config.redlock.restart_guard = RestartGuard::Strict;
    let client = Client::new(config).expect("a client can be made");
    expect_all(&client, NodeState::Quarantined);
    let error = client.lock("d").blocking_try_acquire();
    assert!(error.expect_err("nobody votes").retry_after().is_some());
    let failed = counters(&client).locks.acquire_failed;
    assert_eq!((failed.quarantined, failed.no_quorum, failed.total()), (1, 0, 1));
}

/// What a caller has waited is known, although the caller has not measured.
#[test]
fn the_wait_for_a_lock_is_measured_from_the_request_to_the_grant() {
    let fixture = Fixture::new(1);
    let guard = fixture.client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free");
    let asked = now();
    let waiting = fixture.client.lock("a").ttl(TTL).wait(PATIENCE).acquire();
    let asked_by = now() - asked;
    assert!(until(PATIENCE, || counters(&fixture.client).locks.waiting_now() == 1));
    let least = Duration::from_millis(100);
    assert!(until(PATIENCE, || now() - asked >= least + asked_by));
    drop(guard);
    drop(waiting.blocking_wait().expect("it was released"));
    let wait = counters(&fixture.client).wait;
    assert_eq!(wait.count(), 2);
    assert!(wait.max() >= least && wait.max() <= now() - asked, "{wait:?}");
}

#[test]
fn a_request_that_was_dropped_has_not_waited_for_a_lock() {
    let fixture = Fixture::new(1);
    let (let_go, lost) = fixture.hold_up();
    let before = 1;
    drop(fixture.client.lock("a").ttl(TTL).wait(PATIENCE).acquire());
    drop(let_go);
    assert_eq!(counters(&fixture.client).wait.count(), before);
    drop(lost);
}

#[test]
fn the_report_of_a_node_has_its_latencies() {
    let fixture = Fixture::new(3);
    let guard = fixture.client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free");
    guard.extend(TTL).blocking_wait().expect("a majority is there");
    guard.release().blocking_wait().expect("the client runs");
    let all_are_there = || {
        let nodes = fixture.client.nodes().blocking_wait().expect("the client runs");
        let nodes = nodes.iter().filter(|node| node.state == NodeState::Ready);
        let measured = nodes.filter(|node| {
            let all = [&node.latencies.set, &node.latencies.extend, &node.latencies.release];
            all.iter().all(|kind| kind.count() >= 1 && kind.quantile(0.5) > Duration::ZERO)
        });
        measured.count() >= 2
    };
    assert!(until(PATIENCE, all_are_there));
}

/// The log lines of an engine name a lock by its id.
#[test]
fn a_guard_has_the_id_of_its_lock() {
    let fixture = Fixture::new(1);
    let take = |name| fixture.client.lock(name).ttl(TTL).wait(PATIENCE).blocking_acquire();
    let (first, second) = (take("a").expect("free"), take("b").expect("free"));
    assert_ne!(first.id(), second.id());
    let (text, id) = (format!("{first:?}"), first.id());
    assert!(text.starts_with(&format!("Guard {{ resource: \"a\", id: {id:?}, ")), "{text}");
    let moved = thread::spawn(move || first.id()).join().expect("nothing panics");
    assert_eq!(moved, id);
}

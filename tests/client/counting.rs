//! What a client counts and measures.

use std::thread;
use std::time::Duration;

use redbolt::{Client, ClientBuilder, ClientCounters, ClientError, NodeState};

use crate::fixture::{Fixture, PATIENCE, TTL, config};
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
    assert_eq!((counted.locks.requested, counted.locks.acquired, counted.locks.held), (25, 24, 1));
    assert_eq!((counted.held_now, counted.waiting_now, counted.wait.count()), (24, 0, 24));

    guards.pop().expect("24").release().blocking_wait().expect("the client runs");
    guards.pop().expect("23").hand_over().blocking_wait().expect("it is held");
    let waiting = client.lock("r0").ttl(TTL).wait(PATIENCE).acquire();
    assert!(until(PATIENCE, || counters(&client).waiting_now == 1));
    let counted = counters(&client);
    assert_eq!((counted.locks.released, counted.locks.disowned, counted.held_now), (1, 1, 22));
    drop(waiting);
    drop(guards);
    assert!(until(PATIENCE, || counters(&client).held_now == 0));
    assert_eq!(counters(&client).locks.cancelled, 1);
    client.blocking_shutdown(PATIENCE);
    assert_eq!(client.counters().blocking_wait().err(), Some(ClientError::Closed(None)));
}

/// What a caller has waited is known, although the caller has not measured.
#[test]
fn the_wait_for_a_lock_is_measured_from_the_request_to_the_grant() {
    let fixture = Fixture::new(1);
    let guard = fixture.client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free");
    let asked = now();
    let waiting = fixture.client.lock("a").ttl(TTL).wait(PATIENCE).acquire();
    let asked_by = now() - asked;
    assert!(until(PATIENCE, || counters(&fixture.client).waiting_now == 1));
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

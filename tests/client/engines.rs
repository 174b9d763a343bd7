//! A client with several threads, each of which has an engine and connections of its own.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use redbolt::{Client, ClientBuilder, ClientError, Config, NodeReport, NodeState, Occupancy};

use crate::fixture::{Fixture, PATIENCE, TTL, config};
use crate::support::until;

const ENGINES: usize = 4;

/// A fixture whose client has several threads, and the configuration of the client.
fn several(nodes: usize) -> (Fixture, Config) {
    let fixture = Fixture::with(nodes, |config| config.threads = ENGINES);
    let mut config = config(&fixture.cluster);
    config.threads = ENGINES;
    fixture.client.ready_all(PATIENCE).blocking_wait().expect("all are there");
    (fixture, config)
}

/// One resource for each engine.
fn one_each(config: &Config) -> Vec<String> {
    let division = config.division();
    let name_of = |engine| {
        let mut names = (0..).map(|number| format!("r{number}"));
        names.find(|name| division.of(name.as_bytes()) == engine).expect("there is no end of names")
    };
    (0..ENGINES).map(name_of).collect()
}

#[test]
fn each_resource_is_with_the_engine_that_its_stripe_names_and_all_engines_work() {
    let (fixture, config) = several(1);
    let names: Vec<_> = (0..32).map(|number| format!("r{number}")).collect();
    let (tell, told) = channel();
    let request = |name: &String| {
        let (tell, name) = (tell.clone(), name.clone());
        let request = fixture.client.lock(&name).ttl(Duration::from_millis(50)).wait(PATIENCE);
        // This is called on the thread of the engine.
        let request = request.on_lost(move |_| {
            let thread = thread::current().name().map(str::to_owned);
            // The test may be over.
            let _ = tell.send((name, thread));
        });
        request.acquire()
    };
    let requests: Vec<_> = names.iter().map(request).collect();
    let guards: Vec<_> =
        requests.into_iter().map(|request| request.blocking_wait().expect("free")).collect();
    let mut threads = BTreeSet::new();
    for _ in &names {
        let (name, thread) = told.recv_timeout(PATIENCE).expect("a short lock is lost");
        let expected = format!("redbolt-{}", config.division().of(name.as_bytes()));
        assert_eq!(thread.as_ref(), Some(&expected), "{name}");
        threads.insert(expected);
    }
    assert_eq!(threads.len(), ENGINES, "{threads:?}");
    drop(guards);
    fixture.expect_clean();
}

/// The line of a resource is that of one engine, with as many engines as there are.
#[test]
fn waiters_for_one_resource_are_served_in_the_order_in_which_they_came() {
    const WAITERS: usize = 25;
    let (fixture, config) = several(3);
    let names = one_each(&config);
    let lock = |name: &str| fixture.client.lock(name).ttl(TTL).wait(PATIENCE).acquire();
    let holders: Vec<_> =
        names.iter().map(|name| lock(name).blocking_wait().expect("free")).collect();
    let orders: Vec<_> = names.iter().map(|_| Mutex::new(Vec::new())).collect();
    let lines: Vec<Vec<_>> =
        names.iter().map(|name| (0..WAITERS).map(|_| lock(name)).collect()).collect();
    drop(holders);
    thread::scope(|scope| {
        for (line, order) in lines.into_iter().zip(&orders) {
            for (number, request) in line.into_iter().enumerate() {
                scope.spawn(move || {
                    let guard = request.blocking_wait().expect("everybody has a turn");
                    order.lock().expect("nobody panics").push(number);
                    drop(guard);
                });
            }
        }
    });
    for order in orders {
        assert_eq!(order.into_inner().expect("nobody panics"), (0..WAITERS).collect::<Vec<_>>());
    }
    fixture.expect_clean();
}

/// Two sets that overlap, each with another engine: nobody but the nodes keeps them apart.
#[test]
fn sets_that_overlap_on_different_engines_exclude_each_other() {
    const TURNS: usize = 20;
    let (fixture, config) = several(3);
    let division = config.division();
    let mut names = one_each(&config);
    names.sort();
    let [first, second, both] = [&names[0], &names[1], &names[2]];
    let of = |set: [&String; 2]| division.of_all(set.map(|name| name.as_bytes()));
    let sets = [[first, both], [second, both]];
    assert_ne!(of(sets[0]), of(sets[1]), "{names:?}");
    let inside = AtomicUsize::new(0);
    thread::scope(|scope| {
        for set in sets {
            let (client, inside) = (&fixture.client, &inside);
            scope.spawn(move || {
                for _ in 0..TURNS {
                    let guard = client.lock_all(set).ttl(TTL).wait(PATIENCE).blocking_acquire();
                    let guard = guard.expect("nobody starves");
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two at a time");
                    inside.fetch_sub(1, Ordering::SeqCst);
                    drop(guard);
                }
            });
        }
    });
    fixture.expect_clean();
}

#[test]
fn whatever_is_done_with_a_lock_is_done_by_its_engine() {
    let (fixture, config) = several(3);
    for name in one_each(&config) {
        let request = fixture.client.lock(&name).ttl(TTL).wait(PATIENCE).fenced();
        let guard = request.blocking_acquire().expect("free");
        let fence = guard.fence().expect("one was asked for");
        guard.extend(TTL).blocking_wait().expect("a majority is there");
        assert!(guard.draw_fence().blocking_wait().expect("a majority is there") > fence);
        let holder = fixture.client.query(&name).blocking_wait().expect("the nodes answer");
        assert_eq!((holder.occupancy, holder.token()), (Occupancy::Held, Some(guard.token())));
        let parts = guard.hand_over().blocking_wait().expect("it is held");
        // The successor has another number of engines.
        let successor = Client::new(crate::fixture::config(&fixture.cluster)).expect("a client");
        let adoption = successor.adopt(&parts.resources, parts.token).ttl(TTL).wait(PATIENCE);
        let adopted = adoption.with_fence(parts.fence).blocking_acquire().expect("handed over");
        let parts = adopted.hand_over().blocking_wait().expect("it is held");
        let adoption = fixture.client.adopt(&parts.resources, parts.token).ttl(TTL).wait(PATIENCE);
        let adopted = adoption.blocking_acquire().expect("handed over");
        let report = adopted.release().blocking_wait().expect("the client runs");
        assert!(!report.outcome().released.is_empty(), "{name}");
    }
    fixture.expect_clean();
}

/// Whoever asks for the nodes asks for all connections to them.
#[test]
fn the_report_of_a_node_is_about_the_connections_of_all_engines() {
    let (mut fixture, config) = several(3);
    let names = one_each(&config);
    for name in &names {
        let guard = fixture.client.lock(name).ttl(TTL).wait(PATIENCE).blocking_acquire();
        guard.expect("free").release().blocking_wait().expect("the client runs");
    }
    let nodes = || fixture.client.nodes().blocking_wait().expect("the client runs");
    // The third answer of a lock may come behind the grant.
    let granted = |node: &NodeReport| node.counters.granted == ENGINES as u64;
    assert!(until(PATIENCE, || nodes().iter().all(granted)), "{:?}", nodes());
    for node in nodes() {
        assert_eq!((node.state, node.counters.connects), (NodeState::Ready, ENGINES as u64));
        assert_eq!((node.counters.asked, node.latencies.set.count()), (4, 4), "{node}");
        assert!(node.round_trip > Duration::ZERO, "{node}");
    }
    fixture.cluster[0].kill();
    // One connection that is left would vote.
    let is_out = || !fixture.client.nodes().blocking_wait().expect("the client runs")[0].is_ready();
    assert!(until(PATIENCE, is_out));
    fixture.client.blocking_shutdown(PATIENCE);
    assert_eq!(fixture.client.nodes().blocking_wait().err(), Some(ClientError::Closed(None)));
}

#[test]
fn a_shutdown_ends_all_engines_with_their_locks_and_connections() {
    let (fixture, config) = several(3);
    let client = ClientBuilder::from(config.clone()).build().expect("a client can be made");
    client.ready_all(PATIENCE).blocking_wait().expect("all are there");
    let connections = |expected: usize| {
        // One is that of the question.
        let count = || fixture.cluster[0].info("connected_clients")?.parse::<usize>().ok();
        until(PATIENCE, || count().is_some_and(|count| count == expected + 1))
    };
    assert!(connections(2 * ENGINES), "{:?}", fixture.cluster[0].info("connected_clients"));
    let guards: Vec<_> = one_each(&config)
        .iter()
        .map(|name| client.lock(name).ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free"))
        .collect();
    let report = client.blocking_shutdown(PATIENCE);
    assert!(report.is_complete() && report.threads == 0, "{report}");
    assert!(guards.iter().all(|guard| !guard.is_held()));
    assert!(connections(ENGINES), "{:?}", fixture.cluster[0].info("connected_clients"));
    fixture.expect_clean();
}

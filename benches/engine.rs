//! The whole engine over loopback, against embedded masters and against real servers.
//!
//! A round acquires a number of locks and then releases all of them, over five masters. A round of
//! one lock shows the latency of a cycle. With many locks the masters are the bottleneck, at least
//! real ones. Servers are started here if one is installed; without one, only embedded masters are
//! measured.

#[path = "../tests/support/mod.rs"]
mod support;

use std::env;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput};
use redbolt::embedded::Server;
use redbolt::redlock::RestartGuard;
use redbolt::{Config, Engine, Event, NodeState};
use support::program::find_server;
use support::servers::Cluster;

const MASTERS: usize = 5;

/// Rounds until a resource is locked again. A lock counts as released when a quorum has released
/// it; the other masters would still refuse the next request.
const NAMES: usize = 16;

const TTL: Duration = Duration::from_secs(30);

/// Limit for anything that takes a millisecond on an idle machine.
const PATIENCE: Duration = Duration::from_secs(10);

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(50)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3))
        .configure_from_args();
    let masters: Vec<_> = (0..MASTERS).map(|_| Server::start().expect("a master starts")).collect();
    bench(&mut criterion, "engine/embedded masters", masters.iter().map(Server::url).collect());
    drop(masters);
    match find_server(env::var_os("REDBOLT_TEST_SERVER"), env::var_os("PATH")) {
        Ok(_) => {
            let servers = Cluster::start(MASTERS);
            bench(&mut criterion, "engine/real servers", servers.addrs());
        }
        Err(why) => println!("engine/real servers: left out, because there is {why}"),
    }
    criterion.final_summary();
}

fn bench(criterion: &mut Criterion, name: &str, addresses: Vec<String>) {
    let mut engine = connect(addresses);
    let mut group = criterion.benchmark_group(name);
    for in_flight in [1, 64, 512] {
        group.throughput(Throughput::Elements(in_flight as u64));
        let number = 0..in_flight * NAMES;
        let resources: Vec<_> = number.map(|number| format!("order-{number}")).collect();
        let mut rounds = resources.chunks(in_flight).cycle();
        group.bench_function(BenchmarkId::new("in flight", in_flight), |bencher| {
            bencher.iter(|| round(&mut engine, rounds.next().expect("it is a cycle")));
        });
    }
    assert!(engine.drain(PATIENCE).expect("polling works"), "all masters have answered");
}

/// Returns an engine whose masters are all ready, so that a measured round asks every one of them.
fn connect(addresses: Vec<String>) -> Engine {
    let mut config = Config::new(addresses).expect("the addresses of masters can be read");
    config.redlock.restart_guard = RestartGuard::Off;
    let mut engine = Engine::new(config).expect("an engine can be made");
    let deadline = engine.now() + PATIENCE;
    while engine.nodes().any(|(_, _, node)| node.state != NodeState::Ready) {
        assert!(engine.now() < deadline, "a master is not ready");
        engine.poll(Some(deadline - engine.now())).expect("polling works");
    }
    while let Some(event) = engine.next_event() {
        assert!(matches!(event, Event::Node(_)), "{event:?}");
    }
    engine
}

/// Acquires all locks and releases each as soon as it is held. Returns when all are released.
fn round(engine: &mut Engine, resources: &[String]) {
    for resource in resources {
        engine.acquire(resource, TTL, PATIENCE).expect("there is room");
    }
    let mut released = 0;
    while released < resources.len() {
        engine.poll(Some(PATIENCE)).expect("polling works");
        while let Some(event) = engine.next_event() {
            match event {
                Event::Acquired { lock, .. } => engine.release(lock).expect("the lock is held"),
                Event::Released { outcome, .. } => {
                    assert!(!outcome.released.is_empty(), "{outcome:?}");
                    released += 1;
                }
                // A busy machine makes a node late for a moment, which fails no lock.
                Event::Node(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }
}

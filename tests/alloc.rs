//! Once warm, a lock costs no allocation: not one in ten thousand cycles of acquire, extend and
//! release. The allocator counts for each thread by itself, so servers and other tests do not
//! disturb.
#![cfg(feature = "net")]

mod support;

use std::time::Duration;

use allocation_counter::measure;
use redbolt::redlock::RestartGuard;
use redbolt::{Config, Engine, Event};
use support::now;
use support::servers::Cluster;

const TTL: Duration = Duration::from_secs(60);
const PATIENCE: Duration = Duration::from_secs(40);
const TURN: Duration = Duration::from_millis(5);

/// A bound for each node: however far behind it falls, its queues cannot grow over what they have
/// been before. Not quite a power of two, so that the few script calls beyond it find room.
const MAX_PIPELINE: usize = 150;

/// An engine that always wants a number of locks, and has taken and given back others already.
struct Load {
    engine: Engine,
    resources: Vec<String>,
    wait: Duration,
    wanted: usize,
    started: usize,
    ended: usize,
    deadline: Duration,
}

impl Load {
    fn new(cluster: &Cluster, resources: usize) -> Self {
        let mut config = Config::new(cluster.addrs()).expect("the addresses can be read");
        config.redlock.restart_guard = RestartGuard::Off;
        // The nodes are looked at each third of this time, and an answer of INFO needs more room
        // than those about locks. A lock does not pay for that.
        config.redlock.max_ttl = Duration::from_secs(24 * 60 * 60);
        // A timeout that ends what a slow machine has not yet done would open new connections.
        config.redlock.node_timeout = Some(PATIENCE);
        config.redlock.close_timeout = PATIENCE;
        config.redlock.connect_timeout = PATIENCE;
        config.redlock.release_timeout = PATIENCE;
        config.redlock.retry_max = Duration::from_millis(5);
        config.redlock.max_locks = 4_096;
        config.redlock.max_pipeline = MAX_PIPELINE;
        let mut engine = Engine::new(config).expect("an engine can be made");
        engine.settle(PATIENCE).expect("polling works");
        let resources = (0..resources).map(|number| format!("resource/{number}")).collect();
        let deadline = now() + 3 * PATIENCE;
        Self { engine, resources, wait: PATIENCE, wanted: 0, started: 0, ended: 0, deadline }
    }

    /// Keeps `wanted` locks coming and going for that many more cycles.
    fn run(&mut self, wanted: usize, cycles: usize) {
        self.wanted = wanted;
        let goal = self.ended + cycles;
        while self.ended < goal {
            self.turn();
        }
    }

    fn turn(&mut self) {
        assert!(now() < self.deadline, "{} cycles in all this time", self.ended);
        while self.started - self.ended < self.wanted {
            let resource = &self.resources[self.started % self.resources.len()];
            self.engine.acquire(resource, TTL, self.wait).expect("there is room");
            self.started += 1;
        }
        self.engine.poll(Some(TURN)).expect("polling works");
        while let Some(event) = self.engine.next_event() {
            match event {
                Event::Acquired { lock, .. } => self.engine.extend(lock, TTL).expect("held"),
                Event::Extended { lock, .. } => self.engine.release(lock).expect("held"),
                Event::Released { .. } => self.ended += 1,
                // Only where two want the same.
                Event::AcquireFailed { .. } if self.wait < PATIENCE => self.ended += 1,
                Event::Node(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// Lets each queue grow to its bound once: each node falls behind as far as it can.
    fn warm_up(&mut self, cluster: &Cluster) {
        const MANY: usize = 4 * MAX_PIPELINE;
        self.run(MANY, 2 * MANY);
        for (index, node) in cluster.iter().enumerate() {
            // No lock may need this node because another has fallen behind.
            self.wind_down();
            node.stop();
            self.wanted = MANY;
            while self.in_flight(index) < MAX_PIPELINE {
                self.turn();
            }
            self.run(MANY, MANY);
            node.cont();
            self.run(MANY, MANY);
        }
        self.wind_down();
    }

    /// Wants no more, and waits until no node owes anything.
    fn wind_down(&mut self) {
        self.wanted = 0;
        while self.started > self.ended {
            self.turn();
        }
        assert!(self.engine.drain(PATIENCE).expect("polling works"));
    }

    fn in_flight(&self, index: usize) -> usize {
        self.engine.nodes().nth(index).map_or(0, |(_, _, status)| status.in_flight)
    }
}

fn assert_empty(cluster: &Cluster) {
    assert!(cluster.iter().all(|node| node.keys_but_hints().is_empty()));
}

#[test]
fn a_warm_engine_allocates_nothing() {
    let cluster = Cluster::start(3);
    let mut load = Load::new(&cluster, 1_000);
    load.warm_up(&cluster);
    let counted = measure(|| load.run(64, 10_000));
    assert_eq!(counted.count_total, 0, "{counted:?}");
    load.wind_down();
    assert_empty(&cluster);
}

/// Refusals, pauses and retries, lines of waiters, hand-overs, and waits that end.
#[test]
fn a_warm_engine_allocates_nothing_under_contention() {
    let cluster = Cluster::start(3);
    // Two engines that want the same few resources.
    let mut loads = [Load::new(&cluster, 8), Load::new(&cluster, 8)];
    loads.iter_mut().for_each(|load| load.warm_up(&cluster));
    let run = |loads: &mut [Load; 2], cycles: usize| {
        let goal = loads.iter().map(|load| load.ended).sum::<usize>() + cycles;
        while loads.iter().map(|load| load.ended).sum::<usize>() < goal {
            loads.iter_mut().for_each(Load::turn);
        }
    };
    for load in &mut loads {
        // While one engine has a line of its own for a resource, the other may wait in vain.
        (load.wanted, load.wait) = (48, Duration::from_millis(100));
    }
    run(&mut loads, 500);
    // Memory for looks at the door is taken with the first one.
    while loads.iter().any(|load| load.engine.counters().looked == 0) {
        run(&mut loads, 100);
    }
    // A process that does not run for as long as a wait finds that all waits have ended, of more
    // locks than are wanted later: the queue of events has been at its longest.
    let away = now() + Duration::from_millis(100);
    while now() < away {}
    loads.iter_mut().for_each(|load| load.wanted = 24);
    run(&mut loads, 500);
    let refused = |load: &Load| -> u64 {
        load.engine.nodes().map(|(_, _, status)| status.counters.refused).sum()
    };
    let before = loads.each_ref().map(refused);
    let counted = measure(|| run(&mut loads, 3_000));
    assert_eq!(counted.count_total, 0, "{counted:?}");
    assert!(loads.each_ref().map(refused) > before, "nobody was in the way");
    // Both at once: each waits for what the other holds.
    loads.iter_mut().for_each(|load| load.wanted = 0);
    while loads.iter().any(|load| load.started > load.ended) {
        loads.iter_mut().for_each(Load::turn);
    }
    loads.iter_mut().for_each(Load::wind_down);
    assert_empty(&cluster);
}

/// The measure itself: without it, nothing would be counted and everything pass.
#[test]
fn an_allocation_is_counted() {
    let counted = measure(|| drop(std::hint::black_box(vec![0_u8; 100])));
    assert_eq!(counted.count_total, 1);
}

//! What `tracing` and `metrics` are told, by an engine on embedded masters.
#![cfg(all(feature = "tracing", feature = "metrics", feature = "embedded"))]

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use metrics::{SharedString, Unit};
use metrics_util::CompositeKey;
use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
use redbolt::embedded::{Cluster, Memory, Server};
use redbolt::{
    Client, ClientBuilder, Clock, Config, Engine, Event, NodeId, NodeState, NodeStatus,
    RestartGuard,
};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Metadata, Subscriber};

const TTL: Duration = Duration::from_secs(30);
const PATIENCE: Duration = Duration::from_secs(20);

/// Keeps every event as a line: the level, then the fields.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Subscriber for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        assert_eq!(event.metadata().target(), redbolt::TRACING_TARGET);
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        self.0.lock().expect("nobody panics").push(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {}={value:?}", field.name()).expect("a string takes everything");
    }
}

fn until(engine: &mut Engine, mut wanted: impl FnMut(&Engine, &Event) -> bool) {
    let end = engine.now() + PATIENCE;
    loop {
        engine.poll(Some(Duration::from_millis(50))).expect("polling works");
        while let Some(event) = engine.next_event() {
            if wanted(engine, &event) {
                return;
            }
        }
        assert!(engine.now() < end, "it never happens");
    }
}

fn poll_until(engine: &mut Engine, condition: impl Fn(&Engine) -> bool) {
    let end = engine.now() + PATIENCE;
    while !condition(engine) {
        assert!(engine.now() < end, "it never happens");
        engine.poll(Some(Duration::from_millis(50))).expect("polling works");
    }
}

/// For one test at a time: `tracing` decides for all threads together whether anybody listens.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    // A test that has failed is over as well.
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A node that stays down for a night must not fill the log with its attempts to connect.
#[test]
fn a_node_that_stays_down_is_told_once_however_often_it_is_tried() {
    const ATTEMPTS: u64 = 20;
    let _alone = alone();
    let cluster = Cluster::start(2).expect("masters can be started");
    let gone = cluster.nodes()[1].addr().to_string();
    let (recorder, lines) = (DebuggingRecorder::new(), Lines::default());
    let tell = || {
        let mut config = cluster.config();
        config.redlock.reconnect_max = Duration::from_millis(20);
        let mut engine = Engine::new(config).expect("an engine can be made");
        let mut poll_until = |condition: fn(&NodeStatus<'_>) -> bool| {
            let second = NodeId::new(1).expect("the second node");
            until(&mut engine, |engine, event| {
                matches!(event, Event::Node(node) if *node == second)
                    && condition(&engine.node(second).expect("it is there"))
            });
        };
        poll_until(|node| node.state == NodeState::Ready);
        cluster.nodes()[1].stop().expect("it can be stopped");
        poll_until(|node| node.counters.failures >= ATTEMPTS);
        cluster.nodes()[1].restart(Memory::Kept).expect("it can be started");
        poll_until(|node| node.state == NodeState::Ready);
    };
    metrics::with_local_recorder(&recorder, || {
        tracing::subscriber::with_default(lines.clone(), tell);
    });

    let lines = lines.0.lock().expect("nobody panics");
    let lines = lines.iter().filter(|line| line.contains(&gone));
    let (attempts, told): (Vec<_>, Vec<_>) = lines.partition(|line| line.starts_with("DEBUG"));
    assert!(attempts.len() as u64 >= ATTEMPTS, "{attempts:?}");
    let levels: Vec<_> = told.iter().map(|line| line.split(' ').next()).collect();
    assert_eq!(levels, [Some("INFO"), Some("WARN"), Some("INFO")], "{told:?}");
    let snapshot = recorder.snapshotter().snapshot().into_vec();
    let changes = snapshot.into_iter().filter_map(|(key, _, _, value)| {
        let labels: Vec<_> = key.key().labels().map(|label| label.value().to_owned()).collect();
        (key.key().name() == "redbolt_node_changes_total" && labels.contains(&gone))
            .then_some((labels, value))
    });
    let mut changes: Vec<_> = changes.map(|(labels, value)| (labels[1].clone(), value)).collect();
    changes.sort_by(|one, other| one.0.cmp(&other.0));
    let expected = [("down", 1), ("ready", 2)];
    assert_eq!(changes, expected.map(|(state, n)| (state.to_owned(), DebugValue::Counter(n))));
}

/// A gauge that is only set when a node changes keeps the round trip of the stall for ever.
#[test]
fn the_round_trip_of_a_node_that_has_recovered_recovers_too() {
    let _alone = alone();
    let cluster = Cluster::start(3).expect("masters can be started");
    let slow = &cluster.nodes()[2];
    let late = Duration::from_millis(100);
    let recorder = DebuggingRecorder::new();
    metrics::with_local_recorder(&recorder, || {
        let mut config = cluster.config();
        config.redlock.node_timeout = Some(late / 2);
        let mut engine = Engine::new(config).expect("an engine can be made");
        let third = NodeId::new(2).expect("the third node");
        let is = |state: NodeState| {
            move |engine: &Engine, event: &Event| {
                matches!(event, Event::Node(node) if *node == third)
                    && engine.node(third).is_some_and(|node| node.state == state)
            }
        };
        until(&mut engine, is(NodeState::Ready));
        slow.delay(late);
        let round_trip = |engine: &Engine| engine.node(third).expect("it is there").round_trip;
        // One late reply at most doubles the round trip.
        let is_learned = (0..40).any(|number| {
            engine.acquire(format!("slow {number}"), TTL, PATIENCE).expect("in bounds");
            until(&mut engine, is(NodeState::Stalled));
            until(&mut engine, is(NodeState::Ready));
            round_trip(&engine) > late / 20
        });
        assert!(is_learned, "the gauge was set to this");
        slow.delay(Duration::ZERO);
        let mut number = 0;
        while round_trip(&engine) > late / 50 {
            number += 1;
            let lock = engine.acquire(format!("{number}"), TTL, PATIENCE).expect("in bounds");
            until(&mut engine, |_, event| matches!(event, Event::Acquired { .. }));
            engine.release(lock).expect("it is held");
            until(&mut engine, |_, event| matches!(event, Event::Released { .. }));
        }
        engine.query("slow 0").expect("in bounds");
        until(&mut engine, |_, event| matches!(event, Event::Queried { .. }));
    });
    let addr = slow.addr().to_string();
    let told = value(&recorder, "redbolt_node_round_trip_seconds", &addr).expect("it was set");
    assert!(told < late.as_secs_f64() / 20.0, "{told}");
}

/// What is held is held by this process, so that nothing is held when its engines are gone.
#[test]
fn the_gauge_of_held_locks_goes_up_and_down_and_ends_with_the_engine() {
    let _alone = alone();
    let cluster = Cluster::start(1).expect("masters can be started");
    let recorder = DebuggingRecorder::new();
    let mut sum = 0.0;
    // Each look at this recorder sets it back to zero.
    let mut held = || {
        sum += value(&recorder, "redbolt_held", "").unwrap_or(0.0);
        sum
    };
    metrics::with_local_recorder(&recorder, || {
        let mut engine = Engine::new(cluster.config()).expect("an engine can be made");
        let mut locks = Vec::new();
        for name in ["a", "b", "c", "d"] {
            locks.push(engine.acquire(name, TTL, PATIENCE).expect("in bounds"));
            until(&mut engine, |_, event| matches!(event, Event::Acquired { .. }));
        }
        assert_eq!(held(), 4.0);
        engine.release(locks[0]).expect("it is held");
        until(&mut engine, |_, event| matches!(event, Event::Released { .. }));
        assert_eq!(held(), 3.0);
        engine.disown(locks[1]).expect("it is held");
        assert_eq!(held(), 2.0, "no event tells of this one");
        let mut other = Engine::new(cluster.config()).expect("an engine can be made");
        other.acquire("e", TTL, PATIENCE).expect("in bounds");
        until(&mut other, |_, event| matches!(event, Event::Acquired { .. }));
        assert_eq!(held(), 3.0, "the engines of a process share the gauge");
        drop(engine);
        assert_eq!(held(), 1.0);
        drop(other);
        assert_eq!(held(), 0.0);
    });
}

/// What the threads of clients tell, who know no recorder and no subscriber but those of the whole
/// process.
fn process() -> (&'static Snapshotter, Lines) {
    static PROCESS: OnceLock<(Snapshotter, Lines)> = OnceLock::new();
    let (snapshotter, lines) = PROCESS.get_or_init(|| {
        let (recorder, lines) = (DebuggingRecorder::new(), Lines::default());
        let snapshotter = recorder.snapshotter();
        recorder.install().expect("nobody else installs one");
        tracing::subscriber::set_global_default(lines.clone()).expect("nobody else sets one");
        (snapshotter, lines)
    });
    (snapshotter, lines.clone())
}

/// Three threads have three connections to a node, and the operator has one node.
#[test]
fn the_threads_of_a_client_tell_of_a_node_once() {
    let _alone = alone();
    let (snapshotter, lines) = process();
    let cluster = Cluster::start(3).expect("masters can be started");
    let gone = cluster.nodes()[1].addr().to_string();
    let mut config = cluster.config();
    config.redlock.reconnect_max = Duration::from_millis(20);
    let client = ClientBuilder::from(config).threads(3).build().expect("a client can be made");
    let told = || -> Vec<_> {
        let lines = lines.0.lock().expect("nobody panics");
        let lines = lines.iter().filter(|line| line.contains(&gone) && !line.starts_with("DEBUG"));
        lines.map(|line| line.split(' ').next().unwrap_or_default().to_owned()).collect()
    };
    let until = |count| {
        let end = Clock::now() + PATIENCE;
        while told().len() < count {
            assert!(Clock::now() < end, "{:?}", told());
            // The answer comes from a thread of the client, which has run meanwhile.
            client.nodes().blocking_wait().expect("the client runs");
        }
    };
    until(1);
    cluster.nodes()[1].stop().expect("it can be stopped");
    until(2);
    cluster.nodes()[1].restart(Memory::Kept).expect("it can be started");
    until(3);
    drop(client);
    assert_eq!(told(), ["INFO", "WARN", "INFO"]);
    let mut changes = Vec::new();
    for (key, _, _, value) in snapshotter.snapshot().into_vec() {
        let labels: Vec<_> = key.key().labels().map(|label| label.value().to_owned()).collect();
        if key.key().name() == "redbolt_node_changes_total" && labels.contains(&gone) {
            changes.push((labels[1].clone(), value));
        }
    }
    changes.sort_by(|one, other| one.0.cmp(&other.0));
    let expected = [("down", 1), ("ready", 2)];
    assert_eq!(changes, expected.map(|(state, n)| (state.to_owned(), DebugValue::Counter(n))));
}

#[test]
fn a_client_records_how_long_its_callers_have_waited() {
    let _alone = alone();
    let (snapshotter, _) = process();
    let cluster = Cluster::start(3).expect("masters can be started");
    let client = Client::new(cluster.config()).expect("a client can be made");
    let mut waits = Vec::new();
    for _ in 0..3 {
        drop(client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free"));
    }
    // The thread of the client has counted what it has handed out.
    assert_eq!(client.counters().blocking_wait().expect("it runs").wait.count(), 3);
    for (key, unit, description, value) in snapshotter.snapshot().into_vec() {
        let name = key.key().name();
        assert!(unit.is_some() && description.is_some(), "{name} is not described");
        if let ("redbolt_wait_seconds", DebugValue::Histogram(values)) = (name, value) {
            waits.extend(values.iter().map(|value| value.0));
        }
    }
    assert_eq!(waits.len(), 3);
    assert!(waits.iter().all(|wait| *wait > 0.0 && *wait < PATIENCE.as_secs_f64()), "{waits:?}");
}

/// The value of a counter or a gauge, of those with a label if one is given.
fn value(recorder: &DebuggingRecorder, name: &str, label: &str) -> Option<f64> {
    find(&recorder.snapshotter().snapshot().into_vec(), name, label)
}

fn find(snapshot: &[Told], name: &str, label: &str) -> Option<f64> {
    let found = snapshot.iter().filter(|(key, ..)| key.key().name() == name);
    let mut found = found.filter(|(key, ..)| {
        label.is_empty() || key.key().labels().any(|known| known.value() == label)
    });
    found.next().map(|(_, _, _, value)| match value {
        DebugValue::Counter(count) => *count as f64,
        DebugValue::Gauge(value) => value.0,
        DebugValue::Histogram(_) => f64::NAN,
    })
}

/// What a recorder was told of one metric.
type Told = (CompositeKey, Option<Unit>, Option<SharedString>, DebugValue);

/// A lock that is taken, refused, extended, given back; one that is lost; a node that goes.
fn live(masters: &mut Vec<Server>) {
    let mut config = Config::new(masters.iter().map(Server::url)).expect("these are addresses");
    config.redlock.restart_guard = RestartGuard::Off;
    config.redlock.node_timeout = Some(PATIENCE);
    config.redlock.close_timeout = PATIENCE;
    let mut engine = Engine::new(config).expect("an engine can be made");
    // The events of the nodes stay to be taken.
    poll_until(&mut engine, |engine| {
        engine.nodes().all(|(_, _, node)| node.state == NodeState::Ready)
    });
    let lock = engine.acquire("a", TTL, PATIENCE).expect("in bounds");
    until(&mut engine, |_, event| matches!(event, Event::Acquired { .. }));
    engine.acquire("a", TTL, Duration::ZERO).expect("in bounds");
    until(&mut engine, |_, event| matches!(event, Event::AcquireFailed { .. }));
    engine.extend(lock, TTL).expect("it is held");
    until(&mut engine, |_, event| matches!(event, Event::Extended { .. }));
    poll_until(&mut engine, |engine| {
        engine.nodes().all(|(_, _, node)| node.latencies.extend.count() == 1)
    });
    engine.release(lock).expect("it is held");
    until(&mut engine, |_, event| matches!(event, Event::Released { .. }));
    engine.acquire("b", Duration::from_millis(100), PATIENCE).expect("in bounds");
    until(&mut engine, |_, event| matches!(event, Event::Lost { .. }));
    drop(masters.pop());
    until(&mut engine, |_, event| matches!(event, Event::Node(node) if node.index() == 2));
    let counters = engine.counters();
    assert_eq!((counters.requested, counters.acquired, counters.acquire_failed.held), (3, 2, 1));
    assert_eq!((counters.extended, counters.released, counters.lost.expired), (1, 1, 1));
    for (_, _, status) in engine.nodes().take(2) {
        assert!(status.latencies.set.count() >= 1);
        assert!(status.latencies.set.quantile(0.5) > Duration::ZERO);
    }
}

#[test]
fn what_happens_is_told_to_both() {
    let _alone = alone();
    let masters = (0..3).map(|_| Server::start()).collect::<Result<Vec<_>, _>>();
    let mut masters = masters.expect("masters can be started");
    let gone = masters[2].addr().to_string();
    let recorder = DebuggingRecorder::new();
    let lines = Lines::default();
    metrics::with_local_recorder(&recorder, || {
        tracing::subscriber::with_default(lines.clone(), || live(&mut masters));
    });

    let lines = lines.0.lock().expect("nobody panics");
    let told = |level: &str, text: &str| {
        lines.iter().any(|line| line.starts_with(level) && line.contains(text))
    };
    assert!(told("INFO", "node is ready"), "{lines:?}");
    assert!(told("WARN", &gone), "{lines:?}");
    assert!(told("WARN", "a lock is lost"), "{lines:?}");
    assert!(told("WARN", "resource=\"b\""), "{lines:?}");
    assert!(told("DEBUG", "held by another lock of this client"), "{lines:?}");
    assert!(told("DEBUG", "resource=\"a\""), "{lines:?}");

    let snapshot = recorder.snapshotter().snapshot().into_vec();
    let page = include_str!("../src/lib.rs");
    for (key, unit, description, _) in &snapshot {
        let name = key.key().name();
        assert!(unit.is_some() && description.is_some(), "{name} is not described");
        assert!(page.contains(&format!("//! | `{name}")), "{name} is not in the table");
    }
    let value = |name: &str, label: &str| find(&snapshot, name, label);
    assert_eq!(value("redbolt_acquired_total", ""), Some(2.0));
    assert_eq!(value("redbolt_acquire_failed_total", "held"), Some(1.0));
    assert_eq!(value("redbolt_extended_total", ""), Some(1.0));
    assert_eq!(value("redbolt_released_total", ""), Some(1.0));
    assert_eq!(value("redbolt_passed_on_total", ""), Some(0.0));
    assert_eq!(value("redbolt_lost_total", "expired"), Some(1.0));
    // What has not happened yet is told to be so.
    assert_eq!(value("redbolt_lost_total", "majority"), Some(0.0));
    assert_eq!(value("redbolt_acquire_failed_total", "cancelled"), Some(0.0));
    assert_eq!(value("redbolt_queried_total", ""), Some(0.0));
    assert_eq!(value("redbolt_node_votes", &gone), Some(0.0));
    let stays = masters[0].addr().to_string();
    assert_eq!(value("redbolt_node_votes", &stays), Some(1.0));
}

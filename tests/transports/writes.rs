//! How often the system is called: with TLS as often as without.

use std::time::Duration;

use redbolt::{Engine, Event, LockId, NodeState};

use super::certificates::Authority;
use super::secure::{Secure, urls};
use super::{PATIENCE, TTL, config};
use crate::support::servers::Cluster;
use crate::support::until;

/// An engine on three nodes that are ready.
fn engine(nodes: &[String]) -> Engine {
    let mut config = config(nodes);
    // An engine looks at its nodes several times in this time, and a look is a write to each.
    config.redlock.max_ttl = Duration::from_secs(24 * 3600);
    let mut engine = Engine::new(config).expect("the configuration is in bounds");
    let is_ready = until(PATIENCE, || {
        turn(&mut engine);
        engine.nodes().all(|(_, _, status)| status.state == NodeState::Ready)
    });
    assert!(is_ready, "{engine:?}");
    engine
}

fn turn(engine: &mut Engine) {
    engine.poll(Some(Duration::from_millis(5))).expect("no node causes an error here");
}

/// Takes turns until nothing is under way, and returns the locks that were acquired.
fn acquired(engine: &mut Engine, count: usize) -> Vec<LockId> {
    let mut locks = Vec::new();
    let is_over = until(PATIENCE, || {
        turn(engine);
        while let Some(event) = engine.next_event() {
            match event {
                Event::Acquired { lock, .. } => locks.push(lock),
                Event::Node(_) => {}
                other => panic!("{other:?}"),
            }
        }
        locks.len() == count && engine.nodes().all(|(_, _, status)| status.in_flight == 0)
    });
    assert!(is_over, "{} of {count}", locks.len());
    locks
}

fn settle(engine: &mut Engine) {
    let is_over = until(PATIENCE, || {
        turn(engine);
        while engine.next_event().is_some() {}
        engine.in_use() == 0
    });
    assert!(is_over, "{engine:?}");
}

/// Returns how many calls of `write` each of these steps takes on all nodes together: one lock and
/// its release; many locks, and their releases; requests that are longer than one record of TLS.
fn writes(nodes: &[String]) -> Vec<u64> {
    let mut engine = engine(nodes);
    let mut counts = Vec::new();
    for names in [names(1, 10), names(50, 10), names(100, 400)] {
        let before = engine.io_counters().writes;
        for name in &names {
            engine.acquire(name, TTL, Duration::ZERO).expect("the request is in bounds");
        }
        // All requests of one turn leave together.
        let locks = acquired(&mut engine, names.len());
        let between = engine.io_counters().writes;
        for lock in locks {
            engine.release(lock).expect("it is held");
        }
        settle(&mut engine);
        counts.extend([between - before, engine.io_counters().writes - between]);
    }
    counts
}

/// `count` names of this length.
fn names(count: usize, len: usize) -> Vec<String> {
    (0..count).map(|number| format!("{number:0>len$}")).collect()
}

#[test]
fn one_write_for_each_node_and_turn_with_tls_as_without() {
    let authority = Authority::new();
    let (plain, secure) = (Cluster::start(3), Secure::cluster(&authority, 3));
    assert_eq!(writes(&plain.addrs()), [3; 6], "without TLS");
    assert_eq!(writes(&urls(&secure, &authority)), [3; 6], "with TLS");
}

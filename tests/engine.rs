//! The engine on real servers: what every user does.

mod support;

use std::time::Duration;

use redbolt::{Config, Engine, Event, LockId};
use support::servers::Cluster;

const TTL: Duration = Duration::from_secs(10);
const WAIT: Duration = Duration::from_secs(5);

fn engine(cluster: &Cluster) -> Engine {
    let config = Config::new(cluster.addrs()).expect("the addresses of servers can be read");
    Engine::new(config).expect("an engine can be made")
}

/// Polls until the next event about a lock.
fn next(engine: &mut Engine) -> Event {
    loop {
        match engine.next_event() {
            Some(Event::Node(_)) => {}
            Some(event) => return event,
            None => engine.poll(Some(WAIT)).expect("polling works"),
        }
    }
}

fn acquire(engine: &mut Engine, resource: &str) -> LockId {
    let lock = engine.acquire(resource, TTL, WAIT).expect("the request is in bounds");
    match next(engine) {
        Event::Acquired { lock: acquired, .. } => assert_eq!(acquired, lock),
        other => panic!("{other:?}"),
    }
    lock
}

#[test]
fn a_lock_is_acquired_extended_and_released() {
    let cluster = Cluster::start(5);
    let mut engine = engine(&cluster);
    let lock = acquire(&mut engine, "orders/42");
    assert!(engine.is_held(lock));
    let token = engine.token(lock).expect("a held lock has a token");
    assert!(cluster.holding(b"orders/42", token.as_ref()) >= 3);

    engine.extend(lock, 2 * TTL).expect("the lock is held");
    let Event::Extended { .. } = next(&mut engine) else { panic!("not extended") };
    assert!(engine.remaining(lock) > TTL);

    engine.release(lock).expect("the lock is held");
    assert!(!engine.is_held(lock));
    let Event::Released { outcome, .. } = next(&mut engine) else { panic!("not released") };
    // The event comes when a quorum is free of the lock; nodes that were not yet connected when it
    // was acquired always were.
    assert!(!outcome.released.is_empty() && outcome.foreign.is_empty(), "{outcome:?}");
    assert!(engine.drain(WAIT).expect("polling works"));
    for node in cluster.iter() {
        assert_eq!(node.keys(), Vec::<Vec<u8>>::new());
    }
}

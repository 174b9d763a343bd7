//! The edges of what can be asked for, and the bounds of what is kept.

use std::time::Duration;

use redbolt::redlock::{LONGEST_TTL, MAX_RESOURCE, MIN_TTL};
use redbolt::{AcquireError, Config, ConfigError, Engine, EngineError, Event, RequestError};

use crate::owner::{Owner, PATIENCE, TTL, config};
use crate::support::servers::Cluster;

/// FAULTS 58.
#[test]
fn a_ttl_out_of_bounds_is_refused_with_its_bound() {
    let cluster = Cluster::start(1);
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    let ms = Duration::from_millis;
    for ttl in [Duration::ZERO, Duration::from_nanos(1), ms(1), MIN_TTL - Duration::from_nanos(1)] {
        let refused = owner.engine.acquire("resource", ttl, PATIENCE);
        assert_eq!(refused, Err(RequestError::TtlTooShort { ttl, least: MIN_TTL }));
    }
    let max = Duration::from_secs(60);
    for ttl in [max + ms(1), LONGEST_TTL, Duration::from_millis(u64::MAX), Duration::MAX] {
        let refused = owner.engine.acquire("resource", ttl, PATIENCE);
        assert_eq!(refused, Err(RequestError::TtlTooLong { ttl, max }));
    }
    let lock = owner.hold("resource");
    let refused = owner.engine.extend(lock, Duration::MAX);
    assert_eq!(refused, Err(RequestError::TtlTooLong { ttl: Duration::MAX, max }));
    let refused = owner.engine.extend(lock, ms(9));
    assert_eq!(refused, Err(RequestError::TtlTooShort { ttl: ms(9), least: MIN_TTL }));
    assert_eq!(owner.engine.in_use(), 1, "what is refused takes no place");
    owner.let_go(lock);
    owner.finish(cluster.iter());
}

/// FAULTS 58; PEERS 1c, rslock: a validity of `ttl - 500 ms` underflows for a short ttl.
#[test]
fn the_shortest_ttl_ends_one_way_or_the_other() {
    let cluster = Cluster::start(1);
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    for round in 0..20_u8 {
        let lock = owner.acquire_for([round], MIN_TTL, Duration::ZERO);
        match owner.next() {
            // A round trip took as long as the ttl.
            Event::AcquireFailed { .. } => {}
            Event::Acquired { .. } => {
                assert!(owner.engine.remaining(lock) < MIN_TTL - Duration::from_millis(2));
                owner.lost();
            }
            other => panic!("{other:?}"),
        }
    }
    owner.finish(cluster.iter());
}

/// FAULTS 58.
#[test]
fn a_wait_for_ever_is_no_overflow() {
    let cluster = Cluster::start(1);
    let mut owner = Owner::of(cluster.addrs());
    let first = owner.acquire_for("resource", TTL, Duration::MAX);
    assert_eq!(owner.acquired(), first);
    let second = owner.acquire_for("resource", TTL, Duration::MAX);
    owner.release(first);
    assert!(matches!(owner.next(), Event::Released { .. } | Event::Acquired { .. }));
    assert!(matches!(owner.next(), Event::Released { .. } | Event::Acquired { .. }));
    owner.let_go(second);
    owner.finish(cluster.iter());
}

/// FAULTS 58: a resource is the key, byte for byte.
#[test]
fn a_resource_is_any_bytes_up_to_the_longest() {
    let cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    let every_byte: Vec<u8> = (0..=255).collect();
    let long = vec![b'x'; MAX_RESOURCE];
    let names: [&[u8]; 8] = [
        b"\0",
        b"\r\n",
        b"a\r\n$3\r\nfoo\r\n",
        b"*1\r\n$8\r\nFLUSHALL\r\n",
        b"{tag}\xff\xfe",
        "schlo\u{df} \u{1f512}".as_bytes(),
        &every_byte,
        &long,
    ];
    let locks: Vec<_> = names.iter().map(|name| owner.hold(name)).collect();
    let mut sorted = names.map(<[u8]>::to_vec).to_vec();
    sorted.sort();
    owner.all_answered();
    for node in cluster.iter() {
        assert_eq!(node.keys(), sorted);
    }
    for (lock, name) in locks.iter().zip(names) {
        let token = owner.engine.token(*lock).expect("it is held");
        assert_eq!(cluster.holding(name, token.as_ref()), 3);
        owner.extend(*lock);
        owner.extended();
        assert!(owner.let_go(*lock).released.len() >= 2);
    }

    assert_eq!(owner.engine.acquire("", TTL, PATIENCE), Err(RequestError::EmptyResource));
    let too_long = vec![b'x'; MAX_RESOURCE + 1];
    let refused = owner.engine.acquire(too_long, TTL, PATIENCE);
    assert_eq!(refused, Err(RequestError::ResourceTooLong { len: MAX_RESOURCE + 1 }));
    owner.finish(cluster.iter());
}

#[test]
fn a_prefix_stands_before_the_resource_and_counts() {
    let cluster = Cluster::start(1);
    let mut config = config(cluster.addrs());
    config.redlock.prefix = b"locks:".to_vec();
    let mut owner = Owner::new(config);
    let lock = owner.hold("42");
    assert_eq!(cluster[0].keys(), [b"locks:42"]);
    let refused = owner.engine.acquire(vec![b'x'; MAX_RESOURCE - 5], TTL, PATIENCE);
    assert_eq!(refused, Err(RequestError::ResourceTooLong { len: MAX_RESOURCE + 1 }));
    owner.let_go(lock);
    owner.finish(cluster.iter());
}

#[test]
fn a_full_engine_takes_no_more_until_a_lock_has_ended() {
    let cluster = Cluster::start(1);
    let mut config = config(cluster.addrs());
    config.redlock.max_locks = 2;
    let mut owner = Owner::new(config);
    let (first, second) = (owner.hold("a"), owner.acquire("a"));
    assert_eq!(owner.engine.acquire("b", TTL, PATIENCE), Err(RequestError::Full { max: 2 }));
    owner.cancel(second);
    assert_eq!(owner.not_acquired(), AcquireError::Cancelled);
    let third = owner.hold("b");
    owner.let_go(first);
    owner.let_go(third);
    owner.finish(cluster.iter());
}

/// The queue of events is bounded like the locks: who does not take them gets no more.
/// FAULTS 70.
#[test]
fn unread_events_fill_the_engine_too() {
    let cluster = Cluster::start(1);
    let mut config = config(cluster.addrs());
    config.redlock.max_locks = 2;
    let mut owner = Owner::new(config);
    let lock = owner.hold("a");
    // A lock that has ended keeps its place, and its name, until its last event is taken.
    owner.attempt("a");
    assert_eq!(owner.engine.acquire("b", TTL, PATIENCE), Err(RequestError::Full { max: 2 }));
    assert!(matches!(owner.not_acquired(), AcquireError::Held { .. }));
    owner.attempt("a");
    owner.release(lock);
    assert!(matches!(owner.not_acquired(), AcquireError::Held { .. }));
    owner.released();
    owner.finish(cluster.iter());
}

/// While no quorum of nodes is there, requests that come and go must not use up the engine.
#[test]
fn a_request_that_has_ended_takes_no_place_behind_one_that_waits() {
    // Nobody ever answers here.
    let mut config = config(["127.0.0.1:1"]);
    config.redlock.max_locks = 8;
    let mut owner = Owner::new(config);
    let patient = owner.acquire("patient");
    for round in 0..100_u8 {
        let lock = owner.acquire([round]);
        owner.cancel(lock);
        assert_eq!(owner.not_acquired(), AcquireError::Cancelled);
    }
    owner.cancel(patient);
    assert_eq!(owner.not_acquired(), AcquireError::Cancelled);
    owner.finish([]);
}

#[test]
fn an_engine_that_cannot_work_is_refused_with_the_reason() {
    let error = |change: fn(&mut Config)| {
        let mut config = config(["127.0.0.1:7001", "127.0.0.1:7002", "127.0.0.1:7003"]);
        change(&mut config);
        match Engine::new(config) {
            Err(EngineError::Config(error)) => error,
            other => panic!("{other:?}"),
        }
    };
    let address = |text: &str| text.parse().expect("an address");
    assert_eq!(error(|config| config.nodes.clear()), ConfigError::Nodes { count: 0 });
    assert_eq!(
        error(|config| config.redlock.quorum = Some(1)),
        ConfigError::Quorum { need: 1, majority: 2, nodes: 3 }
    );
    // FAULTS 50: the same name twice.
    let mut twice = config(["127.0.0.1:7001", "127.0.0.1:7002"]);
    twice.nodes.push(address("redis://:password@127.0.0.1:7001/3"));
    let error = Engine::new(twice).expect_err("it would vote twice").to_string();
    assert!(error.contains("127.0.0.1:7001") && !error.contains("password"), "{error}");
}

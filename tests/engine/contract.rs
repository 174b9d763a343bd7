//! What the engine promises its owner, whatever the nodes do.

use std::time::Duration;

use redbolt::{AcquireError, Event, ExtendError, LockId, LostReason, NodeSet, RequestError};

use crate::owner::{Owner, PATIENCE, TTL, config};
use crate::support::servers::Cluster;

/// The book that the owner keeps fails the test when a request ends twice or never.
/// FAULTS 67, as far as one thread can show it.
#[test]
fn every_request_ends_in_exactly_one_event() {
    let cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    let mut rng = fastrand::Rng::with_seed(7);
    let (mut wanted, mut held): (Vec<LockId>, Vec<LockId>) = Default::default();
    let mut requests = 0;
    while requests < 2_000 || !owner.has_nothing_open() {
        let wants_more = requests < 2_000;
        match rng.u8(..8) {
            // Few resources, so that most stand in line.
            0..=2 if wants_more && wanted.len() < 40 => {
                let wait = [Duration::ZERO, PATIENCE][rng.usize(..2)];
                wanted.push(owner.acquire_for([b'r', rng.u8(..16)], TTL, wait));
                requests += 1;
            }
            3 if wants_more && !wanted.is_empty() => {
                owner.cancel(wanted.swap_remove(rng.usize(..wanted.len())));
            }
            4 if wants_more && !held.is_empty() => {
                let lock = held[rng.usize(..held.len())];
                if !owner.is_extending(lock) {
                    owner.extend(lock);
                }
            }
            5 | 6 if !held.is_empty() => {
                owner.release(held.swap_remove(rng.usize(..held.len())));
            }
            _ => owner.turn(),
        }
        while let Some(event) = owner.next_now() {
            match event {
                Event::Acquired { lock, .. } => {
                    wanted.retain(|other| *other != lock);
                    held.push(lock);
                }
                Event::AcquireFailed { lock, .. } => wanted.retain(|other| *other != lock),
                Event::Lost { .. } => panic!("nobody took it away"),
                _ => {}
            }
        }
    }
    owner.finish(cluster.iter());
}

#[test]
fn a_lock_that_has_ended_is_not_known_any_more() {
    let cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    let lock = owner.hold("resource");
    assert!(owner.let_go(lock).foreign.is_empty());
    owner.all_answered();
    let engine = &mut owner.engine;
    assert_eq!(engine.release(lock), Err(RequestError::UnknownLock));
    assert_eq!(engine.extend(lock, TTL), Err(RequestError::UnknownLock));
    assert_eq!(engine.cancel(lock), Err(RequestError::UnknownLock));
    assert_eq!(engine.token(lock), None);
    assert_eq!(engine.remaining(lock), Duration::ZERO);
    assert!(!engine.is_held(lock));

    // Its place belongs to another lock now, which the old id must not touch.
    let other = owner.hold("resource");
    assert_eq!((other.index(), other == lock), (lock.index(), false));
    assert_eq!(owner.engine.release(lock), Err(RequestError::UnknownLock));
    assert!(owner.engine.is_held(other) && !owner.engine.is_held(lock));
    owner.let_go(other);

    // An id of another engine, with a place that does not exist here.
    let mut stranger = Owner::of(cluster.addrs());
    let ids: Vec<_> = (0..3).map(|number| stranger.hold([number])).collect();
    assert_eq!(owner.engine.release(ids[2]), Err(RequestError::UnknownLock));
    for id in ids {
        stranger.let_go(id);
    }
    stranger.finish([]);
    owner.finish(cluster.iter());
}

#[test]
fn each_command_is_refused_where_it_makes_no_sense() {
    let cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    let lock = owner.hold("resource");
    let waiting = owner.acquire("resource");
    assert_eq!(owner.engine.release(waiting), Err(RequestError::NotHeld));
    assert_eq!(owner.engine.extend(waiting, TTL), Err(RequestError::NotHeld));
    assert_eq!(owner.engine.cancel(lock), Err(RequestError::AlreadyHeld));
    assert_eq!(owner.engine.token(waiting), None);

    owner.extend(lock);
    assert_eq!(owner.engine.extend(lock, TTL), Err(RequestError::ExtensionPending));
    // Else the lock would be passed on, and would have ended.
    owner.engine.token(lock).expect("it is held");
    owner.release(lock);
    assert_eq!(owner.engine.release(lock), Err(RequestError::NotHeld));
    assert_eq!(owner.engine.extend(lock, TTL), Err(RequestError::NotHeld));
    assert_eq!(owner.engine.cancel(lock), Err(RequestError::AlreadyHeld));
    assert!(!owner.engine.is_held(lock), "from the call on, not from the event on");

    assert_eq!(owner.not_extended(), ExtendError::Released);
    let mut rest = [owner.next(), owner.next()];
    rest.sort_by_key(|event| matches!(event, Event::Acquired { .. }));
    assert!(matches!(rest[0], Event::Released { lock: ended, .. } if ended == lock), "{rest:?}");
    owner.let_go(waiting);
    owner.finish(cluster.iter());
}

#[test]
fn max_hold_bounds_all_extensions_together() {
    let cluster = Cluster::start(1);
    let mut config = config(cluster.addrs());
    config.redlock.max_hold = TTL;
    let mut owner = Owner::new(config);
    let lock = owner.hold("resource");
    owner.extend_for(lock, TTL / 2);
    owner.extended();
    let refused = owner.engine.extend(lock, TTL);
    let is_too_long = |error: &_| matches!(error, RequestError::HoldTooLong { max: TTL, .. });
    assert!(refused.as_ref().is_err_and(is_too_long), "{refused:?}");
    assert!(owner.engine.is_held(lock), "a refusal changes nothing");
    owner.let_go(lock);
    owner.finish(cluster.iter());
}

#[test]
fn waiters_of_one_engine_get_the_resource_in_the_order_of_asking() {
    let cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    let first = owner.hold("resource");
    let line: Vec<_> = (0..10).map(|_| owner.acquire("resource")).collect();
    let mut holder = first;
    for next in line {
        owner.release(holder);
        let mut events = [owner.next(), owner.next()];
        events.sort_by_key(|event| matches!(event, Event::Acquired { .. }));
        let [Event::Released { lock: released, .. }, Event::Acquired { lock, .. }] = events else {
            panic!("{events:?}");
        };
        assert_eq!((released, lock), (holder, next));
        holder = next;
    }
    owner.let_go(holder);
    owner.finish(cluster.iter());
}

/// PEERS 2.28.
#[test]
fn without_a_wait_a_lock_behind_another_of_this_engine_fails_at_once() {
    let cluster = Cluster::start(1);
    let mut owner = Owner::of(cluster.addrs());
    let lock = owner.hold("resource");
    let second = owner.attempt("resource");
    let event = owner.next_now();
    let expected = Event::AcquireFailed {
        lock: second,
        error: AcquireError::Held { refused: NodeSet::EMPTY },
    };
    assert_eq!(event, Some(expected), "without a poll between");
    owner.let_go(lock);
    owner.finish(cluster.iter());
}

/// The loop of the documentation polls first and takes the events then.
#[test]
fn a_poll_does_not_sleep_over_an_event_that_is_there_already() {
    let cluster = Cluster::start(1);
    let mut owner = Owner::of(cluster.addrs());
    let lock = owner.acquire_for("resource", Duration::from_secs(10), PATIENCE);
    // No poll with a timeout, which leaves a timer behind.
    while !owner.engine.is_held(lock) {
        owner.engine.poll(None).expect("polling works");
    }
    assert_eq!(owner.acquired(), lock);
    let second = owner.attempt("resource");
    // Nothing else will happen before the first lock ends.
    owner.engine.poll(None).expect("polling works");
    assert!(owner.engine.is_held(lock), "the poll waited for the end of the other lock");
    let event = owner.next_now();
    assert!(matches!(event, Some(Event::AcquireFailed { lock, .. }) if lock == second));
    owner.let_go(lock);
    owner.finish(cluster.iter());
}

#[test]
fn a_lock_is_lost_when_its_validity_ends_and_not_before() {
    let cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    let ttl = Duration::from_millis(400);
    let lock = owner.acquire_for("resource", ttl, PATIENCE);
    let Event::Acquired { valid_until, .. } = owner.next() else { panic!("not acquired") };
    assert_eq!(owner.lost(), LostReason::Expired);
    // It is told a little ahead, so that it is heard in time.
    let lead = owner.engine.redlock_config().lost_lead;
    assert!(owner.engine.now() + lead >= valid_until);
    assert!(!owner.engine.is_held(lock));
    owner.poll_until("its end", |owner| owner.engine.in_use() == 0);
    assert!(owner.engine.token(lock).is_none());
    assert_eq!(owner.engine.extend(lock, TTL), Err(RequestError::UnknownLock), "lost is terminal");
    owner.finish(cluster.iter());
}

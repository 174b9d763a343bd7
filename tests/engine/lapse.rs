//! An owner that is not scheduled for longer than its locks last: stopped, paged out, or busy. The
//! replies wait in its sockets meanwhile, and may look as fresh as ever.

use std::time::Duration;

use redbolt::redlock::NodeOutcome;
use redbolt::time::Instant;
use redbolt::{AcquireError, Event, ExtendError, LockId, LostReason, RequestError};

use crate::owner::{Owner, PATIENCE};
use crate::support::servers::Cluster;
use crate::support::until;

/// Long enough to take and extend a lock on a slow machine.
const TTL: Duration = Duration::from_secs(1);

fn start() -> (Cluster, Owner) {
    let cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    (cluster, owner)
}

/// A held lock, and the end of its validity.
fn hold(owner: &mut Owner) -> (LockId, Instant) {
    let lock = owner.acquire_for("resource", TTL, PATIENCE);
    let Event::Acquired { valid_until, .. } = owner.next() else { panic!("not acquired") };
    (lock, valid_until)
}

/// Does not poll until then.
fn sleep_until(owner: &Owner, then: Instant) {
    assert!(until(PATIENCE, || owner.engine.now() >= then));
}

/// FAULTS 36: the votes were given, and are worth nothing any more. PEERS 1c, rslock: returns early
/// then and leaves the keys. PEERS 2.12.
#[test]
fn votes_that_are_read_after_the_validity_make_no_lock_and_are_released() {
    let (cluster, mut owner) = start();
    let start = owner.engine.now();
    let lock = owner.acquire_for("resource", TTL, Duration::ZERO);
    owner.flush();
    assert!(until(PATIENCE, || cluster.iter().all(|node| node.calls("set") == 1)));
    sleep_until(&owner, start + TTL);
    let error = owner.not_acquired();
    let AcquireError::NoQuorum(outcomes) = error else { panic!("{error}") };
    assert!(outcomes.as_slice().contains(&NodeOutcome::Granted), "{error}");
    assert!(!owner.engine.is_held(lock));
    owner.all_answered();
    for (node, (_, _, status)) in cluster.iter().zip(owner.engine.nodes()) {
        assert_eq!((status.counters.granted, node.calls("evalsha")), (1, 1));
    }
    owner.finish(cluster.iter());
}

/// FAULTS 35; PEERS 2.10, PEERS 2.29: whether it is held is a question of the time, not of a flag.
#[test]
fn a_lock_that_lapsed_while_nobody_polled_is_not_held() {
    let (cluster, mut owner) = start();
    let (lock, valid_until) = hold(&mut owner);
    sleep_until(&owner, valid_until);
    assert!(!owner.engine.is_held(lock));
    assert_eq!(owner.engine.remaining(lock), Duration::ZERO);
    assert_eq!(owner.engine.extend(lock, TTL), Err(RequestError::NotHeld));
    assert_eq!(owner.lost(), LostReason::Expired);
    owner.finish(cluster.iter());
}

/// FAULTS 35; PEERS 2.8: a majority extended it in time, but we learn of that too late.
#[test]
fn an_extension_that_is_read_after_the_validity_comes_too_late() {
    let (cluster, mut owner) = start();
    let (lock, valid_until) = hold(&mut owner);
    owner.extend_for(lock, 10 * TTL);
    owner.flush();
    assert!(until(PATIENCE, || cluster.iter().all(|node| node.calls("evalsha") == 1)));
    sleep_until(&owner, valid_until);
    assert_eq!(owner.not_extended(), ExtendError::Lost(LostReason::Expired));
    assert_eq!(owner.lost(), LostReason::Expired);
    // The keys would have lived on.
    owner.finish(cluster.iter());
}

/// PEERS 2.13: to release what has lapsed is not an error.
#[test]
fn a_lock_that_lapsed_can_still_be_released() {
    let (cluster, mut owner) = start();
    let (lock, valid_until) = hold(&mut owner);
    // The keys outlive the validity by the drift.
    sleep_until(&owner, valid_until + Duration::from_millis(200));
    assert!(until(PATIENCE, || cluster.iter().all(|node| node.get(b"resource").is_none())));
    let outcome = owner.let_go(lock);
    assert!(outcome.released.is_empty() && outcome.foreign.is_empty(), "{outcome:?}");
    assert!(outcome.absent.len() >= 2, "{outcome:?}");
    owner.finish(cluster.iter());
}

/// PEERS 1c, RedLock.net: extends by setting the key again, whoever had it meanwhile.
#[test]
fn a_lock_that_lapsed_belongs_to_whoever_took_it_next() {
    let (cluster, mut owner) = start();
    let (lock, valid_until) = hold(&mut owner);
    sleep_until(&owner, valid_until);
    let mut rival = Owner::of(cluster.addrs());
    let taken = rival.hold("resource");
    assert!(!owner.engine.is_held(lock) && rival.engine.is_held(taken));
    assert!(owner.engine.extend(lock, TTL).is_err());
    assert!(!owner.let_go(lock).foreign.is_empty());
    owner.all_answered();
    let token = rival.engine.token(taken).expect("it is held");
    assert!(cluster.holding(b"resource", token.as_ref()) >= 2);
    rival.let_go(taken);
    rival.finish([]);
    owner.finish(cluster.iter());
}

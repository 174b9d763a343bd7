//! The engine on every kind of server that it is made for: Redis and Valkey, with a native
//! compare-and-delete and without, one kind alone and all of them in one cluster, by TCP, by Unix
//! sockets and by TLS ([`place`]).
//!
//! `tests/flavours.sh` fetches the servers. A test takes those that are here, and says on stderr
//! which ones it leaves out and why ([`support::flavours`]).
#![cfg(feature = "net")]

#[path = "../engine/book.rs"]
mod book;
#[allow(dead_code, reason = "the tests of transports use the rest")]
#[path = "../transports/certificates.rs"]
mod certificates;
#[cfg(feature = "cli")]
mod desk;
#[allow(dead_code, reason = "the tests of faults use the rest")]
#[path = "../faults/guarded.rs"]
mod guarded;
mod introduced;
mod life;
mod mixed;
mod native;
#[allow(dead_code, reason = "the tests of the engine use the rest")]
#[path = "../engine/owner.rs"]
mod owner;
mod place;
mod refused;
mod rights;
mod scriptless;
#[cfg(feature = "embedded")]
mod scripts;
#[allow(dead_code, reason = "the tests of transports use the rest")]
#[path = "../transports/secure.rs"]
mod secure;
#[path = "../support/mod.rs"]
mod support;
mod tracking;
#[cfg(feature = "embedded")]
mod witness;

use std::time::Duration;

use owner::{Owner, PATIENCE, TTL};
use redbolt::LockId;
use support::servers::Node;

/// An owner of locks on these nodes, which are ready.
fn owner<'a>(nodes: impl IntoIterator<Item = &'a Node>) -> Owner {
    let mut config = owner::config(nodes.into_iter().map(Node::url));
    config.redlock.max_ttl = LONGER;
    // No question whether others wait, at a moment that nobody knows: calls are counted.
    config.redlock.tenure = Duration::MAX;
    let mut owner = Owner::new(config);
    owner.all_ready();
    owner
}

/// Acquires all these locks at the same time.
fn hold_all(owner: &mut Owner, resources: &[String]) -> Vec<LockId> {
    let locks: Vec<_> = resources.iter().map(|resource| owner.acquire(resource)).collect();
    locks.iter().for_each(|_| _ = owner.acquired());
    locks
}

/// `count` names of resources.
fn names(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("resource:{number}")).collect()
}

/// A ttl that lies below those of [`Owner::hold`] and above all that a test may take.
const SHORTER: Duration = TTL.saturating_sub(Duration::from_secs(10));
/// One that lies above them.
const LONGER: Duration = TTL.saturating_add(PATIENCE);

/// Whether a key lives longer than any of ttl `TTL` does, in milliseconds.
fn is_long(pttl: i64) -> bool {
    u128::try_from(pttl).is_ok_and(|pttl| pttl > TTL.as_millis())
}

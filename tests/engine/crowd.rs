//! Hundreds of locks in flight: the sockets are left alone for a moment, so that replies and
//! requests travel together.

use redbolt::Event;

use crate::owner::Owner;
use crate::support::servers::Cluster;

const IN_FLIGHT: usize = 300;
const CYCLES: usize = 10 * IN_FLIGHT;

#[test]
fn replies_to_many_requests_are_waited_for_together() {
    let cluster = Cluster::start(5);
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    cycle(&mut owner, IN_FLIGHT, CYCLES);
    assert!(owner.engine.io_counters().pauses > 0, "each reply was read by itself");
    owner.finish(cluster.iter());
}

#[test]
fn a_lone_lock_waits_for_nobody() {
    let cluster = Cluster::start(5);
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    cycle(&mut owner, 1, 100);
    assert_eq!(owner.engine.io_counters().pauses, 0);
    owner.finish(cluster.iter());
}

/// Acquires and releases so many locks, and keeps so many of them in flight.
fn cycle(owner: &mut Owner, in_flight: usize, cycles: usize) {
    let mut names = (0..cycles).map(|number| format!("crowd/{number}"));
    for name in names.by_ref().take(in_flight) {
        owner.acquire(name);
    }
    let mut left = cycles;
    while left > 0 {
        match owner.next() {
            Event::Acquired { lock, .. } => {
                owner.release(lock);
                names.next().into_iter().for_each(|name| _ = owner.acquire(name));
            }
            Event::Released { .. } => left -= 1,
            other => panic!("neither acquired nor released: {other:?}"),
        }
    }
}

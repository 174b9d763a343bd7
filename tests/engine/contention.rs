//! Many clients, or one client with very much to do.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use redbolt::{Event, LockId};

use crate::owner::{Owner, config};
use crate::support::servers::Cluster;

/// Whether this engine has just been told that it has the lock; none of the others may have it.
fn won(owner: &mut Owner, others_hold: impl Fn() -> bool) -> Option<Event> {
    let event = owner.next_now();
    if let Some(Event::Acquired { lock, .. }) = event
        && owner.engine.is_held(lock)
    {
        assert!(!others_hold(), "two hold the same resource");
    }
    event
}

/// FAULTS 56: both ask at the same instant, a thousand times.
#[test]
fn of_two_clients_at_the_same_instant_at_most_one_wins() {
    let cluster = Cluster::start(3);
    let mut owners = [Owner::of(cluster.addrs()), Owner::of(cluster.addrs())];
    owners.iter_mut().for_each(Owner::all_ready);
    let mut wins = [0; 2];
    for _ in 0..1_000 {
        let locks = [owners[0].attempt("resource"), owners[1].attempt("resource")];
        owners.iter_mut().for_each(Owner::flush);
        let (mut ended, mut winner) = (0, None);
        while ended < 2 {
            for who in 0..2 {
                let [first, second] = &mut owners;
                let (owner, other) = if who == 0 { (first, second) } else { (second, first) };
                owner.turn();
                match won(owner, || other.engine.is_held(locks[1 - who])) {
                    Some(Event::Acquired { lock, .. }) => {
                        assert_eq!(winner.replace((who, lock)), None, "two winners in one round");
                        wins[who] += 1;
                        ended += 1;
                    }
                    Some(Event::AcquireFailed { .. }) => ended += 1,
                    Some(other) => panic!("{other:?}"),
                    None => {}
                }
            }
        }
        if let Some((who, lock)) = winner {
            owners[who].let_go(lock);
        }
        for owner in &mut owners {
            owner.all_answered();
        }
    }
    assert!(wins[0] + wins[1] > 0, "split votes for ever");
    for owner in owners {
        owner.finish(cluster.iter());
    }
}

/// FAULTS 56, FAULTS 68; PEERS 1c, node-redlock: with four nodes two halves settle nothing, and its
/// promise never does. Whoever waits gets its turn here.
#[test]
fn clients_that_tie_over_an_even_number_of_nodes_get_their_turns() {
    const CLIENTS: usize = 3;
    let cluster = Cluster::start(4);
    let mut owners: Vec<_> = (0..CLIENTS).map(|_| Owner::of(cluster.addrs())).collect();
    owners.iter_mut().for_each(Owner::all_ready);
    for _ in 0..30 {
        let locks: Vec<LockId> = owners.iter_mut().map(|owner| owner.acquire("resource")).collect();
        owners.iter_mut().for_each(Owner::flush);
        let mut ended = 0;
        while ended < CLIENTS {
            for who in 0..CLIENTS {
                owners[who].engine.poll(Some(std::time::Duration::ZERO)).expect("polling works");
                let (before, rest) = owners.split_at_mut(who);
                let (owner, after) = rest.split_first_mut().expect("there are as many");
                let others = || {
                    let mut others = before
                        .iter()
                        .chain(&*after)
                        .zip(locks[..who].iter().chain(&locks[who + 1..]));
                    others.any(|(other, lock)| other.engine.is_held(*lock))
                };
                match won(owner, others) {
                    Some(Event::Acquired { lock, .. }) => {
                        owner.release(lock);
                        owner.flush();
                    }
                    Some(Event::Released { .. }) => ended += 1,
                    Some(other) => panic!("{other:?}"),
                    None => {}
                }
            }
        }
    }
    for owner in owners {
        owner.finish(cluster.iter());
    }
}

/// FAULTS 57.
#[test]
fn a_hundred_clients_take_turns_at_one_resource() {
    const CLIENTS: usize = 100;
    let cluster = Cluster::start(3);
    let inside = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                let mut config = config(cluster.addrs());
                config.redlock.max_locks = 4;
                let mut owner = Owner::new(config);
                let lock = owner.hold("resource");
                assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "somebody is inside");
                thread::yield_now();
                let held = owner.engine.is_held(lock);
                inside.fetch_sub(1, Ordering::SeqCst);
                assert!(held, "a minute was not enough");
                owner.let_go(lock);
                owner.finish([]);
            });
        }
    });
    for node in cluster.iter() {
        assert_eq!(node.keys(), Vec::<Vec<u8>>::new());
    }
}

/// FAULTS 57: bounded queues, and every lock has an end.
#[test]
fn one_client_holds_very_many_locks_at_once() {
    const LOCKS: usize = 20_000;
    let cluster = Cluster::start(3);
    let mut config = config(cluster.addrs());
    config.redlock.max_locks = LOCKS;
    let pipeline = config.redlock.max_pipeline;
    let mut owner = Owner::new(config);
    owner.all_ready();
    let locks: Vec<_> = (0..LOCKS).map(|number| owner.acquire(number.to_be_bytes())).collect();
    assert!(owner.engine.acquire("one more", crate::owner::TTL, crate::owner::PATIENCE).is_err());
    for _ in &locks {
        owner.acquired();
        let in_flight = owner.engine.nodes().map(|(_, _, status)| status.in_flight).max();
        assert!(in_flight <= Some(pipeline), "{in_flight:?}");
    }
    for lock in &locks {
        assert!(owner.engine.is_held(*lock));
        owner.release(*lock);
    }
    for _ in &locks {
        owner.released();
    }
    owner.all_answered();
    assert_eq!(owner.engine.next_deadline(), None, "a timer is left");
    owner.finish(cluster.iter());
}

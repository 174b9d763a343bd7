//! Many clients, or one client with very much to do.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use redbolt::redlock::LONGEST_TTL;
use redbolt::{Config, Event, LockId};

use crate::owner::{self, Owner, PATIENCE, TTL};
use crate::support::servers::Cluster;
use crate::support::wire::Reply;

/// Clients in one thread, each of which wants the same resource.
struct Rivals {
    owners: Vec<Owner>,
    locks: Vec<LockId>,
}

impl Rivals {
    fn new(cluster: &Cluster, count: usize) -> Self {
        let mut owners: Vec<_> = (0..count).map(|_| Owner::new(config(cluster))).collect();
        owners.iter_mut().for_each(Owner::all_ready);
        Self { owners, locks: Vec::new() }
    }

    /// All of them ask before the first byte of any of them is written.
    fn ask(&mut self, wait: Duration) {
        let ask = |owner: &mut Owner| owner.acquire_for("resource", TTL, wait);
        self.locks = self.owners.iter_mut().map(ask).collect();
        self.owners.iter_mut().for_each(Owner::flush);
    }

    /// The next thing that happens to one of them.
    fn next(&mut self, who: usize) -> Option<Event> {
        let owner = &mut self.owners[who];
        owner.engine.poll(Some(Duration::ZERO)).expect("polling works");
        let event = owner.next_now();
        if let Some(Event::Acquired { .. }) = event {
            let locks = self.owners.iter().zip(&self.locks);
            let holders = locks.filter(|(owner, lock)| owner.engine.is_held(**lock)).count();
            assert!(holders <= 1, "{holders} hold the same resource");
        }
        event
    }

    fn finish(mut self, cluster: &Cluster) {
        // Each of them has keys on the nodes until its last release has been answered.
        self.owners.iter_mut().for_each(Owner::all_answered);
        for owner in self.owners {
            owner.finish(cluster.iter());
        }
    }
}

/// Two attempts split the votes when they meet, and a busy machine makes them long: the pauses
/// between them must be longer than all of them together.
fn config(cluster: &Cluster) -> Config {
    let mut config = owner::config(cluster.addrs());
    config.redlock.retry_max = Duration::from_secs(1);
    // A server that is not scheduled for a while owes its answers to the locks of some rounds.
    config.redlock.max_locks = 64;
    config
}

/// FAULTS 56: both ask at the same instant, a thousand times.
#[test]
fn of_two_clients_at_the_same_instant_at_most_one_wins() {
    let cluster = Cluster::start(3);
    let mut rivals = Rivals::new(&cluster, 2);
    let mut wins = 0;
    for _ in 0..1_000 {
        rivals.ask(Duration::ZERO);
        let (mut ended, mut winner) = (0, None);
        while ended < 2 {
            for who in 0..2 {
                match rivals.next(who) {
                    Some(Event::Acquired { lock, .. }) => {
                        assert_eq!(winner.replace((who, lock)), None, "two winners in one round");
                        ended += 1;
                    }
                    Some(Event::AcquireFailed { .. }) => ended += 1,
                    Some(other) => panic!("{other:?}"),
                    None => {}
                }
            }
        }
        if let Some((who, lock)) = winner {
            rivals.owners[who].let_go(lock);
            wins += 1;
        }
        rivals.owners.iter_mut().for_each(Owner::all_answered);
    }
    assert!(wins > 0, "split votes in every round");
    rivals.finish(&cluster);
}

/// FAULTS 56, FAULTS 68; PEERS 1c, node-redlock: with four nodes two halves settle nothing, and its
/// promise never does. Whoever waits gets its turn here.
#[test]
fn clients_that_tie_over_an_even_number_of_nodes_get_their_turns() {
    const CLIENTS: usize = 3;
    let cluster = Cluster::start(4);
    let mut rivals = Rivals::new(&cluster, CLIENTS);
    for _ in 0..30 {
        rivals.ask(PATIENCE);
        let mut ended = 0;
        while ended < CLIENTS {
            for who in 0..CLIENTS {
                match rivals.next(who) {
                    Some(Event::Acquired { lock, .. }) => {
                        rivals.owners[who].release(lock);
                        rivals.owners[who].flush();
                    }
                    Some(Event::Released { .. }) => ended += 1,
                    Some(other) => panic!("{other:?}"),
                    None => {}
                }
            }
        }
    }
    rivals.finish(&cluster);
}

/// A script costs a node more than a `SET`. Against a holder, the votes that are still open when
/// the attempt has failed are refusals too, and leave nothing to release.
#[test]
fn attempts_against_a_holder_cost_no_releases() {
    const ATTEMPTS: u64 = 200;
    let cluster = Cluster::start(5);
    let mut owner = Owner::new(config(&cluster));
    owner.all_ready();
    cluster.iter().for_each(|node| node.set_px(b"resource", b"somebody else", TTL));
    for _ in 0..ATTEMPTS {
        owner.attempt("resource");
        owner.not_acquired();
        owner.all_answered();
    }
    let calls = |command| cluster.iter().map(|node| node.calls(command)).sum::<u64>();
    assert_eq!((calls("evalsha"), calls("eval"), calls("set")), (0, 0, 5 * (ATTEMPTS + 1)));
    for node in cluster.iter() {
        node.command(&[b"DEL", b"resource"]);
    }
    owner.finish(cluster.iter());
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
                let mut owner = Owner::new(config(&cluster));
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
        assert_eq!(node.keys_but_hints(), Vec::<Vec<u8>>::new());
    }
}

/// FAULTS 57: bounded queues, and every lock has an end.
#[test]
fn one_client_holds_very_many_locks_at_once() {
    const LOCKS: usize = 20_000;
    let cluster = Cluster::start(3);
    let mut config = config(&cluster);
    config.redlock.max_locks = LOCKS;
    // The next look at the nodes is days away.
    config.redlock.max_ttl = LONGEST_TTL;
    let pipeline = config.redlock.max_pipeline;
    let mut owner = Owner::new(config);
    owner.all_ready();
    let next_look = owner.engine.next_deadline();
    let locks: Vec<_> = (0..LOCKS).map(|number| owner.acquire(number.to_be_bytes())).collect();
    assert!(owner.engine.acquire("one more", TTL, PATIENCE).is_err());
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
    assert_eq!(owner.engine.next_deadline(), next_look, "a timer is left");
    owner.finish(cluster.iter());
}

/// What stands at the key of a contended resource can be anything, and whoever waits looks at it.
#[test]
fn a_long_string_at_a_resource_costs_other_locks_no_node() {
    let cluster = Cluster::start(3);
    let long = vec![b'x'; 1 << 20];
    for node in cluster.iter() {
        assert_eq!(node.command(&[b"SET", b"data", &long]), Reply::Simple("OK".to_owned()));
    }
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    let waiting = owner.acquire_for("data", TTL, PATIENCE);
    let looked = |owner: &Owner| owner.engine.counters().looked;
    owner.poll_until("looks at the string", |owner| looked(owner) >= 8);
    for index in 0..3 {
        let counters = &owner.status(index).counters;
        assert_eq!((counters.connects, counters.failures), (1, 0), "node {index}");
    }
    owner.engine.cancel(waiting).expect("it waits");
}

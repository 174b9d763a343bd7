//! Fencing numbers on real servers (S13): their order, in peace, in a storm and across restarts.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use redbolt::{AcquireOptions, Clock, Engine, Event, Fence};

use crate::owner::{Owner, PATIENCE, config};
use crate::support::servers::Cluster;
use crate::support::wire::Reply;

/// One lock that was granted: when its attempt began and when its owner knew, in nanoseconds, and
/// its number.
#[derive(Clone, Copy, Debug)]
struct Grant {
    began: u64,
    known: u64,
    fence: Fence,
}

/// Finds the pairs of which one was known before the attempt of the other began, and has the larger
/// number, and the numbers that came twice.
fn faults(grants: &[Grant]) -> (usize, usize) {
    let mut by_known = grants.to_vec();
    by_known.sort_unstable_by_key(|grant| grant.known);
    let mut by_start = grants.to_vec();
    by_start.sort_unstable_by_key(|grant| grant.began);
    let (mut earlier, mut largest, mut late) = (by_known.iter().peekable(), None, 0);
    for grant in &by_start {
        while let Some(before) = earlier.next_if(|before| before.known < grant.began) {
            largest = largest.max(Some(before.fence));
        }
        late += usize::from(largest >= Some(grant.fence));
    }
    let mut numbers: Vec<_> = grants.iter().map(|grant| grant.fence).collect();
    numbers.sort_unstable();
    numbers.dedup();
    (late, grants.len() - numbers.len())
}

#[test]
fn numbers_out_of_order_or_twice_are_found() {
    let grant = |began, known, number: u64| Grant {
        began,
        known,
        fence: Fence::new(number + (1 << 32)).expect("in range"),
    };
    let rows: [(&[Grant], (usize, usize)); 4] = [
        (&[grant(0, 1, 1), grant(2, 3, 2), grant(4, 5, 3)], (0, 0)),
        (&[grant(0, 1, 2), grant(2, 3, 1)], (1, 0)),
        (&[grant(0, 2, 2), grant(2, 3, 1)], (0, 0)),
        (&[grant(0, 1, 1), grant(0, 3, 1), grant(4, 5, 1)], (1, 2)),
    ];
    for (grants, expected) in rows {
        assert_eq!(faults(grants), expected, "{grants:?}");
    }
}

#[test]
fn each_holder_has_a_larger_number_than_the_one_before() {
    let cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    let mut last = None;
    for _ in 0..300 {
        let (lock, fence) = owner.hold_fenced("orders/42");
        assert!(Some(fence) > last, "{fence} behind {last:?}");
        assert_eq!(owner.engine.fence(lock), Some(fence));
        last = Some(fence);
        owner.let_go(lock);
    }
    assert!(owner.engine.counters().raised < 100, "one client, one trip but for stalls");
    let lock = owner.hold("orders/42");
    assert_eq!(owner.engine.fence(lock), None, "nobody has asked for a number");
    owner.engine.draw_fence(lock).expect("the lock is held");
    let drawn = match owner.next() {
        Event::Fenced { fence, .. } => fence,
        other => panic!("{other:?}"),
    };
    assert!(Some(drawn) > last);
    owner.let_go(lock);
    let (lock, fence) = owner.hold_fenced("orders/42");
    assert!(fence > drawn);
    owner.let_go(lock);
    owner.finish(cluster.iter());
}

/// The numbers of servers are near their clocks, and so outlive the servers.
#[test]
fn numbers_grow_across_a_restart_that_loses_everything() {
    let mut cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    let (lock, before) = owner.hold_fenced("r");
    owner.let_go(lock);
    for node in cluster.iter_mut() {
        node.kill();
        node.restart();
        assert!(node.get(b"r").is_none());
    }
    // Real time has passed, and a script may take a second from it.
    let (lock, after) = owner.hold_fenced("r");
    assert!(after > before, "{after} behind {before}");
    owner.let_go(lock);
    owner.finish(cluster.iter());
}

#[test]
fn data_of_another_type_under_the_name_of_the_numbers_leaves_no_key() {
    let cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    for node in cluster.iter() {
        node.command(&[b"SET", b"redbolt:fence", b"x"]);
    }
    let options = AcquireOptions::new().fenced();
    owner.ask_with("r", crate::owner::TTL, Duration::ZERO, &options);
    owner.not_acquired();
    let lock = owner.hold("r");
    owner.let_go(lock);
    for node in cluster.iter() {
        node.command(&[b"DEL", b"redbolt:fence"]);
    }
    owner.finish(cluster.iter());
}

/// Draws numbers at one node after the other for a lock of the same stripe, as clients do whose
/// clocks are wrong and whose connections break: the numbers of the nodes differ.
fn meddle(cluster: &Cluster, running: &AtomicUsize) {
    let [script, hash] = [redbolt::redlock::ACQUIRE_FENCED.text, "redbolt:fence"];
    while running.load(Ordering::Relaxed) > 0 {
        for node in cluster.iter() {
            let Reply::Array(stripes) = node.command(&[b"HKEYS", hash.as_bytes()]) else { break };
            let Some(Reply::Bulk(stripe)) = stripes.first() else { continue };
            let (script, hash) = (script.as_bytes(), hash.as_bytes());
            // Cut to a second ahead.
            let proposal = b"9000000000000000";
            node.command(&[b"EVAL", script, b"2", b"other", hash, b"x", stripe, proposal, b"1"]);
        }
    }
}

/// A client that is at work, until it ends or panics.
struct AtWork<'a>(&'a AtomicUsize);

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Clients that take and lose one resource at the same time, with a ttl of a few round trips. Some
/// let go, and some leave the key to its ttl.
fn storm(
    clients: usize,
    grants: usize,
    change: impl Fn(&mut redbolt::Config) + Sync,
) -> (Vec<Grant>, u64) {
    let cluster = Cluster::start(3);
    let all = Mutex::new((Vec::new(), 0));
    let running = AtomicUsize::new(clients);
    thread::scope(|scope| {
        scope.spawn(|| meddle(&cluster, &running));
        for client in 0..clients {
            let (cluster, all, change) = (&cluster, &all, &change);
            let at_work = AtWork(&running);
            scope.spawn(move || {
                let _at_work = at_work;
                let mut config = config(cluster.addrs());
                config.redlock.retry_max = Duration::from_millis(2);
                config.redlock.node_timeout = None;
                change(&mut config);
                let mut engine = Engine::new(config).expect("an engine can be made");
                let mut found = Vec::new();
                for round in 0..grants {
                    found.push(take(&mut engine, (round + client) % 3 == 0));
                }
                let raised = engine.counters().raised;
                let mut all = all.lock().expect("no other thread has panicked");
                all.0.extend(found);
                all.1 += raised;
            });
        }
    });
    let (all, raised) = all.into_inner().expect("no other thread has panicked");
    println!("{} grants, {raised} raises", all.len());
    (all, raised)
}

/// Takes the resource, and leaves it to its ttl or lets it go.
fn take(engine: &mut Engine, is_left: bool) -> Grant {
    let (options, ttl) = (AcquireOptions::new().fenced(), Duration::from_millis(12));
    let validity = ttl - redbolt::Drift::default().of(ttl);
    let asked = engine.acquire_with(&["hot"], ttl, PATIENCE, &options);
    let wanted = asked.expect("the request is in bounds");
    loop {
        engine.poll(Some(Duration::from_millis(1))).expect("polling works");
        while let Some(event) = engine.next_event() {
            match event {
                Event::Acquired { lock, valid_until, fence } if lock == wanted => {
                    let known = Clock::now().as_nanos();
                    let began = valid_until.as_nanos() - validity.as_nanos() as u64;
                    // It may be over by now, which is another event.
                    let _ =
                        if is_left { engine.disown(lock).map(drop) } else { engine.release(lock) };
                    let fence = fence.expect("a fence was asked for");
                    return Grant { began, known, fence };
                }
                Event::AcquireFailed { lock, error } if lock == wanted => panic!("{error}"),
                _ => {}
            }
        }
    }
}

#[test]
fn no_number_comes_twice_or_out_of_order_in_a_storm() {
    let (grants, raised) = storm(6, 60, |_| ());
    assert!(raised > 0, "the numbers of the nodes never differed");
    assert_eq!(faults(&grants), (0, 0));
}

/// The control: the same storm, in which clients take the largest number that a node has drawn.
#[cfg(redbolt_sabotage)]
#[test]
fn without_the_second_trip_numbers_come_out_of_order() {
    use redbolt::redlock::Saboteur;
    let (grants, _) = storm(6, 60, |config| {
        config.redlock.saboteur = Some(Saboteur::FenceNotRaised);
    });
    let (late, twice) = faults(&grants);
    println!("{late} out of order, {twice} twice");
    assert!(late > 0);
}

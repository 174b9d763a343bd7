//! Many resources as one lock.

use std::iter;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use redbolt::redlock::RedlockConfig;
use redbolt::{Client, LockErrorKind, RequestError};

use crate::fixture::{Fixture, PATIENCE, TTL, config};
use crate::support::until;

#[test]
fn a_set_is_all_or_nothing_and_one_guard() {
    let fixture = Fixture::new(3);
    let one = fixture.client.lock("b").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free");
    let refused =
        fixture.client.lock_all(["a", "b"]).blocking_try_acquire().expect_err("one is held");
    assert!(refused.is_contended(), "{refused}");
    assert_eq!(fixture.standing("a"), 0);
    drop(one);
    let both = fixture.client.lock_all(["a", "b"]).ttl(TTL).wait(PATIENCE).blocking_acquire();
    let both = both.expect("free");
    assert_eq!(both.resources().count(), 2);
    for key in [b"a", b"b"] {
        assert!(fixture.cluster.holding(key, both.token().as_ref()) >= 2);
    }
    both.extend(TTL).blocking_wait().expect("a majority is there");
    let report = both.release().blocking_wait().expect("the client runs");
    let outcome = report.outcome();
    assert!(!outcome.released.is_empty() && outcome.foreign.is_empty(), "{outcome:?}");
    fixture.expect_clean();
}

/// Philosophers with forks in every order.
#[test]
fn sets_that_overlap_do_not_wait_for_each_other_for_ever() {
    const FORKS: usize = 5;
    let fixture = Fixture::new(3);
    thread::scope(|scope| {
        for philosopher in 0..FORKS {
            let client = &fixture.client;
            scope.spawn(move || {
                let forks = [philosopher, (philosopher + 1) % FORKS].map(|fork| format!("f{fork}"));
                for _ in 0..20 {
                    let guard = client.lock_all(&forks).ttl(TTL).wait(PATIENCE).blocking_acquire();
                    drop(guard.expect("nobody starves"));
                }
            });
        }
    });
    fixture.expect_clean();
}

/// The moment at which all resources are free does not come by itself.
#[test]
fn a_set_is_granted_although_others_always_want_each_of_its_resources() {
    const RESOURCES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
    const CONTENDERS: usize = 4;
    const HOLD: Duration = Duration::from_millis(5);
    let fixture = Fixture::new(3);
    let is_over = AtomicBool::new(false);
    let others = RESOURCES.iter().flat_map(|resource| [resource; CONTENDERS]);
    let others: Vec<_> = others.map(|one| (one, another_client(&fixture))).collect();
    thread::scope(|scope| {
        for (resource, client) in &others {
            let is_over = &is_over;
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    let request = client.lock(resource).ttl(TTL).wait(PATIENCE);
                    let guard = request.blocking_acquire().expect("nobody starves");
                    until(HOLD, || is_over.load(Ordering::Relaxed));
                    drop(guard);
                }
            });
        }
        for _ in 0..3 {
            let set = fixture.client.lock_all(RESOURCES).ttl(TTL).wait(PATIENCE).blocking_acquire();
            if set.is_err() {
                is_over.store(true, Ordering::Relaxed);
            }
            drop(set.expect("nobody starves"));
        }
        is_over.store(true, Ordering::Relaxed);
    });
    drop(others);
    fixture.expect_clean();
}

/// Another client of the same nodes.
fn another_client(fixture: &Fixture) -> Client {
    let mut config = config(&fixture.cluster);
    config.redlock.retry_max = RedlockConfig::default().retry_max;
    config.redlock.max_locks = 16;
    Client::new(config).expect("a client can be made")
}

#[test]
fn servers_that_forget_scripts_are_told_them_again() {
    let fixture = Fixture::new(3);
    drop(fixture.client.lock("warm").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free"));
    for node in fixture.cluster.iter() {
        node.command(&[b"SCRIPT", b"FLUSH"]);
    }
    let both = fixture.client.lock_all(["a", "b"]).ttl(TTL).wait(PATIENCE).blocking_acquire();
    drop(both.expect("free"));
    fixture.expect_clean();
}

/// Names are counted to the end, within reason, and not kept.
#[test]
fn a_set_that_is_too_large_is_refused_with_its_size() {
    let fixture = Fixture::new(1);
    let size_of = |names: &mut dyn Iterator<Item = &'static str>| {
        let refused = fixture.client.lock_all(names).blocking_acquire().expect_err("no such set");
        match refused.kind() {
            LockErrorKind::Request(RequestError::SetSize { len }) => *len,
            _ => panic!("{refused}"),
        }
    };
    assert_eq!(size_of(&mut iter::repeat_n("a", 1_000)), 1_000);
    assert_eq!(size_of(&mut iter::empty()), 0);
    assert!(size_of(&mut iter::repeat("a")) > 1_000_000, "even without an end");
}

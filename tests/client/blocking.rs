//! Threads that block.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use redbolt::redlock::RequestError;
use redbolt::{AcquireError, ClientBuilder, LockErrorKind, LostReason};

use crate::fixture::{Fixture, PATIENCE, TTL, config};

#[test]
fn a_guard_is_a_lock_on_the_nodes_until_it_is_dropped() {
    let fixture = Fixture::new(3);
    let guard = fixture.client.lock("orders/42").ttl(TTL).wait(PATIENCE).blocking_acquire();
    let guard = guard.expect("nobody else has it");
    assert_eq!(guard.resource(), b"orders/42");
    assert!(guard.is_held() && guard.remaining() <= TTL);
    assert!(fixture.cluster.holding(b"orders/42", guard.token().as_ref()) >= 2);
    let refused = fixture.client.lock("orders/42").blocking_try_acquire().expect_err("it is held");
    assert!(refused.is_contended(), "{refused}");
    drop(guard);
    fixture.expect_clean();
}

#[test]
fn a_release_tells_what_the_nodes_said() {
    let fixture = Fixture::new(3);
    let guard =
        fixture.client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("it is free");
    let report = guard.release().blocking_wait().expect("the client runs");
    // The others may not have answered yet, or were not connected when it was acquired.
    let outcome = report.outcome();
    assert!(!outcome.released.is_empty() && outcome.foreign.is_empty(), "{outcome:?}");
    fixture.expect_clean();
}

#[test]
fn a_lock_that_was_lost_is_released_without_an_error() {
    let fixture = Fixture::new(1);
    let guard =
        fixture.client.lock("a").ttl(Duration::from_millis(50)).wait(PATIENCE).blocking_acquire();
    let guard = guard.expect("it is free");
    assert!(guard.lost().blocking_wait().is_lost());
    assert!(!guard.is_held());
    let report = guard.release().blocking_wait().expect("the client runs");
    assert_eq!((report.lost(), report.is_complete()), (Some(LostReason::Expired), false));
    let text = report.to_string();
    assert!(text.starts_with("was lost before: the validity ended; its keys are being"), "{text}");
    assert!(report.outcome().released.is_empty(), "{text}");
    fixture.expect_clean();
    let again = fixture.client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire();
    drop(again.expect("what was lost is released"));
}

#[test]
fn an_extension_moves_the_end() {
    let fixture = Fixture::new(3);
    let guard = fixture.client.lock("a").ttl(TTL / 2).wait(PATIENCE).blocking_acquire();
    let guard = guard.expect("it is free");
    let before = guard.valid_until();
    let until = guard.extend(TTL).blocking_wait().expect("a majority is there");
    assert!(until > before && guard.valid_until() == until);
    let ttl = Duration::from_millis(1);
    let too_short = RequestError::TtlTooShort { ttl, least: Duration::from_millis(10) };
    let short = guard.extend(ttl).blocking_wait().expect_err("too short");
    assert_eq!(short.kind(), &LockErrorKind::Request(too_short));
}

#[test]
fn bad_requests_are_refused_with_the_value_and_the_limit() {
    let fixture = Fixture::new(1);
    let empty = fixture.client.lock("").blocking_acquire().expect_err("an empty resource");
    assert_eq!(empty.kind(), &LockErrorKind::Request(RequestError::EmptyResource));
    let hold = Duration::from_secs(1_000_000);
    let long =
        fixture.client.lock("a").keep_alive_for(hold).blocking_acquire().expect_err("for too long");
    let is_too_long =
        |kind: &_| matches!(kind, LockErrorKind::Request(RequestError::HoldTooLong { .. }));
    assert!(is_too_long(long.kind()), "{long}");
}

#[test]
fn nobody_hangs_when_no_server_is_there() {
    let mut fixture = Fixture::with(3, |config| config.redlock.node_timeout = None);
    (0..3).for_each(|index| fixture.cluster[index].kill());
    let error = fixture.client.lock("a").wait(Duration::from_millis(200)).blocking_acquire();
    let error = error.expect_err("nobody is there");
    assert!(matches!(error.kind(), LockErrorKind::Acquire(AcquireError::NoQuorum(_))), "{error}");
}

/// Every thread adds to a number that nothing but the lock protects.
#[test]
fn sixty_four_threads_take_turns() {
    const THREADS: u64 = 64;
    const TURNS: u64 = 20;
    let fixture = Fixture::new(3);
    let (inside, sum) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..TURNS {
                    let guard =
                        fixture.client.lock("turn").ttl(TTL).wait(PATIENCE).blocking_acquire();
                    let guard = guard.expect("everybody has a turn");
                    assert!(!inside.swap(true, Ordering::SeqCst), "two at a time");
                    sum.fetch_add(1, Ordering::Relaxed);
                    inside.store(false, Ordering::SeqCst);
                    drop(guard);
                }
            });
        }
    });
    assert_eq!(sum.into_inner(), THREADS * TURNS);
    fixture.expect_clean();
}

/// Each thread has an engine of its own, and a resource, or an equal set, always goes to the same.
#[test]
fn several_threads_share_the_resources_and_not_the_locks() {
    let fixture = Fixture::new(3);
    let client = ClientBuilder::from(config(&fixture.cluster))
        .threads(3)
        .build()
        .expect("a client can be made");
    let names: Vec<_> = (0..64).map(|number| format!("r{number}")).collect();
    let requests: Vec<_> =
        names.iter().map(|name| client.lock(name).ttl(TTL).wait(PATIENCE).acquire()).collect();
    let guards: Vec<_> =
        requests.into_iter().map(|request| request.blocking_wait().expect("free")).collect();
    for name in &names {
        let refused = client.lock(name).ttl(TTL).blocking_try_acquire().expect_err("it is held");
        assert!(refused.is_contended(), "{name}: {refused}");
    }
    let both =
        client.lock_all(["a", "b"]).ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free");
    assert!(
        client
            .lock_all(["b", "a"])
            .ttl(TTL)
            .blocking_try_acquire()
            .is_err_and(|error| error.is_contended())
    );
    drop((guards, both));
    assert!(client.blocking_shutdown(PATIENCE).is_complete());
    fixture.expect_clean();
    for threads in [0, 65] {
        let refused = ClientBuilder::from(config(&fixture.cluster)).threads(threads).build().err();
        let text = refused.map_or_else(String::new, |error| error.to_string());
        assert!(text.contains("threads") && text.contains(&threads.to_string()), "{text}");
    }
}

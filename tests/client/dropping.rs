//! Guards and requests that go away, in every way and at every moment.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

use redbolt::Client;

use crate::fixture::{Fixture, PATIENCE, TTL, config};
use crate::support::{now, until};

#[test]
fn a_guard_that_is_dropped_in_a_panic_releases() {
    let fixture = Fixture::new(3);
    let result = catch_unwind(AssertUnwindSafe(|| {
        let _guard =
            fixture.client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free");
        std::panic::resume_unwind(Box::new("on purpose"));
    }));
    assert!(result.is_err());
    fixture.expect_clean();
}

#[test]
fn a_request_that_is_dropped_before_it_is_granted_leaves_nothing() {
    let fixture = Fixture::new(3);
    let holder = fixture.client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free");
    let waiting = fixture.client.lock("a").ttl(TTL).wait(PATIENCE).acquire();
    drop(waiting);
    drop(holder);
    fixture.expect_clean();
    // And it is not in the way of the next.
    fixture.client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free").leak();
}

#[test]
fn a_request_that_is_dropped_after_it_was_granted_unseen_leaves_nothing() {
    let fixture = Fixture::new(3);
    let granted = fixture.client.lock("a").ttl(TTL).wait(PATIENCE).acquire();
    assert!(until(PATIENCE, || fixture.standing("a") == 3));
    drop(granted);
    fixture.expect_clean();
}

/// The drop meets the request at whatever stage it happens to be.
#[test]
fn requests_that_are_dropped_at_any_moment_leave_nothing() {
    let fixture = Fixture::new(3);
    let mut context = Context::from_waker(Waker::noop());
    for round in 0..400 {
        let request = fixture.client.lock(format!("r{}", round % 7)).ttl(TTL).wait(PATIENCE);
        let mut request = pin!(request.acquire());
        for _ in 0..round * 3 {
            if request.as_mut().poll(&mut context).is_ready() {
                break;
            }
        }
    }
    fixture.expect_clean();
}

/// Only the last `Client` waits for the servers: guards and requests end in tasks.
#[test]
fn the_last_guard_and_the_last_request_wait_for_no_server() {
    // Far more than a push into a queue takes, far less than a goodbye.
    const AT_ONCE: Duration = Duration::from_millis(100);
    let Fixture { client: first, cluster } = Fixture::new(1);
    drop(first);
    // The machine may be slow once, and a wait is there every time.
    let quick = (0..5).any(|_| {
        let client = Client::new(config(&cluster)).expect("a client can be made");
        let guard = client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free");
        cluster[0].stop();
        let request = client.lock("b").ttl(TTL).wait(PATIENCE).acquire();
        drop(client);
        let start = now();
        drop(guard);
        drop(request);
        let elapsed = now() - start;
        cluster[0].cont();
        assert!(until(PATIENCE, || cluster[0].keys().is_empty()));
        elapsed < AT_ONCE
    });
    assert!(quick, "somebody waited for the server");
}

#[test]
fn what_is_leaked_stays() {
    let fixture = Fixture::new(3);
    let guard = fixture.client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free");
    let token = guard.token();
    assert!(until(PATIENCE, || fixture.standing("a") == 3));
    guard.leak();
    assert!(fixture.client.blocking_shutdown(PATIENCE).is_complete());
    assert_eq!(fixture.cluster.holding(b"a", token.as_ref()), 3);
}

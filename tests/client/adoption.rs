//! Locks that are handed over to another process, which is another client here.

use std::time::Duration;

use redbolt::redlock::RequestError;
use redbolt::{AcquireError, Client, Handover, LockErrorKind, Token};

use crate::fixture::{Fixture, PATIENCE, TTL, config};
use crate::support::until;

#[test]
fn another_client_goes_on_with_a_lock_by_its_token() {
    let fixture = Fixture::new(3);
    let first = fixture.client.lock_all(["a", "b"]).ttl(TTL).wait(PATIENCE).blocking_acquire();
    let parts = first.expect("free").hand_over().blocking_wait().expect("it is still held");
    let parts: Handover = parts.to_text().parse().expect("it reads what it has written");
    let other = Client::new(config(&fixture.cluster)).expect("a client can be made");
    let request = other.adopt(&parts.resources, parts.token).ttl(TTL).wait(PATIENCE);
    let second = request.blocking_acquire().expect("it was handed over");
    assert_eq!(second.token(), parts.token);
    // The first owner ends, and nothing of the second's is touched.
    assert!(fixture.client.blocking_shutdown(PATIENCE).is_complete());
    assert!(fixture.cluster.holding(b"a", parts.token.as_ref()) >= 2);
    second.extend(TTL).blocking_wait().expect("a majority is there");
    drop(second);
    fixture.expect_clean();
}

/// A rolling restart: the new process wants the lock by itself already when it is handed the token.
/// As long as the token is there, whoever waits in line cannot succeed.
#[test]
fn an_adoption_goes_ahead_of_the_waiters_of_its_own_process() {
    let fixture = Fixture::new(3);
    let first = fixture.client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire();
    let parts = first.expect("free").hand_over().blocking_wait().expect("it is still held");
    let other = Client::new(config(&fixture.cluster)).expect("a client can be made");
    let waiting = other.lock("a").ttl(TTL).wait(PATIENCE).acquire();
    let attempts =
        || other.counters().blocking_wait().map_or(0, |counters| counters.locks.attempts);
    assert!(until(PATIENCE, || attempts() > 0), "it never tried");
    let request = other.adopt(&parts.resources, parts.token).ttl(TTL).wait(PATIENCE / 4);
    let adopted = request.blocking_acquire().expect("its token is there");
    assert_eq!(adopted.token(), parts.token);
    drop(adopted);
    drop(waiting.blocking_wait().expect("it is its turn"));
    fixture.expect_clean();
}

#[test]
fn a_token_that_nobody_has_is_gone() {
    let fixture = Fixture::new(3);
    let token = Token::from_bytes([7; 20]);
    let error = fixture.client.adopt(["a"], token).wait(PATIENCE).blocking_acquire();
    assert_eq!(error.expect_err("no lock").kind(), &LockErrorKind::Acquire(AcquireError::Gone));
    fixture.expect_clean();
}

/// What has ended is released, and so is nobody's to hand on.
#[test]
fn a_lock_that_has_ended_cannot_be_handed_over() {
    let fixture = Fixture::new(1);
    let guard =
        fixture.client.lock("a").ttl(Duration::from_millis(50)).wait(PATIENCE).blocking_acquire();
    let guard = guard.expect("free");
    assert!(guard.lost().blocking_wait().is_lost());
    let refused = guard.hand_over().blocking_wait();
    let refused = refused.expect_err("it has ended");
    assert_eq!(refused.kind(), &LockErrorKind::Request(RequestError::NotHeld));
    assert_eq!(refused.to_string(), "lock \"a\": the lock is not held");
}

//! Fencing numbers of guards (S13).

use redbolt::{Client, LockErrorKind, RequestError};

use crate::fixture::{Fixture, PATIENCE, TTL, config};

#[test]
fn a_guard_has_a_number_if_one_was_asked_for() {
    let fixture = Fixture::new(3);
    let lock = || fixture.client.lock("a").ttl(TTL).wait(PATIENCE);
    let plain = lock().blocking_acquire().expect("free");
    assert_eq!(plain.fence(), None);
    drop(plain);
    let first = lock().fenced().blocking_acquire().expect("free");
    let number = first.fence().expect("one was asked for");
    drop(first);
    let second = lock().fenced().blocking_acquire().expect("free");
    assert!(second.fence() > Some(number));
    drop(second);
    let set = fixture.client.lock_all(["a", "b"]).ttl(TTL).fenced().blocking_acquire();
    let error = set.expect_err("a set has no number");
    assert_eq!(error.kind(), &LockErrorKind::Request(RequestError::FenceUnavailable));
    fixture.expect_clean();
}

/// The former owner of an adopted lock is shut out of the storage by a new number.
#[test]
fn an_adopted_lock_and_one_without_a_number_can_draw_one() {
    let fixture = Fixture::new(3);
    let first = fixture.client.lock("a").ttl(TTL).wait(PATIENCE).fenced().blocking_acquire();
    let first = first.expect("free");
    let old = first.fence().expect("one was asked for");
    let parts = first.hand_over().blocking_wait().expect("it is still held");
    let other = Client::new(config(&fixture.cluster)).expect("a client can be made");
    let request = other.adopt(&parts.resources, parts.token).ttl(TTL).wait(PATIENCE);
    let second = request.blocking_acquire().expect("it was handed over");
    let new = second.draw_fence().blocking_wait().expect("a majority is there");
    assert!(new > old);
    assert_eq!(second.fence(), Some(new));
    drop(second);
    let third = fixture.client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire();
    let third = third.expect("it is free again");
    assert_eq!(third.fence(), None);
    let newest = third.draw_fence().blocking_wait().expect("a majority is there");
    assert!(newest > new && third.fence() == Some(newest));
    drop(third);
    fixture.expect_clean();
}

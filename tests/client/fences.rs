//! Fencing numbers of guards (S13).

use redbolt::{Client, FenceRefusal, LockErrorKind, NodeState, RequestError};

use crate::fixture::{Fixture, PATIENCE, TTL, config, expect_all};

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
    let set = fixture.client.lock_all(["a", "b"]).ttl(TTL).wait(PATIENCE).fenced();
    let set = set.blocking_acquire().expect("free");
    assert!(set.fence() > number.into());
    drop(set);
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
    assert_eq!(parts.fence, Some(old));
    let request = other.adopt(&parts.resources, parts.token).ttl(TTL).wait(PATIENCE);
    let second = request.with_fence(parts.fence).blocking_acquire().expect("it was handed over");
    assert_eq!(second.fence(), Some(old), "the number travels with the token");
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

#[test]
fn an_adoption_draws_no_number_and_a_new_lock_brings_none() {
    let fixture = Fixture::new(3);
    let guard = fixture.client.lock("a").ttl(TTL).wait(PATIENCE).fenced().blocking_acquire();
    let guard = guard.expect("free");
    let refused = |request: redbolt::LockRequest| {
        let error = request.blocking_acquire().expect_err("refused");
        match error.kind() {
            LockErrorKind::Request(RequestError::Fence(refusal)) => *refusal,
            kind => panic!("{kind:?}"),
        }
    };
    let adoption = fixture.client.adopt(["a"], guard.token()).fenced();
    assert_eq!(refused(adoption), FenceRefusal::Adoption);
    assert_eq!(refused(fixture.client.lock("b").with_fence(guard.fence())), FenceRefusal::NewLock);
    drop(guard);
    fixture.expect_clean();
}

#[test]
fn a_draw_is_answered_when_its_lock_ends() {
    let fixture = Fixture::new(3);
    let hold = || {
        let guard = fixture.client.lock("a").ttl(TTL).wait(PATIENCE).fenced().blocking_acquire();
        guard.expect("free")
    };
    // Without an answer from these, there is no number, and for five seconds no end either.
    let stopped = &fixture.cluster[1..];
    for ends_by_release in [true, false] {
        let guard = hold();
        stopped.iter().for_each(|node| node.stop());
        let drawing = guard.draw_fence();
        if ends_by_release {
            drop(guard);
        } else {
            let _ = guard.hand_over().blocking_wait().expect("it is still held");
        }
        let error = drawing.blocking_wait().expect_err("the lock has ended");
        assert_eq!(error.kind(), &LockErrorKind::Request(RequestError::NotHeld));
        stopped.iter().for_each(|node| node.cont());
        expect_all(&fixture.client, NodeState::Ready);
    }
}

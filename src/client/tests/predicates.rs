//! The predicates of [`LockError`]: one for each kind of error.

use core::time::Duration;

use crate::client::cause::Cause;
use crate::client::{LockError, LockErrorKind};
use crate::redlock::{
    AcquireError, ExtendError, LostReason, NodeOutcome, NodeOutcomes, NodeSet, RequestError,
};
use crate::time::Instant;

const SECOND: Duration = Duration::from_secs(1);

/// Returns every kind of error that there is, with its cause.
fn all() -> Vec<(LockErrorKind, Cause)> {
    let outcomes = NodeOutcomes::new(3, |_| NodeOutcome::Down);
    let quarantined =
        AcquireError::Quarantined { outcomes, at: Instant::ZERO + SECOND, retry_after: SECOND };
    let (ttl, max) = (SECOND, SECOND);
    let requests = [
        (RequestError::EmptyResource, Cause::Invalid),
        (RequestError::ResourceTooLong { len: 1 }, Cause::Invalid),
        (RequestError::SetSize { len: 0 }, Cause::Invalid),
        (RequestError::SetTooLong { len: 1 }, Cause::Invalid),
        (RequestError::TtlTooShort { ttl, least: max }, Cause::Invalid),
        (RequestError::TtlTooLong { ttl, max }, Cause::Invalid),
        (RequestError::HoldTooLong { hold: ttl, max }, Cause::Invalid),
        (RequestError::NoTries, Cause::Invalid),
        (RequestError::TriesWithoutWait { tries: 2 }, Cause::Invalid),
        (RequestError::NodeTimeout { timeout: ttl, least: ttl, most: max }, Cause::Invalid),
        (RequestError::AlreadyHeld, Cause::Invalid),
        (RequestError::ExtensionPending, Cause::Invalid),
        (RequestError::Full { max: 1 }, Cause::Overloaded),
        (RequestError::TooManyQueries, Cause::Overloaded),
        (RequestError::UnknownLock, Cause::Lost),
        (RequestError::NotHeld, Cause::Lost),
    ];
    let acquires = [
        (AcquireError::Held { refused: NodeSet::EMPTY }, Cause::Contended),
        (AcquireError::InLine, Cause::Contended),
        (AcquireError::NoQuorum(outcomes), Cause::Unavailable),
        (quarantined, Cause::Unavailable),
        (AcquireError::NoRoom, Cause::Overloaded),
        (AcquireError::Gone, Cause::Lost),
        (AcquireError::Cancelled, Cause::Closed),
    ];
    let extends = [
        (ExtendError::NoQuorum(outcomes), Cause::Unavailable),
        (ExtendError::Lost(LostReason::MaxHold), Cause::Lost),
        (ExtendError::Released, Cause::Lost),
    ];
    let others = [
        (LockErrorKind::Busy { max: 1 }, Cause::Overloaded),
        (LockErrorKind::Closed, Cause::Closed),
    ];
    requests
        .into_iter()
        .map(|(error, cause)| (LockErrorKind::Request(error), cause))
        .chain(acquires.map(|(error, cause)| (LockErrorKind::Acquire(error), cause)))
        .chain(extends.map(|(error, cause)| (LockErrorKind::Extend(error), cause)))
        .chain(others)
        .collect()
}

/// What is added to the errors must be added to the match above, and should be added here.
#[test]
fn exactly_one_predicate_is_true_for_every_kind() {
    for (kind, expected) in all() {
        let error = LockError::new(kind.clone(), b"r", 1);
        let predicates = [
            (Cause::Contended, error.is_contended()),
            (Cause::Unavailable, error.is_unavailable()),
            (Cause::Overloaded, error.is_overloaded()),
            (Cause::Closed, error.is_closed()),
            (Cause::Lost, error.is_lost()),
            (Cause::Invalid, error.is_invalid()),
        ];
        let found: Vec<_> =
            predicates.iter().filter(|(_, is)| *is).map(|(cause, _)| *cause).collect();
        assert_eq!(found, [expected], "{kind:?}");
    }
}

#[test]
fn only_a_quarantine_says_when_to_come_back() {
    for (kind, _) in all() {
        let is_quarantine =
            matches!(kind, LockErrorKind::Acquire(AcquireError::Quarantined { .. }));
        let error = LockError::new(kind, b"r", 1);
        assert_eq!(error.retry_after(), is_quarantine.then_some(SECOND), "{error}");
    }
}

//! [`LockErrorKind`], the reason of a [`LockError`](super::LockError), and the cause of each kind
//! of error, for the predicates.

use super::failure::ClientFailure;
use super::queue::Refused;
use crate::net::OtherProcess;
use crate::redlock::{AcquireError, DrawError, ExtendError, RequestError};

/// The reason of a [`LockError`](super::LockError).
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LockErrorKind {
    /// The client refused the request at once. The error names the value and the limit, or says
    /// that the lock is not held any more.
    Request(RequestError),
    /// The request for a lock ended without the lock.
    Acquire(AcquireError),
    /// Too few nodes confirmed the extension, or the lock ended meanwhile.
    Extend(ExtendError),
    /// Too few nodes accepted a fencing number.
    Draw(DrawError),
    /// The queue of the client's thread is full.
    Busy {
        /// How many requests may wait for each thread: the configured `max_locks`.
        max: usize,
    },
    /// The client was shut down (`None`), or its thread has died. Then
    /// [`Client::failure`](super::Client::failure) has the reason as well.
    Closed(Option<ClientFailure>),
    /// This process is a child of the one that made the client.
    OtherProcess(OtherProcess),
}

/// What a caller can do about an error. Every kind of error has one cause.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cause {
    /// Somebody else has the lock, or is ahead in the line for the lock.
    Contended,
    /// Too few nodes could vote.
    Unavailable,
    /// This client has more to do than it may.
    Overloaded,
    /// This client has ended, or the caller has given up.
    Closed,
    /// The lock is not held any more.
    Lost,
    /// The request can never succeed as it is.
    Invalid,
}

impl Cause {
    pub(super) const fn of(kind: &LockErrorKind) -> Self {
        match kind {
            LockErrorKind::Request(error) => Self::of_request(error),
            LockErrorKind::Acquire(error) => match error {
                AcquireError::Held { .. } | AcquireError::InLine => Self::Contended,
                AcquireError::NoQuorum(_)
                | AcquireError::TooFar { .. }
                | AcquireError::Quarantined { .. } => Self::Unavailable,
                AcquireError::NoRoom => Self::Overloaded,
                AcquireError::Gone => Self::Lost,
                AcquireError::Cancelled => Self::Closed,
            },
            LockErrorKind::Extend(error) => match error {
                ExtendError::NoQuorum(_) | ExtendError::TooFar { .. } => Self::Unavailable,
                ExtendError::Lost(_) | ExtendError::Released => Self::Lost,
            },
            LockErrorKind::Draw(DrawError::NoQuorum(_)) => Self::Unavailable,
            LockErrorKind::Busy { .. } => Self::Overloaded,
            LockErrorKind::Closed(_) => Self::Closed,
            LockErrorKind::OtherProcess(_) => Self::Invalid,
        }
    }

    const fn of_request(error: &RequestError) -> Self {
        match error {
            RequestError::Full { .. } | RequestError::TooManyQueries => Self::Overloaded,
            RequestError::UnknownLock | RequestError::NotHeld => Self::Lost,
            RequestError::EmptyResource
            | RequestError::ResourceTooLong { .. }
            | RequestError::ReservedResource
            | RequestError::SetSize { .. }
            | RequestError::SetTooLong { .. }
            | RequestError::TtlTooShort { .. }
            | RequestError::TtlTooLong { .. }
            | RequestError::HoldTooLong { .. }
            | RequestError::NoTries
            | RequestError::TriesWithoutWait { .. }
            | RequestError::NodeTimeout { .. }
            | RequestError::Token(_)
            | RequestError::Fence(_)
            | RequestError::UnguardedMajority
            | RequestError::DrawPending
            | RequestError::AlreadyHeld
            | RequestError::ExtensionPending => Self::Invalid,
        }
    }
}

impl From<Refused> for LockErrorKind {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Full { max } => Self::Busy { max },
            Refused::Closed(failure) => Self::Closed(failure),
            Refused::OtherProcess(error) => Self::OtherProcess(error),
        }
    }
}

impl From<RequestError> for LockErrorKind {
    fn from(error: RequestError) -> Self {
        Self::Request(error)
    }
}

//! The errors of a client.

use core::fmt;

use super::queue::Refused;
use crate::redlock::{AcquireError, ExtendError, RequestError};

/// The error of a lock that was not acquired, or not extended.
///
/// What the attempts for a lock that was not acquired may have left on nodes is released in the
/// background. A lock that was not extended keeps its old validity, unless the error says that the
/// lock is lost.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LockError {
    /// The client refused the request at once. The error names the value and the limit, or says
    /// that the lock is not held any more.
    Request(RequestError),
    /// The request for a lock ended without the lock. The nodes in the error have the numbers of
    /// the configuration; [`Client::nodes`](crate::Client::nodes) returns their addresses, and what
    /// is wrong with each.
    Acquire(AcquireError),
    /// Too few nodes confirmed the extension, or the lock ended meanwhile.
    Extend(ExtendError),
    /// The queue of the client's thread is full.
    Busy {
        /// How many requests may wait for each thread: the configured `max_locks`.
        max: usize,
    },
    /// The client was shut down, or its thread has died.
    Closed,
}

impl LockError {
    /// Returns `true` if somebody else held the lock until the wait ended.
    #[must_use]
    pub const fn is_contended(&self) -> bool {
        matches!(self, Self::Acquire(AcquireError::Held))
    }

    /// Returns `true` if too few nodes could be asked or have answered: the nodes are the problem,
    /// and not another owner of the lock.
    #[must_use]
    pub const fn is_unavailable(&self) -> bool {
        matches!(
            self,
            Self::Acquire(AcquireError::NoQuorum(_) | AcquireError::Unavailable { .. })
                | Self::Extend(ExtendError::NoQuorum(_))
        )
    }
}

/// The error of a request to a client that is neither for a lock nor for an extension.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ClientError {
    /// The client refused the request at once. The error names the value and the limit, or says
    /// that the lock is not held any more.
    Request(RequestError),
    /// The client has as many callbacks for changes of nodes as it takes.
    TooManyWatchers {
        /// How many callbacks there can be.
        max: usize,
    },
    /// The queue of the client's thread is full.
    Busy {
        /// How many requests may wait for each thread: the configured `max_locks`.
        max: usize,
    },
    /// The client was shut down, or its thread has died.
    Closed,
}

/// The error of a request to a client that was shut down, or whose thread has died.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct ClientClosed;

impl fmt::Display for ClientClosed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the client is shut down, or its thread has died")
    }
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(error) => error.fmt(f),
            Self::Acquire(error) => error.fmt(f),
            Self::Extend(error) => error.fmt(f),
            Self::Busy { max } => write_busy(f, *max),
            Self::Closed => ClientClosed.fmt(f),
        }
    }
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(error) => error.fmt(f),
            Self::TooManyWatchers { max } => {
                write!(f, "{max} callbacks are told of the nodes already")
            }
            Self::Busy { max } => write_busy(f, *max),
            Self::Closed => ClientClosed.fmt(f),
        }
    }
}

fn write_busy(f: &mut fmt::Formatter<'_>, max: usize) -> fmt::Result {
    write!(f, "{max} requests wait for the client's thread already (max_locks)")
}

impl From<Refused> for LockError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Full { max } => Self::Busy { max },
            Refused::Closed => Self::Closed,
        }
    }
}

impl From<Refused> for ClientError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Full { max } => Self::Busy { max },
            Refused::Closed => Self::Closed,
        }
    }
}

// The text of each of these errors has everything, so that none has a source.
impl core::error::Error for ClientClosed {}
impl core::error::Error for LockError {}
impl core::error::Error for ClientError {}

//! The errors of a client.

use core::fmt;

use super::queue::Refused;
use crate::redlock::{AcquireError, ExtendError, RequestError};

/// The reason why a lock was not acquired.
///
/// Keys that the attempts may have left on the nodes are being released.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LockError {
    /// The request was refused at once. The error names the value that is out of bounds.
    Request(RequestError),
    /// The request ended without a lock.
    ///
    /// The error numbers the nodes in the order of the configuration.
    /// [`Client::nodes`](crate::Client::nodes) returns the address and the problem of each node.
    Acquire(AcquireError),
    /// The queue of the client's thread is full.
    Busy {
        /// The maximum number of requests that wait for each thread: the configured `max_locks`.
        max: usize,
    },
    /// The client was shut down, or its thread has died.
    Closed,
}

impl LockError {
    /// Returns whether somebody else held the lock until the wait ended.
    #[must_use]
    pub const fn is_held(&self) -> bool {
        matches!(self, Self::Acquire(AcquireError::Held))
    }
}

/// The reason why a lock was not extended. Unless the lock was lost, its old validity stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum KeepError {
    /// The request was refused at once. The error names the value that is out of bounds, or says
    /// that the lock is not held any more.
    Request(RequestError),
    /// Too few nodes confirmed the extension, or the lock ended meanwhile.
    Extend(ExtendError),
    /// The queue of the client's thread is full.
    Busy {
        /// The maximum number of requests that wait for each thread: the configured `max_locks`.
        max: usize,
    },
    /// The client was shut down, or its thread has died.
    Closed,
}

/// The reason why a request, other than for a lock or an extension, was not carried out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// The request was refused at once. The error names the value that is out of bounds, or says
    /// that the lock is not held any more.
    Request(RequestError),
    /// The client has the maximum number of callbacks for changes of nodes.
    TooManyWatchers {
        /// The maximum number of callbacks.
        max: usize,
    },
    /// The queue of the client's thread is full.
    Busy {
        /// The maximum number of requests that wait for each thread: the configured `max_locks`.
        max: usize,
    },
    /// The client was shut down, or its thread has died.
    Closed,
}

/// The error of a request to a client that was shut down, or whose thread has died.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the client is shut down, or its thread has died")
    }
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(error) => error.fmt(f),
            Self::Acquire(error) => error.fmt(f),
            Self::Busy { max } => write_busy(f, *max),
            Self::Closed => Closed.fmt(f),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(error) => error.fmt(f),
            Self::TooManyWatchers { max } => {
                write!(f, "{max} callbacks are told of the nodes already")
            }
            Self::Busy { max } => write_busy(f, *max),
            Self::Closed => Closed.fmt(f),
        }
    }
}

impl fmt::Display for KeepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(error) => error.fmt(f),
            Self::Extend(error) => error.fmt(f),
            Self::Busy { max } => write_busy(f, *max),
            Self::Closed => Closed.fmt(f),
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

impl From<Refused> for KeepError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Full { max } => Self::Busy { max },
            Refused::Closed => Self::Closed,
        }
    }
}

impl From<Refused> for Refusal {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Full { max } => Self::Busy { max },
            Refused::Closed => Self::Closed,
        }
    }
}

// No error here has a source, because the text of each error says everything.
impl core::error::Error for Closed {}
impl core::error::Error for LockError {}
impl core::error::Error for KeepError {}
impl core::error::Error for Refusal {}

//! The errors of a client.

use core::fmt;

use super::queue::Refused;
use crate::redlock::{AcquireError, ExtendError, RequestError};

/// Why a lock was not acquired. Whatever the attempts may have left on nodes is being released.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LockError {
    /// The request was refused on the spot; the error names what is out of bounds.
    Request(RequestError),
    /// The request ended without a lock. The nodes in the error are numbered as they were
    /// configured; [`Client::nodes`](crate::Client::nodes) has their addresses, and what is wrong
    /// with each.
    Acquire(AcquireError),
    /// The queue of the client's thread is full.
    Busy {
        /// How many requests may wait for each thread: the configured `max_locks`.
        max: usize,
    },
    /// The client was shut down, or its thread has died.
    Closed,
}

impl LockError {
    /// Whether somebody else held the lock until the wait ended.
    #[must_use]
    pub const fn is_held(&self) -> bool {
        matches!(self, Self::Acquire(AcquireError::Held))
    }
}

/// Why a lock was not extended. Unless the lock was lost, its old validity stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum KeepError {
    /// The request was refused on the spot; the error names what is out of bounds, or says that the
    /// lock is not held any more.
    Request(RequestError),
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

/// Why a request was not carried out that is neither for a lock nor for an extension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// The request was refused on the spot; the error names what is out of bounds, or says that the
    /// lock is not held any more.
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

/// The client was shut down, or its thread has died.
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

// The text of each of these errors has everything, so that none has a source.
impl core::error::Error for Closed {}
impl core::error::Error for LockError {}
impl core::error::Error for KeepError {}
impl core::error::Error for Refusal {}

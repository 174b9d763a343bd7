//! How requests to a client end when they do not end well.

use core::fmt;

use super::queue::Refused;
use crate::redlock::{AcquireError, ExtendError, RequestError};

/// Why a lock was not acquired. Whatever the attempts may have left on nodes is being released.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LockError {
    /// The request was refused on the spot: it names what is out of bounds.
    Request(RequestError),
    /// The request ended without a lock. The nodes in it are numbered as they were configured;
    /// [`Client::nodes`](crate::Client::nodes) has their addresses, and what is wrong with each.
    Acquire(AcquireError),
    /// So many requests wait for the client's thread already that it takes no more.
    Busy {
        /// How many may wait: the configured `max_locks`, for each thread.
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

/// Why a lock was not extended. Unless it was lost, the old validity stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum KeepError {
    /// The request was refused on the spot: it names what is out of bounds, or says that the lock
    /// is not held any more.
    Request(RequestError),
    /// Too few nodes confirmed it, or the lock ended meanwhile.
    Extend(ExtendError),
    /// So many requests wait for the client's thread already that it takes no more.
    Busy {
        /// How many may wait: the configured `max_locks`, for each thread.
        max: usize,
    },
    /// The client was shut down, or its thread has died.
    Closed,
}

/// A request that is about no acquisition and no extension was not carried out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// It was refused on the spot: it names what is out of bounds, or says that the lock is not
    /// held any more.
    Request(RequestError),
    /// So many callbacks are told of the nodes already.
    TooManyWatchers {
        /// How many there can be.
        max: usize,
    },
    /// So many requests wait for the client's thread already that it takes no more.
    Busy {
        /// How many may wait: the configured `max_locks`, for each thread.
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

// Their texts are all that these errors say, so none of them has a source.
impl core::error::Error for Closed {}
impl core::error::Error for LockError {}
impl core::error::Error for KeepError {}
impl core::error::Error for Refusal {}

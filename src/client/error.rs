//! The error of a client that concerns no lock. Those that do are in `lock_error`.

use core::fmt;

use super::failure::ClientFailure;
use super::queue::Refused;
use crate::net::OtherProcess;

/// The error of a request to a client that concerns no lock.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientError {
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
    /// The client was shut down (`None`), or its thread has died. Then
    /// [`Client::failure`](super::Client::failure) has the reason as well.
    Closed(Option<ClientFailure>),
    /// This process is a child of the one that made the client.
    OtherProcess(OtherProcess),
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyWatchers { max } => {
                write!(f, "no more than {max} callbacks can be told of the nodes")
            }
            Self::Busy { max } => write_busy(f, *max),
            Self::Closed(failure) => write_closed(f, *failure),
            Self::OtherProcess(error) => error.fmt(f),
        }
    }
}

pub(super) fn write_closed(
    f: &mut fmt::Formatter<'_>,
    failure: Option<ClientFailure>,
) -> fmt::Result {
    match failure {
        None => f.write_str("the client is shut down"),
        Some(failure) => write!(f, "the client has ended: {failure}"),
    }
}

pub(super) fn write_busy(f: &mut fmt::Formatter<'_>, max: usize) -> fmt::Result {
    write!(f, "{max} requests wait for the client's thread already (max_locks)")
}

impl From<Refused> for ClientError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Full { max } => Self::Busy { max },
            Refused::Closed(failure) => Self::Closed(failure),
            Refused::OtherProcess(error) => Self::OtherProcess(error),
        }
    }
}

/// Prints what `Display` writes: `fn main` that returns the error shows this.
impl fmt::Debug for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ClientError({self})")
    }
}

// The text of the error has everything, so that the error has no source.
impl core::error::Error for ClientError {}

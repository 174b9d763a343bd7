//! [`ClientFailure`]: why a thread of a client has died.

use core::fmt;
use std::io;

/// The reason why a thread of a client has died, from [`Client::failure`](super::Client::failure).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ClientFailure {
    /// A system call that the thread needs has failed.
    System(io::ErrorKind),
    /// The thread has panicked, and the panic was printed. A panic in a callback or a waker does
    /// not end the thread; one in a subscriber of `tracing` or a recorder of `metrics` does.
    Panic,
}

impl fmt::Display for ClientFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System(kind) => write!(f, "the system cannot run the client's thread: {kind}"),
            Self::Panic => f.write_str("the client's thread has panicked"),
        }
    }
}

impl core::error::Error for ClientFailure {}

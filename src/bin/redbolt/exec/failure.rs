//! Why there is no exit code of the command to pass on.

use std::fmt;
use std::io;
use std::time::Duration;

use redbolt::EngineError;
use rustix::process::Signal;

use super::signals;
use crate::exit;
use crate::nodes::GUARD_HINT;

/// What a shell says of a command that is there and cannot be executed.
const NOT_EXECUTABLE: u8 = 126;

/// What a shell says of a command that is not there.
const NOT_FOUND: u8 = 127;

/// The exit code of what died of a signal, as shells have it.
pub(super) fn died_of(signal: i32) -> u8 {
    u8::try_from(128 + signal.clamp(0, 127)).unwrap_or(u8::MAX)
}

pub(super) enum Failure {
    /// The command line, or a value in it, cannot be used.
    Usage(String),
    /// Another held the resource until the wait ended; with a line for each node if not all are
    /// ready, because those that are not have no vote that could be free.
    Held { resource: String, nodes: String },
    /// No quorum of nodes could be asked; with a line for each of them.
    NoQuorum { resource: String, nodes: String },
    /// Too few nodes may vote for so long yet, because others may have forgotten locks; with a
    /// line for each of them.
    Unavailable { resource: String, retry_after: Duration, nodes: String },
    /// A signal ended the wait for the lock.
    Interrupted { signal: Signal },
    /// The command could not be started.
    Start { command: String, error: io::Error },
    /// The validity of the lock ended before the command did; with what was done about it, and
    /// whether there may still be processes of the command that are about to die.
    Overrun { resource: String, what: &'static str, survivors: bool },
    /// The system failed.
    System(io::Error),
}

impl Failure {
    /// `held` is what to say when another has the lock.
    pub(super) fn exit_code(&self, held: u8) -> u8 {
        match self {
            Self::Usage(_) => exit::USAGE,
            Self::Held { .. } => held,
            Self::NoQuorum { .. } | Self::Unavailable { .. } => exit::NO_QUORUM,
            Self::Interrupted { signal } => died_of(signal.as_raw()),
            Self::Start { error, .. } if error.kind() == io::ErrorKind::NotFound => NOT_FOUND,
            Self::Start { .. } => NOT_EXECUTABLE,
            Self::Overrun { .. } => exit::LOST,
            Self::System(_) => exit::SOFTWARE,
        }
    }

    /// Whether a process that is being killed may still finish what it has begun. The lock is left
    /// to its ttl then, instead of being given to the next at once.
    pub(super) fn has_survivors(&self) -> bool {
        matches!(self, Self::Overrun { survivors: true, .. } | Self::System(_))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(what) => f.write_str(what),
            Self::Held { resource, nodes } if nodes.is_empty() => {
                write!(f, "{resource} is held by another")
            }
            Self::Held { resource, nodes } => {
                let nodes = nodes.trim_end();
                write!(f, "{resource} is held by another, and not every node is ready:\n{nodes}")
            }
            Self::NoQuorum { resource, nodes } => {
                write!(f, "no quorum of nodes for {resource}:\n{}", nodes.trim_end())
            }
            Self::Unavailable { resource, retry_after, nodes } => {
                let (seconds, nodes) = (retry_after.as_secs_f64(), nodes.trim_end());
                write!(
                    f,
                    "no quorum of nodes for {resource} for another {seconds:.1} s:\n{nodes}\n\
                     a --wait longer than that waits for them; {GUARD_HINT}"
                )
            }
            Self::Interrupted { signal } => {
                write!(f, "{} ended the wait for the lock", signals::name(*signal))
            }
            Self::Start { command, error } => write!(f, "cannot run {command}: {error}"),
            Self::Overrun { resource, what, .. } => {
                write!(f, "the lock on {resource} ended before the command did: {what}")
            }
            Self::System(error) => write!(f, "the system failed: {error}"),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Config(error) => Self::Usage(error.to_string()),
            EngineError::Io(error) => Self::System(error),
        }
    }
}

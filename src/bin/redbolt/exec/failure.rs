//! Why `redbolt exec` has no exit code of the command to pass on.

use std::fmt;
use std::io;
use std::time::Duration;

use redbolt::time::format_rounded;
use redbolt::{EngineError, LostReason};
use rustix::process::Signal;
use serde::Serialize;

use super::codes::Codes;
use super::ending::Ending;
use super::fields;
use super::occupant::{AtMost, Occupant};
use super::signals;
use crate::exit;
use crate::nodes::{GUARD_HINT, NodeList};

/// The exit code of shells for a command that exists and cannot be executed.
const NOT_EXECUTABLE: u8 = 126;

/// The exit code of shells for a command that does not exist.
const NOT_FOUND: u8 = 127;

/// `--log json` has the same names as the variants here. Each line has the resource anyway.
#[derive(Serialize)]
#[serde(tag = "failure", rename_all = "snake_case")]
pub(super) enum Failure {
    /// The command line, or a value in it, cannot be used.
    Usage(#[serde(skip_serializing)] String),
    /// Another held the resource until the wait ended. If not all nodes are ready, `nodes` has a
    /// line for each node, because the nodes that are not ready had no vote to give.
    Held {
        #[serde(skip_serializing)]
        resource: String,
        occupant: Occupant,
        nodes: NodeList,
    },
    /// No quorum of nodes could be asked; `nodes` has a line for each node.
    NoQuorum {
        #[serde(skip_serializing)]
        resource: String,
        nodes: NodeList,
    },
    /// A quorum of nodes answers after `round_trip`, and no attempt with this ttl waits for longer
    /// than `limit`; `nodes` has a line for each node.
    TooFar {
        #[serde(skip_serializing)]
        resource: String,
        #[serde(rename = "round_trip_ms", serialize_with = "fields::millis")]
        round_trip: Duration,
        #[serde(rename = "limit_ms", serialize_with = "fields::millis")]
        limit: Duration,
        nodes: NodeList,
    },
    /// Too few nodes may vote before `retry_after` is over, because the others may have forgotten
    /// locks; `nodes` has a line for each node.
    Unavailable {
        #[serde(skip_serializing)]
        resource: String,
        #[serde(rename = "retry_after_ms", serialize_with = "fields::millis")]
        retry_after: Duration,
        nodes: NodeList,
    },
    /// A signal ended the wait for the lock.
    Interrupted {
        #[serde(serialize_with = "fields::signal")]
        signal: Signal,
    },
    /// The command could not be started.
    Start {
        command: String,
        #[serde(skip_serializing)]
        error: io::Error,
    },
    /// The validity of the lock ended before the command did. `end` says why the lock ended, `what`
    /// what was done about the command, `survivors` whether processes of the command may still be
    /// dying.
    Overrun {
        #[serde(skip_serializing)]
        resource: String,
        #[serde(rename = "reason", serialize_with = "fields::reason")]
        end: LostReason,
        #[serde(skip_serializing)]
        what: &'static str,
        survivors: bool,
    },
    /// A quorum of the nodes that vote had no key of the lock when the lock was to be released.
    /// Nobody had noticed: the next renewal would have.
    Gone {
        #[serde(skip_serializing)]
        resource: String,
    },
    /// The system failed.
    System(#[serde(skip_serializing)] io::Error),
}

impl Failure {
    /// How this process ends after this failure.
    pub(super) fn ending(&self, codes: &Codes) -> Ending {
        match self {
            Self::Interrupted { signal } => Ending::by(*signal),
            _ => Ending::Exited(self.exit_code(codes)),
        }
    }

    fn exit_code(&self, codes: &Codes) -> u8 {
        match self {
            Self::Usage(_) => exit::USAGE,
            Self::Held { .. } => codes.held,
            Self::NoQuorum { .. } | Self::TooFar { .. } | Self::Unavailable { .. } => {
                codes.no_quorum
            }
            Self::Interrupted { signal } => Ending::by(*signal).code(),
            Self::Start { error, .. } if error.kind() == io::ErrorKind::NotFound => NOT_FOUND,
            Self::Start { .. } => NOT_EXECUTABLE,
            Self::Overrun { .. } | Self::Gone { .. } => codes.lost,
            Self::System(_) => exit::SOFTWARE,
        }
    }

    /// Whether another holds the lock, which comes free without anybody doing anything.
    pub(super) fn is_conflict(&self) -> bool {
        matches!(self, Self::Held { occupant, .. } if !occupant.is_permanent())
    }

    /// Whether a process that is being killed may still finish a system call. If so, the lock is
    /// left to its ttl instead of being released for the next holder.
    pub(super) fn has_survivors(&self) -> bool {
        matches!(self, Self::Overrun { survivors: true, .. } | Self::System(_))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(what) => f.write_str(what),
            Self::Held { resource, occupant, nodes } => {
                match occupant {
                    Occupant::Permanent(_) | Occupant::Around => {
                        write!(f, "{resource:?} is not free: {occupant}")?
                    }
                    Occupant::Held { remaining, .. } => {
                        write!(f, "{resource:?} is held by another, {}", AtMost(*remaining))?;
                    }
                    _ => write!(f, "{resource:?} is held by another")?,
                }
                let is_all = nodes.is_empty();
                let more = if is_all { "" } else { ", and not every node is ready" };
                write!(f, "{more}{}{}", nodes.below(), occupant.way_out())
            }
            Self::NoQuorum { resource, nodes } => {
                let (voters, way_out) = (nodes.voters(), nodes.way_out());
                write!(f, "no quorum of nodes for {resource:?}{voters}:\n{nodes}{way_out}")
            }
            Self::TooFar { resource, round_trip, limit, nodes } => {
                let [round_trip, limit] = [round_trip, limit].map(|time| format_rounded(*time));
                write!(
                    f,
                    "the nodes are too far away to lock {resource:?} for this --ttl: a quorum of \
                     them answers after {round_trip}, and an attempt waits for {limit} at most:\n\
                     {nodes}"
                )
            }
            Self::Unavailable { resource, retry_after, nodes } => {
                let (left, voters) = (format_rounded(*retry_after), nodes.voters());
                write!(
                    f,
                    "no quorum of nodes for {resource:?} for another {left}{voters}:\n{nodes}\n\
                     a --wait longer than that waits for them; {GUARD_HINT}"
                )
            }
            Self::Interrupted { signal } => {
                write!(f, "{} ended the wait for the lock", signals::name(*signal))
            }
            Self::Start { command, error } => write!(f, "cannot run {command:?}: {error}"),
            Self::Overrun { resource, end: LostReason::MaxHold, what, .. } => {
                write!(
                    f,
                    "--max-hold ended the lock on {resource:?} before the command did: {what}"
                )
            }
            Self::Overrun { resource, what, .. } => {
                write!(
                    f,
                    "the lock on {resource:?} could not be kept until the command ended: {what}"
                )
            }
            Self::Gone { resource } => write!(
                f,
                "the lock on {resource:?} was gone before its release: too few nodes still had its \
                 key, and another may have had the lock while the command ran"
            ),
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
            EngineError::Io(error) => Self::System(error),
            // An address, or a setting.
            _ => Self::Usage(error.to_string()),
        }
    }
}

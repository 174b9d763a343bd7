//! What `redbolt exec` can say.

use std::fmt;
use std::time::Duration;

use redbolt::LostReason;
use redbolt::time::format_rounded;
use rustix::process::Signal;

use super::failure::Failure;
use super::signals;
use crate::nodes::GUARD_HINT;

/// For whom a message is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Level {
    /// Only for those who want to know what happens: `--verbose`.
    Info,
    /// For everybody: something needs attention, and the run goes on.
    Warn,
    /// For everybody: why the exit code is not that of the command.
    Error,
}

/// One message. A list of nodes has a line for each node, or is empty.
pub(super) enum Message<'a> {
    /// Nodes in quarantine let no quorum vote for so long.
    AwaitsQuorum { left: Duration, nodes: String },
    /// The lock is held, after so long.
    Locked { resource: String, took: Duration },
    /// The lock is held, and some nodes have had no vote.
    NotAllReady { nodes: String },
    /// The state of a node has changed.
    Node(String),
    /// The end of the lock has come nearer.
    Shortened,
    /// The command got the signal of `--expiring-signal`.
    Expiring(Signal),
    /// The command got a signal because the lock is about to end.
    Ending { reason: LostReason, signal: Signal, nodes: String },
    /// The lock has ended under the command, which was killed.
    Lost { reason: LostReason, nodes: String },
    /// The lock is not released: something of the command may still act.
    LeftToTtl,
    /// The lock is released.
    Released { is_confirmed: bool },
    /// So many messages were not written, because nobody read those before.
    LeftOut(u64),
    /// Why the exit code is not that of the command.
    Failed(&'a Failure),
}

impl Message<'_> {
    pub(super) fn level(&self) -> Level {
        match self {
            Self::Locked { .. }
            | Self::NotAllReady { .. }
            | Self::Node(_)
            | Self::Shortened
            | Self::Expiring(_)
            | Self::Released { .. } => Level::Info,
            Self::AwaitsQuorum { .. }
            | Self::Ending { .. }
            | Self::Lost { .. }
            | Self::LeftToTtl
            | Self::LeftOut(_) => Level::Warn,
            Self::Failed(_) => Level::Error,
        }
    }
}

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AwaitsQuorum { left, nodes } => {
                let (left, nodes) = (format_rounded(*left), nodes.trim_end());
                write!(f, "waiting {left} for a quorum of nodes:\n{nodes}\n{GUARD_HINT}")
            }
            Self::Locked { resource, took } => write!(f, "{resource} is locked after {took:.1?}"),
            Self::NotAllReady { nodes } => {
                write!(f, "not every node is ready:\n{}", nodes.trim_end())
            }
            Self::Node(news) => f.write_str(news),
            Self::Shortened => write!(f, "the lock is shorter: {}", LostReason::ClockBehind),
            Self::Expiring(signal) => {
                write!(f, "little is left of the lock: {}", signals::name(*signal))
            }
            Self::Ending { reason, signal, nodes } => {
                let what = match reason {
                    LostReason::MaxHold => "--max-hold is about to end the lock",
                    _ => "the lock is about to end",
                };
                write!(f, "{what}: {}", signals::name(*signal))?;
                write_nodes(f, nodes)
            }
            Self::Lost { reason, nodes } => {
                write!(f, "the lock is lost: {reason}")?;
                write_nodes(f, nodes)
            }
            Self::LeftToTtl => f.write_str(
                "the lock is left to its ttl: what is left of the command may not be dead yet",
            ),
            Self::Released { is_confirmed: true } => f.write_str("released"),
            Self::Released { is_confirmed: false } => {
                f.write_str("released, but too few nodes have confirmed it")
            }
            Self::LeftOut(1) => f.write_str("1 message is left out here"),
            Self::LeftOut(count) => write!(f, "{count} messages are left out here"),
            Self::Failed(failure) => failure.fmt(f),
        }
    }
}

/// Writes the lines of the nodes below the text before them.
fn write_nodes(f: &mut fmt::Formatter<'_>, nodes: &str) -> fmt::Result {
    match nodes.trim_end() {
        "" => Ok(()),
        nodes => write!(f, ":\n{nodes}"),
    }
}

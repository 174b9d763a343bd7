//! The errors of locks: why a request, an extension or a draw failed, and why a lock was lost.

use core::fmt;
use core::time::Duration;

use super::node_outcome::{AtNodes, NodeOutcome, NodeOutcomes, Numbered};
use super::node_set::NodeSet;
use crate::time::{Instant, format_rounded};

/// The reason why a lock was not acquired.
///
/// Keys that the attempts may have left on the nodes are being released.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum AcquireError {
    /// Somebody else held the lock at every attempt, until the wait ended. A key with data that is
    /// not a lock looks the same, because `SET NX` refuses both alike. Of a lock on several
    /// resources, at least one was held; a node that refuses does not say which.
    Held {
        /// The nodes that refused the last attempt. Empty when another lock of this engine was
        /// held.
        refused: NodeSet,
    },
    /// The wait ended in line behind another request of this engine for the same resource, while
    /// enough nodes could vote. At that moment nobody was asking the nodes for this request.
    InLine,
    /// The last attempt found no quorum of nodes that could answer.
    NoQuorum(NodeOutcomes),
    /// The nodes are too far away for the ttl: a quorum of them needs longer for an answer than an
    /// attempt waits. A longer ttl mends this, or nodes that are nearer.
    TooFar {
        /// The outcome of the last attempt at each node.
        outcomes: NodeOutcomes,
        /// The measured round trip of the slowest node in the fastest quorum. Twice that where the
        /// nodes had drawn different fencing numbers, because that takes a second trip.
        round_trip: Duration,
        /// The longest time for which an attempt waits for its nodes
        /// ([`RedlockConfig::longest_node_timeout`](super::RedlockConfig::longest_node_timeout), or
        /// the node timeout of the request), and at most half of the validity.
        limit: Duration,
    },
    /// Too few nodes may vote, because others may have forgotten locks in a restart and do not vote
    /// yet (S11).
    ///
    /// A request with a wait of more than `retry_after` lasts until enough nodes may vote.
    /// [`RestartGuard`](super::RestartGuard) explains what nodes must prove, and how an operator
    /// declares a new cluster fresh.
    Quarantined {
        /// The outcome of the last attempt at each node.
        outcomes: NodeOutcomes,
        /// The earliest moment at which the nodes that are connected now can be a quorum.
        at: Instant,
        /// The time from the end of the request to `at`.
        retry_after: Duration,
    },
    /// The wait ended before enough nodes that could vote had room for the request: other requests
    /// of this engine filled their pipelines.
    NoRoom,
    /// An adoption failed, because a majority of the nodes does not have the token, or not any
    /// more.
    Gone,
    /// The caller cancelled the request.
    Cancelled,
}

impl AcquireError {
    /// The error of a request that another lock of the same engine has kept from the nodes.
    pub(super) const HELD_HERE: Self = Self::Held { refused: NodeSet::EMPTY };

    /// Returns the nodes that were the reason, and the outcome at each.
    pub(crate) fn at_nodes(&self) -> AtNodes {
        match self {
            Self::NoQuorum(outcomes)
            | Self::TooFar { outcomes, .. }
            | Self::Quarantined { outcomes, .. } => outcomes.at_nodes(),
            Self::Held { refused } => {
                refused.into_iter().map(|node| (node, NodeOutcome::Refused)).collect()
            }
            Self::InLine | Self::NoRoom | Self::Gone | Self::Cancelled => AtNodes::new(),
        }
    }

    /// Writes the error with the given text about its nodes. A caller that knows the addresses of
    /// the nodes can name the nodes by them.
    pub(crate) fn write(
        &self,
        f: &mut fmt::Formatter<'_>,
        nodes: &dyn fmt::Display,
    ) -> fmt::Result {
        match self {
            Self::Held { refused } if refused.is_empty() => {
                write!(f, "held by another lock of this client")
            }
            Self::Held { .. } => write!(f, "held by another ({nodes})"),
            Self::InLine => write!(f, "the wait ended behind another request of this client"),
            Self::NoQuorum(_) => write!(f, "no quorum of nodes ({nodes})"),
            Self::TooFar { round_trip, limit, .. } => {
                let [round_trip, limit] = [round_trip, limit].map(|time| format_rounded(*time));
                write!(
                    f,
                    "the nodes are too far away for this ttl: a quorum of them answers after \
                     {round_trip}, and an attempt waits for {limit} at most ({nodes})"
                )
            }
            Self::Quarantined { retry_after, .. } => {
                let left = format_rounded(*retry_after);
                write!(
                    f,
                    "no quorum of nodes for another {left}, because nodes may have \
                     forgotten locks ({nodes}); on new servers, `redbolt init --fresh` before the \
                     first client saves the wait"
                )
            }
            Self::NoRoom => {
                write!(f, "the wait ended while other requests of this client filled max_pipeline")
            }
            Self::Gone => write!(f, "a majority of the nodes does not have the token"),
            Self::Cancelled => write!(f, "cancelled"),
        }
    }
}

/// Names the nodes by their numbers.
impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, &Numbered(&self.at_nodes()))
    }
}

impl core::error::Error for AcquireError {}

/// The reason why a lock was not extended.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ExtendError {
    /// Too few nodes answered in time. The old validity stands, and another extension may be tried.
    NoQuorum(NodeOutcomes),
    /// The nodes are too far away for the new ttl: a quorum of them needs longer for an answer than
    /// an extension waits. The old validity stands. A longer ttl mends this.
    TooFar {
        /// The outcome of the extension at each node.
        outcomes: NodeOutcomes,
        /// The measured round trip of the slowest node in the fastest quorum.
        round_trip: Duration,
        /// The longest time for which an extension with this ttl waits for its nodes
        /// ([`RedlockConfig::longest_node_timeout`](super::RedlockConfig::longest_node_timeout), or
        /// the node timeout of the request).
        limit: Duration,
    },
    /// The lock was lost meanwhile. An [`Event::Lost`](super::Event::Lost) reports the loss as
    /// well.
    Lost(LostReason),
    /// The lock was released before the extension was answered.
    Released,
}

impl ExtendError {
    /// Returns the nodes that were the reason, and the outcome at each.
    pub(crate) fn at_nodes(&self) -> AtNodes {
        match self {
            Self::NoQuorum(outcomes) | Self::TooFar { outcomes, .. } => outcomes.at_nodes(),
            Self::Lost(_) | Self::Released => AtNodes::new(),
        }
    }

    /// Writes the error with the given text about its nodes, as in [`AcquireError::write`].
    pub(crate) fn write(
        &self,
        f: &mut fmt::Formatter<'_>,
        nodes: &dyn fmt::Display,
    ) -> fmt::Result {
        match self {
            Self::NoQuorum(_) => write!(f, "no quorum of nodes ({nodes})"),
            Self::TooFar { round_trip, limit, .. } => {
                let [round_trip, limit] = [round_trip, limit].map(|time| format_rounded(*time));
                write!(
                    f,
                    "the nodes are too far away for this ttl: a quorum of them answers after \
                     {round_trip}, and an extension waits for {limit} at most ({nodes})"
                )
            }
            Self::Lost(reason) => write!(f, "lost: {reason}"),
            Self::Released => write!(f, "released before the extension was answered"),
        }
    }
}

/// Names the nodes by their numbers.
impl fmt::Display for ExtendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, &Numbered(&self.at_nodes()))
    }
}

impl core::error::Error for ExtendError {}

/// The reason why no fencing number was drawn for a held lock.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum DrawError {
    /// Too few nodes have accepted a number. Another draw may be tried.
    NoQuorum(NodeOutcomes),
}

impl DrawError {
    /// Returns the nodes that were the reason, and the outcome at each.
    pub(crate) fn at_nodes(&self) -> AtNodes {
        let Self::NoQuorum(outcomes) = self;
        outcomes.at_nodes()
    }

    /// Writes the error with the given text about its nodes, as in [`AcquireError::write`].
    pub(crate) fn write(
        &self,
        f: &mut fmt::Formatter<'_>,
        nodes: &dyn fmt::Display,
    ) -> fmt::Result {
        let Self::NoQuorum(_) = self;
        write!(f, "no quorum of nodes for a number ({nodes})")
    }
}

/// Names the nodes by their numbers.
impl fmt::Display for DrawError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, &Numbered(&self.at_nodes()))
    }
}

impl core::error::Error for DrawError {}

/// The reason why a held lock was lost. A lost lock never comes back (S7).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LostReason {
    /// The validity of the lock ended.
    Expired,
    /// The lock was kept alive, and its `max_hold` is over: the end that the owner has planned.
    MaxHold,
    /// So many nodes reported that they do not have the lock that no quorum can have it.
    Majority,
    /// The clock of this machine has fallen so far behind those of a majority of the nodes that the
    /// keys may have ended there. Either a hypervisor has stopped this machine and its clock, or
    /// the clocks of the nodes were set.
    ClockBehind,
}

impl fmt::Display for LostReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Expired => "the validity ended",
            Self::MaxHold => "max_hold is over",
            Self::Majority => "too few nodes still have it",
            Self::ClockBehind => "this machine's clock has fallen behind those of the nodes",
        })
    }
}

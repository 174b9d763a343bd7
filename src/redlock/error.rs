//! How requests end when they do not end well.

use core::fmt;
use core::time::Duration;

use super::bounds::MAX_QUERIES;
use super::bounds::{MAX_RESOURCE, MIN_TTL};
use super::bounds::{MAX_SET, MAX_SET_BYTES};
use super::node_set::{MAX_NODES, NodeId};
use crate::time::Instant;

/// A request that was refused on the spot. Nothing was sent and no event follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RequestError {
    /// The resource is empty.
    EmptyResource,
    /// The resource, with the prefix, is longer than [`MAX_RESOURCE`].
    ResourceTooLong {
        /// Its length in bytes, with the prefix.
        len: usize,
    },
    /// No resources for one lock, or more than [`MAX_SET`].
    SetSize {
        /// How many were given; a client counts no more than a million.
        len: usize,
    },
    /// The names of the resources of one lock are longer than [`MAX_SET_BYTES`] together.
    SetTooLong {
        /// Their length in bytes, with the prefixes.
        len: usize,
    },
    /// The ttl is under [`MIN_TTL`], or the drift leaves nothing of it.
    TtlTooShort {
        /// What was given.
        ttl: Duration,
    },
    /// The ttl is over the configured `max_ttl`.
    TtlTooLong {
        /// What was given.
        ttl: Duration,
        /// The longest that is configured.
        max: Duration,
    },
    /// `max_locks` are in use, or as many events wait to be taken. Release locks, or take events.
    Full {
        /// The configured `max_locks`.
        max: usize,
    },
    /// The lock is not known: it was never handed out, or its last event has been reported.
    UnknownLock,
    /// The lock is not held: it is still being acquired, or it is being released, or was lost.
    NotHeld,
    /// The lock is held: there is nothing to cancel, release it.
    AlreadyHeld,
    /// An extension of this lock has not been answered yet.
    ExtensionPending,
    /// [`MAX_QUERIES`] questions who holds a resource are not answered yet.
    TooManyQueries,
    /// The lock would be held longer than the configured `max_hold` (S12).
    HoldTooLong {
        /// For how long, counted from its acquisition.
        hold: Duration,
        /// The configured `max_hold`.
        max: Duration,
    },
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EmptyResource => write!(f, "the resource is empty"),
            Self::ResourceTooLong { len } => {
                write!(f, "the resource has {len} bytes, at most {MAX_RESOURCE} are possible")
            }
            Self::SetSize { len } => {
                write!(f, "{len} resources for one lock, between 1 and {MAX_SET} are possible")
            }
            Self::SetTooLong { len } => {
                write!(f, "the resources have {len} bytes, at most {MAX_SET_BYTES} are possible")
            }
            Self::TtlTooShort { ttl } => {
                write!(f, "the ttl is {ttl:?}, at least {MIN_TTL:?} and the drift are needed")
            }
            Self::TtlTooLong { ttl, max } => {
                write!(f, "the ttl is {ttl:?}, at most max_ttl = {max:?} is possible")
            }
            Self::Full { max } => write!(f, "max_locks = {max} locks are in use"),
            Self::UnknownLock => write!(f, "the lock is not known"),
            Self::NotHeld => write!(f, "the lock is not held"),
            Self::AlreadyHeld => write!(f, "the lock is held already"),
            Self::ExtensionPending => write!(f, "an extension of this lock is under way"),
            Self::TooManyQueries => write!(f, "{MAX_QUERIES} queries are under way"),
            Self::HoldTooLong { hold, max } => {
                write!(
                    f,
                    "the lock would be held for {hold:?}, at most max_hold = {max:?} is possible"
                )
            }
        }
    }
}

impl core::error::Error for RequestError {}

/// Why a lock was not acquired. Whatever the attempts may have left on nodes is being released.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum AcquireError {
    /// Somebody else held it whenever we asked, until the wait ended. A key that holds data which
    /// is no lock looks the same: `SET NX` refuses both alike.
    Held,
    /// The last attempt found no quorum of nodes that could answer.
    NoQuorum(NodeOutcomes),
    /// Too few nodes may vote, because others may have forgotten locks in a restart and are not
    /// believed yet (S11). A request that waits for longer than `retry_after` waits that out;
    /// [`RestartGuard`](super::RestartGuard) tells how to declare a cluster fresh or durable.
    Unavailable {
        /// What became of the last attempt at each node.
        outcomes: NodeOutcomes,
        /// The earliest moment at which those nodes can be a quorum that are connected now.
        at: Instant,
        /// How long that was from the end of the request.
        retry_after: Duration,
    },
    /// The wait ended while the request stood in a queue of this engine.
    TimedOut,
    /// A token was to be adopted that a majority of the nodes does not have, or not any more.
    Gone,
    /// The caller cancelled.
    Cancelled,
}

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Held => write!(f, "held by another"),
            Self::NoQuorum(outcomes) => write!(f, "no quorum of nodes ({outcomes})"),
            Self::Unavailable { outcomes, retry_after, .. } => {
                let seconds = retry_after.as_secs_f64();
                write!(
                    f,
                    "no quorum of nodes for another {seconds:.1} s, because restarted nodes may \
                     have forgotten locks ({outcomes}); restart_guard can declare them fresh"
                )
            }
            Self::TimedOut => write!(f, "the wait ended in the queue of this engine"),
            Self::Gone => write!(f, "a majority of the nodes does not have the token"),
            Self::Cancelled => write!(f, "cancelled"),
        }
    }
}

impl core::error::Error for AcquireError {}

/// Why a lock was not extended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ExtendError {
    /// Too few nodes answered in time. The old validity stands, and another try is allowed.
    NoQuorum(NodeOutcomes),
    /// The lock was lost meanwhile; an [`Event::Lost`](super::Event::Lost) says so too.
    Lost(LostReason),
    /// The lock was released before the extension was answered.
    Released,
}

impl fmt::Display for ExtendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoQuorum(outcomes) => write!(f, "no quorum of nodes ({outcomes})"),
            Self::Lost(reason) => write!(f, "lost: {reason}"),
            Self::Released => write!(f, "released before the extension was answered"),
        }
    }
}

impl core::error::Error for ExtendError {}

/// Why a held lock is held no more. It never comes back (S7).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LostReason {
    /// Its validity ended.
    Expired,
    /// So many nodes said that they do not have it that a quorum cannot have it.
    Majority,
}

impl fmt::Display for LostReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Expired => "the validity ended",
            Self::Majority => "too few nodes still have it",
        })
    }
}

/// What became of one request at one node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum NodeOutcome {
    /// The node agreed.
    Granted,
    /// The node refused: another value stands at the key, or for an extension none.
    Refused,
    /// The node answered with an error.
    Failed,
    /// The node was asked and did not answer in time, or its connection broke.
    NoReply,
    /// Not asked: not connected.
    Down,
    /// Not asked: the connection is being set up.
    Connecting,
    /// Not asked, or not believed: it may have forgotten locks in a restart (S11).
    Quarantined,
    /// Not asked: an older request has been waiting for too long.
    Stalled,
    /// Not asked: it recently said that it cannot serve for the moment.
    Unhealthy,
    /// Not asked: its pipeline is full.
    Full,
    /// Not asked: its configuration does not allow a vote.
    Misconfigured,
    /// Not asked, although it is ready now: it was not yet when the others were asked, or too few
    /// others were for a quorum.
    NotAsked,
}

impl fmt::Display for NodeOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Granted => "granted",
            Self::Refused => "refused",
            Self::Failed => "answered with an error",
            Self::NoReply => "no reply in time",
            Self::Down => "down",
            Self::Connecting => "connecting",
            Self::Quarantined => "quarantined",
            Self::Stalled => "stalled",
            Self::Unhealthy => "unable to serve",
            Self::Full => "pipeline full",
            Self::Misconfigured => "misconfigured",
            Self::NotAsked => "not asked",
        })
    }
}

/// The outcome of one request at every node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct NodeOutcomes {
    outcomes: [NodeOutcome; MAX_NODES],
    nodes: u8,
}

impl NodeOutcomes {
    pub(super) fn new(nodes: usize, outcome: impl Fn(NodeId) -> NodeOutcome) -> Self {
        let mut outcomes = [NodeOutcome::Down; MAX_NODES];
        for (index, slot) in outcomes.iter_mut().enumerate().take(nodes) {
            if let Some(node) = NodeId::new(index) {
                *slot = outcome(node);
            }
        }
        Self { outcomes, nodes: nodes as u8 }
    }

    /// One outcome per configured node, in their order.
    pub fn as_slice(&self) -> &[NodeOutcome] {
        &self.outcomes[..usize::from(self.nodes)]
    }
}

impl fmt::Debug for NodeOutcomes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.as_slice()).finish()
    }
}

impl fmt::Display for NodeOutcomes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, outcome) in self.as_slice().iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{index}: {outcome}")?;
        }
        Ok(())
    }
}

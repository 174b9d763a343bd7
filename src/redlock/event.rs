//! The events that the engine reports to its owner.

use core::fmt;

use super::error::{AcquireError, DrawError, ExtendError, LostReason};
use super::fence::Fence;
use super::holder::{Holder, QueryId};
use super::node_set::{NodeId, NodeSet};
use crate::time::Instant;

/// The id of one lock, from the request to the last event.
///
/// The id stays the same through all attempts. Another lock gets the same id only after four
/// billion other locks have had the same place in the engine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LockId {
    pub(super) index: u32,
    pub(super) generation: u32,
}

impl LockId {
    /// An id that no lock has.
    #[cfg(feature = "net")]
    pub(crate) const NONE: Self = Self { index: u32::MAX, generation: u32::MAX };

    /// Returns a number below `max_locks` that is unique among the locks which live at the same
    /// time. The number can serve as the index into a table of the caller's own.
    ///
    /// A lock lives until its last event is taken. From then on another lock can get the number,
    /// once no node owes a reply to the first.
    pub const fn index(self) -> usize {
        self.index as usize
    }
}

impl fmt::Debug for LockId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LockId({}.{})", self.index, self.generation)
    }
}

/// An event: the result of a request, or a change of a lock or a node.
///
/// Every accepted request ends in exactly one event. A held lock ends with either
/// [`Event::Released`] or [`Event::Lost`].
///
/// [`Redlock::resources`](super::Redlock::resources) names the resources of the lock in an event
/// that was just taken, also when the lock has ended long before. `Engine::display` writes an event
/// with its resource and with the addresses of the nodes.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Event {
    /// The lock is held until `valid_until`.
    Acquired {
        /// The lock.
        lock: LockId,
        /// The end of the validity.
        valid_until: Instant,
        /// The fencing number (S13), if the request has asked for one, or has brought one to an
        /// adoption.
        fence: Option<Fence>,
    },
    /// The lock was not acquired. The id is not valid any more.
    AcquireFailed {
        /// The lock.
        lock: LockId,
        /// The reason.
        error: AcquireError,
    },
    /// The lock was extended: the lock is held until `valid_until`, which is never before the end
    /// reported last.
    Extended {
        /// The lock.
        lock: LockId,
        /// The end of the validity.
        valid_until: Instant,
    },
    /// The lock was not extended. Unless the lock is lost, the old validity stands.
    ExtendFailed {
        /// The lock.
        lock: LockId,
        /// The reason.
        error: ExtendError,
    },
    /// A fencing number was drawn for a lock that is held
    /// ([`Redlock::draw_fence`](super::Redlock::draw_fence)).
    Fenced {
        /// The lock.
        lock: LockId,
        /// The new number (S13).
        fence: Fence,
    },
    /// No fencing number was drawn. The lock keeps the number that it has, if any.
    FenceFailed {
        /// The lock.
        lock: LockId,
        /// The reason.
        error: DrawError,
    },
    /// The lock is still held, but only until `valid_until`, which is before the end reported last.
    ///
    /// The looks at the nodes have shown that the clock of this machine has fallen behind those of
    /// a majority: a hypervisor has stopped this machine for a while, or their clocks were set. A
    /// lock that is kept alive is renewed at once. [`Lost`](Self::Lost) says what an owner must do
    /// that keeps a `valid_until` for other threads.
    Shortened {
        /// The lock.
        lock: LockId,
        /// The end of the validity.
        valid_until: Instant,
    },
    /// The lock was released. The id is not valid any more.
    Released {
        /// The lock.
        lock: LockId,
        /// The answers of the nodes.
        outcome: ReleaseOutcome,
    },
    /// The lock was lost: it is not held any more, although nobody released it. The id is not valid
    /// any more.
    ///
    /// When the validity runs out, this event comes earlier than the end by
    /// [`lost_lead`](super::RedlockConfig::lost_lead), if the owner polls in time.
    ///
    /// When a majority of the nodes does not have the lock any more, the rest of the lock is
    /// released in the same turn, and others may have the lock by the time this event is read. An
    /// owner that keeps a `valid_until` for other threads must take all events before the next
    /// write to the nodes, or ask [`is_held`](super::Redlock::is_held), which knows of the loss at
    /// once.
    Lost {
        /// The lock.
        lock: LockId,
        /// The reason.
        reason: LostReason,
    },
    /// Little is left of the validity. [`Redlock::warn`](super::Redlock::warn) asks for this event.
    Expiring {
        /// The lock.
        lock: LockId,
        /// The end of the validity.
        valid_until: Instant,
        /// The reason for which the lock will be lost at this end, unless an extension succeeds:
        /// [`LostReason::MaxHold`] for the end that was planned, [`LostReason::Expired`] otherwise.
        reason: LostReason,
    },
    /// A query was answered.
    Queried {
        /// The query.
        query: QueryId,
        /// The resource, as in the question.
        resource: Box<[u8]>,
        /// The holder of the resource, as the nodes report.
        // In a box, because every event of a lock would be as large.
        holder: Box<Holder>,
    },
    /// The state of a node changed. [`Redlock::node`](super::Redlock::node) returns the new state.
    /// Several changes between two polls make one event. Each attempt to connect makes events of
    /// its own, also when the node stays down.
    Node(NodeId),
}

impl Event {
    /// Returns the lock of the event; `None` for events of queries and nodes.
    #[must_use]
    #[inline]
    pub const fn lock(&self) -> Option<LockId> {
        match self {
            Self::Acquired { lock, .. }
            | Self::AcquireFailed { lock, .. }
            | Self::Extended { lock, .. }
            | Self::ExtendFailed { lock, .. }
            | Self::Fenced { lock, .. }
            | Self::FenceFailed { lock, .. }
            | Self::Shortened { lock, .. }
            | Self::Released { lock, .. }
            | Self::Lost { lock, .. }
            | Self::Expiring { lock, .. } => Some(*lock),
            Self::Queried { .. } | Self::Node(_) => None,
        }
    }

    /// Returns the lock of which this is the last event.
    #[inline]
    pub(super) const fn ended(&self) -> Option<LockId> {
        match self {
            Self::AcquireFailed { lock, .. }
            | Self::Released { lock, .. }
            | Self::Lost { lock, .. } => Some(*lock),
            _ => None,
        }
    }
}

/// The answers of the nodes to a release.
///
/// The sets are disjoint. Together they contain all nodes on which the lock may have been; no other
/// node ever had the lock.
///
/// [`Event::Released`] comes as soon as a quorum of nodes is known not to have the lock, because
/// from then on others can take the lock. For the nodes that are `unconfirmed` at that moment, the
/// release goes on in the background.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct ReleaseOutcome {
    /// The nodes that had the key of this lock and deleted it.
    pub released: NodeSet,
    /// The nodes on which the key was gone already.
    pub absent: NodeSet,
    /// The nodes on which the key holds somebody else's value, which was left alone.
    pub foreign: NodeSet,
    /// The nodes that have not answered yet, or answered with an error.
    pub unconfirmed: NodeSet,
    /// Whether a quorum of the nodes is known not to have the lock: others can take it. Else the
    /// release has ended for want of time, or because no more answers can come, and the lock ends
    /// with its ttl at the latest; or the lock was passed on.
    pub is_quorum_free: bool,
    /// Whether the lock was passed on to the next in line of the same engine, without a word to the
    /// nodes. Then the sets are empty: the keys on the nodes are those of the next.
    pub is_passed_on: bool,
}

impl ReleaseOutcome {
    /// Returns the nodes that may have had the key of this lock until the release: those that have
    /// deleted the key, and those that have not answered. No other node had the key, unless the
    /// lock was passed on.
    ///
    /// If a quorum of the other nodes can vote, because somebody has deleted the key there, another
    /// may have had the lock already, although the validity was not over. A node that has lost its
    /// data in a restart cannot vote ([`NodeState::Quarantined`](crate::redlock::NodeState)).
    ///
    /// ```
    /// use redbolt::redlock::{NodeSet, ReleaseOutcome};
    ///
    /// // Of three nodes the first has deleted the key, and the others had none.
    /// let mut outcome = ReleaseOutcome::default();
    /// outcome.released = NodeSet::first(1);
    /// outcome.absent = NodeSet::first(3).without(outcome.released);
    /// assert_eq!(outcome.may_have_had().len(), 1);
    /// ```
    #[must_use]
    pub const fn may_have_had(&self) -> NodeSet {
        self.released.union(self.unconfirmed)
    }

    /// Writes the outcome, with the nodes by their names. A node without a name is left out.
    pub(crate) fn write<N: fmt::Display>(
        &self,
        f: &mut fmt::Formatter<'_>,
        name: impl Fn(NodeId) -> Option<N>,
    ) -> fmt::Result {
        if self.is_passed_on {
            return f.write_str("passed on to the next in line");
        }
        f.write_str("released")?;
        let open = if self.is_quorum_free {
            "; goes on in the background at "
        } else {
            ", but no quorum has confirmed; no answer from "
        };
        let sets = [(open, self.unconfirmed), ("; another value at ", self.foreign)];
        for (what, nodes) in sets {
            for (place, name) in nodes.into_iter().filter_map(&name).enumerate() {
                write!(f, "{}{name}", if place == 0 { what } else { ", " })?;
            }
        }
        Ok(())
    }
}

/// Names the nodes by their numbers.
impl fmt::Display for ReleaseOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, Some)
    }
}

//! What the engine tells its owner.

use core::fmt;

use super::error::{AcquireError, ExtendError, LostReason};
use super::holder::{Holder, QueryId};
use super::node_set::{NodeId, NodeSet};
use crate::time::Instant;

/// One lock, from the request to its last event.
///
/// The id stays the same through all attempts; it is never used again for another lock of the same
/// engine before four billion others had its place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LockId {
    pub(super) slot: u32,
    pub(super) generation: u32,
}

impl LockId {
    /// A small number below `max_locks`, unique among the locks that live at the same time: an
    /// index into a table of the caller's own.
    ///
    /// A lock lives until its last event is made, which is before the event is taken: who makes
    /// requests between taking two events may be given a number whose last event still waits.
    pub const fn index(self) -> usize {
        self.slot as usize
    }
}

impl fmt::Debug for LockId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LockId({}.{})", self.slot, self.generation)
    }
}

/// Something happened. Every accepted request ends in exactly one event; a held lock ends with
/// either [`Event::Released`] or [`Event::Lost`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Event {
    /// The lock is held until `valid_until`.
    Acquired {
        /// Which lock.
        lock: LockId,
        /// When it must be believed no more.
        valid_until: Instant,
    },
    /// The lock was not acquired; its id is spent.
    AcquireFailed {
        /// Which lock.
        lock: LockId,
        /// Why.
        error: AcquireError,
    },
    /// The lock is held until `valid_until`, which is never before what was said last.
    Extended {
        /// Which lock.
        lock: LockId,
        /// When it must be believed no more.
        valid_until: Instant,
    },
    /// The lock was not extended. Unless it is lost, it is held as long as before.
    ExtendFailed {
        /// Which lock.
        lock: LockId,
        /// Why.
        error: ExtendError,
    },
    /// The lock was given back; its id is spent.
    Released {
        /// Which lock.
        lock: LockId,
        /// What the nodes said.
        outcome: ReleaseOutcome,
    },
    /// The lock is held no more although nobody released it; its id is spent. When its validity
    /// runs out this comes [`lost_lead`](super::Config::lost_lead) ahead, if the owner polls in
    /// time.
    ///
    /// When a majority does not have it any more, what is left of it is given back in the same
    /// turn, and others may have the lock by the time this is read. Whoever keeps a `valid_until`
    /// for other threads takes all events before the next write, or asks
    /// [`is_held`](super::Redlock::is_held), which knows at once.
    Lost {
        /// Which lock.
        lock: LockId,
        /// Why.
        reason: LostReason,
    },
    /// Little is left of the validity, as [`Redlock::warn`](super::Redlock::warn) asked to be told.
    Expiring {
        /// Which lock.
        lock: LockId,
        /// When it must be believed no more.
        valid_until: Instant,
    },
    /// A question was answered.
    Queried {
        /// Which question.
        query: QueryId,
        /// Who holds the resource.
        holder: Holder,
    },
    /// The state of a node changed; [`Redlock::node`](super::Redlock::node) tells to what. Several
    /// changes between two polls make one event.
    Node(NodeId),
}

/// What the nodes said to a release. The sets are disjoint, and together they are all nodes that
/// the lock may have been on; the others never had it.
///
/// The event comes as soon as a quorum of nodes is known not to have the lock, because then others
/// can take it. What is `unconfirmed` at that moment goes on in the background.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct ReleaseOutcome {
    /// The key was ours and is deleted.
    pub released: NodeSet,
    /// The key was gone already.
    pub absent: NodeSet,
    /// The key holds somebody else's value and was left alone.
    pub foreign: NodeSet,
    /// No answer yet, or an error.
    pub unconfirmed: NodeSet,
}

//! One lock: what was asked for, how far it has come, and where its token may be.
//!
//! ```text
//!            ┌────────► InLine ───┐  another lock of this engine has the resource
//! acquire ───┤                    ▼
//!            └──────────────────► Ready ◄──────── Backoff
//!                                 │  a quorum of     ▲
//!                                 ▼  nodes has room  │ refused, or no quorum
//!                                 Attempt ───────────┘  or Adoption, of a token handed over
//!                                 │ quorum of +OK within the validity
//!                                 ▼
//!              lost ◄──────────── Held ────► Releasing ────► released
//! ```
//!
//! Every way out leads to `Draining`, in which the caller has had the last event and the slot only
//! waits for replies that are still owed to it.

use smallvec::SmallVec;

use super::millis::Millis;
use super::names::Names;
use super::nodes::NodeSet;
use super::queue::Place;
use crate::time::Instant;

/// Stands for "no slot" in links between slots.
pub(super) const NONE: u32 = u32::MAX;

/// A resource with its prefix: the key. Names up to 48 bytes lie in the slot itself.
pub(super) type Resource = SmallVec<[u8; 48]>;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// The slot belongs to nobody.
    Free,
    /// Behind another lock of this engine that has the same resource.
    InLine,
    /// Wants an attempt as soon as a quorum of nodes has room for it.
    Ready,
    /// Asked; the votes are coming in.
    Attempt,
    /// Waits for the time of the next attempt.
    Backoff,
    /// A token that was handed over was looked for; the answers are coming in.
    Adoption,
    Held,
    /// Its owner has been told that it is lost, a little early; it is released at its end.
    Lapsing,
    /// Release was asked for; the caller waits for what became of it.
    Releasing,
    /// The caller knows the end; replies are still owed.
    Draining,
}

impl Phase {
    /// Whether the lock is not wanted any more and may not yet be gone from the nodes.
    pub(super) const fn is_on_its_way_out(self) -> bool {
        matches!(self, Self::Releasing | Self::Draining)
    }
}

pub(super) struct Lock {
    pub(super) phase: Phase,
    pub(super) generation: u32,
    /// The next attempt is the last: after it the wait is over.
    pub(super) last_try: bool,
    /// A release of the same resource may still wait to be sent: this lock's own of its last
    /// attempt, or that of the lock before it. The next `SET` must run after it.
    pub(super) follows: bool,
    /// How many keys `resource` stands for.
    pub(super) keys: u8,
    /// The token was handed over by somebody else: it is looked for, not brought, and the table
    /// has it.
    pub(super) is_adopted: bool,
    /// The warning ahead of the end of this validity has been given.
    pub(super) is_warned: bool,
    /// How many replies are owed that name this slot.
    pub(super) owed: u32,
    pub(super) retries: u32,

    pub(super) resource: Resource,
    pub(super) ttl: Millis,
    /// No attempt starts after this, except the first.
    pub(super) wait_until: Instant,
    /// When the acquisition leaves the queues, or the extension ends, whatever happens.
    pub(super) deadline: Instant,
    /// When the slot wants to be looked at next.
    pub(super) due: Instant,

    /// The number of the current attempt.
    pub(super) serial: u64,
    /// When the current attempt started: before its first byte could leave (S2).
    pub(super) started: Instant,
    pub(super) valid_until: Instant,
    /// Since when this engine has had the resource without a break; `ZERO` if it has not.
    pub(super) tenure: Instant,
    pub(super) votes: Votes,
    /// Nodes where the token may exist, on a connection that lives or with a vote that we have.
    pub(super) exists: NodeSet,
    /// Nodes whose connection died with the `SET` on its way: the token may come to exist (S6).
    pub(super) ghosts: NodeSet,
    /// Nodes that owe the answer to a fill-in. Of `exists`, and an older answer takes none out.
    pub(super) filling: NodeSet,
    /// The extension or release under way.
    pub(super) round: Round,
    pub(super) keep: Keep,

    pub(super) links: Links,
    /// In the queue of those that are ready.
    pub(super) place: Place,
}

/// The votes of one attempt. A node that was asked is in exactly one of the other sets or lost.
#[derive(Clone, Copy, Default)]
pub(super) struct Votes {
    pub(super) asked: NodeSet,
    /// Asked, no answer yet.
    pub(super) open: NodeSet,
    pub(super) granted: NodeSet,
    pub(super) refused: NodeSet,
    pub(super) failed: NodeSet,
}

/// One extension or one release, over all nodes that may have the token.
#[derive(Clone, Copy, Default)]
pub(super) struct Round {
    /// Tells the replies of this round from those of older ones.
    pub(super) number: u64,
    pub(super) pending: bool,
    /// The engine asked by itself, to keep the lock alive.
    pub(super) is_renewal: bool,
    pub(super) started: Instant,
    pub(super) ttl: Millis,
    pub(super) asked: NodeSet,
    pub(super) open: NodeSet,
    /// Answered 1.
    pub(super) agreed: NodeSet,
    /// Answered 0: no such key.
    pub(super) absent: NodeSet,
    /// Answered −1: another value.
    pub(super) foreign: NodeSet,
}

/// What is done for a lock by itself as long as it is held.
#[derive(Clone, Copy)]
pub(super) struct Keep {
    /// The ttl of its renewals; zero if it is not kept alive.
    pub(super) ttl: Millis,
    /// How long before the end of the validity its owner wants to be warned; zero for never.
    pub(super) ahead: Millis,
    /// The renewals end here (S12).
    pub(super) until: Instant,
    /// When it is renewed next, or nodes that miss the key are given it.
    pub(super) beat_at: Instant,
}

impl Keep {
    pub(super) const NONE: Self = Self {
        ttl: Millis::ZERO,
        ahead: Millis::ZERO,
        until: Instant::ZERO,
        beat_at: Instant::FAR_FUTURE,
    };
}

impl Lock {
    /// Whether its owner waits to hear of an extension.
    pub(super) const fn is_asked_to_extend(&self) -> bool {
        self.round.pending && !self.round.is_renewal
    }

    /// The nodes that may have the key, or may come to have it.
    pub(super) fn known_to(&self) -> NodeSet {
        self.exists.union(self.ghosts)
    }

    pub(super) fn names(&self) -> Names<'_> {
        Names { count: self.keys, bytes: &self.resource }
    }
}

/// Where the slot stands among the others.
#[derive(Clone, Copy)]
pub(super) struct Links {
    pub(super) hash: u32,
    pub(super) is_indexed: bool,
    /// The next slot in the same bucket of the resource index.
    pub(super) bucket: u32,
    /// The line of those that want the same resource.
    pub(super) before: u32,
    pub(super) behind: u32,
    /// For the first of a line: its last.
    pub(super) last: u32,
}

impl Links {
    pub(super) const UNLINKED: Self =
        Self { hash: 0, is_indexed: false, bucket: NONE, before: NONE, behind: NONE, last: NONE };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_fits_into_five_cache_lines() {
        assert!(size_of::<Lock>() <= 320, "{} bytes", size_of::<Lock>());
    }
}

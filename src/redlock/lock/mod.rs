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

pub(super) mod presence;
pub(super) mod queue;
pub(super) mod round;
pub(super) mod table;
#[cfg(test)]
mod tests;
mod transitions;
pub(super) mod votes;

use self::presence::Presence;
use self::round::Round;
use self::votes::Votes;
use crate::redlock::millis::Millis;
use crate::redlock::wire::keys::{Names, Resource};
use crate::time::Instant;

/// Stands for "no slot" in links between slots.
pub(crate) const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
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
    pub(crate) const fn is_on_its_way_out(self) -> bool {
        matches!(self, Self::Releasing | Self::Draining)
    }
}

pub(crate) struct Lock {
    pub(crate) phase: Phase,
    pub(crate) generation: u32,
    /// The next attempt is the last: after it the wait is over.
    pub(crate) last_try: bool,
    /// A release of the same resource may still wait to be sent: this lock's own of its last
    /// attempt, or that of the lock before it. The next `SET` must run after it.
    pub(crate) follows: bool,
    /// How many keys `resource` stands for.
    pub(crate) keys: u8,
    /// The token was handed over by somebody else: it is looked for, not brought, and the table
    /// has it.
    pub(crate) is_adopted: bool,
    /// The warning ahead of the end of this validity has been given.
    pub(crate) is_warned: bool,
    /// How many replies are owed that name this slot.
    pub(crate) owed: u32,
    pub(crate) retries: u32,

    pub(crate) resource: Resource,
    pub(crate) ttl: Millis,
    /// No attempt starts after this, except the first.
    pub(crate) wait_until: Instant,
    /// When the acquisition leaves the queues, or the extension ends, whatever happens.
    pub(crate) deadline: Instant,
    /// When the slot wants to be looked at next.
    pub(crate) due: Instant,

    /// The number of the current attempt.
    pub(crate) serial: u64,
    /// When the current attempt started: before its first byte could leave (S2).
    pub(crate) started: Instant,
    pub(crate) valid_until: Instant,
    /// Since when this engine has had the resource without a break; `ZERO` if it has not.
    pub(crate) tenure: Instant,
    /// The votes of the current attempt, or of the adoption.
    pub(crate) votes: Votes,
    /// Where the token may be.
    pub(crate) presence: Presence,
    /// The extension or release under way.
    pub(crate) round: Round,
    pub(crate) renewal: Renewal,

    pub(crate) links: Links,
    /// In the queue of those that are ready.
    pub(crate) place: Place,
}

/// What is done for a lock by itself as long as it is held.
#[derive(Clone, Copy)]
pub(crate) struct Renewal {
    /// The ttl of the renewals; zero if the lock is not kept alive.
    pub(crate) ttl: Millis,
    /// How long before the end of the validity the owner wants to be warned; zero for never.
    pub(crate) warn_ahead: Millis,
    /// The renewals end here (S12).
    pub(crate) until: Instant,
    /// When the lock is renewed next, or nodes that miss the key are given it.
    pub(crate) renew_at: Instant,
}

impl Renewal {
    pub(crate) const NONE: Self = Self {
        ttl: Millis::ZERO,
        warn_ahead: Millis::ZERO,
        until: Instant::ZERO,
        renew_at: Instant::FAR_FUTURE,
    };
}

impl Lock {
    /// A slot that nobody has used yet.
    fn free() -> Self {
        Self {
            phase: Phase::Free,
            generation: 0,
            last_try: false,
            follows: false,
            keys: 1,
            is_adopted: false,
            is_warned: false,
            owed: 0,
            retries: 0,
            resource: Resource::new(),
            ttl: Millis::ZERO,
            wait_until: Instant::ZERO,
            deadline: Instant::ZERO,
            due: Instant::FAR_FUTURE,
            serial: 0,
            started: Instant::ZERO,
            valid_until: Instant::ZERO,
            tenure: Instant::ZERO,
            votes: Votes::default(),
            presence: Presence::default(),
            round: Round::default(),
            renewal: Renewal::NONE,
            links: Links::UNLINKED,
            place: Place::NONE,
        }
    }

    /// A new request gets this slot. What the table knows of the slot stays: its generation, its
    /// links, and the buffer of its resource.
    pub(crate) fn request(&mut self, ttl: Millis, wait_until: Instant, deadline: Instant) {
        self.keys = 1;
        self.is_adopted = false;
        self.ttl = ttl;
        self.wait_until = wait_until;
        self.deadline = deadline;
        self.retries = 0;
        self.last_try = false;
        self.votes = Votes::default();
        self.presence = Presence::default();
        self.round = Round::default();
        self.renewal = Renewal::NONE;
        self.tenure = Instant::ZERO;
    }

    /// Whether the lock is on several resources.
    #[inline]
    pub(crate) const fn is_set(&self) -> bool {
        self.keys > 1
    }

    /// Whether the owner waits to hear of an extension.
    pub(crate) fn is_asked_to_extend(&self) -> bool {
        self.round.pending && !self.round.is_renewal()
    }

    pub(crate) fn names(&self) -> Names<'_> {
        Names { count: self.keys, bytes: &self.resource }
    }
}

/// Where the slot stands among the others.
#[derive(Clone, Copy)]
pub(crate) struct Links {
    pub(crate) hash: u32,
    pub(crate) is_indexed: bool,
    /// The next slot in the same bucket of the resource index.
    pub(crate) bucket: u32,
    /// The line of those that want the same resource.
    pub(crate) before: u32,
    pub(crate) behind: u32,
    /// For the first of a line: its last.
    pub(crate) last: u32,
}

impl Links {
    pub(crate) const UNLINKED: Self =
        Self { hash: 0, is_indexed: false, bucket: NONE, before: NONE, behind: NONE, last: NONE };
}

/// The neighbours of a slot in the queue.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// [`OUTSIDE`] for a slot that is not in the queue.
    ahead: u32,
    behind: u32,
}

/// Stands for "not in the queue" in a [`Place`]. A flag of its own would cost four bytes a lock.
const OUTSIDE: u32 = NONE - 1;

impl Place {
    pub(crate) const NONE: Self = Self { ahead: OUTSIDE, behind: NONE };

    pub(crate) const fn is_taken(self) -> bool {
        self.ahead != OUTSIDE
    }
}

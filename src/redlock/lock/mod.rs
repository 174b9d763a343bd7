//! One lock: what was asked for, how far the request has come, and where its token may be.
//!
//! This room knows the phases of a lock, the votes, the nodes that may have the token, and the
//! tables and queues in which locks stand. The room must never know a connection, a clock or a
//! configuration: `machine` decides, and tells the lock what has happened.
//!
//! ```text
//!            ┌────────► InLine ───┐  another lock of this engine has the resource
//! acquire ───┤                    ▼
//!            └──────────────────► Ready ◄──────── Backoff ◄──► AtDoor, or Stepping of a set
//!                                 │  a quorum of     ▲
//!                                 ▼  nodes has room  │ refused, or no quorum
//!                                 Attempt ───────────┘  or Adoption, of a token handed over
//!                                 │ quorum of +OK within the validity
//!                                 ▼
//!              lost ◄──────────── Held ────► Releasing ────► released
//! ```
//!
//! Every way out ends in `Draining`: the last event of the lock has been reported, and the slot
//! only waits for the replies that are still owed to it.

pub(super) mod claims;
pub(super) mod crowds;
pub(super) mod door;
pub(super) mod draws;
pub(super) mod engines;
pub(super) mod listeners;
pub(super) mod presence;
pub(super) mod queue;
pub(super) mod round;
pub(super) mod runs;
pub(super) mod steps;
pub(super) mod table;
#[cfg(test)]
mod tests;
mod transitions;
pub(super) mod votes;

use self::presence::Presence;
use self::round::{Origin, Round};
use self::votes::Votes;
use crate::redlock::bounds::MAX_RESOURCE;
use crate::redlock::millis::Millis;
use crate::redlock::wire::command::{Call, SetForm};
use crate::redlock::wire::keys::{Names, Resource};
use crate::time::Instant;

/// The value for "no slot" in links between slots.
pub(crate) const NONE: u32 = u32::MAX;

/// The phase of a lock, from the request to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// The slot has no lock.
    Free,
    /// The lock stands in line behind another lock of this engine with the same resource.
    InLine,
    /// The lock waits until a quorum of nodes has room for its attempt.
    Ready,
    /// The nodes were asked, and the votes are coming in.
    Attempt,
    /// The lock waits for the time of its next attempt, or of its next look at the door.
    Backoff,
    /// One node was asked who has the lock, and the answer is coming in.
    AtDoor,
    /// The resources of the set are taken one by one, each by a lock of its own.
    Stepping,
    /// The nodes were asked for a token that was handed over, and the answers are coming in.
    Adoption,
    /// The owner has the lock.
    Held,
    /// The owner has been told a little early that the lock is lost. The release follows at the end
    /// of the validity.
    Lapsing,
    /// The owner asked for the release, and waits for its outcome.
    Releasing,
    /// The last event has been reported, but replies are still owed.
    Draining,
}

impl Phase {
    /// Returns `true` if nobody wants the lock any more, but its keys may still be on the nodes.
    pub(crate) const fn is_on_its_way_out(self) -> bool {
        matches!(self, Self::Releasing | Self::Draining)
    }
}

/// How a lock is asked for.
// One byte for all, because every attempt asks whether the way is the plain one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    /// By `SET`, or by the script for several resources.
    Plain,
    /// By the script that also draws a fencing number (S13).
    Fenced,
    /// The token was handed over by another process. An adoption looks for such a token on the
    /// nodes.
    Adopted,
}

/// One lock: the request, the current attempt, and what is under way for a held lock.
pub(crate) struct Lock {
    pub(crate) phase: Phase,
    /// The index and the generation of the id by which the owner knows the lock.
    pub(crate) index: u32,
    pub(crate) generation: u32,
    /// Whether the next attempt is the last: the wait ends after it.
    pub(crate) last_try: bool,
    /// Whether a release of the same resource may still wait to be sent: that of this lock's last
    /// attempt, or that of the lock before. The next `SET` must run behind it.
    pub(crate) follows: bool,
    /// The number of keys in `resource`.
    pub(crate) keys: u8,
    /// How the lock is asked for.
    pub(crate) way: Way,
    /// Whether the table keeps options for the lock, or a token that this engine did not draw.
    pub(crate) has_options: bool,
    /// Whether the owner was warned that this validity ends soon.
    pub(crate) is_warned: bool,
    /// Whether the last event of this lock waits for the owner.
    pub(crate) is_untold: bool,
    /// The number of owed replies that name this slot.
    pub(crate) owed: u32,
    pub(crate) retries: u32,

    pub(crate) resource: Resource,
    pub(crate) ttl: Millis,
    /// The time after which no attempt starts, except the first.
    pub(crate) wait_until: Instant,
    /// The time at which the request leaves the queues, or the extension ends, whatever happens.
    pub(crate) deadline: Instant,
    /// The time at which something is due for this slot.
    pub(crate) due: Instant,

    /// The number of the current attempt.
    pub(crate) serial: u64,
    /// The start of the current attempt: before its first byte could leave (S2).
    pub(crate) started: Instant,
    pub(crate) valid_until: Instant,
    /// The time since when locks of this engine have had the resource without a break; `ZERO` if
    /// none had.
    pub(crate) tenure: Instant,
    /// The votes of the current attempt or adoption.
    pub(crate) votes: Votes,
    /// The nodes on which the token may be.
    pub(crate) presence: Presence,
    /// The extension or release under way.
    pub(crate) round: Round,
    pub(crate) renewal: Renewal,

    pub(crate) links: Links,
    /// The place in the queue of ready locks.
    pub(crate) place: Place,
}

/// The care for a held lock that needs no request: renewals, the warning, and repair.
#[derive(Clone, Copy)]
pub(crate) struct Renewal {
    /// The ttl of the renewals; zero if the lock is not kept alive.
    pub(crate) ttl: Millis,
    /// The time left at which the owner is warned; zero for no warning.
    pub(crate) warn_ahead: Millis,
    /// The end of all renewals (S12).
    pub(crate) until: Instant,
    /// The time of the next renewal, or of the next repair.
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
    /// Creates a slot that was never used.
    fn free(index: u32) -> Self {
        Self {
            phase: Phase::Free,
            index,
            generation: 0,
            last_try: false,
            follows: false,
            keys: 1,
            way: Way::Plain,
            has_options: false,
            is_warned: false,
            is_untold: false,
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

    /// Starts a new request in this slot. The id, the links and the buffer of the resource stay.
    pub(crate) fn request(&mut self, ttl: Millis, wait_until: Instant, deadline: Instant) {
        // Every field is named, so that a new one cannot be forgotten: it would leak from the
        // lock that had the slot before.
        let Self {
            keys,
            way,
            has_options,
            is_warned,
            last_try,
            follows,
            retries,
            votes,
            presence,
            round,
            renewal,
            tenure,
            // Of the slot.
            phase: _,
            index: _,
            generation: _,
            is_untold: _,
            owed: _,
            resource: _,
            due: _,
            links: _,
            place: _,
            // Set by each attempt.
            serial: _,
            started: _,
            valid_until: _,
            // Given.
            ttl: own_ttl,
            wait_until: own_wait_until,
            deadline: own_deadline,
        } = self;
        (*own_ttl, *own_wait_until, *own_deadline) = (ttl, wait_until, deadline);
        (*keys, *retries, *tenure) = (1, 0, Instant::ZERO);
        (*way, *has_options, *is_warned) = (Way::Plain, false, false);
        (*last_try, *follows) = (false, false);
        *votes = Votes::default();
        *presence = Presence::default();
        *round = Round::default();
        *renewal = Renewal::NONE;
    }

    /// Returns `true` if the lock has several resources.
    pub(crate) const fn is_set(&self) -> bool {
        self.keys > 1
    }

    /// Returns the form of the request that takes the keys without drawing a number.
    pub(crate) const fn set_form(&self) -> SetForm {
        if self.is_set() { SetForm::Script(Call::Sha) } else { SetForm::Command }
    }

    /// Returns `true` if the token was handed over by another process.
    pub(crate) fn is_adopted(&self) -> bool {
        self.way == Way::Adopted
    }

    /// Returns `true` if what is due next is the end of a wait for replies: a reply can come
    /// before, and whatever follows without one can be somewhat later.
    #[cfg(any(feature = "net", test))]
    pub(crate) fn awaits_reply(&self) -> bool {
        match self.phase {
            // An attempt that has asked nobody fails at once.
            Phase::Attempt | Phase::Adoption => !self.votes.open().is_empty(),
            Phase::AtDoor | Phase::Releasing | Phase::Draining => true,
            // A timer that an earlier lock has left behind.
            Phase::Free => true,
            Phase::InLine
            | Phase::Ready
            | Phase::Backoff
            | Phase::Stepping
            | Phase::Held
            | Phase::Lapsing => false,
        }
    }

    /// Returns `true` if the owner waits for the result of an extension.
    pub(crate) fn is_asked_to_extend(&self) -> bool {
        self.round.pending && self.round.origin == Origin::Owner
    }

    /// Returns `true` if the names take more memory than one resource can. They are those of a set.
    /// Few slots ever have a set, and none should keep so much memory for ever.
    fn has_large_names(&self) -> bool {
        self.resource.capacity() > MAX_RESOURCE
    }

    /// Drops the names, and their memory.
    fn forget_names(&mut self) {
        self.resource.clear();
        self.resource.shrink_to_fit();
    }

    /// Returns the keys of the lock.
    pub(crate) fn names(&self) -> Names<'_> {
        Names { count: self.keys, bytes: &self.resource }
    }
}

/// The links of a slot to other slots: in the index and in the line of its resource.
#[derive(Clone, Copy)]
pub(crate) struct Links {
    pub(crate) hash: u32,
    /// The next slot in the same bucket of the index, or [`OUTSIDE`] for a slot that is not there.
    pub(crate) bucket: u32,
    /// The neighbours in the line of locks that want the same resource.
    pub(crate) before: u32,
    pub(crate) behind: u32,
    /// For the first lock of a line, the last one.
    pub(crate) last: u32,
}

impl Links {
    pub(crate) const UNLINKED: Self =
        Self { hash: 0, bucket: OUTSIDE, before: NONE, behind: NONE, last: NONE };

    pub(crate) const fn is_indexed(&self) -> bool {
        self.bucket != OUTSIDE
    }
}

/// The place of a slot in the queue of ready locks.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// The next slot towards the front, or [`OUTSIDE`] for a slot that is not in the queue.
    ahead: u32,
    behind: u32,
}

/// The value for "not in the queue" in a [`Place`], and for "not in the index" in [`Links`]. A flag
/// of its own would cost four bytes a lock.
const OUTSIDE: u32 = NONE - 1;

impl Place {
    pub(crate) const NONE: Self = Self { ahead: OUTSIDE, behind: NONE };

    pub(crate) const fn is_taken(self) -> bool {
        self.ahead != OUTSIDE
    }
}

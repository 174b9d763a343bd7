//! What a session knows of the pushes of its node (S11): whether they may come, whether one has
//! raised a doubt that no look has answered, and how many there are.

use core::time::Duration;

use super::inquiry::Findings;
use crate::time::Instant;

/// The least time between two looks that pushes have caused: a node that pushes without end is not
/// looked at without end.
const PAUSE: Duration = Duration::from_millis(100);

/// The largest number of pushes within a second for which nobody has opted in. More of them are a
/// flood, and end the session. Each client that writes the witness causes one push.
const FLOOD: u32 = 1_000;

/// Whether the keys of a node may be gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Doubt {
    /// Nobody says so.
    None,
    /// The node said so, and no look has left since then.
    Raised,
    /// The node said so, and a look has left since then.
    Asked,
}

/// What a session hears unasked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tracking {
    /// The session speaks RESP3, so pushes may come.
    pub(super) speaks_resp3: bool,
    /// The node has agreed to tell what happens to the keys for which the session opts in.
    is_on: bool,
    /// The node has not told what has happened to the key of a lock.
    is_silent: bool,
    /// The node has told what has happened to the witness, or has forgotten that we want to know.
    is_used_up: bool,
    /// How often the session has opted in for the key of a lock and has heard nothing since then.
    opted_in: u32,
    pub(super) doubt: Doubt,
    /// A push causes no look before this time.
    free_at: Instant,
    /// The number of pushes in the second that ends at `counts_until`.
    count: u32,
    counts_until: Instant,
}

impl Tracking {
    pub(crate) const fn new() -> Self {
        Self {
            speaks_resp3: false,
            is_on: false,
            is_silent: false,
            is_used_up: false,
            opted_in: 0,
            doubt: Doubt::None,
            free_at: Instant::ZERO,
            count: 0,
            counts_until: Instant::ZERO,
        }
    }

    /// Forgets the last session, but not its doubt: the handshake that leaves now has a look of its
    /// own.
    pub(crate) fn reset(&mut self) {
        let doubt = if self.doubt == Doubt::None { Doubt::None } else { Doubt::Asked };
        *self = Self { doubt, free_at: self.free_at, ..Self::new() };
    }

    /// Takes over what the handshake has found.
    pub(crate) fn begin(&mut self, found: &Findings) {
        (self.speaks_resp3, self.is_on) = (found.speaks_resp3, found.tracks);
    }

    /// Counts a push. Returns `false` if there are too many.
    pub(super) fn count_push(&mut self, now: Instant) -> bool {
        if let Some(left) = self.opted_in.checked_sub(1) {
            self.opted_in = left;
            return true;
        }
        if self.counts_until <= now {
            (self.count, self.counts_until) = (0, now + Duration::from_secs(1));
        }
        self.count += 1;
        self.count <= FLOOD
    }

    /// Records that the session opts in for a key, of a lock or of a ticket, which makes at most
    /// one push. At most so many locks wait, for one key each; a key can count twice.
    pub(super) fn count_opt_in(&mut self, locks: usize) {
        let most = u32::try_from(locks).unwrap_or(u32::MAX);
        self.opted_in = self.opted_in.saturating_add(1).min(most);
    }

    /// Records that the session has to opt in for the witness again.
    pub(super) fn use_up(&mut self) {
        self.is_used_up = true;
    }

    /// Takes the order to opt in for the witness again with the next look, if there is one.
    pub(super) fn take_renewal(&mut self) -> bool {
        core::mem::take(&mut self.is_used_up) && self.is_on
    }

    /// Records that the node has taken its agreement back.
    pub(super) fn end(&mut self) {
        self.is_on = false;
    }

    /// Records that the node does not tell what happens to keys, whatever it has agreed to.
    pub(super) fn be_silent(&mut self) {
        self.is_silent = true;
    }

    /// Returns whether it is worth while to opt in for the key of a lock.
    pub(super) const fn tells(&self) -> bool {
        self.is_on && !self.is_silent
    }

    /// Returns whether the node has agreed to tell at once that its keys are gone.
    pub(crate) const fn is_on(&self) -> bool {
        self.is_on
    }

    /// Returns the time of the next look, which is due at `planned` without a doubt.
    pub(crate) fn look_at(&self, planned: Instant) -> Instant {
        if self.doubt == Doubt::Raised { planned.min(self.free_at) } else { planned }
    }

    /// Records that a look leaves.
    pub(crate) fn asks(&mut self, now: Instant) {
        if self.doubt == Doubt::Raised {
            self.doubt = Doubt::Asked;
            self.free_at = now + PAUSE;
        }
    }
}

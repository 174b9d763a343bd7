//! When the turn of an engine comes, as far as a request of the engine can know.
//!
//! If everybody has the lock for as long as this engine had it, the turn of the engine comes one
//! round of all others after its last one. Among few others that is precise enough to know who is
//! next. Among many, who has waited for longer looks more often.

use core::time::Duration;

use super::Door;
use crate::time::Instant;

/// The most others among whom a request knows when its turn comes. Their number is counted a tenth
/// wrong, and among more others such an error is longer than a turn.
const FEW: u32 = 12;

/// How many turns of others must have come and gone before an engine that had none knows how long
/// turns are.
const ENOUGH_GONE: u32 = 2;

/// How often all others must have had their turns before an engine that had none knows that they
/// are all.
const ROUNDS_GONE: u32 = 2;

/// How far from its turn a request is that is near, as a part of a round: a fifth. So all who wait
/// look some five times while one of them has the lock, or a few times as often.
const NEAR: u32 = 5;

/// How many times shorter and longer than the usual ones pauses can be: longer where many others
/// wait, because one of them looks all the same.
pub(crate) const MOST_SHORT: u32 = 20;
const MOST_LONG: u32 = 6;
const MOST_LONG_OF_MANY: u32 = 16;

/// The shortest time between two calls, as a part of the longest usual pause; after how many calls
/// in vain that time doubles, and how often. Whoever is next loses to another one now and then, and
/// hardly ever so many times.
const CALL_REST: u32 = 100;
const CALLS_IN_VAIN: u32 = 8;
const MOST_DOUBLINGS: u32 = 7;

/// The turn of an engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Turn {
    /// When the turn begins.
    begins: Instant,
    lasts: Duration,
}

impl Turn {
    /// Returns whether nobody else is next, or hardly anybody.
    pub(crate) fn is_next(self, now: Instant) -> bool {
        now + self.lasts / 4 * 3 >= self.begins
    }

    /// Returns whether the turn begins when the resource is free.
    pub(crate) fn has_come(self, now: Instant) -> bool {
        now + self.lasts / 4 >= self.begins
    }

    /// Returns whether the turn could have come and gone.
    pub(crate) fn is_overdue(self, now: Instant) -> bool {
        now >= self.begins + self.lasts
    }

    /// Returns for how long a turn lasts.
    pub(crate) fn lasts(self) -> Duration {
        self.lasts
    }

    /// Returns from when on, and until when, to look at the door so as to be told of the end of an
    /// owner: the one before this turn, or else the next one.
    pub(crate) fn look_between(self, now: Instant) -> (Instant, Instant) {
        let until = self.begins - self.lasts / 2;
        if now < until {
            (until - self.lasts / 8, until)
        } else {
            (now + self.lasts / 4, now + self.lasts / 2)
        }
    }
}

impl Door {
    /// Returns the turn of the engine, if few others contend, and if this engine has had a turn
    /// before or has seen enough of the others.
    pub(crate) fn turn_among_few(&self, now: Instant) -> Option<Turn> {
        let others = self.company();
        if others > FEW || (self.is_new() && self.gone() < ENOUGH_GONE) {
            return None;
        }
        let lasts = self.turn_length(now, now - self.waits_since);
        Some(Turn { begins: self.waits_since + lasts.saturating_mul(others), lasts })
    }

    /// Returns whether this engine has not had the lock lately. What others it has seen can be few
    /// of many.
    pub(crate) fn is_new(&self) -> bool {
        self.known.is_empty()
    }

    /// Returns whether others take turns again and again, and this engine has none.
    pub(crate) fn is_passed_over(&self) -> bool {
        let others = self.company();
        self.is_new() && others > 0 && self.gone() >= ROUNDS_GONE * others
    }

    /// Returns whether the request asks one node before all others when the owner lets go. Others
    /// can be told at the same moment of whom this one knows nothing.
    pub(crate) fn asks_one(&self) -> bool {
        self.is_new() || self.is_long
    }

    /// Returns whether this engine is new, or all others can have had the lock since it had it.
    pub(crate) fn has_waited_for_a_round(&self, now: Instant) -> bool {
        let waited = now - self.waits_since;
        let round = self.turn_length(now, waited).saturating_mul(self.company());
        self.is_new() || waited >= round
    }

    /// Returns when the present owner is expected to let go: after a turn as long as those of
    /// others, or `now` where the owner has had the resource for longer.
    pub(crate) fn expected_end(&self, now: Instant) -> Instant {
        now.max(self.since + self.turn_length(now, now - self.waits_since))
    }

    /// Calls the request to this turn. Returns `false` if it was called less than half a turn ago,
    /// or often in vain and not long ago, or is told again about one token: a node that tells all
    /// the time makes nobody ask all nodes all the time.
    pub(crate) fn call(&mut self, now: Instant, turn: Turn, usual: Duration) -> bool {
        if now < self.call_at || self.woken > 1 {
            return false;
        }
        let doublings = (self.calls / CALLS_IN_VAIN).min(MOST_DOUBLINGS);
        self.call_at = now + (usual / CALL_REST).saturating_mul(1 << doublings).max(turn.lasts / 2);
        self.calls = self.calls.saturating_add(1);
        true
    }

    /// Returns the longest pause before the next look; `usual` for a request whose engine has not
    /// had the lock lately.
    ///
    /// Whoever has waited for less than a round pauses for as long as is left of the round, and
    /// whoever has waited for more pauses for a fifth of a round and less: for half of that after a
    /// wait that is a fifth longer, and for about a hundredth of that after three rounds. So the
    /// engine that has waited for longest is mostly the one that sees the lock free.
    pub(crate) fn longest_pause(&self, now: Instant, usual: Duration) -> Duration {
        if self.is_new() {
            return usual;
        }
        let waited = now - self.waits_since;
        let round = self.turn_length(now, waited).saturating_mul(self.company());
        let near = round / NEAR;
        let pause = if waited < round {
            near.max(round - waited)
        } else {
            // At most one, in parts of 256.
            let late = round.as_nanos() * 256 / waited.as_nanos().max(1);
            let fourth_power = (late * late / 256).pow(2) / 256;
            near.saturating_mul(u32::try_from(fourth_power).unwrap_or(256)) / 256
        };
        let most = self.company().clamp(MOST_LONG, MOST_LONG_OF_MANY);
        pause.clamp(usual / MOST_SHORT, usual.saturating_mul(most))
    }

    /// Returns for how long each engine has the lock at a time: as long as this one had it, or less
    /// if more turns have come and gone in the time `waited`. An owner who was seen for longer
    /// tells that turns are longer.
    fn turn_length(&self, now: Instant, waited: Duration) -> Duration {
        if self.runs == 0 {
            return self.held;
        }
        // Whoever listens would be told of the end of the owner.
        let is_told = self.listening.is_some_and(|listening| listening.is_lock);
        let until = if is_told { now } else { self.until };
        let present = until - self.since;
        let seen = waited.checked_div(self.gone()).unwrap_or(Duration::MAX);
        // An engine that has not had the lock knows what it has seen.
        let own = if self.is_new() { Duration::MAX } else { self.held };
        match own.min(seen) {
            Duration::MAX => present,
            turn => turn.max(present),
        }
    }

    /// Returns how many turns of others have come and gone.
    fn gone(&self) -> u32 {
        self.runs.saturating_sub(1)
    }
}

#[cfg(test)]
mod tests;

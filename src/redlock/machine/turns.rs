//! Whose turn it is, among the engines that want one resource.
//!
//! Locks of one engine can follow one another without a break. That is a *tenure*, and others are
//! refused as long as it lasts. So a tenure ends after a while, and the engine leaves the resource
//! to others for a moment. If the engine has seen others at the [door](super::door), the tenure
//! ends as soon as everybody has had the lock who stood in line when the tenure began.
//!
//! A request whose engine has just had the lock, and has seen others, pauses before it looks. How
//! often it looks then depends on how far away its turn is: one round of all who contend, each of
//! whom has the lock for about as long as this engine had it
//! ([`Door::longest_pause`]).

use core::time::Duration;

use super::{Redlock, backoff};
use crate::redlock::lock::Phase;
use crate::redlock::lock::crowds::Crowd;
use crate::redlock::lock::door::Door;
use crate::redlock::lock::engines::Engines;
use crate::redlock::options::AcquireOptions;
use crate::time::Instant;

/// After so many retries, pauses are as long as they get.
const MANY_RETRIES: u32 = 20;

impl Redlock {
    /// Lets one lock of this engine follow another on the same resource.
    ///
    /// Other engines may want the resource too. Their attempts would be refused as long as locks of
    /// this engine follow one another. So once in a while the next lock pauses, and leaves the
    /// resource to others for a moment.
    pub(super) fn start_next(&mut self, now: Instant, predecessor: u32, next: u32) {
        let gap = backoff::gap(self.config.tenure_gap, self.quorum_round_trip());
        if now - self.table[predecessor].round.started >= gap {
            // The release is so long ago that others have had their moment.
            return self.enqueue(next);
        }
        let least = self.least_gap();
        let most = self.longest_gap(now, next);
        if !self.is_tenure_over(now, predecessor) || most < least {
            self.go_on_with_tenure(predecessor, next);
            return self.enqueue(next);
        }
        let half = gap / 2;
        let spread = self.rng.u64(..=half.as_nanos() as u64);
        let mut due = now + half + Duration::from_nanos(spread);
        if !self.has_had_tenure(now, predecessor) {
            // The turn of a line can be shorter, and so can that of the others.
            due = self.look_before_turn(now, next, due).max(now + least);
        }
        due = due.min(now + most);
        self.hashes(next).into_iter().for_each(|hash| self.runs.pauses(hash, due));
        self.table[next].phase = Phase::Backoff;
        self.schedule(next, due);
    }

    /// Returns the shortest time in which others have their moment.
    fn least_gap(&self) -> Duration {
        backoff::first_range(self.quorum_round_trip()) / 2
    }

    /// Returns for how long a request can leave a resource to others: half of its wait. One that
    /// does not wait is not made to.
    fn longest_gap(&self, now: Instant, slot: u32) -> Duration {
        (self.table[slot].wait_until - now) / 2
    }

    /// Remembers those who wait for a lock that is released on the nodes now.
    #[inline]
    pub(super) fn remember_crowd(&mut self, now: Instant, slot: u32) {
        if self.table.door(slot).is_some() {
            self.remember_others(now, slot);
        }
    }

    #[cold]
    fn remember_others(&mut self, now: Instant, slot: u32) {
        let Some(others) = self.table.door(slot).map(|door| door.crowd(&mut self.rng)) else {
            return;
        };
        if !others.is_empty() {
            // The lock is on its way to the next owner for a round trip, and nobody has it.
            let held = now - self.table[slot].tenure + self.quorum_round_trip();
            // A set has seen its first resource alone, and others may want any of them.
            for hash in self.hashes(slot) {
                self.crowds.remember(Crowd { hash, others, released_at: now, held });
            }
        }
    }

    /// Lets a new request begin with a look, if others wanted the resource when this engine
    /// released it. Soon after the release a pause comes before, for twice the time for which the
    /// engine has had the lock: others look at the door about as often. The pause ends sooner where
    /// the engine is next before. Returns `false` if nobody else is known to wait, or if the wait
    /// of the caller is too short.
    #[inline]
    pub(super) fn leave_to_others(&mut self, now: Instant, slot: u32) -> bool {
        !self.crowds.is_empty() && self.leave_to_crowd(now, slot)
    }

    fn leave_to_crowd(&mut self, now: Instant, slot: u32) -> bool {
        let crowds = self.hashes(slot).into_iter().filter_map(|hash| self.crowds.find(now, hash));
        let last = crowds.max_by_key(|crowd| crowd.released_at);
        last.is_some_and(|crowd| self.leave_to(now, slot, crowd))
    }

    #[cold]
    fn leave_to(&mut self, now: Instant, slot: u32, crowd: Crowd) -> bool {
        if self.table[slot].is_adopted() {
            return false;
        }
        self.await_turn(now, slot, crowd.others, crowd.held);
        let least = self.least_gap();
        let longest = self.longest_pause(now, slot).max(least * 2);
        let pause = crowd.held.saturating_mul(2).clamp(least * 2, longest);
        let half = pause / 2;
        let spread = self.rng.u64(..=half.as_nanos() as u64);
        let due = crowd.released_at + half + Duration::from_nanos(spread);
        let mut due = self.look_before_turn(now, slot, due).max(crowd.released_at + least);
        if self.table[slot].wait_until <= now.max(due) {
            let most = self.longest_gap(now, slot);
            if most < least {
                return false;
            }
            due = now + most;
        }
        if due <= now {
            self.retry(now, slot);
            return true;
        }
        self.table[slot].phase = Phase::Backoff;
        self.schedule(slot, due);
        true
    }

    /// Tells the request in `slot` what the one before it in line has seen of others.
    pub(super) fn expect_crowd(&mut self, now: Instant, before: u32, slot: u32) {
        let Some(door) = self.table.door(before).copied() else { return };
        let tenure = self.table[before].tenure;
        if tenure == Instant::ZERO {
            return self.table.door_mut(slot).go_on_waiting(&door);
        }
        let others = door.crowd(&mut self.rng);
        if !others.is_empty() {
            self.await_turn(now, slot, others, now - tenure);
        }
    }

    /// Lets the request in `slot` wait for the next turn of this engine. Its pauses are long from
    /// the first one on: short ones would put the request ahead of those who have waited for
    /// longer.
    fn await_turn(&mut self, now: Instant, slot: u32, others: Engines, held: Duration) {
        self.table.door_mut(slot).await_turn(now, others, held);
        if !self.table.options(slot).is_some_and(AcquireOptions::has_own_tries) {
            self.table[slot].retries = MANY_RETRIES;
        }
    }

    /// Bounds the tenure of a lock for which others wait: the tenure ends when everybody has had
    /// the lock who stands in line now.
    pub(super) fn begin_tenure(&mut self, slot: u32) {
        if self.table.door(slot).is_some_and(Door::is_wary) {
            let turns = self.table.line_behind(slot);
            self.table.door_mut(slot).begin_tenure(turns);
        }
    }

    /// Lets the lock in `slot` go on with the tenure of the one before.
    fn go_on_with_tenure(&mut self, before: u32, slot: u32) {
        self.table[slot].tenure = self.table[before].tenure;
        if let Some(mut door) = self.table.door(before).copied() {
            door.passed();
            self.table.door_mut(slot).go_on(&door);
        }
    }

    /// Counts one more owner in the tenure of a lock that was passed on.
    pub(super) fn count_turn(&mut self, slot: u32) {
        if self.table.door(slot).is_some() {
            self.table.door_mut(slot).passed();
        }
    }

    /// Returns whether the locks of this engine must leave the resource to others.
    pub(super) fn is_tenure_over(&self, now: Instant, slot: u32) -> bool {
        let is_turn_over = self.table.door(slot).is_some_and(Door::is_tenure_over);
        is_turn_over || self.has_had_tenure(now, slot)
    }

    fn has_had_tenure(&self, now: Instant, slot: u32) -> bool {
        let since = self.table[slot].tenure;
        since > Instant::ZERO && now - since >= self.config.tenure
    }
}

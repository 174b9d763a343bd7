//! The care for a held lock that needs no request: renewals, the warning ahead of the end, and the
//! moments at which nodes that lack the key are given it.

use core::time::Duration;

use super::Redlock;
use crate::redlock::bounds::MIN_TTL;
use crate::redlock::error::LostReason;
use crate::redlock::event::{Event, LockId};
use crate::redlock::lock::round::Origin;
use crate::redlock::lock::{Lock, Phase};
use crate::redlock::millis::Millis;
use crate::redlock::node_set::NodeSet;
use crate::redlock::request_error::RequestError;
use crate::redlock::sabotage::Saboteur;
use crate::time::Instant;

/// The shortest pause between two renewals of one lock.
const LEAST_PAUSE: Duration = Duration::from_millis(5);

/// The longest delay of a renewal, so that renewals of other locks leave with it.
const MOST_GATHERING: Duration = Duration::from_millis(50);

impl Redlock {
    /// Renews a held lock automatically, until `max_hold` after its acquisition: the engine extends
    /// the lock by `ttl` whenever about a third of the validity has passed. A lock of which less
    /// than two thirds are left already, such as one that was
    /// [passed on](crate::redlock::ReleaseOutcome::is_passed_on), is extended at once. A lock that
    /// was granted by [a majority asked first](crate::redlock::Ask::Majority) is given to the other
    /// nodes after a sixth, and extended for the first time when a third of the rest has passed.
    ///
    /// The renewals end with the release of the lock, or with [`Event::Lost`]. No validity is
    /// shortened: a `max_hold` that ends before the present validity renews nothing.
    ///
    /// Every renewal that succeeds makes an [`Event::Extended`]. A renewal that fails makes no
    /// event, and is repeated, ever faster, until the validity ends. The last renewal is shorter,
    /// so that the lock ends with `max_hold`. A second call changes the ttl and the end. An
    /// `extend` of the caller's own is still possible.
    ///
    /// The cost: the same as for [`extend`](Self::extend), for each renewal. Renewals of many locks
    /// gather and leave in groups per node.
    ///
    /// # Errors
    ///
    /// Returns a [`RequestError`] if `ttl` is out of bounds, the lock is not held, or `max_hold` is
    /// over that of the configuration (S12).
    pub fn keep_alive(
        &mut self,
        now: Instant,
        lock: LockId,
        ttl: Duration,
        max_hold: Duration,
    ) -> Result<(), RequestError> {
        let ttl = self.check_ttl(ttl)?;
        let max = self.config.max_hold;
        if max_hold > max {
            return Err(RequestError::HoldTooLong { hold: max_hold, max });
        }
        let slot = self.find_held(now, lock)?;
        let lock = &mut self.table[slot];
        lock.renewal.ttl = ttl;
        lock.renewal.until = lock.started + max_hold;
        self.plan_renewal(now, slot);
        self.renew_early(now, slot);
        self.schedule_held(slot);
        Ok(())
    }

    /// Plans the first renewal of a lock that is not new, such as one that was passed on: for the
    /// moment at which two thirds of a whole validity are left, or at once. A third of the rest
    /// would be so late that the owner is warned before.
    fn renew_early(&mut self, now: Instant, slot: u32) {
        let lock = &self.table[slot];
        let ttl = lock.renewal.ttl.min(lock.ttl).duration();
        let whole = self.config.drift.valid_until(now, ttl) - now;
        if lock.valid_until - now < whole / 10 * 9 {
            let at = (now + LEAST_PAUSE).max(lock.valid_until - whole / 3 * 2);
            let lock = &mut self.table[slot];
            lock.renewal.renew_at = lock.renewal.renew_at.min(at);
        }
    }

    /// Requests an [`Event::Expiring`] for the moment when the remaining validity of a held lock
    /// falls to `ahead`. If no more than `ahead` is left now, the event comes at once. An `ahead`
    /// of zero cancels the warning.
    ///
    /// There is one warning for each validity: an extension that succeeds sets the warning again.
    /// For a lock that is kept alive, an `ahead` of less than two thirds of the ttl is reached only
    /// if renewals fail or `max_hold` comes near.
    ///
    /// The cost: nothing is sent.
    ///
    /// # Errors
    ///
    /// Returns a [`RequestError`] if the lock is not held, or if too many events wait to be taken.
    pub fn warn(
        &mut self,
        now: Instant,
        lock: LockId,
        ahead: Duration,
    ) -> Result<(), RequestError> {
        let slot = self.find_held(now, lock)?;
        if self.has_unread_events() {
            return Err(RequestError::Full { max: self.config.max_locks });
        }
        let lock = &mut self.table[slot];
        lock.renewal.warn_ahead = Millis::of(ahead);
        lock.is_warned = false;
        self.schedule_held(slot);
        Ok(())
    }

    /// Returns the slot of a lock that is held at `now`.
    pub(super) fn find_held(&self, now: Instant, lock: LockId) -> Result<u32, RequestError> {
        let slot = self.table.find(lock).ok_or(RequestError::UnknownLock)?;
        let lock = &self.table[slot];
        if lock.phase != Phase::Held || now >= lock.valid_until {
            return Err(RequestError::NotHeld);
        }
        Ok(slot)
    }

    /// Marks a lock as held, and plans what is due as long as the lock is held.
    pub(super) fn hold(&mut self, now: Instant, slot: u32) {
        let lock = &mut self.table[slot];
        lock.phase = Phase::Held;
        lock.is_warned = false;
        if !self.config.repair {
            // Nobody gives the key to other nodes.
            lock.round.spare = NodeSet::EMPTY;
        }
        if lock.tenure == Instant::ZERO {
            lock.tenure = lock.started;
            if self.table.door(slot).is_some() {
                self.begin_tenure(slot);
                self.leave_mark_behind(now, slot);
                self.end_tickets(now, slot);
            }
        }
        self.plan_repair(now, slot);
        self.schedule_held(slot);
    }

    /// Sets the moment at which a held lock is due next.
    pub(super) fn schedule_held(&mut self, slot: u32) {
        let lock = &self.table[slot];
        let mut due = (lock.valid_until - self.config.lost_lead).min(lock.renewal.renew_at);
        if lock.round.pending {
            due = due.min(lock.deadline);
        }
        if !lock.renewal.warn_ahead.is_zero() && !lock.is_warned {
            due = due.min(lock.valid_until - lock.renewal.warn_ahead.duration());
        }
        self.schedule(slot, due);
    }

    /// Does everything that is due for a held lock.
    pub(super) fn held_due(&mut self, now: Instant, slot: u32) {
        let lock = &self.table[slot];
        if now + self.config.lost_lead >= lock.valid_until {
            return self.lost(now, slot, self.end_reason(slot));
        }
        if lock.round.pending && now >= lock.deadline.min(lock.valid_until) {
            self.extension_failed(now, slot);
        }
        self.give_warning(now, slot);
        if now >= self.table[slot].renewal.renew_at {
            self.renew(now, slot);
        }
        if self.table[slot].phase == Phase::Held {
            self.schedule_held(slot);
        }
    }

    /// Warns the owner if little is left of the validity.
    fn give_warning(&mut self, now: Instant, slot: u32) {
        let id = self.table.id(slot);
        let lock = &mut self.table[slot];
        let ahead = lock.renewal.warn_ahead;
        let valid_until = lock.valid_until;
        if !ahead.is_zero() && !lock.is_warned && valid_until - now <= ahead.duration() {
            lock.is_warned = true;
            let reason = self.end_reason(slot);
            self.emit(Event::Expiring { lock: id, valid_until, reason });
        }
    }

    /// Renews a lock that is kept alive. For any other lock, gives the key to the nodes that lack
    /// it.
    fn renew(&mut self, now: Instant, slot: u32) {
        let is_for_spare = self.pause_of_spare(now, slot).is_some();
        let lock = &mut self.table[slot];
        lock.renewal.renew_at = Instant::FAR_FUTURE;
        if lock.renewal.ttl.is_zero() || is_for_spare {
            self.repair(now, slot);
            return self.plan_renewal(now, slot);
        }
        if lock.round.pending {
            // The end of the round plans the next renewal.
            return;
        }
        let is_endless = self.config.is_sabotaged(Saboteur::HoldWithoutEnd);
        if self.is_renewed_to_the_end(slot) && !is_endless {
            // The last, shortened renewal is done. Each further one would gain next to nothing, and
            // would put off the warning until no time is left for it.
            return self.repair(now, slot);
        }
        let lock = &self.table[slot];
        let ttl = lock.renewal.ttl;
        let left = Millis::of(lock.renewal.until - now);
        let ttl = if is_endless { ttl } else { ttl.min(left) };
        let valid_until = self.config.drift.valid_until(now, ttl.duration());
        if ttl.duration() < MIN_TTL || valid_until <= lock.valid_until {
            // An extension of the caller's own reaches further.
            return self.plan_renewal(now, slot);
        }
        if self.has_unread_events() {
            return self.plan_renewal(now, slot);
        }
        self.begin_extension(now, slot, ttl, Origin::Renewal);
    }

    /// Returns `true` if the lock is kept alive, and its validity reaches as far as renewals can.
    fn is_renewed_to_the_end(&self, slot: u32) -> bool {
        let Lock { renewal, valid_until, .. } = &self.table[slot];
        let drift = self.config.drift.of(renewal.ttl.duration());
        !renewal.ttl.is_zero() && *valid_until + drift >= renewal.until
    }

    /// Returns the reason for which a held lock ends with its present validity.
    #[cfg(feature = "net")]
    pub(crate) fn end_reason_of(&self, lock: LockId) -> LostReason {
        self.table.find(lock).map_or(LostReason::Expired, |slot| self.end_reason(slot))
    }

    /// Returns the reason for which the lock ends with its present validity.
    pub(super) fn end_reason(&self, slot: u32) -> LostReason {
        let is_planned = self.is_renewed_to_the_end(slot);
        if is_planned { LostReason::MaxHold } else { LostReason::Expired }
    }

    /// Chooses the moment of the next renewal: when a third of the remaining validity has passed,
    /// give or take a tenth, so that locks that were taken together do not stay together. The
    /// moment is then rounded up to the next tick of a slow clock, so that renewals close to each
    /// other leave together.
    pub(super) fn plan_renewal(&mut self, now: Instant, slot: u32) {
        let has_all = self.table[slot].presence.anywhere() == self.nodes();
        let pause_of_spare = self.pause_of_spare(now, slot);
        let lock = &mut self.table[slot];
        if lock.renewal.ttl.is_zero() && (has_all || !self.config.repair) {
            lock.renewal.renew_at = Instant::FAR_FUTURE;
            return;
        }
        let left = lock.valid_until - now;
        let third = pause_of_spare.unwrap_or(left / 3).max(LEAST_PAUSE);
        let spread = (third / 5).as_nanos() as u64;
        let pause = third - third / 10 + Duration::from_nanos(self.rng.u64(..=spread));
        let stroke = (left / 256).min(MOST_GATHERING).as_nanos().max(1) as u64;
        let at = (now + pause).as_nanos().next_multiple_of(stroke.next_power_of_two());
        lock.renewal.renew_at = Instant::from_nanos(at);
    }

    /// Plans a repair if the lock is held. A node has turned out to lack the key.
    pub(super) fn repair_soon(&mut self, now: Instant, slot: u32) {
        if self.table[slot].phase == Phase::Held {
            self.plan_repair(now, slot);
            self.schedule_held(slot);
        }
    }

    /// Plans another repair of a held lock. A node could not take the key now.
    pub(super) fn repair_later(&mut self, now: Instant, slot: u32) {
        if self.table[slot].renewal.renew_at == Instant::FAR_FUTURE {
            self.plan_renewal(now, slot);
            self.schedule_held(slot);
        }
    }

    /// Plans a repair for a lock that not all nodes have granted.
    fn plan_repair(&mut self, now: Instant, slot: u32) {
        let has_all = self.table[slot].presence.anywhere() == self.nodes();
        let lock = &self.table[slot];
        if has_all || !self.config.repair || lock.renewal.renew_at < Instant::FAR_FUTURE {
            return;
        }
        let due = match self.pause_of_spare(now, slot) {
            Some(pause) => now + pause,
            None => {
                // A key that stood in the way on another node has been released by then.
                let eighth = now + (lock.valid_until - now) / 8;
                self.patience(now, lock.ttl, self.ready_nodes()).min(eighth)
            }
        };
        self.table[slot].renewal.renew_at = due;
    }
}

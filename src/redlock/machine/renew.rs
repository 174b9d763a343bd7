//! What is done for a lock by itself as long as it is held: renewals, the warning ahead of its end,
//! and the moments at which nodes that miss its key are given it.

use core::time::Duration;

use super::Redlock;
use crate::redlock::bounds::MIN_TTL;
use crate::redlock::error::{LostReason, RequestError};
use crate::redlock::event::{Event, LockId};
use crate::redlock::lock::Phase;
use crate::redlock::lock::round::Origin;
use crate::redlock::millis::Millis;
use crate::redlock::sabotage::Saboteur;
use crate::time::Instant;

/// The least pause between two renewals of one lock.
const LEAST_PAUSE: Duration = Duration::from_millis(5);

/// The most by which a renewal is put off so that others leave with it.
const MOST_GATHERING: Duration = Duration::from_millis(50);

impl Redlock {
    /// Keeps a held lock alive by itself, until `max_hold` after its acquisition: from now on it is
    /// extended by `ttl` whenever about a third of its validity has passed. It ends with its
    /// release, or by [`Event::Lost`]. What it has by then it keeps: a `max_hold` that ends before
    /// its validity renews nothing and shortens nothing.
    ///
    /// Every extension that succeeds makes an [`Event::Extended`]. One that fails makes none, and
    /// is repeated, ever faster, until the validity ends. The last one is shorter, so that the lock
    /// ends with `max_hold`. To call this again changes ttl and end; an `extend` of the caller's
    /// own goes along with it.
    ///
    /// Renewals of many locks gather: they leave in groups per node, as all extensions do.
    ///
    /// # Errors
    ///
    /// A [`RequestError`]: a ttl out of bounds, a lock that is not held, or a `max_hold` over that
    /// of the configuration (S12).
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
        self.schedule_held(slot);
        Ok(())
    }

    /// Asks for an [`Event::Expiring`] when no more than `ahead` is left of the validity of a held
    /// lock, once for each validity: an extension that succeeds arms it anew. At once if no more
    /// than that is left now; zero takes it back.
    ///
    /// With keep-alive, an `ahead` of less than two thirds of the ttl is reached only if renewals
    /// fail or `max_hold` comes near.
    ///
    /// # Errors
    ///
    /// A [`RequestError`] when the lock is not held, or too many events wait to be taken.
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

    pub(super) fn find_held(&self, now: Instant, lock: LockId) -> Result<u32, RequestError> {
        let slot = self.table.find(lock).ok_or(RequestError::UnknownLock)?;
        let lock = &self.table[slot];
        if lock.phase != Phase::Held || now >= lock.valid_until {
            return Err(RequestError::NotHeld);
        }
        Ok(slot)
    }

    /// The lock is held from now on.
    pub(super) fn hold(&mut self, now: Instant, slot: u32) {
        let lock = &mut self.table[slot];
        lock.phase = Phase::Held;
        lock.is_warned = false;
        if lock.tenure == Instant::ZERO {
            lock.tenure = lock.started;
        }
        self.plan_repair(now, slot);
        self.schedule_held(slot);
    }

    /// Makes sure that a held lock is looked at when something is due.
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

    /// A held lock is due, for whatever reason.
    pub(super) fn held_due(&mut self, now: Instant, slot: u32) {
        let lock = &self.table[slot];
        if now + self.config.lost_lead >= lock.valid_until {
            return self.lost(now, slot, LostReason::Expired);
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

    fn give_warning(&mut self, now: Instant, slot: u32) {
        let id = self.table.id(slot);
        let lock = &mut self.table[slot];
        let ahead = lock.renewal.warn_ahead;
        let valid_until = lock.valid_until;
        if !ahead.is_zero() && !lock.is_warned && valid_until - now <= ahead.duration() {
            lock.is_warned = true;
            self.emit(Event::Expiring { lock: id, valid_until });
        }
    }

    /// Renews a lock that is kept alive; for another, gives the nodes its key that miss it.
    fn renew(&mut self, now: Instant, slot: u32) {
        let lock = &mut self.table[slot];
        lock.renewal.renew_at = Instant::FAR_FUTURE;
        if lock.renewal.ttl.is_zero() {
            self.repair(now, slot);
            return self.plan_renewal(now, slot);
        }
        if lock.round.pending {
            // Its end plans the next.
            return;
        }
        let is_endless = self.config.is_sabotaged(Saboteur::HoldWithoutEnd);
        let drift = self.config.drift.of(lock.renewal.ttl.duration());
        if lock.valid_until + drift >= lock.renewal.until && !is_endless {
            // That was the last, shortened one: more of them would each gain next to nothing, and
            // put off the warning until there is no time left for it.
            return self.repair(now, slot);
        }
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

    /// Chooses the moment of the next beat: a third of what is left, more or less, so that locks
    /// that were taken together do not stay together, and then on the next stroke of a slow clock,
    /// so that those which come close to each other leave together.
    pub(super) fn plan_renewal(&mut self, now: Instant, slot: u32) {
        let has_all = self.table[slot].presence.anywhere() == self.nodes();
        let lock = &mut self.table[slot];
        if lock.renewal.ttl.is_zero() && (has_all || !self.config.repair) {
            lock.renewal.renew_at = Instant::FAR_FUTURE;
            return;
        }
        let left = lock.valid_until - now;
        let third = (left / 3).max(LEAST_PAUSE);
        let spread = (third / 5).as_nanos() as u64;
        let pause = third - third / 10 + Duration::from_nanos(self.rng.u64(..=spread));
        let stroke = (left / 256).min(MOST_GATHERING).as_nanos().max(1) as u64;
        let at = (now + pause).as_nanos().next_multiple_of(stroke.next_power_of_two());
        lock.renewal.renew_at = Instant::from_nanos(at);
    }

    /// A node turned out to miss the key of a lock, which may be held already.
    pub(super) fn repair_soon(&mut self, now: Instant, slot: u32) {
        if self.table[slot].phase == Phase::Held {
            self.plan_repair(now, slot);
            self.schedule_held(slot);
        }
    }

    /// A node could not take the key of a held lock now.
    pub(super) fn repair_later(&mut self, now: Instant, slot: u32) {
        if self.table[slot].renewal.renew_at == Instant::FAR_FUTURE {
            self.plan_renewal(now, slot);
            self.schedule_held(slot);
        }
    }

    /// A lock that was granted by fewer nodes than all shows itself to the others soon.
    fn plan_repair(&mut self, now: Instant, slot: u32) {
        let has_all = self.table[slot].presence.anywhere() == self.nodes();
        let lock = &mut self.table[slot];
        if has_all || !self.config.repair || lock.renewal.renew_at < Instant::FAR_FUTURE {
            return;
        }
        // Whoever stood in the way there has been released by then.
        let left = lock.valid_until - now;
        lock.renewal.renew_at = now + self.config.node_timeout(lock.ttl.duration()).min(left / 8);
    }
}

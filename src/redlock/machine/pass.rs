//! A lock that is passed on: its owner releases it, and the next in line of this engine has it at
//! once. The nodes do not hear of it.
//!
//! The lock on the nodes stays as it is, with its token, its votes and its validity. Another caller
//! owns it. What a majority has confirmed for the former owner is as good for the next: no node
//! knows owners, and no moment of the validity belongs to both.
//!
//! A lock is released on the nodes, as ever, if its token has left the engine, if it has a fencing
//! number, if little of it is left, if the next in line has other wishes, or if others must have
//! their turn ([`tenure`](crate::redlock::RedlockConfig::tenure)).

use core::mem;

use super::Redlock;
use crate::redlock::event::{Event, ReleaseOutcome};
use crate::redlock::lock::{Lock, Way};
use crate::redlock::sabotage::Saboteur;
use crate::time::Instant;

impl Redlock {
    /// Passes a lock on that its owner releases. Returns `false` if the lock must be released on
    /// the nodes.
    #[inline]
    pub(super) fn passed_on(&mut self, now: Instant, slot: u32) -> bool {
        match self.table.behind(slot).filter(|next| self.may_pass(now, slot, *next)) {
            Some(next) => {
                self.pass(now, slot, next);
                true
            }
            None => false,
        }
    }

    /// Returns `true` if the request in `next` can have the lock in `slot` as the lock is.
    #[cold]
    fn may_pass(&self, now: Instant, slot: u32, next: u32) -> bool {
        let (lock, wish) = (&self.table[slot], &self.table[next]);
        // A token of its own, or a number of its own, comes from the nodes.
        let is_plain = |lock: &Lock, slot| {
            let own_token = self.table.options(slot).is_some_and(|options| options.token.is_some());
            lock.way == Way::Plain && !own_token
        };
        let has_number = self.table.draws(slot).is_some();
        let is_nobodys = !lock.round.is_token_known && !has_number && is_plain(lock, slot);
        let is_known_passed = self.config.is_sabotaged(Saboteur::KnownTokenPassed);
        // A key that outlives its owner must not do so for longer than the owner has agreed to.
        let is_short = lock.ttl <= wish.ttl;
        let has_tenure =
            !self.is_tenure_over(now, slot) || self.config.is_sabotaged(Saboteur::TenureForgotten);
        (is_nobodys || is_known_passed)
            && is_plain(wish, next)
            && now < wish.wait_until
            && is_short
            && has_tenure
            && self.has_enough_left(now, lock, wish)
    }

    /// Returns `true` if half of the validity that `wish` can expect is left of the lock.
    fn has_enough_left(&self, now: Instant, lock: &Lock, wish: &Lock) -> bool {
        let expected = self.config.drift.valid_until(now, wish.ttl.duration()) - now;
        if now >= lock.valid_until {
            return self.config.is_sabotaged(Saboteur::PassedTooLate);
        }
        let is_any_enough = self.config.is_sabotaged(Saboteur::PassedInFull);
        lock.valid_until - now >= expected / 2 || is_any_enough
    }

    /// Passes the lock in `slot` on to the request in `next`.
    fn pass(&mut self, now: Instant, slot: u32, next: u32) {
        let lock = &mut self.table[slot];
        // What the nodes still answer tells what they have, and extends nothing any more.
        lock.round.end();
        let is_kept_alive = !lock.renewal.ttl.is_zero();
        if is_kept_alive && lock.round.spare.is_empty() {
            lock.renewal.renew_at = Instant::FAR_FUTURE;
        }
        self.table.pass(slot, next);
        self.count_turn(slot);
        // S12: each owner holds the lock from its own grant on.
        let started = mem::replace(&mut self.table[slot].started, now);
        if self.config.is_sabotaged(Saboteur::PassedInFull) {
            let ttl = self.table[slot].ttl.duration();
            self.table[slot].valid_until = self.config.drift.valid_until(now, ttl);
        }
        self.hold(now, slot);
        self.counters.passed_on += 1;
        self.count_pass(now, slot, started);
        let outcome = ReleaseOutcome { is_passed_on: true, ..ReleaseOutcome::default() };
        self.emit(Event::Released { lock: self.table.id(next), outcome });
        let (lock, valid_until) = (self.table.id(slot), self.table[slot].valid_until);
        self.emit(Event::Acquired { lock, valid_until, fence: None });
        self.drain(next);
    }
}

//! What an owner can know of a lock that is held: whether it is, for how long, and by which token.

use core::time::Duration;

use super::Redlock;
use crate::redlock::event::LockId;
use crate::redlock::lock::Phase;
use crate::redlock::sabotage::Saboteur;
use crate::redlock::token::Token;
use crate::time::Instant;

impl Redlock {
    /// Returns for how long after `now` the lock is valid: zero unless the lock is held. The time
    /// is computed from the deadline at every call (S8).
    #[must_use]
    pub fn remaining(&self, now: Instant, lock: LockId) -> Duration {
        match self.table.find(lock).map(|slot| &self.table[slot]) {
            Some(lock) if lock.phase == Phase::Held => {
                if self.config.is_sabotaged(Saboteur::HeldWithoutLooking) {
                    return Duration::MAX;
                }
                lock.valid_until - now
            }
            _ => Duration::ZERO,
        }
    }

    /// Returns `true` if the lock is held at `now`.
    #[must_use]
    pub fn is_held(&self, now: Instant, lock: LockId) -> bool {
        !self.remaining(now, lock).is_zero()
    }

    /// Returns the token of a held lock, which is the value of its keys on the nodes. Returns
    /// `None` once the lock is lost or released.
    ///
    /// From now on the token belongs to this lock alone: the lock will not be
    /// [passed on](crate::redlock::ReleaseOutcome::is_passed_on), but released on the nodes.
    #[must_use]
    pub fn token(&mut self, lock: LockId) -> Option<Token> {
        let token = self.peek_token(lock)?;
        let slot = self.table.slot_of(lock)?;
        self.table[slot].round.is_token_known = true;
        Some(token)
    }

    /// Returns the token of a held lock, for a look alone: locks that are passed on inside the
    /// engine have the same token one after the other. Whoever acts upon the token, or gives it
    /// away, asks for it by [`token`](Self::token).
    #[must_use]
    pub fn peek_token(&self, lock: LockId) -> Option<Token> {
        let slot = self.table.slot_of(lock)?;
        let lock = &self.table[slot];
        // The owner of a lapsing lock may not have taken the event of the loss yet.
        matches!(lock.phase, Phase::Held | Phase::Lapsing)
            .then(|| self.table.token(slot, &self.nonce, lock.serial))
    }
}

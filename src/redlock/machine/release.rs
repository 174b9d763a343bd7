//! Giving a lock back, and what may be left of one that was never held.

use core::time::Duration;

use super::Redlock;
use crate::redlock::error::{ExtendError, RequestError};
use crate::redlock::event::{Event, LockId, ReleaseOutcome};
use crate::redlock::lock::Phase;
use crate::redlock::lock::round::Round;
use crate::redlock::node::batch::{Flush, Member, Purpose};
use crate::redlock::node::cleanup::FIRST_PAUSE;
use crate::redlock::node_set::{NodeId, NodeSet};
use crate::redlock::sabotage::Saboteur;
use crate::redlock::wire::answer::Compared;
use crate::time::Instant;

impl Redlock {
    /// Gives the lock back, on every node on which its token may exist (S5).
    ///
    /// Ends in one [`Event::Released`], at the latest after `release_timeout`. From this call on
    /// the lock is not held, and the next in line of this engine gets its turn in the same write.
    /// Without a next in line the release leaves at once, or, on a node where an earlier group of
    /// releases is still on its way, with all others that gather until its reply.
    ///
    /// # Errors
    ///
    /// [`RequestError::NotHeld`] when the lock is not held: [`cancel`](Self::cancel) it instead;
    /// [`RequestError::UnknownLock`] when it has ended.
    pub fn release(&mut self, now: Instant, lock: LockId) -> Result<(), RequestError> {
        let slot = self.table.find(lock).ok_or(RequestError::UnknownLock)?;
        if self.table[slot].phase != Phase::Held {
            return Err(RequestError::NotHeld);
        }
        if self.table[slot].is_asked_to_extend() {
            self.emit(Event::ExtendFailed { lock, error: ExtendError::Released });
        }
        self.table[slot].phase = Phase::Releasing;
        self.relinquish(now, slot);
        self.hand_over(now, slot);
        self.schedule(slot, now + self.config.release_timeout);
        self.count_release(slot);
        self.admit(now);
        Ok(())
    }

    /// Sends a release to every node on which the token may exist. Where the connection is the one
    /// that carried the `SET`, the release runs after it; where that died, the cleanup list sees to
    /// it (S5, S6).
    pub(super) fn relinquish(&mut self, now: Instant, slot: u32) {
        let lock = &mut self.table[slot];
        let number = lock.serial;
        #[cfg(redbolt_sabotage)]
        if self.config.is_sabotaged(Saboteur::UnknownNotReleased) {
            lock.presence.forget_unknown(lock.votes.agreed());
        }
        let (may_hold, unresolved) = lock.give_up();
        let ready = |id: &NodeId| self.nodes[*id].is_ready();
        let asked: NodeSet = may_hold.into_iter().filter(ready).collect();
        let later = may_hold.without(asked).union(unresolved);
        lock.owed += asked.len() as u32;
        lock.round = Round::release(number, now, asked, later);
        let is_set = lock.is_set();
        let member = Member { purpose: Purpose::Release, slot, serial: number, is_set };
        self.add_to_batches(asked, member);
        if is_set {
            // The line of a set does not know the requests for one of its resources alone: none of
            // those may overtake this release.
            asked.into_iter().for_each(|id| self.flush_batch(now, id, Flush::Now));
        }
        for id in later {
            self.remember(id, slot, number, now);
            // Where the node is back already the look leaves with this write, and is not due in a
            // turn of its own.
            self.clean_up(now, id);
        }
    }

    /// Puts the token with this `serial` on the cleanup list of a node (S6).
    fn remember(&mut self, id: NodeId, slot: u32, serial: u64, first_check: Instant) {
        if self.config.is_sabotaged(Saboteur::CleanupForgotten) {
            return;
        }
        let lock = &self.table[slot];
        // Its former owner may have asked for more than this one.
        let ttl = if lock.is_adopted { self.config.max_ttl } else { lock.ttl.duration() };
        let lifetime = ttl + self.config.drift.of(ttl);
        let token = self.table.token(slot, &self.nonce, serial);
        let node = &mut self.nodes[id];
        if !node.cleanup.add(first_check, lock.names(), token, serial, lifetime) {
            node.counters.cleanup_dropped += 1;
        }
    }

    /// A node answered the release.
    pub(super) fn handle_release(
        &mut self,
        now: Instant,
        id: NodeId,
        member: Member,
        answer: Compared,
    ) {
        let slot = member.slot;
        if answer == Compared::Failed {
            // A node that is there and has just said that it cannot is not asked again at once.
            let is_there = self.nodes[id].is_ready();
            let pause = if is_there { FIRST_PAUSE } else { Duration::ZERO };
            self.remember(id, slot, member.serial, now + pause);
        }
        let lock = &mut self.table[slot];
        lock.owed -= 1;
        // The release of an attempt that was given up is nobody's request.
        if lock.phase == Phase::Releasing && lock.round.number == member.serial {
            lock.round.answered(id, answer);
            self.count_release(slot);
        }
        self.recycle(slot);
    }

    /// Reports a release once a quorum of nodes is known not to have the lock, or nobody is left
    /// who could still say so.
    pub(super) fn count_release(&mut self, slot: u32) {
        let votes = &self.table[slot].round.votes;
        let free = self.nodes().len() - votes.unconfirmed().len();
        if free >= self.quorum.need() || votes.open().is_empty() {
            self.release_due(slot);
        }
    }

    /// Reports what is known of a release.
    pub(super) fn release_due(&mut self, slot: u32) {
        let round = &self.table[slot].round;
        let outcome = ReleaseOutcome {
            released: round.votes.agreed(),
            absent: round.absent(),
            foreign: round.foreign(),
            unconfirmed: round.votes.unconfirmed(),
        };
        self.emit(Event::Released { lock: self.table.id(slot), outcome });
        self.drain(slot);
    }
}

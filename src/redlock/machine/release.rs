//! The end of a lock: its release, and the cleanup of what an attempt may have left.

use core::time::Duration;

use super::Redlock;
use crate::redlock::error::ExtendError;
use crate::redlock::event::{Event, LockId, ReleaseOutcome};
use crate::redlock::lock::Phase;
use crate::redlock::lock::votes::Votes;
use crate::redlock::node::batch::{Flush, Member, Purpose};
use crate::redlock::node::cleanup::FIRST_PAUSE;
use crate::redlock::node_set::NodeId;
use crate::redlock::request_error::RequestError;
use crate::redlock::sabotage::Saboteur;
use crate::redlock::wire::answer::Compared;
use crate::time::Instant;

impl Redlock {
    /// Releases a held lock, on every node on which its token may exist (S5).
    ///
    /// The release ends in one [`Event::Released`], at the latest after `release_timeout`. From
    /// this call on the lock is not held. The next lock in line of this engine gets its turn: the
    /// lock is [passed on](ReleaseOutcome::is_passed_on) without a word to the nodes, or is
    /// released there and requested anew in the same write.
    ///
    /// A lock is passed on if [`token`](Self::token) was not asked for it, nor a fencing number
    /// drawn; if the next in line asks for no token and no number of its own, and for no shorter
    /// ttl; if half of the validity that the next can expect is left; and as long as the
    /// [`tenure`](crate::redlock::RedlockConfig::tenure) lasts.
    ///
    /// The cost: one compare-and-delete on each node, which leaves at once if no earlier group of
    /// releases or extensions is on its way to that node. Otherwise the release waits for the reply
    /// to that group, and then leaves together with all others that wait. When another lock is next
    /// in line, nothing waits.
    ///
    /// # Errors
    ///
    /// Returns [`RequestError::NotHeld`] if the lock is not held yet or is already being released,
    /// and [`RequestError::UnknownLock`] if the lock has ended. [`cancel`](Self::cancel) ends a
    /// request for a lock that is not held yet.
    pub fn release(&mut self, now: Instant, lock: LockId) -> Result<(), RequestError> {
        let slot = self.table.find(lock).ok_or(RequestError::UnknownLock)?;
        if self.table[slot].phase != Phase::Held {
            return Err(RequestError::NotHeld);
        }
        if self.table[slot].is_asked_to_extend() {
            self.emit(Event::ExtendFailed { lock, error: ExtendError::Released });
        }
        if self.passed_on(now, slot) {
            return Ok(());
        }
        self.begin_release(now, slot);
        self.finish_release(now, slot);
        self.admit(now);
        Ok(())
    }

    /// Releases a held lock on the nodes. The next in line has its turn with
    /// [`finish_release`](Self::finish_release).
    #[inline]
    pub(super) fn begin_release(&mut self, now: Instant, slot: u32) {
        self.remember_crowd(now, slot);
        self.count_run(now, slot);
        self.table[slot].phase = Phase::Releasing;
        self.send_releases(now, slot);
    }

    /// Gives the next in line its turn behind a lock whose release was sent, and waits for the
    /// answers.
    #[inline]
    pub(super) fn finish_release(&mut self, now: Instant, slot: u32) {
        self.hand_over(now, slot);
        self.schedule(slot, now + self.config.release_timeout);
        self.count_release(slot);
    }

    /// Sends a release to every node on which the token may exist. On the connection that carried
    /// the `SET`, the release runs behind the `SET`. If that connection died, the cleanup list
    /// deletes the token later (S5, S6).
    pub(super) fn send_releases(&mut self, now: Instant, slot: u32) {
        let lock = &mut self.table[slot];
        let number = lock.serial;
        #[cfg(redbolt_sabotage)]
        if self.config.is_sabotaged(Saboteur::UnknownNotReleased) {
            lock.presence.forget_unknown(lock.votes.agreed());
        }
        let nodes = &self.nodes;
        let (asked, later) = lock.begin_release(now, |id| nodes[id].is_ready());
        let is_set = lock.is_set();
        let member = Member { purpose: Purpose::Release, slot, serial: number, is_set };
        self.add_to_batches(asked, member);
        if is_set {
            // The line of a set does not contain the requests for single resources of the set. None
            // of those requests may overtake this release.
            asked.into_iter().for_each(|id| self.flush_batch(now, id, Flush::Now));
        }
        for id in later {
            self.add_to_cleanup(id, slot, number, now);
            // If the node is connected again already, the first check leaves with this write and
            // not in a later turn.
            self.clean_up(now, id);
        }
    }

    /// Releases what a failed attempt may have taken, except on nodes that are about to refuse.
    ///
    /// Against somebody who holds the lock, all nodes refuse, and the attempt fails before the last
    /// refusals are there. A release behind each `SET` on the way would delete nothing, and cost
    /// such a node more than the `SET`. So the release waits for the vote, and leaves at once if
    /// the vote is a grant after all. The release goes ahead of the next `SET` of this engine for
    /// the resource, and waits for no longer than a node timeout or the pause before a retry. If
    /// the connection dies first, the cleanup list takes the token (S6).
    pub(super) fn release_failed(&mut self, now: Instant, slot: u32) {
        let awaited = self.table[slot].set_aside_refusals();
        self.send_releases(now, slot);
        self.table[slot].await_refusals(awaited);
    }

    /// Sends the releases that wait for a vote.
    #[inline]
    pub(super) fn release_awaited(&mut self, now: Instant, slot: u32) {
        if self.table[slot].presence.is_awaiting() {
            self.send_releases(now, slot);
        }
    }

    /// Releases the token of a failed attempt on a node that was expected to refuse the token and
    /// granted it, or may have.
    pub(super) fn release_late(&mut self, now: Instant, id: NodeId, slot: u32) {
        let lock = &mut self.table[slot];
        let serial = lock.serial;
        if !self.nodes[id].is_ready() {
            return self.add_to_cleanup(id, slot, serial, now);
        }
        lock.owed += 1;
        let is_set = lock.is_set();
        let member = Member { purpose: Purpose::Release, slot, serial, is_set };
        self.nodes[id].batch.add(member);
    }

    /// Puts the token with this `serial` on the cleanup list of a node (S6).
    fn add_to_cleanup(&mut self, id: NodeId, slot: u32, serial: u64, first_check: Instant) {
        if self.config.is_sabotaged(Saboteur::CleanupForgotten) {
            return;
        }
        self.table.spend_token(slot);
        let lock = &self.table[slot];
        // The former owner may have asked for a longer ttl than this engine.
        let ttl = if lock.is_adopted() { self.config.max_ttl } else { lock.ttl.duration() };
        let lifetime = ttl + self.config.drift.of(ttl);
        let token = self.table.token(slot, &self.nonce, serial);
        let node = &mut self.nodes[id];
        if !node.cleanup.add(first_check, lock.names(), token, serial, lifetime) {
            node.counters.cleanup_dropped += 1;
        }
    }

    /// Handles the answer of a node to a release.
    #[inline(always)]
    pub(super) fn handle_release(
        &mut self,
        now: Instant,
        id: NodeId,
        member: Member,
        answer: Compared,
    ) {
        let slot = member.slot;
        if answer == Compared::Failed {
            // A connected node that has just said that it cannot is not asked again at once.
            let is_there = self.nodes[id].is_ready();
            let pause = if is_there { FIRST_PAUSE } else { Duration::ZERO };
            self.add_to_cleanup(id, slot, member.serial, now + pause);
        }
        if self.table[slot].release_answered(id, member.serial, answer) {
            self.count_release(slot);
        }
        self.recycle(slot);
    }

    /// Reports a release once a quorum of nodes is known not to have the lock, or once no more
    /// answers can come.
    #[inline(always)]
    fn count_release(&mut self, slot: u32) {
        let votes = &self.table[slot].round.votes;
        if self.is_quorum_free(votes) || votes.open().is_empty() {
            self.release_due(slot);
        }
    }

    /// Returns whether a quorum of nodes is known not to have a lock, by the votes of its release.
    fn is_quorum_free(&self, votes: &Votes) -> bool {
        self.quorum.nodes() - votes.unconfirmed().len() >= self.quorum.need()
    }

    /// Reports a release with the answers that are known.
    #[inline(never)]
    pub(super) fn release_due(&mut self, slot: u32) {
        let round = &self.table[slot].round;
        let outcome = ReleaseOutcome {
            released: round.votes.agreed(),
            absent: round.absent(),
            foreign: round.foreign(),
            unconfirmed: round.votes.unconfirmed(),
            is_quorum_free: self.is_quorum_free(&round.votes),
            is_passed_on: false,
        };
        self.emit(Event::Released { lock: self.table.id(slot), outcome });
        self.drain(slot);
    }
}

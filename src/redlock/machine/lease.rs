//! A held lock: its extension, and its loss.

use core::time::Duration;

use super::Redlock;
use crate::redlock::error::{ExtendError, LostReason};
use crate::redlock::event::{Event, LockId};
use crate::redlock::lock::Phase;
use crate::redlock::lock::round::Origin;
use crate::redlock::millis::Millis;
use crate::redlock::node::batch::{Member, Purpose};
use crate::redlock::node_set::{NodeId, NodeSet};
use crate::redlock::quorum::Verdict;
use crate::redlock::request_error::RequestError;
use crate::redlock::sabotage::Saboteur;
use crate::redlock::wire::answer::Compared;
use crate::time::Instant;

impl Redlock {
    /// Extends a held lock: asks the nodes to keep the lock for `ttl` from now.
    ///
    /// The request ends in one [`Event::Extended`] or [`Event::ExtendFailed`], at the latest after
    /// one node timeout ([`longest_node_timeout`]), and never after the validity. An extension
    /// never shortens a validity, and never takes a lost lock again. After a failure the old
    /// validity stands (S7).
    ///
    /// The cost: one compare-and-expire on each node that may have the token. Extensions of many
    /// locks share one script call.
    ///
    /// # Errors
    ///
    /// Returns a [`RequestError`] if `ttl` is out of bounds, the lock is not held, another
    /// extension is under way, the lock would be held longer than `max_hold` (S12), or too many
    /// events wait to be taken.
    ///
    /// [`longest_node_timeout`]: crate::redlock::RedlockConfig::longest_node_timeout
    pub fn extend(
        &mut self,
        now: Instant,
        lock: LockId,
        ttl: Duration,
    ) -> Result<(), RequestError> {
        let slot = self.table.find(lock).ok_or(RequestError::UnknownLock)?;
        let ttl = self.check_ttl(ttl)?;
        let max = self.config.max_hold;
        let lock = &mut self.table[slot];
        if lock.phase != Phase::Held || now >= lock.valid_until {
            return Err(RequestError::NotHeld);
        }
        // A renewal under way gives way: this extension asks for the same.
        if lock.is_asked_to_extend() {
            return Err(RequestError::ExtensionPending);
        }
        let is_endless = self.config.is_sabotaged(Saboteur::HoldWithoutEnd);
        if now + ttl.duration() > lock.started + max && !is_endless {
            let hold = now + ttl.duration() - lock.started;
            return Err(RequestError::HoldTooLong { hold, max });
        }
        if self.has_unread_events() {
            return Err(RequestError::Full { max: self.config.max_locks });
        }
        self.begin_extension(now, slot, ttl, Origin::Owner);
        Ok(())
    }

    /// Starts one round of compare-and-expire over all nodes that may have the token.
    pub(super) fn begin_extension(&mut self, now: Instant, slot: u32, ttl: Millis, origin: Origin) {
        self.give_to_spare(now, slot);
        let number = self.next_serial();
        let lock = &self.table[slot];
        let most = self.config.max_pipeline + self.config.max_locks;
        let can_extend = |id: &NodeId| {
            let node = &self.nodes[*id];
            // Nobody waits for a renewal, and a node that has stalled may still answer in time.
            let is_in_time = origin == Origin::Renewal || !node.is_stalled(now);
            node.is_ready() && node.runs_scripts() && is_in_time && node.batch.len() < most
        };
        // A node whose connection died with the `SET` on its way may have the key, and can say so.
        let everywhere = lock.presence.anywhere();
        let asked: NodeSet = everywhere.into_iter().filter(can_extend).collect();
        let due = self.wait_until(now, slot, ttl, asked);
        let lock = &mut self.table[slot];
        lock.begin_extension(number, origin, now, ttl, asked);
        #[cfg(redbolt_sabotage)]
        if self.config.is_sabotaged(Saboteur::ScriptlessAgrees) {
            let lacking = everywhere.into_iter().filter(|id| !self.nodes[*id].runs_scripts());
            lacking.for_each(|id| lock.forge_answer(id));
        }
        lock.deadline = match origin {
            Origin::Owner | Origin::Adoption => due.min(lock.valid_until),
            // The answers come in order, or the connection breaks, which is noticed. To give up
            // earlier would only ask nodes once more that are too busy already.
            Origin::Renewal if asked == everywhere => lock.valid_until,
            // A node that cannot be asked now may be back soon, and may be needed.
            Origin::Renewal => retry_renewal_at(now, lock.valid_until),
        };
        let member =
            Member { purpose: Purpose::Extend, slot, serial: number, is_set: lock.is_set() };
        self.add_to_batches(asked, member);
        self.schedule_held(slot);
        self.count_extension(slot, now);
    }

    /// Handles the answer of a node to an extension.
    pub(super) fn handle_extension(
        &mut self,
        now: Instant,
        id: NodeId,
        member: Member,
        answer: Compared,
    ) {
        let slot = member.slot;
        let is_quarantined = self.nodes[id].is_quarantined(now)
            && !self.config.is_sabotaged(Saboteur::QuarantinedAgrees);
        let lock = &mut self.table[slot];
        if lock.extension_answered(id, member.serial, answer, is_quarantined) {
            let is_current = lock.round.pending && lock.round.number == member.serial;
            if is_current && answer == Compared::Failed && lock.round.is_renewal() {
                // The nodes that have not answered yet may hang.
                lock.deadline = lock.deadline.min(retry_renewal_at(now, lock.valid_until));
                self.schedule_held(slot);
            }
            self.count_extension(slot, now);
            if !self.table[slot].round.pending {
                // The majority had decided before this node said that it lacks the key.
                self.repair_soon(now, slot);
            }
        }
        self.recycle(slot);
    }

    /// Decides an extension as soon as the answers allow a decision, and a loss as soon as it is
    /// certain.
    pub(super) fn count_extension(&mut self, slot: u32, now: Instant) {
        let lock = &self.table[slot];
        if now >= lock.valid_until && !self.config.is_sabotaged(Saboteur::ExtensionTooLate) {
            // The end of the validity is checked before the votes.
            return self.lost(now, slot, self.end_reason(slot));
        }
        if lock.may_be_held_by().len() < self.quorum.need() {
            return self.lost(now, slot, LostReason::Majority);
        }
        if !lock.round.pending {
            return;
        }
        if !lock.round.votes.agreed().is_empty()
            && self.config.is_sabotaged(Saboteur::ExtensionByOne)
        {
            return self.extended(now, slot);
        }
        match lock.round.votes.verdict(self.quorum) {
            Verdict::Granted => self.extended(now, slot),
            Verdict::Impossible => self.extension_failed(now, slot),
            Verdict::Open => {}
        }
    }

    /// Sets the new validity after a granted extension, and reports it.
    fn extended(&mut self, now: Instant, slot: u32) {
        let id = self.table.id(slot);
        let lock = &mut self.table[slot];
        lock.round.end();
        let mut until =
            self.config.drift.valid_until(lock.round.started, lock.round.ttl.duration());
        if lock.round.is_renewal() && !self.config.is_sabotaged(Saboteur::HoldWithoutEnd) {
            // S12: the end of the renewals may have been set to an earlier moment since the round
            // began.
            until = until.min(lock.renewal.until);
        }
        lock.valid_until = lock.valid_until.max(until);
        if self.config.is_sabotaged(Saboteur::ExtensionShortens) {
            lock.valid_until = until;
        }
        lock.is_warned = false;
        let valid_until = lock.valid_until;
        self.emit(Event::Extended { lock: id, valid_until });
        // A majority has just confirmed the lock.
        self.repair(now, slot);
        self.plan_renewal(now, slot);
        self.schedule_held(slot);
    }

    /// Ends an extension that too few nodes confirmed. The old validity stands (S7).
    pub(super) fn extension_failed(&mut self, now: Instant, slot: u32) {
        let id = self.table.id(slot);
        let lock = &mut self.table[slot];
        lock.round.end();
        if lock.round.origin == Origin::Owner {
            let error = self.extend_error(now, slot);
            self.emit(Event::ExtendFailed { lock: id, error });
        }
        // What was planned before stands. An owner who tries again and again must not put off the
        // repair that would let an extension succeed.
        self.repair_later(now, slot);
        self.schedule_held(slot);
    }

    /// Reports a held lock as lost, for ever (S7). The keys are released, because nodes keep them a
    /// little longer than the lock is valid.
    pub(super) fn lost(&mut self, now: Instant, slot: u32, reason: LostReason) {
        let lock = self.table.id(slot);
        if self.table[slot].is_asked_to_extend() {
            self.emit(Event::ExtendFailed { lock, error: ExtendError::Lost(reason) });
        }
        self.emit(Event::Lost { lock, reason });
        if reason != LostReason::Majority && now < self.table[slot].valid_until {
            // The report comes early. An owner that has not read the report yet may believe in the
            // lock until its end, so the keys stay until then.
            self.table[slot].phase = Phase::Lapsing;
            let valid_until = self.table[slot].valid_until;
            return self.schedule(slot, valid_until);
        }
        self.lapsed(now, slot);
    }

    /// Releases the keys of a lost lock, and ends the lock.
    pub(super) fn lapsed(&mut self, now: Instant, slot: u32) {
        self.send_releases(now, slot);
        self.leave(now, slot);
    }
}

/// Returns the moment at which a renewal that lacks an answer is given up, and tried again.
fn retry_renewal_at(now: Instant, valid_until: Instant) -> Instant {
    now + (valid_until - now) / 3
}

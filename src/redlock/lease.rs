//! A lock that is held: its extension, and its loss.

use core::time::Duration;

use super::batch::{Member, Purpose};
use super::error::{ExtendError, LostReason, RequestError};
use super::event::{Event, LockId};
use super::lock::{Phase, Round, Votes};
use super::machine::Redlock;
use super::millis::Millis;
use super::nodes::{NodeId, NodeSet};
use super::quorum::Verdict;
use super::sabotage::Saboteur;
use crate::resp::Value;
use crate::time::Instant;

/// One node's answer to a compare script.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Compared {
    /// 1: the key is ours, and what was asked was done.
    Ours,
    /// 0: there is no such key. A native command says so of another's key as well.
    Absent,
    /// −1: another value stands there.
    Foreign,
    /// An error: the script did not run, or nobody knows.
    Failed,
}

impl Compared {
    /// What the script or the native command answered; `None` for what neither says.
    #[inline]
    pub(super) fn read(value: &Value<'_>) -> Option<Self> {
        match value {
            Value::Integer(1) => Some(Self::Ours),
            Value::Integer(0) => Some(Self::Absent),
            Value::Integer(-1) => Some(Self::Foreign),
            _ => None,
        }
    }
}

impl Redlock {
    /// Asks the nodes to keep the lock for another `ttl` from now.
    ///
    /// Ends in one [`Event::Extended`] or [`Event::ExtendFailed`], at the latest after one node
    /// timeout and never after the validity. An extension never shortens a validity and never
    /// takes a lock again that was lost; when it fails, the old validity stands (S7).
    ///
    /// # Errors
    ///
    /// A [`RequestError`]: the ttl is out of bounds, the lock is not held, an extension is under
    /// way, or `max_hold` would be passed (S12).
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
        // A renewal gives way: what it asked for, this asks for as well.
        if lock.round.pending && !lock.round.is_renewal {
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
        self.begin_extension(now, slot, ttl, false);
        Ok(())
    }

    /// One round of compare-and-expire over all nodes that may have the token.
    pub(super) fn begin_extension(
        &mut self,
        now: Instant,
        slot: u32,
        ttl: Millis,
        is_renewal: bool,
    ) {
        let number = self.next_serial();
        let timeout = self.config.node_timeout(ttl.duration());
        let lock = &mut self.table[slot];
        let most = self.config.max_pipeline + self.config.max_locks;
        let worth = |id: &NodeId| {
            let node = &self.nodes[id.index()];
            let is_in_time = is_renewal || !node.is_stalled(now);
            node.is_ready() && is_in_time && node.batch.len() < most
        };
        // A node whose connection died with the SET on its way may have the key, and can say so.
        let asked: NodeSet = lock.known_to().into_iter().filter(worth).collect();
        lock.round = Round {
            number,
            pending: true,
            is_renewal,
            started: now,
            ttl,
            asked,
            open: asked,
            ..Round::default()
        };
        // Whatever runs on the nodes from now on may keep the key this long.
        lock.ttl = lock.ttl.max(ttl);
        lock.owed += asked.len() as u32;
        lock.deadline = match is_renewal {
            false => (now + timeout).min(lock.valid_until),
            // Nobody waits for it. The answers come in order, or the connection breaks and says so:
            // to give up before would only ask nodes once more that are too busy already.
            true if asked == lock.known_to() => lock.valid_until,
            // Who cannot be asked now may be there soon, and needed.
            true => again_at(now, lock.valid_until),
        };
        let is_set = lock.keys > 1;
        self.add_to_batches(
            asked,
            Member { purpose: Purpose::Extend, slot, serial: number, is_set },
        );
        self.schedule_held(slot);
        self.count_extension(slot, now);
    }

    pub(super) fn add_to_batches(&mut self, nodes: NodeSet, member: Member) {
        for id in nodes {
            self.nodes[id.index()].batch.add(member);
        }
    }

    /// A node answered the extension.
    pub(super) fn handle_extension(
        &mut self,
        now: Instant,
        id: NodeId,
        member: Member,
        answer: Compared,
    ) {
        let slot = member.slot;
        let lock = &mut self.table[slot];
        lock.owed -= 1;
        if lock.phase == Phase::Adoption {
            self.count_adoption(now, id, member, answer);
        } else if lock.phase == Phase::Held {
            // An answer that comes after its round still tells what the node has.
            match answer {
                // It was asked before it was given the key, or before a script that it did not know
                // was put once more.
                Compared::Absent | Compared::Foreign
                    if lock.filling.union(lock.votes.open).contains(id) => {}
                Compared::Absent => lock.exists.remove(id),
                Compared::Foreign => {
                    lock.exists.remove(id);
                    if lock.keys > 1 {
                        // Some of its keys may be left, to be cleaned up.
                        lock.ghosts.insert(id);
                    }
                }
                Compared::Ours => {
                    // The SET was executed: it cannot be once more.
                    lock.ghosts.remove(id);
                    lock.exists.insert(id);
                }
                Compared::Failed => {}
            }
            if lock.round.pending && lock.round.number == member.serial {
                lock.round.open.remove(id);
                match answer {
                    // S11: what it has now it may have forgotten once.
                    Compared::Ours
                        if self.nodes[id.index()].is_quarantined()
                            && !self.config.is_sabotaged(Saboteur::QuarantinedAgrees) => {}
                    Compared::Ours => lock.round.agreed.insert(id),
                    Compared::Absent => lock.round.absent.insert(id),
                    Compared::Foreign => lock.round.foreign.insert(id),
                    Compared::Failed if lock.round.is_renewal => {
                        // As above. Those that are still to answer may hang.
                        lock.deadline = lock.deadline.min(again_at(now, lock.valid_until));
                        self.schedule_held(slot);
                    }
                    Compared::Failed => {}
                }
            }
            self.count_extension(slot, now);
            if !self.table[slot].round.pending {
                // The majority had decided before it was known what this node misses.
                self.show_to_others(now, slot);
            }
        }
        self.recycle(slot);
    }

    /// Decides an extension as soon as it can be decided, and a loss as soon as it is certain.
    pub(super) fn count_extension(&mut self, slot: u32, now: Instant) {
        let lock = &self.table[slot];
        if now >= lock.valid_until && !self.config.is_sabotaged(Saboteur::ExtensionTooLate) {
            // Expiry is looked at before votes are.
            return self.lost(now, slot, LostReason::Expired);
        }
        // Nodes that never got the key, or said that they have it no more, cannot hold it up. One
        // whose SET is unknown can.
        let gone = if lock.keys > 1 {
            lock.round.absent.union(lock.round.foreign)
        } else {
            NodeSet::EMPTY
        };
        if lock.known_to().without(gone).len() < self.quorum.need() {
            return self.lost(now, slot, LostReason::Majority);
        }
        if !lock.round.pending {
            return;
        }
        if !lock.round.agreed.is_empty() && self.config.is_sabotaged(Saboteur::ExtensionByOne) {
            return self.extended(now, slot);
        }
        match self.quorum.verdict(lock.round.agreed, lock.round.open) {
            Verdict::Granted => self.extended(now, slot),
            Verdict::Impossible => self.extension_failed(now, slot),
            Verdict::Open => {}
        }
    }

    fn extended(&mut self, now: Instant, slot: u32) {
        let id = self.table.id(slot);
        let lock = &mut self.table[slot];
        lock.round.pending = false;
        let mut until =
            self.config.drift.valid_until(lock.round.started, lock.round.ttl.duration());
        if lock.round.is_renewal && !self.config.is_sabotaged(Saboteur::HoldWithoutEnd) {
            // S12: the end may have been brought forward meanwhile.
            until = until.min(lock.keep.until);
        }
        lock.valid_until = lock.valid_until.max(until);
        if self.config.is_sabotaged(Saboteur::ExtensionShortens) {
            lock.valid_until = until;
        }
        lock.is_warned = false;
        let valid_until = lock.valid_until;
        self.emit(Event::Extended { lock: id, valid_until });
        // A majority has just confirmed us.
        self.fill_in(now, slot);
        self.plan_beat(now, slot);
        self.schedule_held(slot);
    }

    /// Too few nodes answered. The old validity stands (S7).
    pub(super) fn extension_failed(&mut self, now: Instant, slot: u32) {
        let id = self.table.id(slot);
        let lock = &mut self.table[slot];
        lock.round.pending = false;
        let Round { asked, open, agreed, absent, foreign, is_renewal, .. } = lock.round;
        let refused = absent.union(foreign);
        let failed = asked.without(agreed.union(refused)).without(open);
        let votes = Votes { asked, open, granted: agreed, refused, failed };
        let outcomes = self.outcomes(now, &votes);
        if !is_renewal {
            self.emit(Event::ExtendFailed { lock: id, error: ExtendError::NoQuorum(outcomes) });
        }
        self.plan_beat(now, slot);
        self.schedule_held(slot);
    }

    /// The lock is held no more, for ever (S7). What may be left of it is released, because nodes
    /// keep keys a little longer than we believe in them.
    pub(super) fn lost(&mut self, now: Instant, slot: u32, reason: LostReason) {
        let lock = self.table.id(slot);
        if self.table[slot].is_asked_to_extend() {
            self.emit(Event::ExtendFailed { lock, error: ExtendError::Lost(reason) });
        }
        self.emit(Event::Lost { lock, reason });
        if reason == LostReason::Expired && now < self.table[slot].valid_until {
            // Whoever does not hear it in time may still believe in it.
            self.table[slot].phase = Phase::Lapsing;
            let valid_until = self.table[slot].valid_until;
            return self.schedule(slot, valid_until);
        }
        self.lapsed(now, slot);
    }

    /// A lock that was lost is given back.
    pub(super) fn lapsed(&mut self, now: Instant, slot: u32) {
        self.relinquish(now, slot);
        self.leave(now, slot);
    }
}

/// When a renewal that lacks an answer is given up, to be tried again.
fn again_at(now: Instant, valid_until: Instant) -> Instant {
    now + (valid_until - now) / 3
}

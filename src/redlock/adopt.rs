//! Adoption: a lock that another process took is held on here, by its token.
//!
//! It is an attempt that brings no key and looks for one: compare-and-expire instead of `SET … NX`.
//! A majority of nodes that had the token, and keep it for the ttl from now, is as good as a
//! majority that granted it just now.

use core::time::Duration;

use super::batch::{Member, Purpose};
use super::error::{AcquireError, RequestError};
use super::event::{Event, LockId};
use super::lease::Compared;
use super::lock::{Phase, Round, Votes};
use super::machine::Redlock;
use super::nodes::{NodeId, NodeSet};
use super::quorum::Verdict;
use super::sabotage::Saboteur;
use super::token::Token;
use crate::time::Instant;

impl Redlock {
    /// Takes over a lock on `resources` that is held elsewhere under `token`, for `ttl` from now;
    /// tries up to `wait`, with a `wait` of zero once.
    ///
    /// Ends in one [`Event::Acquired`] or [`Event::AcquireFailed`], by the same deadline as
    /// [`acquire`](Self::acquire). A failure leaves the keys alone, so that another may try:
    /// [`AcquireError::Gone`] says that a majority of the nodes does not have the token.
    ///
    /// A token is a right that is handed on: whoever had it must have let go of it, by
    /// [`disown`](Self::disown), or both believe that they hold the lock. `max_hold` counts from
    /// the adoption.
    ///
    /// # Errors
    ///
    /// As [`acquire_all`](Self::acquire_all).
    pub fn adopt<R: AsRef<[u8]>>(
        &mut self,
        now: Instant,
        resources: &[R],
        token: Token,
        ttl: Duration,
        wait: Duration,
    ) -> Result<LockId, RequestError> {
        let resources = self.check_resources(resources)?;
        let slot = self.claim(now, ttl, wait)?;
        self.name(slot, &resources);
        self.table.adopt(slot, token);
        Ok(self.begin(now, slot, wait))
    }

    /// Lets go of a held lock without releasing it, so that another process can
    /// [`adopt`](Self::adopt) it by the token that this returns. The lock is spent, and no event
    /// follows. Unless somebody adopts it, its keys live until their ttl has passed.
    ///
    /// # Errors
    ///
    /// A [`RequestError`] when the lock is not held.
    pub fn disown(&mut self, now: Instant, lock: LockId) -> Result<Token, RequestError> {
        let slot = self.find_held(now, lock)?;
        let found = &self.table[slot];
        let token = self.table.token(slot, &self.nonce, found.serial);
        if found.is_asked_to_extend() {
            let error = super::error::ExtendError::Released;
            self.emit(Event::ExtendFailed { lock, error });
        }
        self.leave(now, slot);
        Ok(token)
    }

    /// Asks all `voters` whether they have the token, and to keep it.
    pub(super) fn begin_adoption(&mut self, now: Instant, slot: u32, voters: NodeSet) {
        let number = self.next_serial();
        let serial = self.next_serial();
        let all = self.nodes();
        let lock = &mut self.table[slot];
        lock.phase = Phase::Adoption;
        // It names what this lock leaves on cleanup lists.
        lock.serial = serial;
        lock.started = now;
        lock.valid_until = self.config.drift.valid_until(now, lock.ttl.duration());
        // Nobody told us where its former owner left it, or what of it is still on its way.
        lock.exists = NodeSet::EMPTY;
        lock.ghosts = all;
        lock.round = Round {
            number,
            pending: true,
            started: now,
            ttl: lock.ttl,
            asked: voters,
            open: voters,
            ..Round::default()
        };
        lock.votes = Votes { asked: voters, open: voters, ..Votes::default() };
        lock.owed += voters.len() as u32;
        let is_set = lock.keys > 1;
        let due = (now + self.config.node_timeout(lock.ttl.duration())).min(lock.valid_until);
        let member = Member { purpose: Purpose::Extend, slot, serial: number, is_set };
        self.add_to_batches(voters, member);
        self.schedule(slot, due);
    }

    /// A node answered.
    pub(super) fn count_adoption(
        &mut self,
        now: Instant,
        id: NodeId,
        member: Member,
        answer: Compared,
    ) {
        let slot = member.slot;
        let is_doubtful = self.nodes[id.index()].is_quarantined();
        let lock = &mut self.table[slot];
        if lock.round.number != member.serial {
            return;
        }
        lock.votes.open.remove(id);
        if answer == Compared::Ours {
            lock.ghosts.remove(id);
            lock.exists.insert(id);
        }
        match answer {
            // S11: what it has now it may have forgotten once.
            Compared::Ours if is_doubtful => lock.votes.failed.insert(id),
            Compared::Ours => lock.votes.granted.insert(id),
            Compared::Absent | Compared::Foreign => lock.votes.refused.insert(id),
            Compared::Failed => lock.votes.failed.insert(id),
        }
        let granted = lock.votes.granted;
        let is_believed = !granted.is_empty() && self.config.is_sabotaged(Saboteur::AdoptionByOne);
        let valid_until = lock.valid_until;
        match self.quorum.verdict(granted, lock.votes.open) {
            _ if is_believed && now < valid_until => self.adopted(now, slot),
            Verdict::Granted if now < valid_until => self.adopted(now, slot),
            Verdict::Granted | Verdict::Impossible => self.adoption_failed(now, slot),
            Verdict::Open => {}
        }
    }

    fn adopted(&mut self, now: Instant, slot: u32) {
        let lock = self.table.id(slot);
        let found = &mut self.table[slot];
        found.round.pending = false;
        // Those that have not answered hold up nothing, and stay ghosts until they do.
        found.votes.open = NodeSet::EMPTY;
        self.hold(now, slot);
        let valid_until = self.table[slot].valid_until;
        self.emit(Event::Acquired { lock, valid_until });
    }

    /// The answers that are still open come too late.
    pub(super) fn adoption_timed_out(&mut self, now: Instant, slot: u32) {
        self.table[slot].votes.open = NodeSet::EMPTY;
        self.adoption_failed(now, slot);
    }

    /// Too few nodes have it, or said so. Nothing is released: it is somebody's.
    fn adoption_failed(&mut self, now: Instant, slot: u32) {
        let votes = self.table[slot].votes;
        let could = self.nodes.len() - votes.refused.len();
        if could < self.quorum.need() {
            return self.acquire_ended(now, slot, AcquireError::Gone);
        }
        let Some(retry_at) = self.next_retry(now, slot) else {
            let outcomes = self.outcomes(now, &votes);
            return self.acquire_ended(now, slot, AcquireError::NoQuorum(outcomes));
        };
        let lock = &mut self.table[slot];
        lock.retries = lock.retries.saturating_add(1);
        lock.phase = Phase::Backoff;
        self.schedule(slot, retry_at);
    }
}

//! Adoption: this engine goes on holding a lock that another process took, by the token of that
//! lock.
//!
//! An adoption is an attempt that brings no key but looks for one: compare-and-expire instead of
//! `SET … NX`. A majority of nodes that had the token, and keep the key for the ttl from now, is as
//! good as a majority that granted the lock just now.

use core::time::Duration;

use super::Redlock;
use super::backoff::After;
use super::line::Needs;
use crate::redlock::error::{AcquireError, ExtendError};
use crate::redlock::event::{Event, LockId};
use crate::redlock::lock::Phase;
use crate::redlock::node::batch::{Member, Purpose};
use crate::redlock::node_set::{NodeId, NodeSet};
use crate::redlock::options::AcquireOptions;
use crate::redlock::quorum::Verdict;
use crate::redlock::request_error::RequestError;
use crate::redlock::sabotage::Saboteur;
use crate::redlock::token::Token;
use crate::redlock::wire::answer::Compared;
use crate::time::Instant;

impl Redlock {
    /// Requests to take over a lock on `resources`, which exists on the nodes under `token`, for
    /// `ttl` from now. The engine keeps trying for up to `wait`; with a `wait` of zero there is one
    /// attempt.
    ///
    /// The request ends in one [`Event::Acquired`] or [`Event::AcquireFailed`], by the same
    /// deadline as [`acquire`](Self::acquire). A failure leaves the keys alone, so another process
    /// may try. [`AcquireError::Gone`] means that a majority of the nodes does not have the token.
    ///
    /// An adoption goes first: other requests of this engine for the same resources stand in line
    /// behind it, also those that were there before, because nobody else gets the lock while the
    /// token is on the nodes. Only a lock that this engine holds, another adoption, and a request
    /// in its last attempt go before.
    ///
    /// The former owner must have let go of the lock before, by [`disown`](Self::disown). Otherwise
    /// two processes believe that they hold the lock. `max_hold` counts from the adoption.
    ///
    /// The cost: a copy of the resources and the token, and one compare-and-expire on each node.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`acquire_all`](Self::acquire_all).
    pub fn adopt<R: AsRef<[u8]>>(
        &mut self,
        now: Instant,
        resources: &[R],
        token: Token,
        ttl: Duration,
        wait: Duration,
    ) -> Result<LockId, RequestError> {
        self.adopt_with(now, resources, token, ttl, wait, &AcquireOptions::new())
    }

    /// Gives up a held lock without releasing its keys. Returns the token with which another
    /// process can [`adopt`](Self::adopt) the lock.
    ///
    /// The lock ends here. No event follows, except that an extension under way fails with
    /// [`ExtendError::Released`]; a number that is being drawn is not told. The
    /// [number](Self::fence) of the lock is no part of the token: read the number before. The keys
    /// live until their ttl has passed, unless somebody adopts them. Nothing is sent for the lock,
    /// except its key to nodes that were left out
    /// ([`Ask::Majority`](crate::redlock::Ask::Majority)): let these bytes leave before another
    /// process adopts the lock.
    ///
    /// # Errors
    ///
    /// Returns [`RequestError::NotHeld`] if the lock is not held, and [`RequestError::UnknownLock`]
    /// if the lock has ended.
    pub fn disown(&mut self, now: Instant, lock: LockId) -> Result<Token, RequestError> {
        let slot = self.find_held(now, lock)?;
        // An adoption needs a quorum that has the token.
        self.give_to_spare(now, slot);
        let found = &self.table[slot];
        let token = self.table.token(slot, &self.nonce, found.serial);
        if found.is_asked_to_extend() {
            self.emit(Event::ExtendFailed { lock, error: ExtendError::Released });
        }
        if self.events.iter().any(|event| event.lock() == Some(lock)) {
            self.table.park(slot);
        }
        self.table.spend_token(slot);
        self.counters.handed_over += 1;
        self.table[slot].disowned();
        self.leave(now, slot);
        Ok(token)
    }

    /// Starts an adoption: asks all `voters` to keep the key if they have the token.
    pub(super) fn begin_adoption(&mut self, now: Instant, slot: u32, voters: NodeSet) {
        let number = self.next_serial();
        let serial = self.next_serial();
        let all = self.nodes();
        let lock = &mut self.table[slot];
        let ttl = lock.ttl;
        let valid_until = self.config.drift.valid_until(now, ttl.duration());
        // The serial names the token of this lock on cleanup lists.
        lock.begin_adoption(serial, number, now, valid_until, voters, all);
        let is_set = lock.is_set();
        let due = self.wait_until(now, slot, ttl, voters).min(valid_until);
        let member = Member { purpose: Purpose::Adopt, slot, serial: number, is_set };
        self.add_to_batches(voters, member);
        self.schedule(slot, if voters.is_empty() { now } else { due });
    }

    /// Handles the answer of a node to an adoption. After the adoption has succeeded, a late answer
    /// is handled like a late answer to an extension: it still tells what the node has.
    pub(super) fn handle_adoption(
        &mut self,
        now: Instant,
        id: NodeId,
        member: Member,
        answer: Compared,
    ) {
        let slot = member.slot;
        if self.table[slot].phase != Phase::Adoption {
            return self.handle_extension(now, id, member, answer);
        }
        let is_quarantined = self.nodes[id].is_quarantined(now);
        if self.table[slot].adoption_answered(id, member.serial, answer, is_quarantined) {
            self.count_adoption(now, slot);
        }
        self.recycle(slot);
    }

    /// Decides an adoption as soon as the answers allow a decision.
    fn count_adoption(&mut self, now: Instant, slot: u32) {
        let lock = &self.table[slot];
        let is_believed =
            !lock.votes.agreed().is_empty() && self.config.is_sabotaged(Saboteur::AdoptionByOne);
        let valid_until = lock.valid_until;
        match lock.votes.verdict(self.quorum) {
            _ if is_believed && now < valid_until => self.adopted(now, slot),
            Verdict::Granted if now < valid_until => self.adopted(now, slot),
            Verdict::Granted | Verdict::Impossible => self.adoption_failed(now, slot),
            Verdict::Open => {}
        }
    }

    /// Reports the adopted lock as held.
    fn adopted(&mut self, now: Instant, slot: u32) {
        let lock = self.table.id(slot);
        self.table[slot].adopted();
        self.hold(now, slot);
        let valid_until = self.table[slot].valid_until;
        let fence = self.table.draws(slot).and_then(|draws| draws.fence);
        self.emit(Event::Acquired { lock, valid_until, fence });
    }

    /// Ends an adoption at its deadline, unless the adoption is worth more time. Answers that come
    /// later do not count.
    pub(super) fn adoption_timed_out(&mut self, now: Instant, slot: u32) {
        if let Some(due) = self.adoption_prolonged(now, slot) {
            return self.schedule(slot, due);
        }
        self.table[slot].votes.close();
        self.adoption_failed(now, slot);
    }

    /// Ends an adoption for which too few nodes have the token, or have said so. No key is
    /// released, because the keys belong to somebody else.
    fn adoption_failed(&mut self, now: Instant, slot: u32) {
        let votes = self.table[slot].votes;
        let could = self.nodes().len() - votes.refused().len();
        if could < self.quorum.need() {
            return self.acquire_ended(now, slot, AcquireError::Gone);
        }
        let Some(retry_at) = self.pause_after(now, slot, After::Attempt) else {
            let outcomes = self.outcomes(now, &votes, Needs::Scripts);
            return self.acquire_ended(now, slot, self.no_quorum(slot, outcomes));
        };
        self.back_off(now, slot, retry_at);
    }
}

//! From a request to a lock: the queues, the attempts, the votes and the retries.

use core::time::Duration;

use smallvec::SmallVec;

use super::backoff;
use super::command;
use super::config::{MAX_RESOURCE, MIN_TTL};
use super::error::{AcquireError, NodeOutcome, NodeOutcomes, RequestError};
use super::event::{Event, LockId};
use super::lock::{Links, Phase, Round, Votes};
use super::machine::Redlock;
use super::node::Node;
use super::nodes::{MAX_NODES, NodeId, NodeSet};
use super::pipeline::{Expected, What};
use super::quorum::Verdict;
use super::sabotage::Saboteur;
use super::status::Trouble;
use super::token::Token;
use crate::time::Instant;

/// One node's answer to a `SET`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Vote {
    Granted,
    Refused,
    /// An error that rules out that the `SET` was executed.
    Failed,
    /// An error that does not.
    Unclear,
}

impl Redlock {
    /// Asks for a lock on `resource` for `ttl`, and waits for it up to `wait`; with a `wait` of
    /// zero there is one attempt.
    ///
    /// Ends in one [`Event::Acquired`] or [`Event::AcquireFailed`], at the latest one node timeout
    /// after `wait`, or two node timeouts from now if that is later. The ttl counts in whole
    /// milliseconds; a fraction is cut off.
    ///
    /// Costs a copy of the resource, a look-up, and one encoded command copied to each node; no
    /// allocation once warm, unless the resource is longer than any before in its slot.
    ///
    /// # Errors
    ///
    /// A [`RequestError`] names what is out of bounds; nothing was sent then and no event follows.
    pub fn acquire(
        &mut self,
        now: Instant,
        resource: &[u8],
        ttl: Duration,
        wait: Duration,
    ) -> Result<LockId, RequestError> {
        let ttl = self.check_ttl(ttl)?;
        let len = self.config.prefix.len() + resource.len();
        if resource.is_empty() {
            return Err(RequestError::EmptyResource);
        }
        if len > MAX_RESOURCE {
            return Err(RequestError::ResourceTooLong { len });
        }
        if self.table.is_full() && !self.has_unread_events() {
            self.make_room(now);
        }
        if self.table.is_full() || self.has_unread_events() {
            return Err(RequestError::Full { max: self.config.max_locks });
        }
        let slot = self.table.claim();
        let lock = &mut self.table[slot];
        lock.resource.extend_from_slice(&self.config.prefix);
        lock.resource.extend_from_slice(resource);
        lock.ttl = ttl;
        lock.wait_until = now + wait;
        lock.deadline = now + wait.max(self.config.node_timeout(ttl));
        lock.retries = 0;
        lock.last_try = false;
        lock.votes = Votes::default();
        lock.round = Round::default();
        let id = self.table.id(slot);
        self.find_place(now, slot, wait);
        self.admit(now);
        Ok(id)
    }

    /// Takes back the slots of locks that have ended and only wait for replies of a slow node.
    ///
    /// A node that cannot keep up with a quorum of the others is given up then: what is on its way
    /// there goes to the cleanup list (S6), and a minority of slow nodes does not use up the locks
    /// of all.
    fn make_room(&mut self, now: Instant) {
        while self.table.is_full() && self.table.has_ended_locks() {
            let Some(id) = self.slowest_of_few(now) else { return };
            self.drop_session(now, id, Trouble::TooSlow);
        }
    }

    /// The node whose oldest request is the oldest of all, if that is older than a node timeout
    /// while a quorum of nodes owes nothing that old.
    fn slowest_of_few(&self, now: Instant) -> Option<NodeId> {
        let timeout = self.config.stall_timeout();
        let (mut punctual, mut slowest) = (0, None);
        for id in self.nodes().into_iter().filter(|id| self.nodes[id.index()].is_ready()) {
            match self.nodes[id.index()].pipeline.oldest() {
                Some(sent) if sent + timeout <= now => {
                    slowest = slowest.into_iter().chain([(sent, id)]).min();
                }
                _ => punctual += 1,
            }
        }
        slowest.filter(|_| punctual >= self.quorum.need()).map(|(_, id)| id)
    }

    /// Cuts a ttl to whole milliseconds and checks its bounds.
    pub(super) fn check_ttl(&self, ttl: Duration) -> Result<Duration, RequestError> {
        let max = self.config.max_ttl;
        if ttl > max {
            return Err(RequestError::TtlTooLong { ttl, max });
        }
        let whole = ttl - Duration::from_nanos(u64::from(ttl.subsec_nanos() % 1_000_000));
        if whole < MIN_TTL || self.config.drift.of(whole) >= whole {
            return Err(RequestError::TtlTooShort { ttl });
        }
        Ok(whole)
    }

    /// Puts a new lock where it belongs: in the queue for an attempt, or in line behind the lock
    /// of this engine that has the resource. A lock that does not want to wait ends there.
    fn find_place(&mut self, now: Instant, slot: u32, wait: Duration) {
        let hash = self.table.hash(&self.table[slot].resource);
        self.table[slot].links = Links { hash, ..Links::UNLINKED };
        self.table[slot].follows = self.table.has_leaver(&self.table[slot].resource, hash);
        let Some(first) = self.table.first_of(&self.table[slot].resource, hash) else {
            self.table.lead(slot);
            self.enqueue(slot);
            return;
        };
        if wait.is_zero() {
            return self.acquire_ended(now, slot, AcquireError::Held);
        }
        self.table[slot].phase = Phase::InLine;
        self.table.line_up(first, slot);
        self.schedule(slot, self.table[slot].deadline);
    }

    /// Takes back a request for a lock that is not held yet. The caller's
    /// [`Event::AcquireFailed`] says `Cancelled`; what the attempts left on nodes is released.
    ///
    /// # Errors
    ///
    /// [`RequestError::AlreadyHeld`] when the lock is held or being released, and
    /// [`RequestError::UnknownLock`] when it has ended.
    pub fn cancel(&mut self, now: Instant, lock: LockId) -> Result<(), RequestError> {
        let slot = self.table.find(lock).ok_or(RequestError::UnknownLock)?;
        match self.table[slot].phase {
            Phase::Held | Phase::Releasing => return Err(RequestError::AlreadyHeld),
            Phase::Attempt => self.relinquish(now, slot),
            _ => {}
        }
        self.acquire_ended(now, slot, AcquireError::Cancelled);
        self.admit(now);
        Ok(())
    }

    /// Queues a lock for its next attempt.
    fn enqueue(&mut self, slot: u32) {
        let lock = &mut self.table[slot];
        lock.phase = Phase::Ready;
        let deadline = lock.deadline;
        self.ready.push(&mut self.table, slot);
        self.schedule(slot, deadline);
    }

    /// Starts attempts, in the order of the queue, as long as a quorum of nodes has room.
    pub(super) fn admit(&mut self, now: Instant) {
        while let Some(slot) = self.ready.first() {
            let voters = self.voters(now);
            if voters.len() < self.quorum.need() {
                return;
            }
            self.ready.remove(&mut self.table, slot);
            self.begin_attempt(now, slot, voters);
        }
    }

    /// The nodes that are worth asking. Whether one has stalled does not depend on who wants to
    /// ask: the first in the queue must not wait for less than those behind it would be content
    /// with.
    fn voters(&self, now: Instant) -> NodeSet {
        let timeout = self.config.stall_timeout();
        let worth = |id: &NodeId| {
            let node = &self.nodes[id.index()];
            node.is_ready()
                && node.pipeline.len() < self.config.max_pipeline
                && !node.is_unhealthy()
                // S11: its vote would not count, so its SET would be for nothing.
                && !node.is_quarantined()
                && !node.is_stalled(now, timeout)
        };
        self.nodes().into_iter().filter(worth).collect()
    }

    /// One attempt: the same `SET`, with a token of its own, to all `voters` at once.
    fn begin_attempt(&mut self, now: Instant, slot: u32, voters: NodeSet) {
        // S1: a retry has a new token. S2: `now` was read before any of these bytes can leave.
        let mut serial = self.next_serial();
        let lock = &mut self.table[slot];
        if self.config.is_sabotaged(Saboteur::TokenReused) && lock.retries > 0 {
            serial = lock.serial;
        }
        let token = Token::of_attempt(&self.nonce, serial);
        lock.phase = Phase::Attempt;
        lock.serial = serial;
        lock.started = now;
        lock.valid_until = self.config.drift.valid_until(now, lock.ttl);
        if self.config.is_sabotaged(Saboteur::DriftIgnored) {
            lock.valid_until = now + lock.ttl;
        }
        lock.votes = Votes { asked: voters, open: voters, ..Votes::default() };
        lock.exists = voters;
        lock.ghosts = NodeSet::EMPTY;
        lock.owed += voters.len() as u32;
        let follows = core::mem::take(&mut lock.follows);
        self.scratch.clear();
        command::set(&mut self.scratch, &lock.resource, &token, lock.ttl);
        for id in voters {
            if follows {
                self.seal(now, id, true);
            }
            let node = &mut self.nodes[id.index()];
            node.outbox.buffer().extend_from_slice(&self.scratch);
            node.pipeline.push(Expected { what: What::Set, slot, serial, sent: now });
            node.counters.asked += 1;
        }
        let lock = &self.table[slot];
        // Votes after the validity would not count.
        let due = (now + self.config.node_timeout(lock.ttl)).min(lock.valid_until);
        self.schedule(slot, due);
    }

    /// A node answered the `SET` with this `serial`.
    pub(super) fn handle_vote(&mut self, now: Instant, id: NodeId, request: Expected, vote: Vote) {
        let counters = &mut self.nodes[id.index()].counters;
        match vote {
            Vote::Granted => counters.granted += 1,
            Vote::Refused => counters.refused += 1,
            Vote::Failed | Vote::Unclear => {}
        }
        let slot = request.slot;
        let lock = &mut self.table[slot];
        lock.owed -= 1;
        // S4: only a vote to this attempt's own SET counts. For an older attempt, and for a lock
        // that was given up, the release is behind the SET on the same connection already.
        let current =
            lock.serial == request.serial || self.config.is_sabotaged(Saboteur::StaleReply);
        if current && matches!(lock.phase, Phase::Attempt | Phase::Held) {
            lock.votes.open.remove(id);
            match vote {
                Vote::Granted => lock.votes.granted.insert(id),
                Vote::Refused if self.config.is_sabotaged(Saboteur::RefusalCounts) => {
                    lock.votes.granted.insert(id);
                }
                Vote::Refused => {
                    lock.votes.refused.insert(id);
                    lock.exists.remove(id);
                }
                Vote::Failed => {
                    lock.votes.failed.insert(id);
                    lock.exists.remove(id);
                }
                Vote::Unclear => lock.votes.failed.insert(id),
            }
            self.count_votes(now, slot);
        }
        self.recycle(slot);
    }

    /// Decides an attempt as soon as it can be decided.
    pub(super) fn count_votes(&mut self, now: Instant, slot: u32) {
        if self.table[slot].phase != Phase::Attempt {
            return;
        }
        if self.config.is_sabotaged(Saboteur::StartAfterQuorum) {
            let ttl = self.table[slot].ttl;
            self.table[slot].valid_until = self.config.drift.valid_until(now, ttl);
        }
        let lock = &self.table[slot];
        let is_timely =
            now < lock.valid_until || self.config.is_sabotaged(Saboteur::ElapsedIgnored);
        match self.quorum.verdict(lock.votes.granted, lock.votes.open) {
            // S3: enough votes are not enough, they must have come within the validity.
            Verdict::Granted if is_timely => {
                let (lock_id, valid_until) = (self.table.id(slot), lock.valid_until);
                self.table[slot].phase = Phase::Held;
                self.schedule(slot, valid_until);
                self.emit(Event::Acquired { lock: lock_id, valid_until });
            }
            Verdict::Granted | Verdict::Impossible => self.attempt_failed(now, slot),
            Verdict::Open => {}
        }
    }

    /// The votes that are still open come too late.
    pub(super) fn attempt_timed_out(&mut self, now: Instant, slot: u32) {
        self.table[slot].votes.open = NodeSet::EMPTY;
        self.attempt_failed(now, slot);
    }

    /// The attempt came to nothing: releases what it may have taken, and tries again after a
    /// random pause if the caller still waits then.
    pub(super) fn attempt_failed(&mut self, now: Instant, slot: u32) {
        self.relinquish(now, slot);
        let Some(retry_at) = self.next_retry(now, slot) else {
            // Refusals that were not to be overcome, even with the votes still open, mean a holder;
            // everything else means that too few nodes were there.
            let error = self.why_not(now, slot);
            return self.acquire_ended(now, slot, error);
        };
        let lock = &mut self.table[slot];
        lock.retries = lock.retries.saturating_add(1);
        lock.phase = Phase::Backoff;
        self.schedule(slot, retry_at);
    }

    /// When to try again; `None` when the caller will not wait for it. A pause that would outlast
    /// the wait is cut short for one last try.
    fn next_retry(&mut self, now: Instant, slot: u32) -> Option<Instant> {
        let round_trip = self.quorum_round_trip();
        let lock = &mut self.table[slot];
        let left = lock.wait_until - now;
        if lock.last_try || left <= round_trip {
            return None;
        }
        let pause = backoff::pause(lock.retries, round_trip, self.config.retry_max, &mut self.rng);
        lock.last_try = pause >= left;
        Some(now + if lock.last_try { left / 2 } else { pause })
    }

    /// The round trip of the slowest node of the fastest quorum: what an attempt waits for.
    fn quorum_round_trip(&self) -> Duration {
        let mut times: SmallVec<[Duration; MAX_NODES]> =
            self.nodes.iter().filter(|node| node.is_ready()).map(Node::round_trip).collect();
        times.sort_unstable();
        times.get(self.quorum.need() - 1).copied().unwrap_or_default()
    }

    /// The pause is over.
    pub(super) fn retry(&mut self, slot: u32) {
        self.table[slot].follows = true;
        self.enqueue(slot);
    }

    /// The wait ended while the lock stood in a queue.
    pub(super) fn wait_ended(&mut self, now: Instant, slot: u32) {
        let error = match self.table[slot].phase {
            Phase::InLine if self.is_behind_holder(slot) => AcquireError::Held,
            Phase::InLine => AcquireError::TimedOut,
            _ => self.why_not(now, slot),
        };
        self.acquire_ended(now, slot, error);
    }

    fn is_behind_holder(&self, slot: u32) -> bool {
        let lock = &self.table[slot];
        let first = self.table.first_of(&lock.resource, lock.links.hash);
        first.is_some_and(|first| self.table[first].phase == Phase::Held)
    }

    /// Why the lock was not acquired, as far as its last attempt tells.
    fn why_not(&self, now: Instant, slot: u32) -> AcquireError {
        let lock = &self.table[slot];
        let votes = &lock.votes;
        let answered = votes.granted.union(votes.refused).union(votes.open);
        if !votes.refused.is_empty() && answered.len() >= self.quorum.need() {
            return AcquireError::Held;
        }
        let asked_none = votes.asked.is_empty();
        let outcomes = self.outcomes(now, votes);
        let could_vote =
            |outcome: &&NodeOutcome| matches!(outcome, NodeOutcome::NotAsked | NodeOutcome::Full);
        let open = outcomes.as_slice().iter().filter(could_vote).count();
        if asked_none && open >= self.quorum.need() {
            return AcquireError::TimedOut;
        }
        match self.quorum_possible_at(now) {
            Some(at) if at > now => {
                AcquireError::Unavailable { outcomes, at, retry_after: at - now }
            }
            _ => AcquireError::NoQuorum(outcomes),
        }
    }

    /// The earliest moment at which the nodes that are connected now can be a quorum, those in
    /// quarantine once it ends; `None` if there are too few of them.
    fn quorum_possible_at(&self, now: Instant) -> Option<Instant> {
        let ready = self.nodes.iter().filter(|node| node.is_ready());
        let mut times: SmallVec<[Instant; MAX_NODES]> =
            ready.map(|node| node.quarantined_until().unwrap_or(now)).collect();
        times.sort_unstable();
        times.get(self.quorum.need() - 1).copied()
    }

    /// The outcome of a request at every node, for an error message.
    pub(super) fn outcomes(&self, now: Instant, votes: &Votes) -> NodeOutcomes {
        NodeOutcomes::new(self.nodes.len(), |node| {
            if votes.granted.contains(node) {
                NodeOutcome::Granted
            } else if votes.refused.contains(node) {
                NodeOutcome::Refused
            } else if votes.failed.contains(node) && self.nodes[node.index()].is_quarantined() {
                NodeOutcome::Quarantined
            } else if votes.failed.contains(node) {
                NodeOutcome::Failed
            } else if votes.asked.contains(node) {
                NodeOutcome::NoReply
            } else {
                self.unasked(now, node)
            }
        })
    }

    /// The request ends without a lock. What it may have taken has been relinquished.
    fn acquire_ended(&mut self, now: Instant, slot: u32, error: AcquireError) {
        let lock = self.table.id(slot);
        self.emit(Event::AcquireFailed { lock, error });
        self.leave(now, slot);
    }

    /// The lock is out: the next in line gets its turn, and the slot drains.
    pub(super) fn leave(&mut self, now: Instant, slot: u32) {
        self.hand_over(slot);
        self.drain(slot);
        self.admit(now);
    }

    /// The next in line gets its turn. Its `SET` follows the release on every connection.
    pub(super) fn hand_over(&mut self, slot: u32) {
        if let Some(heir) = self.table.leave_line(slot) {
            self.table[heir].follows = true;
            self.enqueue(heir);
        }
    }

    /// The caller has had the last event of this lock.
    pub(super) fn drain(&mut self, slot: u32) {
        let lock = &mut self.table[slot];
        lock.phase = Phase::Draining;
        lock.due = Instant::FAR_FUTURE;
        self.table.count_ended();
        self.ready.remove(&mut self.table, slot);
        self.recycle(slot);
    }
}

//! One attempt to get a lock: the question to the nodes, their votes, the verdict, the retry.

use core::time::Duration;

use smallvec::SmallVec;

use super::backoff;
use super::command::{self, Form};
use super::error::{AcquireError, NodeOutcome, NodeOutcomes};
use super::event::Event;
use super::lock::{Phase, Votes};
use super::machine::Redlock;
use super::millis::Millis;
use super::node::Node;
use super::nodes::{MAX_NODES, NodeId, NodeSet};
use super::pipeline::{Expected, What};
use super::quorum::Verdict;
use super::reply::ServerError;
use super::sabotage::Saboteur;
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

impl Vote {
    /// What an error says of a `SET`.
    pub(super) fn of_error(error: ServerError) -> Self {
        if error.ruled_out_execution() { Self::Failed } else { Self::Unclear }
    }
}

impl Redlock {
    /// One attempt: the same `SET`, with a token of its own, to all `voters` at once.
    pub(super) fn begin_attempt(&mut self, now: Instant, slot: u32, voters: NodeSet) {
        // S1: a retry has a new token. S2: `now` was read before any of these bytes can leave.
        let mut serial = self.next_serial();
        self.counters.attempts += 1;
        let lock = &mut self.table[slot];
        if self.config.is_sabotaged(Saboteur::TokenReused) && lock.retries > 0 {
            serial = lock.serial;
        }
        lock.phase = Phase::Attempt;
        lock.serial = serial;
        lock.started = now;
        lock.valid_until = self.config.drift.valid_until(now, lock.ttl.duration());
        if self.config.is_sabotaged(Saboteur::DriftIgnored) {
            lock.valid_until = now + lock.ttl.duration();
        }
        lock.votes = Votes { asked: voters, open: voters, ..Votes::default() };
        lock.exists = voters;
        lock.ghosts = NodeSet::EMPTY;
        lock.owed += voters.len() as u32;
        let follows = core::mem::take(&mut lock.follows);
        let is_set = lock.keys > 1;
        let ttl = lock.ttl;
        self.encode_set_command(slot, Form::Sha, ttl);
        let what = if is_set { What::SetAll(Form::Sha) } else { What::Set };
        for id in voters {
            // Releases of single resources that a set has may wait anywhere.
            if follows || is_set {
                self.seal(now, id, true);
            }
            let node = &mut self.nodes[id.index()];
            node.outbox.buffer().extend_from_slice(&self.scratch);
            node.pipeline.push(Expected { what, slot, serial, sent: now });
            node.counters.asked += 1;
        }
        let lock = &self.table[slot];
        // Votes after the validity would not count.
        let due = (now + self.config.node_timeout(lock.ttl.duration())).min(lock.valid_until);
        self.schedule(slot, due);
    }

    /// Encodes what takes the resources of a lock, with its current token.
    pub(super) fn encode_set_command(&mut self, slot: u32, form: Form, ttl: Millis) {
        let lock = &self.table[slot];
        let token = self.table.token(slot, &self.nonce, lock.serial);
        self.scratch.clear();
        if lock.keys > 1 {
            let mut keys = lock.names().keys();
            if self.config.is_sabotaged(Saboteur::SetIncomplete) {
                keys.next();
            }
            command::set_all(&mut self.scratch, form, keys, &token, ttl);
        } else {
            command::set(&mut self.scratch, &lock.resource, &token, ttl);
        }
    }

    /// A node did not know the script that takes several resources: sends its text, on the same
    /// connection, as long as nothing that gives the lock up is behind it. False if it is too late.
    pub(super) fn put_set_otherwise(
        &mut self,
        now: Instant,
        id: NodeId,
        request: Expected,
    ) -> bool {
        let lock = &self.table[request.slot];
        let what = match (request.what, lock.phase) {
            (What::SetAll(Form::Sha), Phase::Attempt | Phase::Held) => What::SetAll(Form::Text),
            (What::FillAll(Form::Sha), Phase::Held) => What::FillAll(Form::Text),
            _ => return false,
        };
        // Later than its validity nobody may get a key.
        if lock.serial != request.serial || now >= lock.valid_until {
            return false;
        }
        let ttl = if what.is_fill() { self.rest_of(now, request.slot) } else { lock.ttl };
        self.encode_set_command(request.slot, Form::Text, ttl);
        let node = &mut self.nodes[id.index()];
        node.outbox.buffer().extend_from_slice(&self.scratch);
        node.pipeline.push(Expected { what, sent: now, ..request });
        true
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
            if vote != Vote::Granted {
                self.show_to_others(now, slot);
            }
        }
        self.recycle(slot);
    }

    /// Decides an attempt as soon as it can be decided.
    pub(super) fn count_votes(&mut self, now: Instant, slot: u32) {
        if self.table[slot].phase != Phase::Attempt {
            return;
        }
        if self.config.is_sabotaged(Saboteur::StartAfterQuorum) {
            let ttl = self.table[slot].ttl.duration();
            self.table[slot].valid_until = self.config.drift.valid_until(now, ttl);
        }
        let lock = &self.table[slot];
        let is_timely =
            now < lock.valid_until || self.config.is_sabotaged(Saboteur::ElapsedIgnored);
        match self.quorum.verdict(lock.votes.granted, lock.votes.open) {
            // S3: enough votes are not enough, they must have come within the validity.
            Verdict::Granted if is_timely => {
                let (lock_id, valid_until) = (self.table.id(slot), lock.valid_until);
                self.hold(now, slot);
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
        lock.tenure = Instant::ZERO;
        lock.retries = lock.retries.saturating_add(1);
        lock.phase = Phase::Backoff;
        self.schedule(slot, retry_at);
    }

    /// When to try again; `None` when the caller will not wait for it. A pause that would outlast
    /// the wait is cut short for one last try.
    pub(super) fn next_retry(&mut self, now: Instant, slot: u32) -> Option<Instant> {
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

    /// Why the lock was not acquired, as far as its last attempt tells.
    pub(super) fn why_not(&self, now: Instant, slot: u32) -> AcquireError {
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
}

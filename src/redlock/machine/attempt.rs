//! One attempt to get a lock: one request to each node, their votes, the verdict, the next try.

use super::Redlock;
use super::backoff::{self, After};
use super::last_ttl::LastTtl;
use crate::redlock::event::Event;
use crate::redlock::lock::{Lock, Phase, Way};
use crate::redlock::millis::Millis;
use crate::redlock::node::batch::Flush;
use crate::redlock::node::request::{Expected, Intent, Request, SetRequest};
use crate::redlock::node_set::{NodeId, NodeSet};
use crate::redlock::quorum::Verdict;
use crate::redlock::sabotage::Saboteur;
use crate::redlock::validity;
use crate::redlock::wire::answer::Vote;
use crate::redlock::wire::command::{self, Call, SetForm};
use crate::time::Instant;

impl Redlock {
    /// Starts an attempt: sends the same `SET`, with a new token, to all `voters` at once, or to
    /// those that a majority takes.
    pub(super) fn begin_attempt(&mut self, now: Instant, slot: u32, voters: NodeSet) {
        let asked = self.first_asked(now, slot, voters);
        self.ask_voters(now, slot, asked, Intent::Attempt);
    }

    /// Starts an attempt, plain or fenced.
    // The plain attempt pays nothing for the other kind.
    #[inline(always)]
    pub(super) fn ask_voters(&mut self, now: Instant, slot: u32, voters: NodeSet, intent: Intent) {
        self.release_awaited(now, slot);
        // S1: a retry has a new token. S2: `now` was read before any of these bytes can leave.
        let mut serial = self.next_serial();
        self.counters.attempts += 1;
        let lock = &mut self.table[slot];
        if self.config.is_sabotaged(Saboteur::TokenReused) && lock.retries > 0 {
            serial = lock.serial;
        }
        let mut valid_until = LastTtl::valid_until(self.last_ttl, self.config.drift, now, lock.ttl);
        if self.config.is_sabotaged(Saboteur::DriftIgnored) {
            valid_until = now + lock.ttl.duration();
        }
        lock.begin_attempt(serial, now, valid_until, voters);
        let follows = core::mem::take(&mut lock.follows);
        let (is_set, ttl) = (lock.is_set(), lock.ttl);
        let form = match intent {
            Intent::Fenced => SetForm::Fenced(Call::Sha),
            _ => lock.set_form(),
        };
        let is_gathered = intent == Intent::Fenced && !is_set;
        if !is_gathered {
            self.encode_set_command(slot, form, ttl);
        }
        let request = SetRequest { slot, serial, intent, form };
        let expected = Expected { request: Request::Set(request), sent: now };
        for id in voters {
            // Releases of single resources of the set may wait on any node.
            if follows || is_set {
                self.flush_batch(now, id, Flush::Now);
            }
            let node = &mut self.nodes[id];
            node.counters.asked += 1;
            if is_gathered {
                node.gather(request);
                self.gathered += 1;
            } else {
                node.send(&self.scratch, expected);
            }
        }
        // Votes after half of the validity would not count.
        let due = if self.table[slot].round.spare.is_empty() {
            self.first_wait(now, slot, ttl).min(validity::half(now, valid_until))
        } else {
            self.first_hedge(now, slot, voters)
        };
        self.schedule(slot, if voters.is_empty() { now } else { due });
    }

    /// Encodes the request that takes the resources of a lock, with the current token, into
    /// `scratch`.
    pub(super) fn encode_set_command(&mut self, slot: u32, form: SetForm, ttl: Millis) {
        if let SetForm::Fenced(call) = form {
            return self.encode_fenced(slot, call, ttl);
        }
        let lock = &self.table[slot];
        let token = self.table.token(slot, &self.nonce, lock.serial);
        self.scratch.clear();
        match form {
            SetForm::Command => command::set(&mut self.scratch, &lock.resource, &token, ttl),
            SetForm::Script(call) => {
                let mut keys = lock.names().keys();
                if self.config.is_sabotaged(Saboteur::SetIncomplete) {
                    keys.next();
                }
                command::set_all(&mut self.scratch, call, keys, &token, ttl);
            }
            SetForm::Fenced(_) | SetForm::Joined => {}
        }
    }

    /// Counts the vote of a node: the answer to the `SET` of an attempt.
    // Two calls, of this function and of the next, would cost 230 instructions of a cycle.
    #[inline(always)]
    pub(super) fn handle_vote(
        &mut self,
        now: Instant,
        id: NodeId,
        request: SetRequest,
        vote: Vote,
    ) {
        let counters = &mut self.nodes[id].counters;
        match vote {
            Vote::Granted => counters.granted += 1,
            Vote::Refused => counters.refused += 1,
            Vote::Failed | Vote::Unclear => {}
        }
        let SetRequest { slot, mut serial, .. } = request;
        let lock = &mut self.table[slot];
        let mut counted = vote;
        if self.config.is_sabotaged(Saboteur::StaleReply) {
            serial = lock.serial;
        }
        if vote == Vote::Refused && self.config.is_sabotaged(Saboteur::RefusalCounts) {
            counted = Vote::Granted;
        }
        if lock.voted(id, serial, counted) {
            self.count_votes(now, slot);
            if vote != Vote::Granted {
                self.repair_soon(now, slot);
            }
        } else if lock.answered_late(id, serial, vote)
            && !self.config.is_sabotaged(Saboteur::LateGrantKept)
        {
            self.release_late(now, id, slot);
        }
        self.recycle(slot);
    }

    /// Handles a `SET` whose reply will never come, of an attempt or of a repair: the token may
    /// come to exist (S6). For a lock that was given up, the release died with the `SET` on the
    /// same connection, and goes to the cleanup list by itself. A release that waited for this vote
    /// goes there from here.
    pub(super) fn set_lost(&mut self, now: Instant, id: NodeId, request: SetRequest) {
        if self.question_lost(now, id, request) {
            return;
        }
        let slot = request.slot;
        if self.table[slot].connection_lost(id, request.serial) {
            #[cfg(redbolt_sabotage)]
            if self.config.is_sabotaged(Saboteur::UnknownCounts)
                && matches!(request.intent, Intent::Attempt | Intent::Knock)
            {
                self.table[slot].forge_vote(id);
            }
            match self.table[slot].way {
                Way::Fenced => self.count_draws(now, slot),
                Way::Plain | Way::Adopted => self.count_votes(now, slot),
            }
            self.repair_soon(now, slot);
        } else if self.table[slot].answered_late(id, request.serial, Vote::Unclear) {
            self.release_late(now, id, slot);
        }
        self.recycle(slot);
    }

    /// Decides an attempt as soon as the votes allow a decision.
    #[inline(always)]
    pub(super) fn count_votes(&mut self, now: Instant, slot: u32) {
        if self.table[slot].phase != Phase::Attempt {
            return;
        }
        if self.config.is_sabotaged(Saboteur::StartAfterQuorum) {
            let ttl = self.table[slot].ttl.duration();
            self.table[slot].valid_until = self.config.drift.valid_until(now, ttl);
        }
        let lock = &self.table[slot];
        match lock.verdict(self.quorum) {
            Verdict::Open if lock.round.spare.is_empty() => {}
            // Every node that was asked has said yes, or still may.
            Verdict::Open if lock.votes.hoped_for() == lock.votes.asked() => {}
            Verdict::Open => self.widen_in_doubt(now, slot),
            verdict => self.decide(now, slot, verdict),
        }
    }

    /// Ends an attempt of which the votes have decided.
    fn decide(&mut self, now: Instant, slot: u32, verdict: Verdict) {
        let lock = &self.table[slot];
        match verdict {
            // S3: enough votes are not enough, they must have come within the validity. In its
            // first half, because a lock of which little is left would only be in the way.
            Verdict::Granted if self.is_timely(now, lock) => {
                let (lock_id, valid_until) = (self.table.id(slot), lock.valid_until);
                if !lock.round.late.is_empty() {
                    self.learn_of_hedge(slot);
                }
                self.hold(now, slot);
                self.emit(Event::Acquired { lock: lock_id, valid_until, fence: None });
            }
            Verdict::Granted | Verdict::Impossible => self.attempt_failed(now, slot),
            Verdict::Open => {}
        }
    }

    /// Returns `true` if an attempt that succeeds now is within the first half of its validity.
    pub(super) fn is_timely(&self, now: Instant, lock: &Lock) -> bool {
        let half = validity::half(lock.started, lock.valid_until);
        let is_half = now <= half || self.config.is_sabotaged(Saboteur::HalfIgnored);
        (now < lock.valid_until && is_half) || self.config.is_sabotaged(Saboteur::ElapsedIgnored)
    }

    /// Ends an attempt at its deadline, unless the attempt is worth more time. Votes that come
    /// later do not count.
    #[cold]
    pub(super) fn attempt_timed_out(&mut self, now: Instant, slot: u32) {
        if self.hedged(now, slot) {
            return;
        }
        let is_raising = self.is_raising(slot);
        if let Some(due) = self.prolonged(now, slot).filter(|_| !is_raising) {
            return self.schedule(slot, due);
        }
        self.table[slot].votes.close();
        self.attempt_failed(now, slot);
    }

    /// Ends an attempt without a lock. Releases what the attempt may have taken, and schedules the
    /// next try unless the wait of the caller ends before.
    pub(super) fn attempt_failed(&mut self, now: Instant, slot: u32) {
        self.release_failed(now, slot);
        // Others have had the lock meanwhile.
        self.table[slot].tenure = Instant::ZERO;
        let Some(retry_at) = self.pause_after(now, slot, After::Attempt) else {
            // Refusals that left no quorum possible, even with the votes still open, mean a holder.
            // Everything else means that too few nodes were there.
            let error = self.acquire_error(now, slot);
            return self.acquire_ended(now, slot, error);
        };
        let retry_at = self.back_for_turn(now, slot, retry_at);
        self.back_off(now, slot, retry_at);
    }

    /// Lets a lock pause until the next try.
    pub(super) fn back_off(&mut self, now: Instant, slot: u32, retry_at: Instant) {
        let lock = &mut self.table[slot];
        lock.retries = lock.retries.saturating_add(1);
        lock.phase = Phase::Backoff;
        self.begin_pause(now, slot, retry_at);
    }

    /// Returns the moment of the next try or look, or `None` if the wait of the caller ends before,
    /// or if the caller wants no more tries. A pause that would outlast the wait is cut short for
    /// one last try.
    pub(super) fn pause_after(&mut self, now: Instant, slot: u32, after: After) -> Option<Instant> {
        let ttl = self.table[slot].ttl;
        // No attempt takes longer than a node timeout, however far away the nodes seem to be.
        let timeout = self.wait_until(now, slot, ttl, self.ready_nodes()) - now;
        let round_trip = self.quorum_round_trip().min(timeout);
        let lock = &self.table[slot];
        let left = lock.wait_until - now;
        if lock.last_try || left <= round_trip {
            return None;
        }
        let (retries, cap) = (lock.retries, self.longest_pause(now, slot));
        let pause = backoff::pause(after, retries, round_trip, cap, &mut self.rng);
        let pause = self.own_pause(slot, pause)?;
        let is_last = pause >= left;
        self.table[slot].last_try = is_last;
        Some(now + if is_last { left / 2 } else { pause })
    }
}

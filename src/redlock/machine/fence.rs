//! Fencing numbers (S13): an attempt in which each node also draws a number.
//!
//! A fenced attempt is an attempt like any other, with a script in place of `SET`. A quorum of
//! votes is not enough: a quorum must have accepted the same number. Mostly that is the number
//! which the attempt has proposed. Where the numbers of a quorum differ, the nodes are asked at
//! once to accept one that is larger than all of them. Everything happens within the validity (S3).
//!
//! `raise` decides which number counts. `lock/draws` has the arithmetic, `node/fences` says which
//! nodes may draw.

use super::Redlock;
use crate::redlock::event::LockId;
use crate::redlock::fence::Fence;
use crate::redlock::lock::Phase;
use crate::redlock::millis::Millis;
use crate::redlock::node::error::NodeError;
use crate::redlock::node::request::{Expected, Intent, Request, SetRequest};
use crate::redlock::node_set::{NodeId, NodeSet};
use crate::redlock::sabotage::Saboteur;
use crate::redlock::wire::answer::Vote;
use crate::redlock::wire::command::{Call, SetForm};
use crate::redlock::wire::fencing::{self, Drawn, Fencing};
use crate::resp::Value;
use crate::time::Instant;

impl Redlock {
    /// Returns the fencing number of a held lock. Returns `None` for a lock that was requested
    /// without one, and once the lock is lost or released.
    #[must_use]
    pub fn fence(&self, lock: LockId) -> Option<Fence> {
        let slot = self.table.slot_of(lock)?;
        let is_held = matches!(self.table[slot].phase, Phase::Held | Phase::Lapsing);
        self.table.draws(slot).filter(|_| is_held)?.fence
    }

    /// Returns a number to propose: the time of this machine, near that of the nodes, and more than
    /// what this engine has proposed before, or has seen for the lock.
    pub(super) fn propose(&mut self, now: Instant, slot: u32) -> u64 {
        /// How far proposals run ahead of the time at most: 10 ms.
        const LEEWAY: u64 = 10_000;
        let wall = self.terms(now).wall.unwrap_or_default();
        let wall = self.nodes.near_time(now, wall);
        let seen = self.table.expect_draws(slot).seen;
        // A clock that was far ahead once must not make all later proposals useless.
        let next = self.proposed.saturating_add(1).min(wall.saturating_add(LEEWAY));
        self.proposed = wall.max(next).min(Fence::MOST);
        // What one lock has seen can be far ahead of all clocks, and says nothing of other locks.
        self.proposed.max(seen.saturating_add(1)).min(Fence::MOST)
    }

    /// Starts an attempt for a lock with a fencing number, over those of `voters` that may draw
    /// one.
    #[cold]
    pub(super) fn begin_fenced(&mut self, now: Instant, slot: u32, voters: NodeSet) {
        let voters = self.fit_quorum(now, voters);
        let proposal = self.propose(now, slot);
        self.table.expect_draws(slot).begin(now, proposal);
        self.leave_no_spare(slot);
        self.ask_voters(now, slot, voters, Intent::Fenced);
    }

    /// Returns those of `nodes` that may draw and accept numbers. Tells the owner if that has
    /// changed.
    pub(super) fn fit(&mut self, now: Instant, nodes: NodeSet) -> NodeSet {
        let terms = self.terms(now);
        for id in self.nodes.judge_fitness(now, self.quorum, &self.config, terms) {
            self.changed.insert(id);
        }
        nodes.into_iter().filter(|id| self.nodes[*id].fence_bar().is_none()).collect()
    }

    /// Returns the same, and none if they are too few.
    pub(super) fn fit_quorum(&mut self, now: Instant, nodes: NodeSet) -> NodeSet {
        let fit = self.fit(now, nodes);
        if fit.len() < self.quorum.need() { NodeSet::EMPTY } else { fit }
    }

    /// Encodes a call of one of the scripts for the lock in `slot` into `scratch`.
    #[cold]
    pub(super) fn encode_fencing(&mut self, slot: u32, call: Call, what: Fencing) {
        let lock = &self.table[slot];
        let token = self.table.token(slot, &self.nonce, lock.serial);
        self.scratch.clear();
        fencing::fencing(&mut self.scratch, call, lock.names(), &token, what);
    }

    /// Encodes the call that takes the keys of a lock and draws a number into `scratch`.
    #[cold]
    pub(super) fn encode_fenced(&mut self, slot: u32, call: Call, ttl: Millis) {
        let proposal = self.table.draws(slot).map_or(0, |draws| draws.proposal);
        self.encode_fencing(slot, call, Fencing::Acquire { ttl, proposal });
    }

    /// Reads the reply to a fenced request. Returns `None` if the request cannot have this reply.
    pub(super) fn read_drawn(intent: Intent, value: &Value<'_>) -> Option<Drawn> {
        match intent {
            Intent::Fenced | Intent::Doubted => Drawn::read_acquired(value),
            Intent::Raise | Intent::DoubtedRaise => Drawn::read_raised(value),
            Intent::Draw | Intent::DoubtedDraw => Drawn::read_drawn(value),
            Intent::Attempt | Intent::Knock | Intent::Repair => None,
        }
    }

    /// Handles the answer of a node to a fenced request.
    pub(super) fn handle_drawn(
        &mut self,
        now: Instant,
        id: NodeId,
        request: SetRequest,
        drawn: Drawn,
    ) {
        match request.intent {
            Intent::Fenced | Intent::Doubted => self.handle_fenced_vote(now, id, request, drawn),
            Intent::Raise | Intent::DoubtedRaise => self.handle_raised(now, id, request, drawn),
            Intent::Draw | Intent::DoubtedDraw => self.handle_draw(now, id, request, drawn),
            // These are not fenced.
            Intent::Attempt | Intent::Knock | Intent::Repair => {}
        }
    }

    /// Asks `nodes` what is encoded in `scratch`: to draw for a lock that is held, or to accept a
    /// number.
    pub(super) fn send_question(&mut self, now: Instant, nodes: NodeSet, request: SetRequest) {
        let expected = Expected { request: Request::Set(request), sent: now };
        for id in nodes {
            self.flush_gathered(now, id);
            self.nodes[id].send(&self.scratch, expected);
        }
        self.table[request.slot].owed += nodes.len() as u32;
    }

    /// Takes the answer to such a question off those that are owed. Returns what the answer is
    /// worth: nothing if the node may have forgotten since what it has now (S11).
    pub(super) fn settle_question(
        &mut self,
        now: Instant,
        id: NodeId,
        request: SetRequest,
        drawn: Drawn,
    ) -> Drawn {
        self.table[request.slot].reply_settled();
        let is_doubted = matches!(request.intent, Intent::DoubtedDraw | Intent::DoubtedRaise);
        let is_doubted = is_doubted || self.nodes[id].is_quarantined(now);
        if is_doubted && drawn != Drawn::Lost { Drawn::Unclear } else { drawn }
    }

    /// Handles a fenced request whose reply will never come. Returns `false` for the `SET` of an
    /// attempt, which may still take the key.
    pub(super) fn question_lost(&mut self, now: Instant, id: NodeId, request: SetRequest) -> bool {
        let is_question = matches!(
            request.intent,
            Intent::Draw | Intent::DoubtedDraw | Intent::Raise | Intent::DoubtedRaise
        );
        let is_draw = matches!(request.intent, Intent::Draw | Intent::DoubtedDraw);
        let is_ignored = is_draw && self.config.is_sabotaged(Saboteur::DrawNeverEnds);
        if is_ignored {
            self.table[request.slot].reply_settled();
            self.recycle(request.slot);
        } else if is_question {
            self.handle_drawn(now, id, request, Drawn::Lost);
        }
        is_question
    }

    /// Counts a node that has taken the key and drawn a number, or has refused.
    pub(super) fn handle_fenced_vote(
        &mut self,
        now: Instant,
        id: NodeId,
        request: SetRequest,
        drawn: Drawn,
    ) {
        let SetRequest { slot, serial, intent, .. } = request;
        let vote = match drawn {
            // The node has said since then that its keys may be gone.
            Drawn::Number(_) if intent == Intent::Doubted => Vote::Unclear,
            Drawn::Number(_) => Vote::Granted,
            Drawn::Refused => Vote::Refused,
            Drawn::Failed => Vote::Failed,
            _ => Vote::Unclear,
        };
        let counters = &mut self.nodes[id].counters;
        match vote {
            Vote::Granted => counters.granted += 1,
            Vote::Refused => counters.refused += 1,
            Vote::Failed | Vote::Unclear => {}
        }
        let lock = &mut self.table[slot];
        if lock.voted(id, serial, vote) {
            if let (Drawn::Number(fence), Vote::Granted) = (drawn, vote) {
                self.drew(now, id, slot, fence);
            }
            self.count_draws(now, slot);
            if vote != Vote::Granted {
                self.repair_soon(now, slot);
            }
        } else if lock.answered_late(id, serial, vote) {
            self.release_late(now, id, slot);
        }
        self.recycle(slot);
    }

    /// Records what a node has drawn. Where others are being asked for a larger number already, the
    /// node is asked as well.
    pub(super) fn drew(&mut self, now: Instant, id: NodeId, slot: u32, fence: Fence) {
        let is_open = self.table[slot].phase == Phase::Attempt;
        let Some(draws) = self.table.draws_mut(slot).filter(|_| is_open) else { return };
        draws.drew(id, fence);
        if let Some((serial, number)) = draws.raise_late(id, fence) {
            let nodes = core::iter::once(id).collect();
            self.send_raise(now, nodes, slot, serial, number);
        }
    }

    /// Handles a reply to a request for a key that is neither a plain vote nor in time for one: the
    /// node has said that its keys may be gone, or was to draw a number.
    #[cold]
    pub(super) fn handle_other_vote(
        &mut self,
        now: Instant,
        id: NodeId,
        request: SetRequest,
        vote: Vote,
    ) {
        match (request.form, request.intent, vote) {
            (SetForm::Fenced(_), Intent::Fenced | Intent::Doubted, Vote::Refused)
                if !self.owes_joined(id) =>
            {
                self.handle_fenced_vote(now, id, request, Drawn::Refused);
            }
            // No script answers with `+OK`, and only one with nil: the replies are out of step.
            (SetForm::Fenced(_) | SetForm::Joined, ..) => {
                self.drop_session(now, id, NodeError::UnexpectedReply);
                self.set_lost(now, id, request);
            }
            // The token may be there, and counts for nothing.
            (_, Intent::Doubted, Vote::Granted) => {
                self.handle_vote(now, id, request, Vote::Unclear);
            }
            (_, Intent::Knock, _) => self.handle_knock(now, id, request, vote),
            _ => self.handle_vote(now, id, request, vote),
        }
    }

    /// Sends the text of a script of a fenced request to a node that did not know the script.
    /// Returns `false` if it is too late.
    pub(super) fn resend_fenced(&mut self, now: Instant, id: NodeId, request: SetRequest) -> bool {
        let SetRequest { slot, serial, intent, form } = request;
        let lock = &self.table[slot];
        let is_wanted = matches!(lock.phase, Phase::Attempt | Phase::Held);
        if form != SetForm::Fenced(Call::Sha) || !is_wanted || now >= lock.valid_until {
            return false;
        }
        let ttl = self.resend_ttl(now, slot);
        let proposal = || {
            let draws = self.table.draws(slot)?;
            draws.asked.filter(|asked| asked.serial == serial).map(|_| draws.proposal)
        };
        let raised_to = || self.table.draws(slot).and_then(|draws| draws.raised_to(serial));
        match intent {
            Intent::Fenced if lock.serial == serial => self.encode_fenced(slot, Call::Text, ttl),
            Intent::Raise => {
                let Some(number) = raised_to() else { return false };
                self.encode_fencing(slot, Call::Text, Fencing::Raise { number: number.get() });
            }
            Intent::Draw => {
                let Some(proposal) = proposal() else { return false };
                self.encode_fencing(slot, Call::Text, Fencing::Draw { proposal });
            }
            _ => return false,
        }
        let request = SetRequest { form: SetForm::Fenced(Call::Text), ..request };
        let expected = Expected { request: Request::Set(request), sent: now };
        self.nodes[id].send(&self.scratch, expected);
        true
    }
}

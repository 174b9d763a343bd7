//! Which number becomes the fence of a lock (S13): the decision about the numbers that nodes have
//! drawn, and the second trip where they differ.

use super::Redlock;
use crate::redlock::event::Event;
use crate::redlock::fence::Fence;
use crate::redlock::lock::draws::{Draws, Outcome};
use crate::redlock::lock::{Lock, Phase};
use crate::redlock::node::request::{Intent, SetRequest};
use crate::redlock::node_set::{NodeId, NodeSet};
use crate::redlock::sabotage::Saboteur;
use crate::redlock::validity;
use crate::redlock::wire::command::{Call, SetForm};
use crate::redlock::wire::fencing::{Drawn, Fencing};
use crate::time::Instant;

impl Redlock {
    /// Handles the answer of a node that was asked to accept a number.
    pub(super) fn handle_raised(
        &mut self,
        now: Instant,
        id: NodeId,
        request: SetRequest,
        drawn: Drawn,
    ) {
        let SetRequest { slot, serial, .. } = request;
        let drawn = self.settle_question(now, id, request, drawn);
        let is_behind = matches!(drawn, Drawn::Behind(_));
        let drawn = match is_behind && self.config.is_sabotaged(Saboteur::BehindAccepts) {
            true => Drawn::Accepted,
            false => drawn,
        };
        if let Some(draws) = self.table.draws_mut(slot) {
            if draws.raised(id, serial, drawn) {
                self.count_draws(now, slot);
            }
        }
        self.recycle(slot);
    }

    /// Decides a fenced attempt, or a draw for a lock that is held, as soon as votes and numbers
    /// allow a decision.
    #[cold]
    pub(super) fn count_draws(&mut self, now: Instant, slot: u32) {
        let lock = &self.table[slot];
        let Some(draws) = self.table.draws(slot) else { return };
        let (is_held, open, is_timely) = match (lock.phase, draws.asked) {
            (Phase::Attempt, _) => (false, lock.votes.open(), self.is_timely(now, lock)),
            (Phase::Held, Some(asked)) => (true, asked.votes.open(), now < lock.valid_until),
            _ => return,
        };
        match self.outcome_of(draws, open) {
            Outcome::Fence(fence) if is_timely && is_held => self.drawn(slot, fence),
            Outcome::Fence(fence) if is_timely => self.grant(now, slot, fence),
            Outcome::Raise if is_timely => self.raise(now, slot),
            Outcome::Open => {}
            _ if is_held => self.draw_failed(now, slot),
            _ => self.attempt_failed(now, slot),
        }
    }

    /// Returns what follows from the numbers that were drawn. A saboteur knows better.
    pub(super) fn outcome_of(&self, draws: &Draws, open: NodeSet) -> Outcome {
        let outcome = draws.outcome(self.quorum, open);
        #[cfg(redbolt_sabotage)]
        if let Some(fence) = self.sabotaged_fence(draws, outcome) {
            return Outcome::Fence(fence);
        }
        outcome
    }

    /// Returns what a saboteur takes for a fence.
    #[cfg(redbolt_sabotage)]
    fn sabotaged_fence(&self, draws: &Draws, outcome: Outcome) -> Option<Fence> {
        let differs = outcome == Outcome::Raise;
        match self.config.saboteur? {
            Saboteur::FenceNotRaised if differs => draws.largest(),
            Saboteur::ProposalTrusted if differs => Fence::new(draws.proposal),
            Saboteur::RaisedByOne => draws.raised_by_one(),
            Saboteur::DrawnByOne if draws.asked.is_some() => draws.largest(),
            _ => None,
        }
    }

    /// Reports the lock as held, with its number.
    pub(super) fn grant(&mut self, now: Instant, slot: u32, fence: Fence) {
        let (lock, valid_until) = (self.table.id(slot), self.table[slot].valid_until);
        let is_omitted = self.config.is_sabotaged(Saboteur::FenceOmitted) && self.is_raising(slot);
        let fence = Some(fence).filter(|_| !is_omitted);
        if let Some(draws) = self.table.draws_mut(slot) {
            draws.fence = fence;
        }
        self.hold(now, slot);
        self.emit(Event::Acquired { lock, valid_until, fence });
    }

    /// Asks all nodes that have drawn to accept one larger number.
    pub(super) fn raise(&mut self, now: Instant, slot: u32) {
        let serial = self.next_serial();
        let most = self.nodes.latest_time(now, self.terms(now).wall.unwrap_or_default());
        let Some(draws) = self.table.draws(slot) else { return };
        // A node that has drawn may have been started anew since, without its numbers.
        let nodes = self.fit(now, draws.raisable());
        let Some(draws) = self.table.draws_mut(slot) else { return };
        let Some(number) = draws.begin_raise(now, most, serial, nodes) else {
            return match self.table[slot].phase {
                Phase::Held => self.draw_failed(now, slot),
                _ => self.attempt_failed(now, slot),
            };
        };
        self.counters.raised += 1;
        self.send_raise(now, nodes, slot, serial, number);
        let Lock { phase, ttl, started, valid_until, due, .. } = &self.table[slot];
        if *phase == Phase::Attempt {
            let later = self.wait_until(now, slot, *ttl, nodes);
            let due = later.max(*due).min(validity::half(*started, *valid_until));
            self.schedule(slot, due);
        }
        // Nodes whose connections have died answer nothing.
        for id in nodes.into_iter().filter(|id| !self.nodes[*id].is_ready()).collect::<NodeSet>() {
            if let Some(draws) = self.table.draws_mut(slot) {
                draws.raised(id, serial, Drawn::Unclear);
            }
        }
        self.count_draws(now, slot);
    }

    /// Sends the question to accept a number to those of `nodes` that are connected.
    pub(super) fn send_raise(
        &mut self,
        now: Instant,
        nodes: NodeSet,
        slot: u32,
        serial: u64,
        number: Fence,
    ) {
        let form = SetForm::Fenced(Call::Sha);
        let request = SetRequest { slot, serial, intent: Intent::Raise, form };
        self.encode_fencing(slot, Call::Sha, Fencing::Raise { number: number.get() });
        let nodes = nodes.into_iter().filter(|id| self.nodes[*id].is_ready()).collect();
        self.send_question(now, nodes, request);
    }

    /// Returns `true` if the attempt in `slot` waits for nodes to accept a number.
    #[cold]
    pub(super) fn is_raising(&self, slot: u32) -> bool {
        self.table.draws(slot).is_some_and(Draws::is_raising)
    }
}

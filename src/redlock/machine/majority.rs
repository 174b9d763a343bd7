//! Asking a majority first ([`Ask::Majority`]): which nodes an attempt asks, when it asks the
//! others, and when a lock that lives on is given to them.
//!
//! The nodes that could vote and were not asked are the *spare* nodes of a lock. An attempt asks
//! them when its first nodes are in doubt. A repair gives them the key of a lock that is held, so
//! that the lock hangs on a bare quorum for a short time only. Short locks end before, and cost
//! spare nodes nothing.

use core::time::Duration;

use smallvec::SmallVec;

use super::Redlock;
use crate::redlock::ask::Ask;
use crate::redlock::lock::Lock;
use crate::redlock::node::batch::Flush;
use crate::redlock::node::request::{Expected, Intent, Request, SetRequest};
use crate::redlock::node_set::{MAX_NODES, NodeSet};
use crate::redlock::sabotage::Saboteur;
use crate::redlock::validity;
use crate::redlock::wire::command::{Call, SetForm};
use crate::time::Instant;

/// The shortest hedge. Near nodes answer within some ten microseconds, and what keeps one of them
/// busy for a moment is no reason to ask all the others.
const LEAST_HEDGE: u64 = 1_000_000;

impl Redlock {
    /// Returns how many nodes the attempts for a lock ask at first.
    #[inline]
    fn ask_of(&self, slot: u32) -> Ask {
        let own = self.table.options(slot).and_then(|options| options.ask);
        own.unwrap_or(self.config.ask)
    }

    /// Returns those of the `voters` that an attempt asks at first. The others become the spare
    /// nodes of the lock.
    #[inline]
    pub(super) fn first_asked(&mut self, slot: u32, voters: NodeSet) -> NodeSet {
        let asked = match self.ask_of(slot) {
            Ask::All => voters,
            Ask::Majority => self.first_of_order(slot, voters),
        };
        self.table[slot].spare = voters.without(asked);
        asked
    }

    /// Returns the quorum that comes first in the order of the resource; of several resources, in
    /// that of the smallest.
    fn first_of_order(&self, slot: u32, voters: NodeSet) -> NodeSet {
        let among = if self.config.is_sabotaged(Saboteur::OrderOverAll) {
            self.ready_nodes()
        } else {
            voters
        };
        let key = self.table[slot].names().keys().next().unwrap_or_default();
        self.order.first(key, among, self.quorum.need())
    }

    /// Returns the moment at which an attempt that begins now, at the nodes in `asked`, asks its
    /// spare nodes if the first ones have not decided by then: when the patience with the slowest
    /// of these is over, which is twice its round trip or more, or twice the patience with the
    /// fastest quorum. So a node that is somewhat slower than others does not make every attempt
    /// ask all nodes, and a node that is slow for good makes nobody wait for long.
    pub(super) fn hedge(&self, now: Instant, asked: NodeSet) -> Instant {
        let (mut times, mut slowest) = (SmallVec::<[u64; MAX_NODES]>::new(), 0);
        for id in self.nodes().into_iter().filter(|id| self.nodes[*id].is_ready()) {
            // The deviation alone says little: replies that come together show none.
            let time = self.nodes[id].patience();
            times.push(time);
            slowest = if asked.contains(id) { slowest.max(time) } else { slowest };
        }
        times.sort_unstable();
        let fastest = times.get(self.quorum.need() - 1).copied().unwrap_or_default();
        let time = slowest.min(fastest.saturating_mul(2)).max(LEAST_HEDGE);
        Instant::from_nanos(now.as_nanos().saturating_add(time))
    }

    /// Asks the spare nodes of an attempt that has waited for its first nodes long enough. Returns
    /// `false` if there are none: the attempt has no more to hope for.
    #[cold]
    pub(super) fn hedged(&mut self, now: Instant, slot: u32) -> bool {
        let is_forgotten = self.config.is_sabotaged(Saboteur::WideningForgotten);
        if self.table[slot].spare.is_empty() || is_forgotten {
            return false;
        }
        if let Some(later) = self.hedge_later(now, slot) {
            self.schedule(slot, later);
            return true;
        }
        self.widen(now, slot);
        #[cfg(redbolt_sabotage)]
        if self.config.is_sabotaged(Saboteur::HedgeVotes) {
            let open = self.table[slot].votes.open();
            open.into_iter().for_each(|id| self.table[slot].forge_vote(id));
        }
        let Lock { ttl, started, valid_until, .. } = self.table[slot];
        // The spare nodes get as long as the first ones, unless the caller has set the time.
        let start = if self.own_node_timeout(slot).is_some() { started } else { now };
        let due = self.first_wait(start, slot, ttl).min(validity::half(started, valid_until));
        self.schedule(slot, due);
        self.count_votes(now, slot);
        true
    }

    /// Returns a later moment for the hedge, if the spare nodes could not decide now: so few of the
    /// first nodes have answered that even with all spare nodes there would be no quorum. Then it
    /// is no single node that is slow, and more requests would only make all of them slower. Half
    /// of the time of the attempt is left for the spare nodes in any case.
    fn hedge_later(&self, now: Instant, slot: u32) -> Option<Instant> {
        let Lock { votes, spare, started, valid_until, ttl, .. } = &self.table[slot];
        if votes.agreed().len() + spare.len() >= self.quorum.need() {
            return None;
        }
        let due = self.first_wait(*started, slot, *ttl).min(validity::half(*started, *valid_until));
        let latest = *started + (due - *started) / 2;
        let later = now + (now - *started);
        (now < latest).then_some(later.min(latest))
    }

    /// Asks the spare nodes of an attempt whose first nodes are in doubt.
    #[cold]
    pub(super) fn widen_in_doubt(&mut self, now: Instant, slot: u32) {
        if self.is_in_doubt(&self.table[slot]) {
            self.widen(now, slot);
            // Without a node that can vote the attempt has failed.
            self.count_votes(now, slot);
        }
    }

    /// Returns `true` if the first nodes of an attempt cannot make a quorum any more. An error and
    /// a lost connection count at once. Refusals count when all first nodes have answered: mostly
    /// all of them refuse, and the others need not be asked at all.
    fn is_in_doubt(&self, lock: &Lock) -> bool {
        let votes = &lock.votes;
        let hoped_for = votes.agreed().union(votes.open());
        let known = hoped_for.union(votes.refused());
        !lock.spare.is_empty()
            && hoped_for.len() < self.quorum.need()
            && (votes.open().is_empty() || known != votes.asked())
            && !self.config.is_sabotaged(Saboteur::WideningForgotten)
    }

    /// Asks those of the spare nodes that can vote now, with the token of the attempt.
    #[cold]
    fn widen(&mut self, now: Instant, slot: u32) {
        let Lock { ttl, serial, .. } = self.table[slot];
        let is_set = self.table[slot].is_set();
        let spare = core::mem::take(&mut self.table[slot].spare);
        let can_vote = |id: &_| {
            let node = &self.nodes[*id];
            node.can_vote(now) && (!is_set || node.runs_scripts())
        };
        let nodes: NodeSet = spare.into_iter().filter(can_vote).collect();
        if nodes.is_empty() {
            return;
        }
        self.counters.widened += 1;
        self.table[slot].widen(nodes);
        let form = if is_set { SetForm::Script(Call::Sha) } else { SetForm::Command };
        self.encode_set_command(slot, form, ttl);
        let request = SetRequest { slot, serial, intent: Intent::Attempt, form };
        let expected = Expected { request: Request::Set(request), sent: now };
        for id in nodes {
            // A release for the same resource may wait on any node.
            self.flush_batch(now, id, Flush::Now);
            let node = &mut self.nodes[id];
            node.counters.asked += 1;
            node.send(&self.scratch, expected);
        }
    }

    /// Gives the key of a held lock to its spare nodes, ahead of a request that every node with the
    /// key is to confirm. That request follows on the same connections.
    #[inline]
    pub(super) fn give_to_spare(&mut self, now: Instant, slot: u32) {
        if !self.table[slot].spare.is_empty() && !self.config.is_sabotaged(Saboteur::SpareForgotten)
        {
            self.repair(now, slot);
        }
    }

    /// Returns how long a lock that lives on waits before its spare nodes are given the key: a
    /// sixth of its validity, which short locks do not reach. Returns `None` if there is nobody to
    /// wait for: no spare node, or one that could not take the key at that time.
    pub(super) fn pause_of_spare(&self, now: Instant, slot: u32) -> Option<Duration> {
        let Lock { spare, started, valid_until, .. } = &self.table[slot];
        let is_early = now - *started < (*valid_until - *started) / 4;
        let has_pause = !spare.is_empty() && is_early && self.config.repair;
        has_pause.then(|| (*valid_until - now) / 6)
    }
}

//! Asking a majority first ([`Ask::Majority`]): which nodes an attempt asks, when it asks the
//! others, and when a lock that lives on is given to them.
//!
//! The nodes that could vote and were not asked are the *spare* nodes of a lock. An attempt asks
//! them when its first nodes are in doubt. A repair gives them the key of a lock that is held, so
//! that the lock hangs on a bare quorum for a short time only. Short locks end before, and cost
//! spare nodes nothing.

use core::time::Duration;

use super::Redlock;
use super::hedge::{self, Answering, LEAST_HEDGE};
use crate::redlock::ask::Ask;
use crate::redlock::lock::Lock;
use crate::redlock::node::batch::Flush;
use crate::redlock::node::request::{Expected, Intent, Request, SetRequest};
use crate::redlock::node_set::{NodeId, NodeSet};
use crate::redlock::sabotage::Saboteur;
use crate::redlock::validity;
use crate::time::Instant;

/// The end of an attempt that asks its spare nodes.
struct WidenedEnd {
    due: Instant,
    /// When spare nodes without room are looked at again, and the last time for that.
    next_look: Instant,
    last_look: Instant,
}

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
    pub(super) fn first_asked(&mut self, now: Instant, slot: u32, voters: NodeSet) -> NodeSet {
        self.leave_no_spare(slot);
        if self.ask_of(slot) == Ask::All || voters.is_empty() {
            return voters;
        }
        let asked = self.first_of_order(slot, voters);
        self.leave_spare(now, slot, voters, asked);
        asked
    }

    /// An attempt asks all nodes at first, or has not begun: there are no spare nodes.
    #[inline]
    pub(super) fn leave_no_spare(&mut self, slot: u32) {
        let round = &mut self.table[slot].round;
        (round.spare, round.late) = (NodeSet::EMPTY, NodeSet::EMPTY);
    }

    /// Makes all nodes that may vote and are not `asked` the spare nodes of a lock.
    #[inline]
    pub(super) fn leave_spare(&mut self, now: Instant, slot: u32, voters: NodeSet, asked: NodeSet) {
        let others = self.nodes().without(asked);
        // A node without room for the moment may have some when it is needed.
        let may_vote = voters == self.nodes();
        let spare = if may_vote { others } else { self.may_vote_soon(now, slot, others) };
        self.table[slot].round.spare = spare;
    }

    /// Returns those of `nodes` that can vote for a lock, now or when they have room.
    #[cold]
    fn may_vote_soon(&self, now: Instant, slot: u32, nodes: NodeSet) -> NodeSet {
        let is_set = self.table[slot].is_set();
        let may_vote = |id: &_| {
            let node = &self.nodes[*id];
            node.can_vote_with_room(now) && (!is_set || node.runs_scripts())
        };
        nodes.into_iter().filter(may_vote).collect()
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

    /// Returns the moment at which an attempt, which has just begun at the nodes in `asked`, asks
    /// its spare nodes if the first ones have not decided by then: when the patience with the
    /// slowest of these is over, which is twice its round trip or more, or twice the patience with
    /// the fastest quorum. So a node that is somewhat slower than others does not make every
    /// attempt ask all nodes, and a node that is slow for good makes nobody wait for long. Half of
    /// the longest time of the attempt is left for the spare nodes in any case.
    pub(super) fn first_hedge(&mut self, now: Instant, slot: u32, asked: NodeSet) -> Instant {
        if self.hedge.is_used_up(now) {
            self.renew_hedge(now);
        }
        let time = self.hedge.take(asked);
        let Lock { ttl, started, valid_until, .. } = self.table[slot];
        let validity = valid_until.as_nanos().saturating_sub(started.as_nanos());
        let last = self.last_ttl.filter(|_| self.own_node_timeout(slot).is_none());
        let known = last.and_then(|last| last.latest_hedge(ttl, validity));
        let latest = known.unwrap_or_else(|| hedge::latest(self.longest_wait(slot, ttl), validity));
        Instant::from_nanos(started.as_nanos().saturating_add(time.min(latest)))
    }

    /// Looks at all nodes for what the hedges have in common.
    fn renew_hedge(&mut self, now: Instant) {
        let answering = |id| {
            let node = &self.nodes[id];
            Answering { id, patience: node.patience(), unanswered: node.unanswered() }
        };
        let nodes = self.ready_nodes().into_iter().map(answering);
        self.hedge.renew(now, nodes, self.quorum.need());
    }

    /// Returns the end of the longest time that the attempt in `slot` has, however far away its
    /// nodes are.
    fn latest_end(&self, slot: u32) -> Instant {
        let Lock { ttl, started, valid_until, .. } = self.table[slot];
        let longest = started + self.longest_wait(slot, ttl);
        longest.min(validity::half(started, valid_until))
    }

    /// Asks the spare nodes of an attempt that has waited for its first nodes long enough. Returns
    /// `false` if there are none: the attempt has no more to hope for.
    #[cold]
    pub(super) fn hedged(&mut self, now: Instant, slot: u32) -> bool {
        let is_forgotten = self.config.is_sabotaged(Saboteur::WideningForgotten);
        if self.table[slot].round.spare.is_empty() || is_forgotten {
            return false;
        }
        let before = self.table[slot].votes;
        // Spare nodes that had no room are asked later than others: a hedge is the first time.
        let is_first = before.asked().len() == self.quorum.need() || self.is_knocking(slot);
        let is_hedge = is_first && !self.is_in_doubt(&self.table[slot]);
        if is_hedge {
            let later = self.hedge_against_late(now, slot).or_else(|| self.hedge_later(now, slot));
            if let Some(later) = later {
                self.schedule(slot, later);
                return true;
            }
        }
        self.widen(now, slot);
        let Lock { votes, round, .. } = &mut self.table[slot];
        if is_hedge && votes.asked() != before.asked() {
            round.late = before.open();
        }
        #[cfg(redbolt_sabotage)]
        if self.config.is_sabotaged(Saboteur::HedgeVotes) {
            let open = self.table[slot].votes.open();
            open.into_iter().for_each(|id| self.table[slot].forge_vote(id));
        }
        self.count_votes(now, slot);
        true
    }

    /// Returns a later moment for the hedge, if the nodes for which it would have come sooner have
    /// answered meanwhile.
    fn hedge_against_late(&mut self, now: Instant, slot: u32) -> Option<Instant> {
        let votes = &self.table[slot].votes;
        let (asked, late) = (votes.asked(), votes.open());
        if self.hedge.stretch(late) <= self.hedge.stretch(asked) {
            return None;
        }
        Some(self.first_hedge(now, slot, late)).filter(|later| *later > now)
    }

    /// Learns from an attempt that has just succeeded after its hedge.
    #[cold]
    pub(super) fn learn_of_hedge(&mut self, slot: u32) {
        let Lock { votes, round, .. } = &self.table[slot];
        self.hedge.learn(round.late, votes.agreed());
    }

    /// Returns a later moment for the hedge, if the spare nodes could not decide now: so few of the
    /// first nodes have answered that even with all spare nodes there would be no quorum. Then it
    /// is no single node that is slow, and more requests would only make all of them slower. Half
    /// of the time of the attempt is left for the spare nodes in any case.
    fn hedge_later(&mut self, now: Instant, slot: u32) -> Option<Instant> {
        let Lock { votes, round, started, ttl, .. } = &self.table[slot];
        let (started, asked) = (*started, votes.asked());
        if votes.agreed().len() + round.spare.len() >= self.quorum.need() {
            return None;
        }
        let near = started + (self.first_wait(started, slot, *ttl) - started) / 2;
        let latest = near.min(self.latest_end(slot)).max(self.first_hedge(now, slot, asked));
        let later = now + (now - started);
        (now < latest).then_some(later.min(latest))
    }

    /// Asks the spare nodes of an attempt whose first nodes are in doubt. A knock that the door has
    /// refused ends instead, and one that the door has granted goes on.
    #[cold]
    pub(super) fn widen_in_doubt(&mut self, now: Instant, slot: u32) {
        if self.turned_away(now, slot) {
            return;
        }
        if self.is_in_doubt(&self.table[slot]) && self.widen(now, slot) {
            // Without a node that can vote the attempt has failed.
            self.count_votes(now, slot);
        }
    }

    /// Returns `true` if the first nodes of an attempt with spare nodes cannot make a quorum any
    /// more. An error and a lost connection count at once. Refusals count when all first nodes have
    /// answered: mostly all of them refuse, and the others need not be asked at all.
    fn is_in_doubt(&self, lock: &Lock) -> bool {
        let votes = &lock.votes;
        let known = votes.hoped_for().union(votes.refused());
        votes.hoped_for().len() < self.quorum.need()
            && (votes.open().is_empty() || known != votes.asked())
            && !self.config.is_sabotaged(Saboteur::WideningForgotten)
    }

    /// Asks those of the spare nodes that can vote now, with the token of the attempt, and sets the
    /// end of the attempt. Spare nodes without room are looked at again. Returns `false` if nothing
    /// has changed.
    #[cold]
    fn widen(&mut self, now: Instant, slot: u32) -> bool {
        let spare = self.table[slot].round.spare;
        let can_vote = |id: &NodeId| self.nodes[*id].has_room();
        let soon = self.may_vote_soon(now, slot, spare);
        let nodes: NodeSet = soon.into_iter().filter(can_vote).collect();
        let end = self.widened_end(now, slot);
        let full = if now < end.last_look { soon.without(nodes) } else { NodeSet::EMPTY };
        self.table[slot].round.spare = full;
        if !nodes.is_empty() {
            // Spare nodes can be asked one after the other, as they get room.
            let is_first = self.table[slot].votes.asked().len() == self.quorum.need();
            self.counters.widened += u64::from(is_first);
            // A knock goes on to listen, and wins only by way of here: an owner does not listen.
            self.table.end_listening(slot);
            self.ask_more(now, slot, nodes);
        }
        let next = if full.is_empty() { end.due } else { end.next_look.min(end.due) };
        self.schedule(slot, next);
        full != spare
    }

    /// Returns the end of an attempt that asks its spare nodes now, and when spare nodes without
    /// room are looked at.
    ///
    /// The spare nodes get as long as their round trips say, up to the end of the longest time for
    /// the attempt. Where a turn of the loop came so late that nothing is left of that time, they
    /// get a quarter of the usual time: the replies of the first nodes may have waited as long.
    fn widened_end(&self, now: Instant, slot: u32) -> WidenedEnd {
        let Lock { ttl, started, valid_until, votes, round, .. } = &self.table[slot];
        let (first, latest) = (self.first_wait(*started, slot, *ttl), self.latest_end(slot));
        let asked = votes.asked().union(round.spare);
        let due = self.wait_until(now, slot, *ttl, asked).min(latest);
        let due = due.max(now + (first - *started) / 4);
        let pause = ((now - *started) / 2).max(Duration::from_nanos(LEAST_HEDGE));
        WidenedEnd {
            due: due.min(validity::half(*started, *valid_until)),
            next_look: now + pause,
            last_look: first.min(latest),
        }
    }

    /// Sends the request of an attempt to more nodes.
    fn ask_more(&mut self, now: Instant, slot: u32, nodes: NodeSet) {
        let Lock { ttl, serial, .. } = self.table[slot];
        self.table[slot].widen(nodes);
        let form = self.table[slot].set_form();
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
        let spare = self.table[slot].round.spare;
        if !spare.is_empty() && !self.config.is_sabotaged(Saboteur::SpareForgotten) {
            self.repair_at(now, slot, spare);
        }
    }

    /// Returns how long a lock that lives on waits before its spare nodes are given the key: a
    /// sixth of its validity, which short locks do not reach. Returns `None` if no spare node lacks
    /// the key, if nobody is to be given one, and after a quarter of the validity: a node that
    /// could not take the key by then must not put off renewals.
    pub(super) fn pause_of_spare(&self, now: Instant, slot: u32) -> Option<Duration> {
        let Lock { round, started, valid_until, .. } = &self.table[slot];
        if round.spare.is_empty() || !self.config.repair {
            return None;
        }
        let [now, start, end] = [now, *started, *valid_until].map(Instant::as_nanos);
        let is_early = now.saturating_sub(start) < end.saturating_sub(start) / 4;
        is_early.then(|| Duration::from_nanos(end.saturating_sub(now) / 6))
    }
}

//! For how long a request waits for its nodes, which may be near or far away.

use core::time::Duration;

use smallvec::SmallVec;

use super::Redlock;
use crate::redlock::lock::Lock;
use crate::redlock::lock::round::Round;
use crate::redlock::lock::votes::Votes;
use crate::redlock::millis::Millis;
use crate::redlock::node::Node;
use crate::redlock::node::patience::{Limits, Waits};
#[cfg(feature = "net")]
use crate::redlock::node_set::NodeId;
use crate::redlock::node_set::{MAX_NODES, NodeSet};
use crate::redlock::sabotage::Saboteur;
use crate::redlock::validity;
use crate::time::Instant;

impl Redlock {
    /// Returns the moment at which an attempt for the lock in `slot`, which begins now, looks
    /// whether its nodes are worth [more time](Self::prolonged). Near nodes have answered by then,
    /// so no attempt over near nodes measures how near they are.
    #[inline]
    pub(super) fn first_wait(&self, now: Instant, slot: u32, ttl: Millis) -> Instant {
        match self.own_node_timeout(slot) {
            Some(timeout) => now + timeout,
            None => Instant::from_nanos(now.as_nanos().saturating_add(self.config.least_wait(ttl))),
        }
    }

    /// Returns the moment until which an adoption or an extension of the lock in `slot`, which
    /// begins now, waits for the nodes in `asked`.
    pub(super) fn wait_until(
        &self,
        now: Instant,
        slot: u32,
        ttl: Millis,
        asked: NodeSet,
    ) -> Instant {
        match self.own_node_timeout(slot) {
            Some(timeout) => now + timeout,
            None => self.patience(now, ttl, asked),
        }
    }

    /// Returns the node timeout that the caller has chosen for the lock in `slot`.
    #[inline]
    pub(super) fn own_node_timeout(&self, slot: u32) -> Option<Duration> {
        self.table.options(slot).and_then(|options| options.node_timeout)
    }

    /// Returns the moment until which a request with this ttl, which began at `start`, waits for a
    /// quorum of the nodes in `asked`.
    #[cold]
    pub(super) fn patience(&self, start: Instant, ttl: Millis, asked: NodeSet) -> Instant {
        let limits = Limits::new(&self.config, ttl.duration());
        let mut wait = self.nodes.timeout(asked, self.quorum.need(), limits);
        if self.config.is_sabotaged(Saboteur::PatienceIgnored) {
            wait = limits.least;
        }
        Instant::from_nanos(start.as_nanos().saturating_add(wait))
    }

    /// Returns the moment until which a request, which began at `start`, would wait that has the
    /// longest ttl.
    pub(super) fn patience_of_longest(&self, start: Instant, asked: NodeSet) -> Instant {
        self.patience(start, Millis::of(self.config.max_ttl), asked)
    }

    /// Returns the smoothed round trip of a node; zero before its first reply.
    #[cfg(feature = "metrics")]
    pub(crate) fn round_trip(&self, index: usize) -> Duration {
        let node = self.nodes.iter().nth(index);
        Duration::from_nanos(node.map_or(0, Node::distance))
    }

    /// Returns the least round trip of a node on its connection; zero before its first reply.
    #[cfg(feature = "net")]
    #[inline]
    pub(crate) fn least_round_trip(&self, node: NodeId) -> Duration {
        self.nodes[node].least_round_trip()
    }

    /// Returns the nodes whose connections are up.
    pub(super) fn ready_nodes(&self) -> NodeSet {
        self.nodes().into_iter().filter(|id| self.nodes[*id].is_ready()).collect()
    }

    /// Returns the end of an attempt that has waited for as long as near nodes are worth, or
    /// longer, if the attempt is worth more time.
    ///
    /// Far nodes are worth as much as their round trips say. A near node that hangs was expected to
    /// be in the fastest quorum. Without that node the quorum is farther away, and so it is for a
    /// retry, which would have to start from nothing. After a refusal a retry is better: whoever
    /// has the keys that this attempt lacks gives them up.
    pub(super) fn prolonged(&self, now: Instant, slot: u32) -> Option<Instant> {
        let Lock { votes, started, valid_until, ttl, .. } = &self.table[slot];
        if votes.asked().is_empty() || self.own_node_timeout(slot).is_some() {
            return None;
        }
        let half = validity::half(*started, *valid_until);
        let due = self.patience(*started, *ttl, votes.asked()).min(half);
        if due > now {
            return Some(due);
        }
        if !votes.refused().is_empty() {
            return None;
        }
        let limits = Limits::new(&self.config, ttl.duration());
        let waited = now.as_nanos().saturating_sub(started.as_nanos());
        let waits = votes.open().into_iter().map(|id| limits.bound(self.nodes[id].patience()));
        let waits: Waits = waits.filter(|wait| *wait > waited).collect();
        let need = self.quorum.need().saturating_sub(votes.agreed().len());
        if waits.len() < need {
            return None;
        }
        let due = Instant::from_nanos(started.as_nanos() + limits.timeout(waits, need));
        Some(due.min(half)).filter(|due| *due > now)
    }

    /// Returns the end of an adoption that some nodes have refused, if the others are worth more
    /// time.
    ///
    /// Nobody gives a node the key that it lacks, before the lock has an owner again. So the quorum
    /// is farther away than it was without the refusals, and so it is for a retry.
    pub(super) fn adoption_prolonged(&self, now: Instant, slot: u32) -> Option<Instant> {
        let Lock { votes, started, valid_until, ttl, .. } = &self.table[slot];
        if votes.refused().is_empty() || self.own_node_timeout(slot).is_some() {
            return None;
        }
        let others = votes.asked().without(votes.refused()).without(votes.failed());
        let due = self.patience(*started, *ttl, others).min(*valid_until);
        (due > now).then_some(due)
    }

    /// Returns the round trip of the slowest node in the fastest quorum: the time that an attempt
    /// takes.
    pub(super) fn quorum_round_trip(&self) -> Duration {
        self.quorum_time(Node::round_trip)
    }

    /// Returns how far away the fastest quorum is, and for how long an attempt for the lock in
    /// `slot` waits for it at most, if that is not enough. An attempt whose nodes have drawn
    /// different numbers takes two trips, and waits for half of the validity.
    pub(super) fn too_far(&self, slot: u32) -> Option<[Duration; 2]> {
        let Lock { ttl, votes, .. } = &self.table[slot];
        let half = ttl.duration().saturating_sub(self.config.drift.of(ttl.duration())) / 2;
        if self.is_raising(slot) {
            return self.farther_than(half, votes, 2);
        }
        self.farther_than(self.longest_wait(slot, *ttl).min(half), votes, 1)
    }

    /// Returns the same for the extension of the lock in `slot`.
    pub(super) fn too_far_to_extend(&self, slot: u32) -> Option<[Duration; 2]> {
        let Round { ttl, votes, .. } = &self.table[slot].round;
        self.farther_than(self.longest_wait(slot, *ttl), votes, 1)
    }

    /// Returns for how long a request with this ttl, for the lock in `slot`, waits at most.
    pub(super) fn longest_wait(&self, slot: u32, ttl: Millis) -> Duration {
        let own = self.own_node_timeout(slot);
        own.unwrap_or_else(|| self.config.longest_node_timeout(ttl.duration()))
    }

    /// Returns how far away the fastest quorum is, and the limit, if that is too far for so many
    /// trips of a request with these votes.
    fn farther_than(&self, limit: Duration, votes: &Votes, trips: u32) -> Option<[Duration; 2]> {
        let distance = self.quorum_time(|node| trips * Duration::from_nanos(node.distance()));
        (distance >= limit && !votes.asked().is_empty()).then_some([distance, limit])
    }

    /// Returns the time of the slowest node in the fastest quorum.
    fn quorum_time(&self, time: impl Fn(&Node) -> Duration) -> Duration {
        let mut times: SmallVec<[Duration; MAX_NODES]> =
            self.nodes.iter().filter(|node| node.is_ready()).map(time).collect();
        times.sort_unstable();
        times.get(self.quorum.need() - 1).copied().unwrap_or_default()
    }
}

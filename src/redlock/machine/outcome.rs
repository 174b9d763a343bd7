//! Why a request failed: the error of the lock, and the outcome at each node.

use smallvec::SmallVec;

use super::Redlock;
use crate::redlock::error::AcquireError;
use crate::redlock::lock::votes::Votes;
use crate::redlock::node::status::NodeState;
use crate::redlock::node_outcome::{NodeOutcome, NodeOutcomes};
use crate::redlock::node_set::{MAX_NODES, NodeId};
use crate::time::Instant;

impl Redlock {
    /// Returns the reason why the lock was not acquired, as far as the last attempt tells.
    pub(super) fn acquire_error(&self, now: Instant, slot: u32) -> AcquireError {
        let lock = &self.table[slot];
        let votes = &lock.votes;
        let answered = votes.agreed().union(votes.refused()).union(votes.open());
        if !votes.refused().is_empty() && answered.len() >= self.quorum.need() {
            return AcquireError::Held { refused: votes.refused() };
        }
        let asked_none = votes.asked().is_empty();
        let outcomes = self.outcomes(now, votes);
        let could_vote =
            |outcome: &&NodeOutcome| matches!(outcome, NodeOutcome::NotAsked | NodeOutcome::Full);
        let open = outcomes.as_slice().iter().filter(could_vote).count();
        if asked_none && open >= self.quorum.need() {
            return AcquireError::NoRoom;
        }
        match self.quorum_possible_at(now) {
            Some(at) if at > now => {
                AcquireError::Quarantined { outcomes, at, retry_after: at - now }
            }
            _ => AcquireError::NoQuorum(outcomes),
        }
    }

    /// Returns the earliest moment at which the nodes that are connected now can form a quorum. A
    /// node in quarantine counts from the end of its quarantine. Returns `None` if the connected
    /// nodes are too few, or if it is not decided yet for how long they are out.
    fn quorum_possible_at(&self, now: Instant) -> Option<Instant> {
        let ready = self.nodes.iter().filter(|node| node.is_ready() && !node.is_undecided());
        let mut times: SmallVec<[Instant; MAX_NODES]> =
            ready.map(|node| node.quarantined_until(now).unwrap_or(now)).collect();
        times.sort_unstable();
        times.get(self.quorum.need() - 1).copied()
    }

    /// Returns the outcome of a request at each node, for an error.
    pub(super) fn outcomes(&self, now: Instant, votes: &Votes) -> NodeOutcomes {
        NodeOutcomes::new(self.nodes().len(), |node| {
            if votes.agreed().contains(node) {
                NodeOutcome::Granted
            } else if votes.refused().contains(node) {
                NodeOutcome::Refused
            } else if votes.failed().contains(node) && self.nodes[node].is_quarantined(now) {
                NodeOutcome::Quarantined
            } else if votes.failed().contains(node) {
                NodeOutcome::Failed
            } else if votes.asked().contains(node) {
                NodeOutcome::NoReply
            } else {
                self.outcome_unasked(now, node)
            }
        })
    }

    /// Returns the outcome at a node that was not asked.
    fn outcome_unasked(&self, now: Instant, id: NodeId) -> NodeOutcome {
        let node = &self.nodes[id];
        match node.state(now) {
            NodeState::Misconfigured => NodeOutcome::Misconfigured,
            NodeState::Down => NodeOutcome::Down,
            NodeState::Connecting | NodeState::Handshake => NodeOutcome::Connecting,
            NodeState::Quarantined => NodeOutcome::Quarantined,
            NodeState::Stalled => NodeOutcome::Stalled,
            NodeState::Unhealthy => NodeOutcome::Unhealthy,
            NodeState::Ready if !node.has_room() => NodeOutcome::Full,
            NodeState::Ready => NodeOutcome::NotAsked,
        }
    }
}

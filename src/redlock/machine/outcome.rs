//! Why a request failed: the error of the lock, and the outcome at each node.

use smallvec::SmallVec;

use super::Redlock;
use super::line::Needs;
use crate::redlock::error::{AcquireError, ExtendError};
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
        // A node that was left out could still have granted the lock, as one that has not answered.
        let answered =
            votes.agreed().union(votes.refused()).union(votes.open()).union(lock.round.spare);
        if !votes.refused().is_empty() && answered.len() >= self.quorum.need() {
            return AcquireError::Held { refused: votes.refused() };
        }
        let asked_none = votes.asked().is_empty();
        let outcomes = self.outcomes(now, votes, self.needs(slot));
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
            _ => self.no_quorum(slot, outcomes),
        }
    }

    /// Returns the error of an attempt that a quorum of nodes did not answer in time.
    pub(super) fn no_quorum(&self, slot: u32, outcomes: NodeOutcomes) -> AcquireError {
        match self.too_far(slot) {
            Some([round_trip, limit]) => AcquireError::TooFar { outcomes, round_trip, limit },
            None => AcquireError::NoQuorum(outcomes),
        }
    }

    /// Returns the error of an extension that a quorum of nodes did not confirm in time.
    pub(super) fn extend_error(&self, now: Instant, slot: u32) -> ExtendError {
        let outcomes = self.outcomes(now, &self.table[slot].round.votes, Needs::Scripts);
        match self.too_far_to_extend(slot) {
            Some([round_trip, limit]) => ExtendError::TooFar { outcomes, round_trip, limit },
            None => ExtendError::NoQuorum(outcomes),
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
    pub(super) fn outcomes(&self, now: Instant, votes: &Votes, needs: Needs) -> NodeOutcomes {
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
                self.outcome_unasked(now, node, needs)
            }
        })
    }

    /// Returns the outcome at a node that was not asked.
    fn outcome_unasked(&self, now: Instant, id: NodeId, needs: Needs) -> NodeOutcome {
        let node = &self.nodes[id];
        match node.state(now) {
            NodeState::Misconfigured => NodeOutcome::Misconfigured,
            NodeState::Down => NodeOutcome::Down,
            NodeState::Connecting | NodeState::Handshake => NodeOutcome::Connecting,
            NodeState::Quarantined => NodeOutcome::Quarantined,
            NodeState::Stalled => NodeOutcome::Stalled,
            NodeState::Unhealthy => NodeOutcome::Unhealthy,
            NodeState::Ready if needs != Needs::Commands && !node.runs_scripts() => {
                NodeOutcome::NoScripts
            }
            NodeState::Ready if needs == Needs::Fences && node.fence_bar().is_some() => {
                NodeOutcome::NoFences
            }
            NodeState::Ready if !node.has_room() => NodeOutcome::Full,
            NodeState::Ready => NodeOutcome::NotAsked,
        }
    }
}

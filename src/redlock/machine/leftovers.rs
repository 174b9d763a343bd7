//! What is not done yet when an owner is about to stop: locks in use, answers that are owed, tokens
//! to be cleaned up.

use super::Redlock;
use crate::redlock::node::batch::Flush;
#[cfg(feature = "net")]
use crate::redlock::node_set::NodeId;
use crate::redlock::node_set::NodeSet;
use crate::time::Instant;

impl Redlock {
    /// Returns the number of tokens, on all nodes together, that still have to be cleaned up (S6).
    #[must_use]
    pub fn cleanup(&self) -> usize {
        self.nodes.iter().map(|node| node.cleanup.len()).sum()
    }

    /// Returns the number of locks that are wanted, held, or still owed a reply, those included
    /// that a set takes one by one ([`acquire_all`](Self::acquire_all)).
    #[must_use]
    pub fn in_use(&self) -> usize {
        self.table.len()
    }

    /// Returns how many requests to a node have no answer.
    #[cfg(feature = "net")]
    #[inline]
    pub(crate) fn unanswered(&self, node: NodeId) -> usize {
        self.nodes[node].unanswered()
    }

    /// Returns how many replies of a node have come in its session. The number wraps around.
    #[cfg(feature = "net")]
    #[inline]
    pub(crate) fn replies(&self, node: NodeId) -> u32 {
        self.nodes[node].replies()
    }

    /// Returns `true` if encoded requests to a node wait to be written.
    #[cfg(feature = "net")]
    pub(crate) fn has_unwritten(&self, node: NodeId) -> bool {
        self.nodes[node].has_unwritten()
    }

    /// Returns the nodes on which something may be left: the nodes that owe an answer about a lock,
    /// and those with tokens to be cleaned up. A node without a connection owes nothing else.
    #[must_use]
    pub fn owing(&self) -> NodeSet {
        self.nodes().into_iter().filter(|id| self.nodes[*id].owes()).collect()
    }

    /// Returns `true` if no lock is wanted or held, and a quorum of nodes owes nothing: whatever is
    /// left on the others keeps nobody from a lock. The cost: a look at the requests on their way.
    #[must_use]
    pub fn is_drained(&self) -> bool {
        let free = self.nodes().len() - self.owing().len();
        self.table.has_only_ended_locks() && free >= self.quorum.need()
    }

    /// Adds to the bytes of each node what waits there: the batch that waits for the reply to an
    /// earlier group, and the release of a failed attempt that waits for a vote. The bytes leave
    /// with the next [`poll_transmit`](Self::poll_transmit). For an owner that is about to stop and
    /// will not see that reply. The cost: a look at every lock.
    pub fn flush_batches(&mut self, now: Instant) {
        for slot in self.table.awaiting() {
            self.release_awaited(now, slot);
        }
        for node in self.nodes() {
            self.flush_batch(now, node, Flush::Now);
        }
    }
}

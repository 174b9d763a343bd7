//! What a request reads at other nodes while it listens at one.

use crate::redlock::node_set::{NodeId, NodeSet};
use crate::time::Instant;

/// The peeks of one request. They go round by round: each begins with one node, and goes on to
/// others as long as none shows the owner.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Peeks {
    /// The end of the pause in which the request peeks.
    pause_end: Instant,
    /// The number of the peek whose answer counts; 0 if none does.
    number: u32,
    /// The nodes that were read in this round, and those of them that lacked the key.
    read: NodeSet,
    lacking: NodeSet,
    /// How many peeks there were.
    count: u32,
}

impl Peeks {
    pub(crate) fn pause_until(&mut self, until: Instant) {
        self.pause_end = until;
    }

    pub(crate) fn pause_end(&self) -> Instant {
        self.pause_end
    }

    /// What was read so far is old news.
    pub(crate) fn end_round(&mut self) {
        (self.number, self.read, self.lacking) = (0, NodeSet::EMPTY, NodeSet::EMPTY);
    }

    /// A peek with this `number` leaves for a node.
    pub(crate) fn leaves(&mut self, number: u32, node: NodeId) {
        (self.number, self.count) = (number, self.count.wrapping_add(1));
        self.read.insert(node);
    }

    /// Returns whether the answer to the peek with this `number` counts.
    pub(crate) fn is_current(&self, number: u32) -> bool {
        self.number == number && number > 0
    }

    /// Returns how many peeks there were. Those of a request go from node to node.
    pub(crate) fn count(&self) -> usize {
        self.count as usize
    }

    /// A node lacks the key.
    pub(crate) fn lacks_key(&mut self, node: NodeId) {
        self.lacking.insert(node);
    }

    /// Returns the nodes that lack the key.
    pub(crate) fn lacking(&self) -> NodeSet {
        self.lacking
    }

    /// Returns the nodes that were read in this round.
    pub(crate) fn read(&self) -> NodeSet {
        self.read
    }
}

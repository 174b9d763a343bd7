//! What a request reads at other nodes while it listens at one.

use crate::redlock::node_set::{NodeId, NodeSet};
use crate::time::Instant;

/// The peeks of one request. They go round by round: each begins with one node, and ends
/// there if that one shows the owner. Else it goes on to the others.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Peeks {
    /// The end of the pause in which the request peeks.
    pause_end: Instant,
    /// The number of the peek whose answer counts; 0 if none does.
    number: u32,
    /// The nodes that were read in this round, and those of them that lacked the key.
    read: NodeSet,
    lacking: NodeSet,
    /// How many rounds there were.
    rounds: u32,
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
        self.number = number;
        self.rounds = self.rounds.wrapping_add(u32::from(self.read.is_empty()));
        self.read.insert(node);
    }

    /// Returns whether the answer to the peek with this `number` counts.
    pub(crate) fn is_current(&self, number: u32) -> bool {
        self.number == number && number > 0
    }

    /// Returns how many rounds there were. Each begins at another node than the one before.
    pub(crate) fn rounds(&self) -> usize {
        self.rounds as usize
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

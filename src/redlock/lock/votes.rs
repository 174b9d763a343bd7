//! Votes: which nodes were asked, and what each of them said.

use crate::redlock::node_set::{NodeId, NodeSet};
use crate::redlock::quorum::{Quorum, Verdict};

/// The votes of one attempt, or the answers to one extension or release.
///
/// A node that was asked is in at most one of the other sets. It is in none once its connection is
/// gone, once nobody waits for the open answers, or if it could not be asked at once.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Votes {
    asked: NodeSet,
    /// Nodes that were asked and have not answered.
    open: NodeSet,
    agreed: NodeSet,
    refused: NodeSet,
    failed: NodeSet,
}

impl Votes {
    /// Creates the votes of a question to all of `nodes`.
    pub(crate) fn ask(nodes: NodeSet) -> Self {
        Self { asked: nodes, open: nodes, ..Self::default() }
    }

    /// Creates the votes of a question to the nodes in `now`. The nodes in `later` should be asked
    /// too, but cannot be asked now.
    pub(super) fn ask_some(now: NodeSet, later: NodeSet) -> Self {
        Self { asked: now.union(later), ..Self::ask(now) }
    }

    /// Asks `nodes` as well.
    pub(super) const fn ask_more(&mut self, nodes: NodeSet) {
        self.asked = self.asked.union(nodes);
        self.open = self.open.union(nodes);
    }

    /// Records that `node` said yes.
    pub(super) const fn agree(&mut self, node: NodeId) {
        self.open.remove(node);
        self.agreed.insert(node);
    }

    /// Records that `node` said no.
    pub(super) const fn refuse(&mut self, node: NodeId) {
        self.open.remove(node);
        self.refused.insert(node);
    }

    /// Records an answer of `node` that is neither yes nor no.
    pub(super) const fn fail(&mut self, node: NodeId) {
        self.open.remove(node);
        self.failed.insert(node);
    }

    /// Records that `node` will not answer any more.
    pub(super) const fn lose(&mut self, node: NodeId) {
        self.open.remove(node);
    }

    /// Stops waiting for open answers.
    pub(crate) const fn close(&mut self) {
        self.open = NodeSet::EMPTY;
    }

    pub(crate) const fn asked(&self) -> NodeSet {
        self.asked
    }

    pub(crate) const fn open(&self) -> NodeSet {
        self.open
    }

    pub(crate) const fn agreed(&self) -> NodeSet {
        self.agreed
    }

    pub(crate) const fn refused(&self) -> NodeSet {
        self.refused
    }

    pub(crate) const fn failed(&self) -> NodeSet {
        self.failed
    }

    /// Returns the nodes that have said yes, and those that still may.
    pub(crate) const fn hoped_for(&self) -> NodeSet {
        self.agreed.union(self.open)
    }

    /// Returns the nodes whose answer is unknown, now or for ever.
    pub(crate) const fn unconfirmed(&self) -> NodeSet {
        self.asked.without(self.agreed.union(self.refused))
    }

    /// Returns the verdict of the votes.
    pub(crate) const fn verdict(&self, quorum: Quorum) -> Verdict {
        quorum.verdict(self.agreed, self.open)
    }
}

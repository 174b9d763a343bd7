//! Votes: which nodes were asked one question, and what each of them said.

use crate::redlock::node_set::{NodeId, NodeSet};
use crate::redlock::quorum::{Quorum, Verdict};

/// The votes of one attempt, or the answers to one extension or release.
///
/// A node that was asked is in exactly one of the other sets, or in none once its connection is
/// gone.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Votes {
    asked: NodeSet,
    /// Asked, no answer yet.
    open: NodeSet,
    agreed: NodeSet,
    refused: NodeSet,
    failed: NodeSet,
}

impl Votes {
    /// All of `nodes` are asked.
    #[inline]
    pub(crate) fn ask(nodes: NodeSet) -> Self {
        Self { asked: nodes, open: nodes, ..Self::default() }
    }

    /// The nodes in `now` are asked; those in `later` should be, and cannot be asked now.
    #[inline]
    pub(super) fn ask_some(now: NodeSet, later: NodeSet) -> Self {
        Self { asked: now.union(later), ..Self::ask(now) }
    }

    /// `node` said yes.
    #[inline]
    pub(crate) const fn agree(&mut self, node: NodeId) {
        self.open.remove(node);
        self.agreed.insert(node);
    }

    /// `node` said no.
    #[inline]
    pub(super) const fn refuse(&mut self, node: NodeId) {
        self.open.remove(node);
        self.refused.insert(node);
    }

    /// `node` answered with what counts for neither.
    #[inline]
    pub(super) const fn fail(&mut self, node: NodeId) {
        self.open.remove(node);
        self.failed.insert(node);
    }

    /// `node` will not answer any more.
    pub(super) const fn lose(&mut self, node: NodeId) {
        self.open.remove(node);
    }

    /// Nobody waits for the open answers any more.
    pub(crate) const fn close(&mut self) {
        self.open = NodeSet::EMPTY;
    }

    #[inline]
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

    /// The nodes whose answer is not known, now or for ever.
    #[inline]
    pub(crate) const fn unconfirmed(&self) -> NodeSet {
        self.asked.without(self.agreed.union(self.refused))
    }

    /// What the votes amount to.
    #[inline]
    pub(crate) const fn verdict(&self, quorum: Quorum) -> Verdict {
        quorum.verdict(self.agreed, self.open)
    }
}

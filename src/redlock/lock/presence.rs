//! Presence: where the token of a lock may be, which decides who must be sent its release (S5, S6).

use crate::redlock::node_set::{NodeId, NodeSet};
use crate::redlock::wire::answer::{Compared, Vote};

/// The nodes on which the token of a lock may be. No node is in both `may_hold` and `unresolved`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Presence {
    /// Nodes where the token may be, on a connection that lives or with an answer that we have.
    may_hold: NodeSet,
    /// Nodes whose connection died with a `SET` on its way: the token may come to be there (S6).
    unresolved: NodeSet,
    /// Nodes that owe the answer to a repair. Of `may_hold`, and an older answer takes none out.
    repairing: NodeSet,
}

impl Presence {
    /// The nodes that were sent the first `SET` of a token.
    #[inline]
    pub(super) fn asked(nodes: NodeSet) -> Self {
        Self { may_hold: nodes, ..Self::default() }
    }

    /// Nobody said where the former owner of the token left it, or what of it is still on its way.
    pub(super) fn handed_over(nodes: NodeSet) -> Self {
        Self { unresolved: nodes, ..Self::default() }
    }

    /// The nodes that have the token, or may come to have it.
    #[inline]
    pub(crate) const fn anywhere(&self) -> NodeSet {
        self.may_hold.union(self.unresolved)
    }

    /// `node` answered the `SET`.
    #[inline]
    pub(super) const fn voted(&mut self, node: NodeId, vote: Vote) {
        match vote {
            // Only these rule out that the token is there.
            Vote::Refused | Vote::Failed => self.may_hold.remove(node),
            Vote::Granted | Vote::Unclear => {}
        }
    }

    /// The connection of `node` died with the `SET` on its way.
    pub(super) const fn connection_lost(&mut self, node: NodeId) {
        self.repairing.remove(node);
        self.may_hold.remove(node);
        self.unresolved.insert(node);
    }

    /// The token was sent to nodes that missed it. A release goes there as well from now on (S5).
    pub(crate) const fn repair_sent(&mut self, nodes: NodeSet) {
        self.may_hold = self.may_hold.union(nodes);
        self.repairing = self.repairing.union(nodes);
    }

    /// `node` answered the repair.
    pub(super) const fn repaired(&mut self, node: NodeId, vote: Vote) {
        self.repairing.remove(node);
        self.voted(node, vote);
    }

    /// `node` said what it has, for the keys of one lock: one, or a set.
    ///
    /// Of the nodes in `awaited` the answer to a `SET` is still to come. They were asked before
    /// they were given the key, or before a script that they did not know was sent again as text.
    pub(super) fn compared(
        &mut self,
        node: NodeId,
        answer: Compared,
        is_set: bool,
        awaited: NodeSet,
    ) {
        match answer {
            Compared::Absent | Compared::Foreign
                if self.repairing.union(awaited).contains(node) => {}
            Compared::Absent => self.may_hold.remove(node),
            Compared::Foreign => {
                self.may_hold.remove(node);
                if is_set {
                    // Some of its keys may be left, to be cleaned up.
                    self.unresolved.insert(node);
                }
            }
            Compared::Ours => self.confirmed(node),
            Compared::Failed => {}
        }
    }

    /// `node` has the token. The `SET` was executed: it cannot be once more.
    pub(super) const fn confirmed(&mut self, node: NodeId) {
        self.unresolved.remove(node);
        self.may_hold.insert(node);
    }

    /// Forgets the token. Returns the nodes where a release runs behind the `SET` on the same
    /// connection, and those where the fate of the `SET` is open.
    #[inline]
    pub(super) fn take(&mut self) -> (NodeSet, NodeSet) {
        let Self { may_hold, unresolved, .. } = core::mem::take(self);
        (may_hold, unresolved)
    }

    /// A saboteur forgets all nodes that have not voted for us.
    #[cfg(redbolt_sabotage)]
    pub(crate) fn forget_unknown(&mut self, granted: NodeSet) {
        *self = Self::asked(self.may_hold.intersection(granted));
    }
}

//! The nodes on which the token of a lock may be: the nodes that must be sent its release (S5, S6).

use crate::redlock::node_set::{NodeId, NodeSet};
use crate::redlock::wire::answer::{Compared, Vote};

/// The nodes on which the token of a lock may be. No node is in both `may_hold` and `unresolved`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Presence {
    /// Nodes that may have the token, with a live connection or with an answer that has come.
    may_hold: NodeSet,
    /// Nodes whose connection died with a `SET` on its way: the token may come to exist there (S6).
    unresolved: NodeSet,
    /// Nodes that owe the answer to a `SET` which needs care. In `may_hold`, that is the answer to
    /// a repair: an older answer removes none of these nodes. Outside, that is the refusal of a
    /// failed attempt, which is expected: such a node is sent a release only if its answer is no
    /// refusal, or if nobody wants to wait for the answer. One field for both keeps locks small.
    owing: NodeSet,
}

impl Presence {
    /// Creates the presence of a token whose first `SET` goes to `nodes`.
    pub(super) fn asked(nodes: NodeSet) -> Self {
        Self { may_hold: nodes, ..Self::default() }
    }

    /// Records that the first `SET` goes to `nodes` as well.
    pub(super) const fn asked_more(&mut self, nodes: NodeSet) {
        self.may_hold = self.may_hold.union(nodes);
    }

    /// Creates the presence of a token that was handed over. Nobody knows on which of `nodes` the
    /// former owner left the token, or what is still on its way.
    pub(super) fn handed_over(nodes: NodeSet) -> Self {
        Self { unresolved: nodes, ..Self::default() }
    }

    /// Returns the nodes that have the token or may come to have it.
    pub(crate) const fn anywhere(&self) -> NodeSet {
        self.may_hold.union(self.unresolved)
    }

    /// Takes the nodes from which refusals are expected out of those that may have the token.
    pub(super) const fn set_aside(&mut self, nodes: NodeSet) -> NodeSet {
        let aside = self.may_hold.intersection(nodes);
        self.may_hold = self.may_hold.without(aside);
        aside
    }

    /// Creates the presence of a token that was released everywhere, except on the nodes in
    /// `awaited`, which are expected to refuse the token.
    pub(super) fn awaiting(awaited: NodeSet) -> Self {
        Self { owing: awaited, ..Self::default() }
    }

    /// Returns the nodes that are expected to refuse the token of a failed attempt.
    const fn awaited(&self) -> NodeSet {
        self.owing.without(self.may_hold)
    }

    /// Returns `true` if refusals of a failed attempt are expected.
    #[inline]
    pub(crate) const fn is_awaiting(&self) -> bool {
        !self.awaited().is_empty()
    }

    /// Stops waiting for the refusal of `node`. Returns `false` if none was expected.
    pub(super) const fn awaits_no_more(&mut self, node: NodeId) -> bool {
        let was_awaited = self.awaited().contains(node);
        if was_awaited {
            self.owing.remove(node);
        }
        was_awaited
    }

    /// Records the answer of `node` to a `SET`.
    pub(super) const fn voted(&mut self, node: NodeId, vote: Vote) {
        match vote {
            // Only these two rule out that the token is there.
            Vote::Refused | Vote::Failed => self.may_hold.remove(node),
            Vote::Granted | Vote::Unclear => {}
        }
    }

    /// Records that the connection of `node` died with the `SET` on its way.
    pub(super) const fn connection_lost(&mut self, node: NodeId) {
        self.owing.remove(node);
        self.may_hold.remove(node);
        self.unresolved.insert(node);
    }

    /// Records that the token was sent to nodes that lacked it. From now on a release goes to these
    /// nodes as well (S5).
    pub(super) const fn repair_sent(&mut self, nodes: NodeSet) {
        self.may_hold = self.may_hold.union(nodes);
        self.owing = self.owing.union(nodes);
    }

    /// Records the answer of `node` to a repair.
    pub(super) const fn repaired(&mut self, node: NodeId, vote: Vote) {
        self.owing.remove(node);
        self.voted(node, vote);
    }

    /// Records what `node` said of the keys of a lock: of its one key, or of all keys of a set.
    ///
    /// The nodes in `awaited` still owe the answer to a `SET`. Such a node compared before the key
    /// was set: before a repair, or before a script that the node did not know was sent again as
    /// text. Therefore "absent" or "foreign" from such a node changes nothing.
    pub(super) fn compared(
        &mut self,
        node: NodeId,
        answer: Compared,
        is_set: bool,
        awaited: NodeSet,
    ) {
        match answer {
            Compared::Absent | Compared::Foreign if self.owing.union(awaited).contains(node) => {}
            Compared::Absent => self.may_hold.remove(node),
            Compared::Foreign => {
                self.may_hold.remove(node);
                if is_set {
                    // Some keys of the set may be left, and are cleaned up.
                    self.unresolved.insert(node);
                }
            }
            Compared::Ours => self.confirmed(node),
            Compared::Failed => {}
        }
    }

    /// Records that `node` has the token. The `SET` was executed, and cannot be executed once more.
    pub(super) const fn confirmed(&mut self, node: NodeId) {
        self.unresolved.remove(node);
        self.may_hold.insert(node);
    }

    /// Forgets the token. Returns the nodes where a release runs behind the `SET` on the same
    /// connection, and the nodes where the fate of the `SET` is open.
    pub(super) fn take(&mut self) -> (NodeSet, NodeSet) {
        let Self { may_hold, unresolved, owing } = core::mem::take(self);
        (may_hold.union(owing), unresolved)
    }

    /// Forgets all nodes that have not voted for this lock: the work of a saboteur.
    #[cfg(redbolt_sabotage)]
    pub(crate) fn forget_unknown(&mut self, granted: NodeSet) {
        *self = Self::asked(self.may_hold.intersection(granted));
    }
}

//! What a vote, an answer or a lost connection does to a lock: pure changes of the votes and of the
//! nodes that may have the token. The decisions that follow are the business of `machine`.

use super::presence::Presence;
use super::votes::Votes;
use super::{Lock, Phase};
use crate::redlock::node_set::{NodeId, NodeSet};
use crate::redlock::wire::answer::{Compared, Vote};
use crate::time::Instant;

impl Lock {
    /// Starts an attempt: a `SET` with the token of this `serial` goes to all of `nodes`.
    #[inline]
    pub(crate) fn begin_attempt(
        &mut self,
        serial: u64,
        now: Instant,
        valid_until: Instant,
        nodes: NodeSet,
    ) {
        self.phase = Phase::Attempt;
        self.serial = serial;
        self.started = now;
        self.valid_until = valid_until;
        self.votes = Votes::ask(nodes);
        self.presence = Presence::asked(nodes);
        self.owed += nodes.len() as u32;
    }

    /// Starts an adoption: the nodes in `asked` are asked for a token that another process took.
    /// The token may be on any of the nodes in `all`.
    pub(crate) fn begin_adoption(
        &mut self,
        serial: u64,
        now: Instant,
        valid_until: Instant,
        asked: NodeSet,
        all: NodeSet,
    ) {
        self.begin_attempt(serial, now, valid_until, asked);
        self.phase = Phase::Adoption;
        self.presence = Presence::handed_over(all);
    }

    /// Records the vote of a node in the current attempt.
    #[inline]
    pub(crate) fn voted(&mut self, node: NodeId, vote: Vote) {
        match vote {
            Vote::Granted => self.votes.agree(node),
            Vote::Refused => self.votes.refuse(node),
            Vote::Failed | Vote::Unclear => self.votes.fail(node),
        }
        self.presence.voted(node, vote);
    }

    /// Records the answer of a node to a repair, which is no vote.
    pub(crate) fn repaired(&mut self, node: NodeId, vote: Vote) {
        self.presence.repaired(node, vote);
    }

    /// Records that the connection of a node died with a `SET` of the current serial on its way
    /// (S4, S6).
    pub(crate) fn connection_lost(&mut self, node: NodeId) {
        self.votes.lose(node);
        self.presence.connection_lost(node);
    }

    /// Records the answer of a node to an adoption. The answer of a node in quarantine does not
    /// count: the node may have forgotten once what it has now (S11).
    pub(crate) fn adoption_answered(
        &mut self,
        node: NodeId,
        answer: Compared,
        is_quarantined: bool,
    ) {
        if answer == Compared::Ours {
            self.presence.confirmed(node);
        }
        match answer {
            Compared::Ours if is_quarantined => self.votes.fail(node),
            Compared::Ours => self.votes.agree(node),
            Compared::Absent | Compared::Foreign => self.votes.refuse(node),
            Compared::Failed => self.votes.fail(node),
        }
    }

    /// Records the answer of a node to an extension. An answer that comes after its round still
    /// tells what the node has.
    pub(crate) fn extension_answered(
        &mut self,
        node: NodeId,
        round: u64,
        answer: Compared,
        is_quarantined: bool,
    ) {
        let awaited = self.votes.open();
        self.presence.compared(node, answer, self.is_set(), awaited);
        if !self.round.pending || self.round.number != round {
            return;
        }
        match answer {
            // S11: the node may have forgotten once what it has now.
            Compared::Ours if is_quarantined => self.round.answered_in_quarantine(node),
            _ => self.round.answered(node, answer),
        }
    }

    /// Returns the nodes that may be part of the quorum that the lock needs. A node that never got
    /// the key, or said that it has the key no more, cannot be part of it. A node whose `SET` is
    /// unresolved can.
    pub(crate) fn may_be_held_by(&self) -> NodeSet {
        let gone = if self.is_set() { self.round.votes.refused() } else { NodeSet::EMPTY };
        self.presence.anywhere().without(gone)
    }

    /// Gives up the lock: from now on nobody believes that a node has the token. Returns the nodes
    /// where a release is due behind the `SET`, and the nodes where the `SET` is unresolved.
    #[inline]
    pub(crate) fn give_up(&mut self) -> (NodeSet, NodeSet) {
        self.presence.take()
    }
}

//! What a vote, an answer and a lost connection do to a lock: pure changes of who voted and where
//! the token may be. The decisions that follow are the business of `machine`.

use super::presence::Presence;
use super::votes::Votes;
use super::{Lock, Phase};
use crate::redlock::node_set::{NodeId, NodeSet};
use crate::redlock::wire::answer::{Compared, Vote};
use crate::time::Instant;

impl Lock {
    /// All of `nodes` are sent a `SET` with the token of this `serial`.
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

    /// The nodes in `asked` are asked for a token that another process took; it may be on any of
    /// the nodes in `all`.
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

    /// A node answered the `SET` of the current attempt.
    #[inline]
    pub(crate) fn voted(&mut self, node: NodeId, vote: Vote) {
        match vote {
            Vote::Granted => self.votes.agree(node),
            Vote::Refused => self.votes.refuse(node),
            Vote::Failed | Vote::Unclear => self.votes.fail(node),
        }
        self.presence.voted(node, vote);
    }

    /// A node answered the `SET` that repairs a held lock there. That is no vote.
    pub(crate) fn repaired(&mut self, node: NodeId, vote: Vote) {
        self.presence.repaired(node, vote);
    }

    /// The connection of a node died with a `SET` of the current serial on its way (S4, S6).
    pub(crate) fn connection_lost(&mut self, node: NodeId) {
        self.votes.lose(node);
        self.presence.connection_lost(node);
    }

    /// A node said whether it has the token that is to be adopted. The word of one in quarantine
    /// does not count: what it has now it may have forgotten once (S11).
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

    /// A node answered an extension. An answer that comes after its round still tells what the node
    /// has.
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
            // S11: what it has now it may have forgotten once.
            Compared::Ours if is_quarantined => self.round.answered_in_quarantine(node),
            _ => self.round.answered(node, answer),
        }
    }

    /// The nodes that may make up the quorum which the lock needs. Those that never got the key, or
    /// said that they have it no more, cannot; one whose `SET` is unknown can.
    pub(crate) fn may_be_held_by(&self) -> NodeSet {
        let gone = if self.is_set() { self.round.votes.refused() } else { NodeSet::EMPTY };
        self.presence.anywhere().without(gone)
    }

    /// The lock is given up: nobody believes from now on that a node has the token. Returns the
    /// nodes where a release is due behind the `SET`, and those where the `SET` is unresolved.
    #[inline]
    pub(crate) fn give_up(&mut self) -> (NodeSet, NodeSet) {
        self.presence.take()
    }
}

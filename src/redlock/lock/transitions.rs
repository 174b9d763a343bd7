//! What a vote, an answer or a lost connection does to a lock: pure changes of the votes and of the
//! nodes that may have the token. The decisions that follow are the business of `machine`.

use super::presence::Presence;
use super::round::{Origin, Round};
use super::votes::Votes;
use super::{Lock, Phase};
use crate::redlock::millis::Millis;
use crate::redlock::node_set::{NodeId, NodeSet};
use crate::redlock::quorum::{Quorum, Verdict};
use crate::redlock::wire::answer::{Compared, Vote};
use crate::time::Instant;

impl Lock {
    /// Starts an attempt: a `SET` with the token of this `serial` goes to all of `nodes`.
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

    /// Asks nodes that this attempt has left out, with the same token.
    pub(crate) fn widen(&mut self, nodes: NodeSet) {
        self.votes.ask_more(nodes);
        self.presence.asked_more(nodes);
        self.owed += nodes.len() as u32;
    }

    /// Returns the verdict on the votes of an attempt. Nodes that were left out can still agree.
    pub(crate) const fn verdict(&self, quorum: Quorum) -> Verdict {
        quorum.verdict(self.votes.agreed(), self.votes.open().union(self.round.spare))
    }

    /// Starts an adoption, with the round of this `number`: the nodes in `asked` are asked for a
    /// token that another process took. The token may be on any of the nodes in `all`.
    pub(crate) fn begin_adoption(
        &mut self,
        serial: u64,
        number: u64,
        now: Instant,
        valid_until: Instant,
        asked: NodeSet,
        all: NodeSet,
    ) {
        self.begin_attempt(serial, now, valid_until, asked);
        self.phase = Phase::Adoption;
        self.presence = Presence::handed_over(all);
        self.round = Round::adoption(number, now, self.ttl);
    }

    /// Ends an adoption that succeeded. The nodes that have not answered hold up nothing, and stay
    /// unresolved until they do.
    pub(crate) fn adopted(&mut self) {
        self.round.end();
        self.votes.close();
    }

    /// Starts an extension: all of `nodes` are asked to keep the key for `ttl`.
    pub(crate) fn begin_extension(
        &mut self,
        number: u64,
        origin: Origin,
        now: Instant,
        ttl: Millis,
        nodes: NodeSet,
    ) {
        self.round = Round::extension(number, origin, now, ttl, nodes).behind(&self.round);
        // Whatever runs on the nodes from now on may keep the key this long.
        self.ttl = self.ttl.max(ttl);
        self.owed += nodes.len() as u32;
    }

    /// Gives up the lock: from now on nobody believes that a node has the token. Of the nodes on
    /// which the token may be, those for which `is_ready` are sent a release, which runs behind the
    /// `SET`. Returns these nodes, and the others, which the cleanup list takes care of.
    pub(crate) fn begin_release(
        &mut self,
        now: Instant,
        is_ready: impl Fn(NodeId) -> bool,
    ) -> (NodeSet, NodeSet) {
        let (may_hold, unresolved) = self.presence.take();
        let asked: NodeSet = may_hold.into_iter().filter(|id| is_ready(*id)).collect();
        let later = may_hold.without(asked).union(unresolved);
        self.round = Round::release(self.serial, now, asked, later).behind(&self.round);
        self.owed += asked.len() as u32;
        (asked, later)
    }

    /// Forgets where the token is: the token is somebody else's now, and nobody here releases it.
    pub(crate) fn disowned(&mut self) {
        self.presence = Presence::default();
    }

    /// Takes the nodes that are expected to refuse the token of a failed attempt out of those that
    /// may have the token, and returns them: all open votes, if every answer so far is a refusal. A
    /// set has none, because requests for single resources of the set must not overtake its
    /// release.
    pub(crate) fn set_aside_refusals(&mut self) -> NodeSet {
        let votes = &self.votes;
        let is_refused = votes.asked().without(votes.open()) == votes.refused();
        if is_refused && !votes.refused().is_empty() && !self.is_set() {
            self.presence.set_aside(votes.open())
        } else {
            NodeSet::EMPTY
        }
    }

    /// Expects refusals of `nodes`, which were set aside. All other nodes have got their releases.
    pub(crate) fn await_refusals(&mut self, nodes: NodeSet) {
        self.presence = Presence::awaiting(nodes);
    }

    /// Records the answer of a node to a failed attempt. Returns `true` if the node was expected to
    /// refuse the token, and may have the token.
    pub(crate) fn answered_late(&mut self, node: NodeId, serial: u64, vote: Vote) -> bool {
        self.serial == serial
            && self.presence.awaits_no_more(node)
            && matches!(vote, Vote::Granted | Vote::Unclear)
    }

    /// Starts a repair: the token goes to nodes that lack the key.
    pub(crate) fn begin_repair(&mut self, nodes: NodeSet) {
        self.presence.repair_sent(nodes);
        self.round.spare = self.round.spare.without(nodes);
        self.owed += nodes.len() as u32;
    }

    /// Records a vote. Returns `false` for a vote that does not count: only one for the `SET` of
    /// this very attempt does (S4). For an older attempt, and for a lock that was given up, the
    /// release is behind the `SET` on the same connection already, unless the node was expected to
    /// refuse: see [`answered_late`](Self::answered_late).
    pub(crate) fn voted(&mut self, node: NodeId, serial: u64, vote: Vote) -> bool {
        self.reply_settled();
        if self.serial != serial || !matches!(self.phase, Phase::Attempt | Phase::Held) {
            // Too late to count, and still a hint: the key of the owner is not there.
            let waits = matches!(self.phase, Phase::Backoff | Phase::AtDoor);
            if waits && vote == Vote::Granted && self.serial == serial {
                self.votes.agree(node);
            }
            return false;
        }
        match vote {
            Vote::Granted => self.votes.agree(node),
            Vote::Refused => self.votes.refuse(node),
            Vote::Failed | Vote::Unclear => self.votes.fail(node),
        }
        self.presence.voted(node, vote);
        true
    }

    /// Records the answer of a node to a repair, which is no vote. Returns `false` for the answer
    /// to a lock that is not held any more.
    pub(crate) fn repaired(&mut self, node: NodeId, serial: u64, vote: Vote) -> bool {
        self.reply_settled();
        if self.serial != serial || self.phase != Phase::Held {
            return false;
        }
        self.presence.repaired(node, vote);
        true
    }

    /// Records that the connection of a node died with a `SET` on its way (S4, S6). Returns `false`
    /// for the `SET` of an older attempt, and for a lock that was given up.
    pub(crate) fn connection_lost(&mut self, node: NodeId, serial: u64) -> bool {
        self.reply_settled();
        let is_believed = matches!(self.phase, Phase::Attempt | Phase::Held | Phase::Lapsing);
        if self.serial != serial || !is_believed {
            return false;
        }
        self.votes.lose(node);
        self.presence.connection_lost(node);
        true
    }

    /// Records the answer of a node to an adoption. Returns `false` for the answer to an older
    /// round. The answer of a node in quarantine does not count: the node may have forgotten once
    /// what it has now (S11).
    pub(crate) fn adoption_answered(
        &mut self,
        node: NodeId,
        number: u64,
        answer: Compared,
        is_quarantined: bool,
    ) -> bool {
        self.reply_settled();
        if self.phase != Phase::Adoption || self.round.number != number {
            return false;
        }
        if answer == Compared::Ours {
            self.presence.confirmed(node);
        }
        match answer {
            Compared::Ours if is_quarantined => self.votes.fail(node),
            Compared::Ours => self.votes.agree(node),
            Compared::Absent | Compared::Foreign => self.votes.refuse(node),
            Compared::Failed => self.votes.fail(node),
        }
        true
    }

    /// Records the answer of a node to an extension. An answer that comes after its round still
    /// tells what the node has. Returns `false` for the answer to a lock that is not held.
    pub(crate) fn extension_answered(
        &mut self,
        node: NodeId,
        number: u64,
        answer: Compared,
        is_quarantined: bool,
    ) -> bool {
        self.reply_settled();
        if self.phase != Phase::Held {
            return false;
        }
        let awaited = self.votes.open();
        self.presence.compared(node, answer, self.is_set(), awaited);
        if self.round.pending && self.round.number == number {
            match answer {
                // S11: the node may have forgotten once what it has now.
                Compared::Ours if is_quarantined => self.round.answered_in_quarantine(node),
                _ => self.round.answered(node, answer),
            }
        }
        true
    }

    /// Records the answer of a node to a release. Returns `false` for the release of an attempt
    /// that was given up, for which nobody waits.
    pub(crate) fn release_answered(&mut self, node: NodeId, number: u64, answer: Compared) -> bool {
        self.reply_settled();
        if self.phase != Phase::Releasing || self.round.number != number {
            return false;
        }
        self.round.answered(node, answer);
        true
    }

    /// One of the replies that are owed to this lock has come, or never will.
    pub(crate) fn reply_settled(&mut self) {
        self.owed -= 1;
    }

    /// Returns the nodes that may be part of the quorum that the lock needs. A node that never got
    /// the key, or said that it has the key no more, cannot be part of it. A node whose `SET` is
    /// unresolved can. A node that was left out can still be given the key, as if it had been asked
    /// with the others.
    pub(crate) fn may_be_held_by(&self) -> NodeSet {
        let gone = if self.is_set() { self.round.votes.refused() } else { NodeSet::EMPTY };
        self.presence.anywhere().union(self.round.spare).without(gone)
    }

    /// Counts a vote that nobody gave: what a saboteur does in an attempt.
    #[cfg(redbolt_sabotage)]
    pub(crate) fn forge_vote(&mut self, node: NodeId) {
        self.votes.agree(node);
    }

    /// Counts an answer that nobody gave: what a saboteur does in an extension.
    #[cfg(redbolt_sabotage)]
    pub(crate) fn forge_answer(&mut self, node: NodeId) {
        self.round.votes.agree(node);
    }
}

//! A round: one extension or one release, on all nodes that may have the token.

use super::votes::Votes;
use crate::redlock::millis::Millis;
use crate::redlock::node_set::{NodeId, NodeSet};
use crate::redlock::wire::answer::Compared;
use crate::time::Instant;

/// The side that wants an extension.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Origin {
    /// The owner of the lock, who waits for the result.
    #[default]
    Owner,
    /// The engine itself, to keep the lock alive. Nobody waits for the result.
    Renewal,
    /// The engine itself, to look for a token that another process took. The votes are those of the
    /// lock.
    Adoption,
}
/// One extension or one release.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Round {
    /// The number that tells the answers of this round from those of older rounds.
    pub(crate) number: u64,
    /// Whether an extension is under way.
    pub(crate) pending: bool,
    pub(crate) origin: Origin,
    pub(crate) started: Instant,
    pub(crate) ttl: Millis,
    pub(crate) votes: Votes,
    /// The nodes with another value at the key, out of the nodes that refused. The others have no
    /// value.
    foreign: NodeSet,
    /// The nodes that could have voted for the lock, and were left out, because a majority was
    /// asked first. They can be asked while the attempt lasts, and be given the key as long as the
    /// lock is held. They outlast the round, and are here because here they make no lock larger.
    pub(crate) spare: NodeSet,
    /// The first nodes of the attempt that had not answered when its hedge went off.
    pub(crate) late: NodeSet,
    /// Whether somebody outside knows the token, so that no other lock may have it. Of the lock as
    /// well, and here for the same reason.
    pub(crate) is_token_known: bool,
}

impl Round {
    /// Creates an extension by `ttl` from `started`, for which all of `nodes` are asked.
    pub(crate) fn extension(
        number: u64,
        origin: Origin,
        started: Instant,
        ttl: Millis,
        nodes: NodeSet,
    ) -> Self {
        Self {
            number,
            pending: true,
            origin,
            started,
            ttl,
            votes: Votes::ask(nodes),
            ..Self::default()
        }
    }

    /// Creates the round of an adoption. Its votes are those of the lock.
    pub(crate) fn adoption(number: u64, started: Instant, ttl: Millis) -> Self {
        Self { number, pending: true, origin: Origin::Adoption, started, ttl, ..Self::default() }
    }

    /// Returns this round with what the round before knows of the lock.
    pub(crate) fn behind(self, before: &Self) -> Self {
        Self { spare: before.spare, is_token_known: before.is_token_known, ..self }
    }

    /// Ends an extension or an adoption, in whatever way.
    pub(crate) const fn end(&mut self) {
        self.pending = false;
    }

    /// Creates a release that was sent to the nodes in `now`. The nodes in `later` get the release
    /// from their cleanup list.
    pub(crate) fn release(number: u64, started: Instant, now: NodeSet, later: NodeSet) -> Self {
        Self { number, started, votes: Votes::ask_some(now, later), ..Self::default() }
    }

    /// Returns `true` for a renewal.
    pub(crate) fn is_renewal(&self) -> bool {
        self.origin == Origin::Renewal
    }

    /// Records the answer of `node`.
    pub(crate) fn answered(&mut self, node: NodeId, answer: Compared) {
        match answer {
            Compared::Ours => self.votes.agree(node),
            Compared::Absent => self.votes.refuse(node),
            Compared::Foreign => {
                self.votes.refuse(node);
                self.foreign.insert(node);
            }
            Compared::Failed => self.votes.fail(node),
        }
    }

    /// Records that `node` has the key, but that the answer does not count (S11).
    pub(crate) fn answered_in_quarantine(&mut self, node: NodeId) {
        self.votes.fail(node);
    }

    /// Returns the nodes that said that they have no such key.
    pub(crate) const fn absent(&self) -> NodeSet {
        self.votes.refused().without(self.foreign)
    }

    /// Returns the nodes that said that another value stands at the key.
    pub(crate) const fn foreign(&self) -> NodeSet {
        self.foreign
    }
}

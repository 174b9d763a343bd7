//! The numbers that nodes have drawn for one lock, and which of them is its fence (S13).
//!
//! A fence is a number that a quorum of nodes has accepted, each as larger than all that it had
//! accepted before. Here is only arithmetic on sets of nodes: `machine` asks the nodes, and decides
//! by the time.

use super::votes::Votes;
use crate::redlock::fence::Fence;
use crate::redlock::node_set::{NodeId, NodeSet};
use crate::redlock::quorum::{Quorum, Verdict};
use crate::redlock::wire::fencing::Drawn;
use crate::time::Instant;

/// How often nodes are asked to accept another number, before a draw has failed. Each time but the
/// first, somebody else has raised the number of the stripe in between.
const MOST_RAISES: u8 = 4;

/// The numbers of one draw: of an attempt, or for a lock that is held.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Draws {
    /// When the first trip began.
    pub(crate) began: Instant,
    /// The number that was proposed, and the nodes that have drawn exactly that.
    pub(crate) proposal: u64,
    exact: NodeSet,
    /// The largest number that a node has drawn, and the nodes that have drawn the same.
    largest: u64,
    at_largest: NodeSet,
    /// All nodes that have drawn a number.
    drawn: NodeSet,
    /// The nodes that do not have the token any more.
    gone: NodeSet,
    /// The largest number that any node has told in any draw for this lock.
    pub(crate) seen: u64,
    raise: Option<Raise>,
    raises: u8,
    /// The question to the nodes of a lock that is held, while it is open.
    pub(crate) asked: Option<Asked>,
    /// The number of the lock, once it has one.
    pub(crate) fence: Option<Fence>,
}

/// A draw for a lock that is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Asked {
    /// The number of the draw, by which late replies to an older one are known.
    pub(crate) serial: u64,
    pub(crate) votes: Votes,
}

/// A number that nodes are asked to accept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Raise {
    /// The serial, by which late replies to an older question are known.
    serial: u64,
    number: Fence,
    /// The nodes that were asked, and have not answered.
    open: NodeSet,
    accepted: NodeSet,
}

/// What follows from the numbers so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// A quorum has accepted this number.
    Fence(Fence),
    /// A quorum has drawn, and their numbers differ: they are to accept one that is larger.
    Raise,
    /// The answers on their way will decide.
    Open,
    /// No number will be accepted by a quorum.
    Impossible,
}

impl Draws {
    /// Starts a draw with this proposal. What was seen in earlier draws stays.
    pub(crate) fn begin(&mut self, now: Instant, proposal: u64) {
        let Self { seen, fence, .. } = *self;
        *self = Self { began: now, proposal, seen, fence, ..Self::default() };
    }

    /// Records the number that an adopted lock brings along. No node is asked for anything that
    /// follows from this number, because the caller who brings the number can be wrong.
    pub(crate) fn bring(&mut self, fence: Fence) {
        self.fence = Some(fence);
    }

    /// Records the number that a node has drawn.
    pub(crate) fn drew(&mut self, node: NodeId, fence: Fence) {
        let number = fence.get();
        self.seen = self.seen.max(number);
        self.drawn.insert(node);
        // An answer to an older question may have said otherwise meanwhile.
        self.gone.remove(node);
        if number == self.proposal {
            self.exact.insert(node);
        }
        if number > self.largest {
            self.largest = number;
            self.at_largest = NodeSet::EMPTY;
        }
        if number == self.largest {
            self.at_largest.insert(node);
        }
        if let Some(raise) = self.raise.as_mut().filter(|raise| raise.number == fence) {
            raise.accepted.insert(node);
        }
    }

    /// Starts a draw with this proposal for a lock that is held: `nodes` are asked.
    pub(crate) fn begin_held(&mut self, now: Instant, proposal: u64, serial: u64, nodes: NodeSet) {
        self.begin(now, proposal);
        self.asked = Some(Asked { serial, votes: Votes::ask(nodes) });
    }

    /// Records that a node has drawn for a lock that is held, or has not. Returns `false` for the
    /// answer to an older draw.
    pub(crate) fn answered(&mut self, node: NodeId, serial: u64, answer: Drawn) -> bool {
        let Some(asked) = self.asked.as_mut().filter(|asked| asked.serial == serial) else {
            return false;
        };
        match answer {
            Drawn::Number(fence) => {
                asked.votes.agree(node);
                self.drew(node, fence);
            }
            Drawn::Gone => asked.votes.refuse(node),
            Drawn::Lost => asked.votes.lose(node),
            _ => asked.votes.fail(node),
        }
        true
    }

    /// Starts to ask `nodes` to accept a number that is larger than all that were seen. Returns
    /// `None` if there is no such number.
    ///
    /// Others who share the stripe draw on while the question is on its way, and what they draw
    /// grows with the time. So the number is ahead of what was seen by the time of two such trips,
    /// as far as `most` allows.
    pub(crate) fn begin_raise(
        &mut self,
        now: Instant,
        most: u64,
        serial: u64,
        nodes: NodeSet,
    ) -> Option<Fence> {
        let micros = u64::try_from((now - self.began).as_micros()).unwrap_or(u64::MAX);
        let ahead = self.seen.saturating_add(micros.saturating_mul(2)).min(most);
        let number = Fence::new(ahead.max(self.seen.saturating_add(1)))?;
        self.raises += 1;
        self.seen = number.get();
        let accepted = NodeSet::EMPTY;
        self.raise = Some(Raise { serial, number, open: nodes, accepted });
        Some(number)
    }

    /// Returns the serial and the number of the raise under way, if a node that has just drawn is
    /// to be asked as well: its number is smaller. The caller asks the node.
    pub(crate) fn raise_late(&mut self, node: NodeId, drawn: Fence) -> Option<(u64, Fence)> {
        let raise = self.raise.as_mut().filter(|raise| drawn < raise.number)?;
        raise.open.insert(node);
        Some((raise.serial, raise.number))
    }

    /// Returns the number that nodes are being asked to accept, if this is the serial of the
    /// question.
    pub(crate) fn raised_to(&self, serial: u64) -> Option<Fence> {
        self.raise.filter(|raise| raise.serial == serial).map(|raise| raise.number)
    }

    /// Returns `true` if nodes have been asked to accept a number.
    pub(crate) const fn is_raising(&self) -> bool {
        self.raise.is_some()
    }

    /// Returns the nodes that can be asked to accept a number: those that have drawn, and have the
    /// token as far as is known.
    pub(crate) fn raisable(&self) -> NodeSet {
        self.drawn.without(self.gone)
    }

    /// Records the answer of a node that was asked to accept a number. Returns `false` for the
    /// answer to an older question.
    pub(crate) fn raised(&mut self, node: NodeId, serial: u64, answer: Drawn) -> bool {
        if let Drawn::Behind(number) = answer {
            self.seen = self.seen.max(number).min(Fence::MOST);
        }
        if answer == Drawn::Gone {
            self.gone.insert(node);
        }
        let Some(raise) = self.raise.as_mut().filter(|raise| raise.serial == serial) else {
            return false;
        };
        raise.open.remove(node);
        if answer == Drawn::Accepted {
            raise.accepted.insert(node);
        }
        true
    }

    /// Returns the largest number that a node has drawn: what a saboteur takes for a fence.
    #[cfg(redbolt_sabotage)]
    pub(crate) fn largest(&self) -> Option<Fence> {
        Fence::new(self.largest)
    }

    /// Returns the number that one node has accepted in the second trip: what another saboteur
    /// takes for a fence.
    #[cfg(redbolt_sabotage)]
    pub(crate) fn raised_by_one(&self) -> Option<Fence> {
        self.raise.filter(|raise| !raise.accepted.is_empty()).map(|raise| raise.number)
    }

    /// Returns what follows from the numbers so far. The nodes in `open` may still draw.
    ///
    /// Two candidates are kept beside the number of the raise: the proposal and the largest number
    /// drawn. Any number that a quorum has accepted is sound, whatever the other nodes have.
    pub(crate) fn outcome(&self, quorum: Quorum, open: NodeSet) -> Outcome {
        let candidates = [
            (self.proposal, self.exact),
            (self.largest, self.at_largest),
            self.raise.map_or((0, NodeSet::EMPTY), |raise| (raise.number.get(), raise.accepted)),
        ];
        for (number, nodes) in candidates {
            if let (Some(fence), Verdict::Granted) =
                (Fence::new(number), quorum.verdict(nodes, NodeSet::EMPTY))
            {
                return Outcome::Fence(fence);
            }
        }
        let Some(raise) = self.raise else {
            return match quorum.verdict(self.drawn, open) {
                Verdict::Granted => Outcome::Raise,
                Verdict::Open => Outcome::Open,
                Verdict::Impossible => Outcome::Impossible,
            };
        };
        let can_be = |nodes, open| quorum.verdict(nodes, open) != Verdict::Impossible;
        if can_be(raise.accepted, raise.open.union(open)) {
            Outcome::Open
        } else if self.raises < MOST_RAISES
            && self.seen > raise.number.get()
            && can_be(self.raisable(), open)
        {
            Outcome::Raise
        } else {
            Outcome::Impossible
        }
    }
}

#[cfg(test)]
mod tests;

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
mod tests {
    use super::*;

    const P: u64 = 1 << 40;

    fn node(index: usize) -> NodeId {
        NodeId::new(index).expect("few nodes")
    }

    fn fence(number: u64) -> Fence {
        Fence::new(number).expect("in range")
    }

    fn nodes<const N: usize>(indexes: [usize; N]) -> NodeSet {
        indexes.into_iter().map(node).collect()
    }

    /// The draws of nodes with these numbers above the proposal.
    fn draws(numbers: &[u64]) -> Draws {
        let mut draws = Draws::default();
        draws.begin(Instant::ZERO, P);
        for (index, above) in numbers.iter().enumerate() {
            draws.drew(node(index), fence(P + above));
        }
        draws
    }

    #[test]
    fn a_number_of_a_quorum_is_the_fence_whatever_the_others_drew() {
        use Outcome::{Fence, Impossible, Open, Raise};
        let rows: [(usize, &[u64], usize, Outcome); 15] = [
            // Nodes, what they drew above the proposal, how many may still draw.
            (1, &[0], 0, Fence(fence(P))),
            (3, &[0], 2, Open),
            (3, &[0], 1, Open),
            (3, &[0], 0, Impossible),
            (3, &[0, 0], 1, Fence(fence(P))),
            (3, &[0, 7], 1, Raise),
            (3, &[7, 7], 1, Fence(fence(P + 7))),
            (3, &[0, 7, 0], 0, Fence(fence(P))),
            (3, &[0, 7, 7], 0, Fence(fence(P + 7))),
            (5, &[0, 0, 7, 7], 1, Raise),
            (5, &[0, 7, 7, 9, 7], 0, Raise),
            (5, &[9, 0, 9, 0, 0], 0, Fence(fence(P))),
            (5, &[9, 0, 9, 0, 9], 0, Fence(fence(P + 9))),
            (5, &[0, 0], 1, Open),
            (5, &[0, 0], 0, Impossible),
        ];
        for (count, numbers, open, expected) in rows {
            let quorum = Quorum::majority(count).expect("few nodes");
            let drawn = NodeSet::first(numbers.len());
            let open = NodeSet::first(numbers.len() + open).without(drawn);
            let found = draws(numbers).outcome(quorum, open);
            assert_eq!(found, expected, "{numbers:?} of {count}, open {open:?}");
        }
    }

    #[test]
    fn a_raise_needs_a_quorum_that_accepts_and_not_one_that_is_behind() {
        let three = Quorum::majority(3).expect("three");
        let mut draws = draws(&[0, 7]);
        let number = draws.begin_raise(Instant::ZERO, 0, 1, draws.raisable()).expect("in range");
        assert_eq!(number, fence(P + 8));
        assert_eq!(draws.outcome(three, nodes([2])), Outcome::Open);
        assert!(draws.raised(node(0), 1, Drawn::Accepted));
        assert_eq!(draws.outcome(three, nodes([2])), Outcome::Open);
        assert!(draws.raised(node(1), 1, Drawn::Behind(P + 20)));
        assert_eq!(draws.outcome(three, nodes([2])), Outcome::Open, "the last may draw it");
        assert_eq!(draws.outcome(three, NodeSet::EMPTY), Outcome::Raise);
        assert_eq!(draws.begin_raise(Instant::ZERO, 0, 2, draws.raisable()), Some(fence(P + 21)));
        assert!(!draws.raised(node(1), 1, Drawn::Accepted), "that was the older question");
        assert!(draws.raised(node(0), 2, Drawn::Accepted));
        assert!(draws.raised(node(1), 2, Drawn::Accepted));
        assert_eq!(draws.outcome(three, NodeSet::EMPTY), Outcome::Fence(fence(P + 21)));
    }

    #[test]
    fn a_late_vote_completes_the_proposal_the_largest_or_the_raise() {
        let three = Quorum::majority(3).expect("three");
        for (late, expected) in [(0, 0), (7, 7), (8, 8)] {
            let mut draws = draws(&[0, 7]);
            draws.begin_raise(Instant::ZERO, 0, 1, draws.raisable());
            if expected == 8 {
                draws.raised(node(0), 1, Drawn::Accepted);
                assert_eq!(draws.raise_late(node(2), fence(P + 8)), None);
            } else {
                assert_eq!(draws.raise_late(node(2), fence(P)), Some((1, fence(P + 8))));
            }
            draws.drew(node(2), fence(P + late));
            let found = draws.outcome(three, NodeSet::EMPTY);
            assert_eq!(found, Outcome::Fence(fence(P + expected)), "{late}");
        }
    }

    #[test]
    fn raises_end_and_never_leave_the_range() {
        let three = Quorum::majority(3).expect("three");
        let mut draws = draws(&[0, 7, 9]);
        for serial in 1..=u64::from(MOST_RAISES) {
            assert_eq!(draws.outcome(three, NodeSet::EMPTY), Outcome::Raise, "{serial}");
            draws.begin_raise(Instant::ZERO, 0, serial, draws.raisable());
            for index in 0..3 {
                draws.raised(node(index), serial, Drawn::Behind(P + 100 * serial));
            }
        }
        assert_eq!(draws.outcome(three, NodeSet::EMPTY), Outcome::Impossible);
        draws.seen = Fence::MOST;
        assert_eq!(draws.begin_raise(Instant::ZERO, 0, 9, draws.raisable()), None);
    }

    #[test]
    fn nodes_without_the_token_accept_nothing_more() {
        let three = Quorum::majority(3).expect("three");
        let mut draws = draws(&[0, 7]);
        draws.begin_raise(Instant::ZERO, 0, 1, draws.raisable());
        draws.raised(node(0), 1, Drawn::Gone);
        draws.raised(node(1), 1, Drawn::Behind(P + 20));
        assert_eq!(draws.raisable(), nodes([1]));
        assert_eq!(draws.outcome(three, NodeSet::EMPTY), Outcome::Impossible);
    }

    #[test]
    fn a_node_that_draws_has_the_token_whatever_it_said_before() {
        let three = Quorum::majority(3).expect("three");
        let mut draws = draws(&[0, 7]);
        draws.begin_raise(Instant::ZERO, 0, 1, draws.raisable());
        draws.begin(Instant::ZERO, P);
        // The answer to a question of the draw before.
        assert!(!draws.raised(node(1), 1, Drawn::Gone));
        draws.drew(node(0), fence(P));
        draws.drew(node(1), fence(P + 9));
        assert_eq!(draws.outcome(three, NodeSet::EMPTY), Outcome::Raise);
        assert_eq!(draws.raisable(), nodes([0, 1]));
    }

    #[test]
    fn what_was_seen_outlives_a_draw() {
        let mut draws = draws(&[7]);
        draws.begin_raise(Instant::ZERO, 0, 1, nodes([0]));
        draws.begin(Instant::ZERO, P + 1);
        assert_eq!((draws.seen, draws.is_raising()), (P + 8, false));
        assert_eq!(draws.raisable(), NodeSet::EMPTY);
    }
}

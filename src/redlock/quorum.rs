//! Counting votes: the first of the two small files on which the safety argument rests (S3).
//!
//! The quorum is taken from the *configured* number of nodes, never from the number that happens to
//! be reachable: two clients that count over different reachable sets could each find a "majority".
//! Any two quorums of the same configuration share a node, and that node gave its one `+OK` to only
//! one of the two clients.

use super::node_set::{MAX_NODES, NodeSet};

/// The number of nodes that must agree, out of the number of configured nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quorum {
    nodes: u8,
    need: u8,
}

/// The result of the votes so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Enough nodes agreed; the other nodes cannot change that.
    Granted,
    /// Too few nodes would agree, even if every open vote came in favour.
    Impossible,
    /// The open votes will decide.
    Open,
}

impl Quorum {
    /// Returns the smallest safe quorum of `nodes` nodes: ⌊N/2⌋ + 1.
    ///
    /// The result is `None` unless `nodes` is between 1 and [`MAX_NODES`].
    pub const fn majority(nodes: usize) -> Option<Self> {
        Self::new(nodes, nodes / 2 + 1)
    }

    /// Returns what a saboteur takes for a majority.
    #[cfg(redbolt_sabotage)]
    pub(super) const fn half(self) -> Self {
        let half = self.nodes / 2;
        Self { need: if half == 0 { 1 } else { half }, ..self }
    }

    /// Creates a quorum of `need` out of `nodes` nodes.
    ///
    /// The result is `None` for less than a majority, because two such quorums need not share a
    /// node, and for more than all nodes.
    pub const fn new(nodes: usize, need: usize) -> Option<Self> {
        if nodes == 0 || nodes > MAX_NODES || need <= nodes / 2 || need > nodes {
            return None;
        }
        Some(Self { nodes: nodes as u8, need: need as u8 })
    }

    /// Returns the number of configured nodes.
    pub const fn nodes(self) -> usize {
        self.nodes as usize
    }

    /// Returns the number of nodes that must agree.
    pub const fn need(self) -> usize {
        self.need as usize
    }

    /// Returns the verdict on the nodes that `agreed` and the nodes whose vote is `open`. A node in
    /// both sets counts once.
    #[inline]
    pub const fn verdict(self, agreed: NodeSet, open: NodeSet) -> Verdict {
        if agreed.len() >= self.need() {
            Verdict::Granted
        } else if agreed.union(open).len() < self.need() {
            Verdict::Impossible
        } else {
            Verdict::Open
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(bits: &str) -> NodeSet {
        let nodes = bits.bytes().enumerate().filter(|(_, bit)| *bit == b'x');
        nodes.filter_map(|(index, _)| crate::redlock::NodeId::new(index)).collect()
    }

    #[test]
    fn majority_is_more_than_half() {
        let expected = [(1, 1), (2, 2), (3, 2), (4, 3), (5, 3), (6, 4), (7, 4), (15, 8), (16, 9)];
        for (nodes, need) in expected {
            assert_eq!(Quorum::majority(nodes).map(Quorum::need), Some(need), "of {nodes}");
        }
    }

    #[test]
    fn any_two_quorums_share_a_node() {
        for nodes in 1..=MAX_NODES {
            for need in 0..=nodes + 1 {
                let Some(quorum) = Quorum::new(nodes, need) else { continue };
                assert!(2 * quorum.need() > nodes, "{need} of {nodes} can miss each other");
            }
        }
    }

    #[test]
    fn less_than_a_majority_or_more_than_all_is_refused() {
        for (nodes, need) in [(0, 0), (0, 1), (1, 0), (2, 1), (4, 2), (5, 2), (5, 6), (17, 9)] {
            assert_eq!(Quorum::new(nodes, need), None, "{need} of {nodes}");
        }
        assert!(Quorum::new(5, 5).is_some());
    }

    #[test]
    fn verdicts() {
        use Verdict::{Granted, Impossible, Open};
        let rows = [
            // nodes, need, agreed, open, verdict
            (1, 1, ".", "x", Open),
            (1, 1, "x", ".", Granted),
            (1, 1, ".", ".", Impossible),
            (2, 2, "x.", ".x", Open),
            (2, 2, "x.", "..", Impossible),
            (2, 2, "xx", "..", Granted),
            (3, 2, "x..", "..x", Open),
            (3, 2, "x.x", "...", Granted),
            (3, 2, "...", "..x", Impossible),
            (4, 3, "xx..", "..x.", Open),
            (4, 3, "xx..", "....", Impossible),
            (5, 3, "xx...", "..xxx", Open),
            (5, 3, "xx...", ".....", Impossible),
            (5, 3, "xxx..", ".....", Granted),
            (5, 3, ".....", "...xx", Impossible),
            (5, 3, ".....", "..xxx", Open),
            (5, 4, "xxx..", "....x", Open),
            (5, 4, "xxx..", ".....", Impossible),
            (5, 5, "xxxxx", ".....", Granted),
            // A node that agreed and is still open must not count twice.
            (3, 2, "x..", "x..", Impossible),
        ];
        for (nodes, need, agreed, open, verdict) in rows {
            let quorum = Quorum::new(nodes, need).expect("the rows are safe quorums");
            let found = quorum.verdict(set(agreed), set(open));
            assert_eq!(found, verdict, "{need} of {nodes}, agreed {agreed}, open {open}");
        }
    }
}

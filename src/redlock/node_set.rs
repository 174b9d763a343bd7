//! Ids of nodes, and sets of nodes.

use core::fmt;

/// The maximum number of nodes of one engine. Redlock deployments have three, five or seven.
pub const MAX_NODES: usize = 16;

/// The id of a node: its position in the configured list, counted from zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(u8);

impl NodeId {
    /// Returns the id of the node at position `index` of the configured list.
    ///
    /// The result is `None` for an index of [`MAX_NODES`] or more.
    pub const fn new(index: usize) -> Option<Self> {
        if index < MAX_NODES { Some(Self(index as u8)) } else { None }
    }

    /// Returns the position in the configured list.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {}", self.0)
    }
}

/// A set of nodes, with one bit for each node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct NodeSet(u16);

/// The number of set bits in each byte. Baseline x86-64 has no instruction that counts bits, and
/// what `count_ones` becomes instead costs 130 instructions of a cycle of a lock over five nodes.
const ONES: [u8; 256] = {
    let mut ones = [0; 256];
    let mut byte = 1;
    while byte < 256 {
        ones[byte] = ones[byte / 2] + (byte % 2) as u8;
        byte += 1;
    }
    ones
};

impl NodeSet {
    /// The empty set.
    pub const EMPTY: Self = Self(0);

    /// Returns the set of the first `count` nodes; all [`MAX_NODES`] when `count` is larger.
    pub const fn first(count: usize) -> Self {
        if count >= MAX_NODES { Self(u16::MAX) } else { Self((1 << count) - 1) }
    }

    /// Adds `node`.
    pub const fn insert(&mut self, node: NodeId) {
        self.0 |= 1 << node.0;
    }

    /// Removes `node`.
    pub const fn remove(&mut self, node: NodeId) {
        self.0 &= !(1 << node.0);
    }

    /// Returns whether `node` is a member.
    pub const fn contains(self, node: NodeId) -> bool {
        self.0 & (1 << node.0) != 0
    }

    /// Returns the number of members.
    pub const fn len(self) -> usize {
        let [low, high] = self.0.to_le_bytes();
        (ONES[low as usize] + ONES[high as usize]) as usize
    }

    /// Returns whether the set has no members.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the nodes that are in at least one of the two sets.
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the nodes that are in both sets.
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the nodes of this set that are not in `other`.
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl FromIterator<NodeId> for NodeSet {
    fn from_iter<I: IntoIterator<Item = NodeId>>(nodes: I) -> Self {
        let mut set = Self::EMPTY;
        nodes.into_iter().for_each(|node| set.insert(node));
        set
    }
}

impl IntoIterator for NodeSet {
    type Item = NodeId;
    type IntoIter = NodeSetIter;

    fn into_iter(self) -> NodeSetIter {
        NodeSetIter(self.0)
    }
}

/// An iterator over the members of a [`NodeSet`], in ascending order.
#[derive(Clone, Debug)]
pub struct NodeSetIter(u16);

impl Iterator for NodeSetIter {
    type Item = NodeId;

    #[inline]
    fn next(&mut self) -> Option<NodeId> {
        if self.0 == 0 {
            return None;
        }
        let lowest = self.0.trailing_zeros() as u8;
        self.0 &= self.0 - 1;
        Some(NodeId(lowest))
    }
}

impl fmt::Debug for NodeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.into_iter().map(NodeId::index)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_has_as_many_members_as_bits() {
        for bits in 0..=u16::MAX {
            assert_eq!(NodeSet(bits).len(), bits.count_ones() as usize, "{bits:016b}");
        }
    }
}

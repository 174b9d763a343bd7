//! Which requests listen at a node, instead of looking at the door again and again.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use crate::redlock::node_set::NodeId;
use crate::redlock::xxh64::xxh64;
use crate::time::Instant;

/// What a request waits to hear of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Listening {
    /// The node that has said that it tells what happens to the key.
    pub(crate) node: NodeId,
    /// The key, as a hash. Two keys with the same one wake each other, which costs a look.
    key: u64,
    /// Whether that is the key of the owner, and not that of a ticket.
    pub(crate) is_lock: bool,
    /// When the key of the owner ends on the node by itself, as far as the node has told.
    pub(crate) ends: Option<Instant>,
}

/// The slots of the requests that listen.
#[derive(Default, Debug)]
pub(crate) struct Listeners {
    /// By the node and the hash of the key. Nearly always one: the first in line. A set can listen
    /// for the key of a single resource. In order, so that a node which tells of all keys again and
    /// again costs no time where nobody listens there.
    slots: BTreeMap<(NodeId, u64), SmallVec<[u32; 2]>>,
}

impl Listening {
    pub(crate) fn new(node: NodeId, key: &[u8]) -> Self {
        Self { node, key: hash(key), is_lock: true, ends: None }
    }

    /// The same for the key of a ticket.
    pub(crate) fn to_ticket(node: NodeId, key: &[u8]) -> Self {
        Self { is_lock: false, ..Self::new(node, key) }
    }

    fn place(&self) -> (NodeId, u64) {
        (self.node, self.key)
    }
}

impl Listeners {
    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Adds a request that listens for nothing yet.
    pub(crate) fn add(&mut self, slot: u32, listening: &Listening) {
        self.slots.entry(listening.place()).or_default().push(slot);
    }

    /// Removes a request that listens. Sets with the same first key are few, as they are in the
    /// way of each other.
    pub(crate) fn remove(&mut self, slot: u32, listening: &Listening) {
        let Some(slots) = self.slots.get_mut(&listening.place()) else { return };
        slots.retain(|other| *other != slot);
        if slots.is_empty() {
            self.slots.remove(&listening.place());
        }
    }

    /// Returns the requests that listen at a node for this key.
    pub(crate) fn of(&self, node: NodeId, key: &[u8]) -> SmallVec<[u32; 2]> {
        if self.is_empty() {
            return SmallVec::new();
        }
        self.slots.get(&(node, hash(key))).cloned().unwrap_or_default()
    }

    /// Returns all requests that listen at a node, in the order of their slots.
    pub(crate) fn at(&self, node: NodeId) -> Vec<u32> {
        let keys = self.slots.range((node, u64::MIN)..=(node, u64::MAX));
        let mut slots: Vec<_> = keys.flat_map(|(_, slots)| slots).copied().collect();
        slots.sort_unstable();
        slots
    }
}

fn hash(key: &[u8]) -> u64 {
    xxh64(key, 0)
}

#[cfg(test)]
mod tests;

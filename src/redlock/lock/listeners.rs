//! Which requests listen at a node, instead of looking at the door again and again.

use std::collections::HashMap;

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
    /// When the key ends on the node by itself, as far as the node has told: in the far future, if
    /// never.
    pub(crate) ends: Option<Instant>,
}

/// The slots of the requests that listen.
#[derive(Default, Debug)]
pub(crate) struct Listeners {
    /// By the hash of the key. Nearly always one: the first in line. A set of resources can listen
    /// for the key of a single one.
    slots: HashMap<u64, SmallVec<[u32; 2]>>,
}

impl Listening {
    pub(crate) fn new(node: NodeId, key: &[u8]) -> Self {
        Self { node, key: hash(key), ends: None }
    }
}

impl Listeners {
    pub(crate) fn reserve(&mut self, keys: usize) {
        self.slots.reserve(keys);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Adds a request that listens for nothing yet.
    pub(crate) fn add(&mut self, slot: u32, listening: &Listening) {
        self.slots.entry(listening.key).or_default().push(slot);
    }

    /// Removes a request that listens. Sets with the same first key are few, as they are in the
    /// way of each other.
    pub(crate) fn remove(&mut self, slot: u32, listening: &Listening) {
        let Some(slots) = self.slots.get_mut(&listening.key) else { return };
        slots.retain(|other| *other != slot);
        if slots.is_empty() {
            self.slots.remove(&listening.key);
        }
    }

    /// Returns the requests that listen for this key, at whatever node.
    pub(crate) fn of(&self, key: &[u8]) -> SmallVec<[u32; 2]> {
        if self.is_empty() { SmallVec::new() } else { self.of_hash(hash(key)) }
    }

    fn of_hash(&self, key: u64) -> SmallVec<[u32; 2]> {
        self.slots.get(&key).cloned().unwrap_or_default()
    }

    /// Returns all requests that listen, in the order of their slots: maps have none, and the same
    /// calls must give the same answers.
    pub(crate) fn all(&self) -> Vec<u32> {
        let mut all: Vec<_> = self.slots.values().flatten().copied().collect();
        all.sort_unstable();
        all
    }
}

fn hash(key: &[u8]) -> u64 {
    xxh64(key, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_found_by_the_key_that_they_listen_for() {
        let node = NodeId::new(0).expect("there is a first node");
        let [a, b] = [b"a", b"b"].map(|key| Listening::new(node, key));
        let mut listeners = Listeners::default();
        assert!(listeners.is_empty() && listeners.of(b"a").is_empty());
        for (slot, listening) in [(7, &a), (3, &b), (5, &a)] {
            listeners.add(slot, listening);
        }
        assert_eq!(listeners.of(b"a")[..], [7, 5]);
        assert_eq!(listeners.all(), [3, 5, 7]);
        listeners.remove(7, &a);
        listeners.remove(7, &b);
        assert_eq!((&listeners.of(b"a")[..], &listeners.of(b"b")[..]), (&[5][..], &[3][..]));
        listeners.remove(5, &a);
        listeners.remove(3, &b);
        assert!(listeners.is_empty());
    }
}

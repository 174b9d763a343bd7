//! What requests have seen at the door, by slot.

use smallvec::SmallVec;

use super::Table;
use crate::redlock::lock::door::Door;
use crate::redlock::lock::listeners::Listening;
use crate::redlock::node_set::NodeId;

/// How many requests can look at doors at a time before memory is taken for more of them.
const FIRST_DOORS: usize = 256;

impl Table {
    /// Returns what the request in `slot` has seen at the door, if it has looked.
    pub(crate) fn door(&self, slot: u32) -> Option<&Door> {
        if self.doors.is_empty() { None } else { self.doors.get(&slot) }
    }

    /// Returns the same to be changed.
    #[cold]
    pub(crate) fn door_mut(&mut self, slot: u32) -> &mut Door {
        if self.doors.capacity() == 0 {
            self.doors.reserve(FIRST_DOORS);
        }
        self.doors.entry(slot).or_default()
    }

    /// Lets the request in `slot` listen.
    #[cold]
    pub(crate) fn listen(&mut self, slot: u32, listening: Listening) {
        self.end_listening(slot);
        self.door_mut(slot).listening = Some(listening);
        self.listeners.add(slot, &listening);
    }

    /// Ends that the request in `slot` listens. Returns for what it has listened.
    pub(crate) fn end_listening(&mut self, slot: u32) -> Option<Listening> {
        if self.listeners.is_empty() {
            return None;
        }
        let listening = self.doors.get_mut(&slot)?.listening.take()?;
        self.listeners.remove(slot, &listening);
        Some(listening)
    }

    /// Ends that the request in `slot` is about to knock.
    pub(crate) fn forget_knock(&mut self, slot: u32) {
        if let Some(door) = self.doors.get_mut(&slot) {
            door.take_knock();
        }
    }

    /// Returns the requests that listen at a node for this key.
    pub(crate) fn listeners_of(&self, node: NodeId, key: &[u8]) -> SmallVec<[u32; 2]> {
        self.listeners.of(node, key)
    }

    /// Returns all requests that listen at a node.
    pub(crate) fn listeners_at(&self, node: NodeId) -> Vec<u32> {
        self.listeners.at(node)
    }

    #[cold]
    pub(super) fn forget_door(&mut self, slot: u32) {
        self.end_listening(slot);
        self.doors.remove(&slot);
    }
}

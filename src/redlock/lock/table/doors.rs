//! What requests have seen at the door, by slot.

use super::Table;
use crate::redlock::lock::door::Door;

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

    #[cold]
    pub(super) fn forget_door(&mut self, slot: u32) {
        self.doors.remove(&slot);
    }
}

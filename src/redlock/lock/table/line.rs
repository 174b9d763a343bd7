//! The line of the locks that want one resource. The first lock of the line is in the index.

use super::Table;
use crate::redlock::lock::{Links, NONE};

impl Table {
    /// Makes `slot` the first lock of its resource, which has none yet.
    pub(crate) fn lead(&mut self, slot: u32) {
        let bucket = self.bucket(self[slot].links.hash);
        let next = self.buckets[bucket].wrapping_sub(1);
        let links = &mut self[slot].links;
        links.bucket = next;
        links.last = slot;
        self.buckets[bucket] = slot + 1;
    }

    /// Adds `slot` at the end of the line behind `first`.
    pub(crate) fn line_up(&mut self, first: u32, slot: u32) {
        let last = self[first].links.last;
        self[last].links.behind = slot;
        self[slot].links.before = last;
        self[first].links.last = slot;
    }

    /// Returns how many stand in line behind `first`.
    pub(crate) fn line_behind(&self, first: u32) -> u32 {
        let (mut count, mut next) = (0, self[first].links.behind);
        while next != NONE {
            (count, next) = (count + 1, self[next].links.behind);
        }
        count
    }

    /// Adds an adoption behind `first` and the adoptions that wait already, ahead of all others in
    /// the line.
    pub(crate) fn line_up_next(&mut self, first: u32, slot: u32) {
        let (mut before, mut next) = (first, self[first].links.behind);
        while next != NONE && self[next].is_adopted() {
            (before, next) = (next, self[next].links.behind);
        }
        if next == NONE {
            return self.line_up(first, slot);
        }
        (self[slot].links.before, self[slot].links.behind) = (before, next);
        self[before].links.behind = slot;
        self[next].links.before = slot;
    }

    /// Makes `slot` the first lock of its resource, ahead of `first` and the line behind `first`.
    pub(crate) fn overtake(&mut self, first: u32, slot: u32) {
        let Links { hash, behind, last, .. } = self[first].links;
        self.unlink(first);
        self.lead(slot);
        let links = &mut self[slot].links;
        (links.behind, links.last) = (first, last);
        self[first].links = Links { hash, before: slot, behind, ..Links::UNLINKED };
    }

    /// Removes `slot` from its line. If `slot` was the first, the next in line becomes the first
    /// and is returned.
    pub(crate) fn leave_line(&mut self, slot: u32) -> Option<u32> {
        let Links { hash, before, behind, last, .. } = self[slot].links;
        let links = &mut self[slot].links;
        (links.before, links.behind, links.last) = (NONE, NONE, NONE);
        if behind != NONE {
            self[behind].links.before = before;
        }
        if before == NONE {
            if behind == NONE {
                return None;
            }
            self.lead(behind);
            self[behind].links.last = last;
            return Some(behind);
        }
        self[before].links.behind = behind;
        if behind == NONE {
            // The last lock has left the line: the first lock must know the new end.
            if let Some(first) = self.first_of(self[slot].names(), hash) {
                self[first].links.last = before;
            }
        }
        None
    }
}

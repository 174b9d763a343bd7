//! The next deadline of each lock: a heap that knows where its entries are.
//!
//! A lock has at most one entry. Setting a *later* deadline does nothing, because an entry that
//! comes too early costs only one look at the lock. In the cycle acquire, hold, release, deadlines
//! only ever become later: the cycle touches the heap twice. In a large heap the entry of a lock
//! that has ended stays until it comes up, and serves the next lock of the slot: then most cycles
//! do not touch the heap at all.

#[cfg(any(feature = "net", test))]
use smallvec::SmallVec;

use crate::time::Instant;

/// The number of children per parent. With four, the depth is half that of a binary heap, and
/// siblings share a cache line.
const ARITY: usize = 4;

/// A heap of so many entries is small: removing one costs next to nothing, and nobody is woken up
/// for a lock that has ended. In a heap of 512, setting and removing cost 320 instructions of a
/// cycle.
const FEW: usize = 32;

/// How many entries one question looks at.
#[cfg(any(feature = "net", test))]
const LOOKS: usize = 4_096;

const NOWHERE: u32 = u32::MAX;

pub(super) struct Timers {
    heap: Vec<Entry>,
    /// The position of each slot's entry in the heap.
    position: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Entry {
    at: Instant,
    slot: u32,
}

impl Timers {
    pub(super) fn with_capacity(slots: usize) -> Self {
        Self { heap: Vec::with_capacity(slots), position: Vec::with_capacity(slots) }
    }

    /// Returns the deadline of the earliest entry. The lock of that entry may really be due later.
    pub(super) fn next(&self) -> Option<Instant> {
        self.heap.first().map(|entry| entry.at)
    }

    /// Makes sure that `slot` comes up no later than `at`.
    pub(super) fn set(&mut self, slot: u32, at: Instant) {
        let index = slot as usize;
        if index >= self.position.len() {
            self.position.resize(index + 1, NOWHERE);
        }
        let place = self.position[index];
        if place == NOWHERE {
            self.heap.push(Entry { at, slot });
            self.rise(self.heap.len() - 1);
        } else if at < self.heap[place as usize].at {
            self.heap[place as usize].at = at;
            self.rise(place as usize);
        }
    }

    /// Removes the entry of `slot`, if there is one, or leaves it among many others. An entry that
    /// is left comes up for the next lock of the slot, or for none.
    pub(super) fn clear(&mut self, slot: u32) {
        if self.heap.len() > FEW {
            return;
        }
        let Some(&place) = self.position.get(slot as usize) else { return };
        if place != NOWHERE {
            self.remove(place as usize);
        }
    }

    /// Removes all entries.
    pub(super) fn clear_all(&mut self) {
        for entry in self.heap.drain(..) {
            self.position[entry.slot as usize] = NOWHERE;
        }
    }

    /// Removes the earliest entry if it is not after `now`, and returns its slot.
    pub(super) fn pop(&mut self, now: Instant) -> Option<u32> {
        let first = *self.heap.first()?;
        if first.at > now {
            return None;
        }
        self.remove(0);
        Some(first.slot)
    }

    /// Returns the earliest of the times that `due` has for the slots which come up by `at`, if
    /// one of these times is no later than `at`. A time is never before that of the entry. The
    /// cost: a look at each entry up to the time that is found, and at most [`LOOKS`]. With more
    /// entries than that the answer can be too early, and is then the time of an entry.
    #[cfg(any(feature = "net", test))]
    pub(super) fn first_by(
        &self,
        at: Instant,
        due: impl Fn(u32) -> Option<Instant>,
    ) -> Option<Instant> {
        let (mut first, mut is_found, mut looks) = (at, false, 0);
        let mut places: SmallVec<[usize; 64]> = SmallVec::new();
        places.extend(self.heap.first().filter(|entry| entry.at <= at).map(|_| 0));
        while let Some(place) = places.pop() {
            let entry = self.heap[place];
            if looks == LOOKS {
                // Whatever was not looked at is below one of these, and none is earlier.
                let left = places.iter().map(|place| self.heap[*place].at);
                return Some(left.fold(entry.at.min(first), Instant::min));
            }
            if entry.at > first {
                // What was found since is earlier.
                continue;
            }
            looks += 1;
            if let Some(due) = due(entry.slot).filter(|due| *due <= first) {
                (first, is_found) = (due, true);
            }
            // None of those below an entry is earlier.
            let below = place * ARITY + 1..self.heap.len().min(place * ARITY + 1 + ARITY);
            places.extend(below.filter(|below| self.heap[*below].at <= first));
        }
        is_found.then_some(first)
    }

    fn remove(&mut self, place: usize) {
        let gone = self.heap.swap_remove(place);
        self.position[gone.slot as usize] = NOWHERE;
        if place < self.heap.len() {
            // The entry that fills the gap may belong higher up or further down.
            let settled = self.rise(place);
            self.sink(settled);
        }
    }

    /// Moves the entry at `place` up to where it belongs, and returns its new place.
    fn rise(&mut self, mut place: usize) -> usize {
        let entry = self.heap[place];
        while place > 0 {
            let parent = (place - 1) / ARITY;
            if self.heap[parent].at <= entry.at {
                break;
            }
            self.put(place, self.heap[parent]);
            place = parent;
        }
        self.put(place, entry);
        place
    }

    fn sink(&mut self, mut place: usize) {
        let entry = self.heap[place];
        loop {
            let first = place * ARITY + 1;
            let children = first..(first + ARITY).min(self.heap.len());
            let Some(least) = children.min_by_key(|child| self.heap[*child].at) else { break };
            if self.heap[least].at >= entry.at {
                break;
            }
            self.put(place, self.heap[least]);
            place = least;
        }
        self.put(place, entry);
    }

    fn put(&mut self, place: usize, entry: Entry) {
        self.heap[place] = entry;
        self.position[entry.slot as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests;

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
mod tests {
    use core::cell::Cell;

    use super::*;

    fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    #[test]
    fn a_later_deadline_leaves_the_entry_and_an_earlier_one_moves_it() {
        let mut timers = Timers::with_capacity(4);
        timers.set(3, at(50));
        timers.set(3, at(90));
        assert_eq!(timers.next(), Some(at(50)));
        timers.set(3, at(20));
        assert_eq!(timers.next(), Some(at(20)));
        assert_eq!(timers.pop(at(19)), None);
        assert_eq!(timers.pop(at(20)), Some(3));
        assert_eq!(timers.pop(Instant::FAR_FUTURE), None);
    }

    #[test]
    fn a_question_looks_at_some_thousand_entries_at_most() {
        let mut timers = Timers::with_capacity(0);
        (0..50_000).for_each(|slot| timers.set(slot, at(u64::from(slot))));
        let looks = Cell::new(0);
        let none = |_| {
            looks.set(looks.get() + 1);
            None
        };
        assert_eq!(timers.first_by(at(100), none), None);
        assert_eq!(looks.take(), 101, "each that is due by then");
        let found = timers.first_by(at(60_000), none);
        assert!(found.is_some_and(|found| found < at(60_000)), "too early rather than too late");
        assert_eq!(looks.take(), LOOKS);
        let late = timers.first_by(at(60_000), |slot| Some(at(u64::from(slot) + 3)));
        assert_eq!(late, Some(at(3)), "the others are not before");
        let one = timers.first_by(at(60_000), |slot| (slot == 1).then_some(at(1)));
        assert!(one.is_some_and(|one| one <= at(1)), "a question that ends early: {one:?}");
    }

    #[test]
    fn agrees_with_a_sorted_list_under_random_use() {
        for seed in 0..200 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let mut timers = Timers::with_capacity(64);
            let mut model: Vec<Option<u64>> = vec![None; 64];
            for _ in 0..500 {
                let slot = rng.usize(..64);
                let by = rng.u64(..1_000);
                // Some are due later than their entries come up, and some not at all.
                let due = |slot: u32| {
                    let when = model[slot as usize].filter(|_| slot % 8 < 2);
                    when.map(|when| at(when + u64::from(slot % 8) * 100))
                };
                let first = (0..64).filter_map(due).min().filter(|first| *first <= at(by));
                assert_eq!(timers.first_by(at(by), due), first, "seed {seed}");
                match rng.u8(..4) {
                    _ if rng.u8(..) == 0 => {
                        timers.clear_all();
                        model.fill(None);
                    }
                    0 | 1 => {
                        let when = rng.u64(..1_000);
                        timers.set(slot as u32, at(when));
                        model[slot] = Some(model[slot].map_or(when, |old| old.min(when)));
                    }
                    2 => {
                        if model.iter().flatten().count() <= FEW {
                            model[slot] = None;
                        }
                        timers.clear(slot as u32);
                    }
                    _ => {
                        let earliest = model.iter().flatten().min().copied();
                        assert_eq!(timers.next(), earliest.map(at), "seed {seed}");
                        let popped = timers.pop(at(500));
                        assert_eq!(popped.is_some(), earliest.is_some_and(|when| when <= 500));
                        if let Some(slot) = popped {
                            assert_eq!(model[slot as usize].take(), earliest, "seed {seed}");
                        }
                    }
                }
            }
        }
    }
}

//! A queue of slots, first in, first out, that a slot can leave from any place.
//!
//! The links are stored in the slots. So the queue needs no memory of its own, and leaving costs
//! the same from every place.

use super::table::Table;
use super::{NONE, Place};

/// The two ends of the queue of locks that are ready for an attempt.
pub(crate) struct Queue {
    first: u32,
    last: u32,
}

impl Queue {
    pub(crate) const EMPTY: Self = Self { first: NONE, last: NONE };

    /// Returns the first slot in the queue.
    pub(crate) fn first(&self) -> Option<u32> {
        Some(self.first).filter(|slot| *slot != NONE)
    }

    /// Adds a slot at the end. The slot must not be in the queue.
    pub(crate) fn push(&mut self, table: &mut Table, slot: u32) {
        table[slot].place = Place { ahead: self.last, behind: NONE };
        match self.last {
            NONE => self.first = slot,
            last => table[last].place.behind = slot,
        }
        self.last = slot;
    }

    /// Removes a slot, if it is in the queue.
    pub(crate) fn remove(&mut self, table: &mut Table, slot: u32) {
        let place = core::mem::replace(&mut table[slot].place, Place::NONE);
        if !place.is_taken() {
            return;
        }
        let Place { ahead, behind } = place;
        match ahead {
            NONE => self.first = behind,
            ahead => table[ahead].place.behind = behind,
        }
        match behind {
            NONE => self.last = ahead,
            behind => table[behind].place.ahead = ahead,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    #[test]
    fn agrees_with_a_deque_under_random_use() {
        for seed in 0..100 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let mut table = Table::new(16, seed);
            let mut out: Vec<u32> = (0..16).map(|_| table.claim()).collect();
            let mut queue = Queue::EMPTY;
            let mut model = VecDeque::new();
            for _ in 0..400 {
                if rng.bool() && !out.is_empty() {
                    let slot = out.swap_remove(rng.usize(..out.len()));
                    queue.push(&mut table, slot);
                    model.push_back(slot);
                } else if let Some(place) = (!model.is_empty()).then(|| rng.usize(..model.len())) {
                    let slot = model.remove(place).expect("the place is within the model");
                    queue.remove(&mut table, slot);
                    queue.remove(&mut table, slot);
                    assert!(!table[slot].place.is_taken());
                    out.push(slot);
                }
                assert_eq!(queue.first(), model.front().copied(), "seed {seed}");
            }
        }
    }
}

//! A first-in first-out queue of slots that anybody may leave at any time.
//!
//! The links lie in the slots, so that the queue needs no memory of its own and leaving it costs
//! the same wherever one stands.

use super::lock::NONE;
use super::table::Table;

/// The ends of the queue of locks that want an attempt.
pub(super) struct Queue {
    first: u32,
    last: u32,
}

/// The neighbours of a slot in the queue.
#[derive(Clone, Copy)]
pub(super) struct Place {
    is_taken: bool,
    ahead: u32,
    behind: u32,
}

impl Place {
    pub(super) const NONE: Self = Self { is_taken: false, ahead: NONE, behind: NONE };

    pub(super) const fn is_taken(self) -> bool {
        self.is_taken
    }
}

impl Queue {
    pub(super) const EMPTY: Self = Self { first: NONE, last: NONE };

    pub(super) fn first(&self) -> Option<u32> {
        Some(self.first).filter(|slot| *slot != NONE)
    }

    /// Puts a slot that is not in the queue at its end.
    pub(super) fn push(&mut self, table: &mut Table, slot: u32) {
        table[slot].place = Place { is_taken: true, ahead: self.last, behind: NONE };
        match self.last {
            NONE => self.first = slot,
            last => table[last].place.behind = slot,
        }
        self.last = slot;
    }

    /// Takes a slot out, if it is in.
    pub(super) fn remove(&mut self, table: &mut Table, slot: u32) {
        let Place { is_taken, ahead, behind } =
            core::mem::replace(&mut table[slot].place, Place::NONE);
        if !is_taken {
            return;
        }
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

//! Whose turn it was: how many cycles each place in flight has had.
//!
//! A closed loop has as many lanes as cycles at a time. Whenever the cycle of a lane ends, its next
//! one begins, so that a lane is what a worker is to a client. An open loop has none: its cycles
//! belong to nobody.

/// The lane of a cycle without one.
const NONE: u32 = u32::MAX;

pub(crate) struct Lanes {
    free: Vec<u32>,
    cycles: Vec<u64>,
}

impl Lanes {
    pub(crate) fn new(count: usize) -> Self {
        // There are no more cycles in flight than the option takes, a hundred thousand.
        let free = (0..count).map(|lane| lane as u32).collect();
        Self { free, cycles: vec![0; count] }
    }

    /// Starts to count from zero.
    pub(crate) fn clear(&mut self) {
        self.cycles.fill(0);
    }

    pub(crate) fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or(NONE)
    }

    pub(crate) fn give_back(&mut self, lane: u32) {
        if lane != NONE {
            self.free.push(lane);
        }
    }

    pub(crate) fn count(&mut self, lane: u32) {
        if let Some(cycles) = self.cycles.get_mut(lane as usize) {
            *cycles += 1;
        }
    }

    pub(crate) fn into_cycles(self) -> Vec<u64> {
        self.cycles
    }
}

//! What the workers of a client have done, put together.
//!
//! Several workers share a histogram, because histograms are large and workers many.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use redbolt::time::Instant;

use crate::bench::load::slices;
use crate::bench::load::tally::Tally;
use crate::bench::watch::progress::Progress;

/// How many tallies the workers share.
const SHARES: usize = 16;

/// What some of the workers have done.
pub(crate) struct Sums {
    pub(crate) tally: Tally,
    /// The cycles of each worker that has come to its end.
    cycles: Vec<u64>,
    /// The longest wait of a worker for one lock.
    pub(crate) longest: Duration,
}

/// What all workers have done.
pub(crate) struct Counted {
    pub(crate) tally: Tally,
    /// The cycles of each worker.
    pub(crate) cycles: Vec<u64>,
    pub(crate) longest: Duration,
    /// The starts that were due and never made.
    pub(crate) overdue: u64,
    /// The starts that were due in the measured time.
    pub(crate) due: u64,
}

/// All sums, and when the slices of time end.
pub(crate) struct Shares {
    sums: Box<[Mutex<Sums>]>,
    slice: Duration,
}

impl Shares {
    /// Creates sums that count from `begin`.
    pub(crate) fn new(begin: Instant, seconds: Duration) -> Self {
        let new = || Sums { tally: Tally::new(begin), cycles: Vec::new(), longest: Duration::ZERO };
        Self {
            sums: (0..SHARES).map(|_| Mutex::new(new())).collect(),
            slice: slices::length(seconds),
        }
    }

    /// The sums of a worker.
    pub(crate) fn of(&self, worker: usize) -> MutexGuard<'_, Sums> {
        self.sums[worker % SHARES].lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add_cycles(&self, worker: usize, cycles: u64) {
        self.of(worker).cycles.push(cycles);
    }

    /// Returns when the slice ends that begins now.
    pub(crate) fn next_slice(&self, now: Instant) -> Instant {
        now + self.slice
    }

    pub(crate) fn close_slice(&self, now: Instant) {
        (0..SHARES).for_each(|share| self.of(share).tally.close_slice(now));
    }

    pub(crate) fn end(&self, now: Instant) {
        (0..SHARES).for_each(|share| self.of(share).tally.end(now));
    }

    pub(crate) fn publish(&self, progress: &Progress) {
        let (mut cycles, mut failed) = (0, 0);
        for share in 0..SHARES {
            let sums = self.of(share);
            cycles += sums.tally.cycles;
            failed += sums.tally.failures.total();
        }
        progress.publish(cycles, failed);
    }

    /// Puts all together, when all workers have come to their end.
    pub(crate) fn count(self, now: Instant, [overdue, due]: [u64; 2]) -> Counted {
        let mut counted = Counted {
            tally: Tally::new(now),
            cycles: Vec::new(),
            longest: Duration::ZERO,
            overdue,
            due,
        };
        for (share, sums) in self.sums.into_iter().enumerate() {
            let mut sums = sums.into_inner().unwrap_or_else(PoisonError::into_inner);
            sums.tally.end_late();
            // Fewer workers than sums leave some that would seem to stall all the time.
            if share == 0 {
                counted.tally = sums.tally;
            } else {
                counted.tally.merge(sums.tally);
            }
            counted.cycles.append(&mut sums.cycles);
            counted.longest = counted.longest.max(sums.longest);
        }
        counted
    }
}

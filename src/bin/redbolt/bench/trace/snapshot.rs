//! The counters of a run of transactions at one moment.

use std::time::Duration;

use redbolt::Clock;
use redbolt::time::Instant;

use super::tally::Tally;
use crate::bench::watch::processor;

/// The counters at one moment.
pub(super) struct Snapshot {
    pub(super) at: Instant,
    /// The processor time of this thread.
    pub(super) cpu: Duration,
    pub(super) transactions: u64,
    pub(super) locks: u64,
}

impl Snapshot {
    pub(super) fn take(tally: &Tally) -> Self {
        Self {
            at: Clock::now(),
            cpu: processor::of_thread(),
            transactions: tally.transactions,
            locks: tally.locks,
        }
    }
}

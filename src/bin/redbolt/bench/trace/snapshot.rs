//! The counters of a run of transactions at one moment.

use std::time::Duration;

use redbolt::Clock;
use redbolt::time::Instant;
use rustix::time::{ClockId, clock_gettime};

use super::tally::Tally;

/// The counters at one moment.
pub(super) struct Snapshot {
    pub(super) at: Instant,
    /// The processor time of this thread.
    pub(super) cpu: Duration,
    pub(super) transactions: u64,
    pub(super) locks: u64,
}

impl Snapshot {
    #[expect(clippy::disallowed_methods, reason = "processor time is no time of a clock")]
    pub(super) fn take(tally: &Tally) -> Self {
        let cpu = clock_gettime(ClockId::ThreadCPUTime);
        Self {
            at: Clock::now(),
            // The kernel counts from the start of the thread, so the time is not negative.
            cpu: Duration::try_from(cpu).unwrap_or_default(),
            transactions: tally.transactions,
            locks: tally.locks,
        }
    }
}

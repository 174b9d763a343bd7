//! The counters and histograms of a run.

use std::fmt;
use std::time::Duration;

use hdrhistogram::Histogram;
use redbolt::AcquireError;

use crate::number;

/// Latencies are counted in nanoseconds, from 0.1 µs to one hour, to three digits. A histogram
/// takes some 200 kB.
const LEAST_NANOS: u64 = 100;
const MOST_NANOS: u64 = 3_600_000_000_000;
const DIGITS: u8 = 3;

pub(crate) struct Tally {
    /// Locks that were acquired and released.
    pub(crate) cycles: u64,
    pub(crate) failures: Failures,
    /// Cycles that still waited for their lock when the run was over.
    pub(crate) unfinished: u64,
    pub(crate) acquire: Latencies,
    pub(crate) release: Latencies,
}

impl Tally {
    pub(crate) fn new() -> Self {
        let (acquire, release) = (Latencies::new(), Latencies::new());
        Self { cycles: 0, failures: Failures::default(), unfinished: 0, acquire, release }
    }

    /// Adds the counts of another tally.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.cycles += other.cycles;
        self.unfinished += other.unfinished;
        self.failures.merge(&other.failures);
        self.acquire.merge(&other.acquire);
        self.release.merge(&other.release);
    }

    /// Starts from zero, in the same memory.
    pub(crate) fn forget(&mut self) {
        self.cycles = 0;
        self.failures = Failures::default();
        self.unfinished = 0;
        self.acquire.0.reset();
        self.release.0.reset();
    }
}

/// The latencies of one kind of request.
pub(crate) struct Latencies(Histogram<u64>);

impl Latencies {
    pub(crate) fn new() -> Self {
        let histogram = Histogram::new_with_bounds(LEAST_NANOS, MOST_NANOS, DIGITS);
        // The three constants are within what a histogram accepts.
        Self(histogram.expect("the bounds are in order"))
    }

    pub(crate) fn record(&mut self, latency: Duration) {
        let nanos = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        self.0.saturating_record(nanos);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        // Adding fails only for different bounds, and all histograms here have the same.
        let _ = self.0.add(&other.0);
    }

    /// Returns p50, p90, p99, p99.9 and the maximum in microseconds; `None` for no latencies.
    pub(crate) fn summary(&self) -> Option<[f64; 5]> {
        let quantiles = [0.5, 0.9, 0.99, 0.999, 1.0];
        let micros = |quantile| self.0.value_at_quantile(quantile) as f64 / 1e3;
        (!self.0.is_empty()).then(|| quantiles.map(micros))
    }
}

/// The cycles that failed, by their reason.
#[derive(Clone, Copy, Default)]
pub(crate) struct Failures {
    held: u64,
    no_quorum: u64,
    too_far: u64,
    no_room: u64,
    lost: u64,
    refused: u64,
    other: u64,
}

impl Failures {
    pub(crate) fn add(&mut self, error: &AcquireError) {
        match error {
            AcquireError::Held { .. } | AcquireError::InLine => self.held += 1,
            // A cycle that waits until the end of the run, and longer, waits for nodes.
            AcquireError::NoQuorum(_) | AcquireError::Cancelled => self.no_quorum += 1,
            AcquireError::TooFar { .. } => self.too_far += 1,
            AcquireError::NoRoom => self.no_room += 1,
            _ => self.other += 1,
        }
    }

    /// Counts a request that the client or the engine refused at once: all places were taken.
    pub(crate) fn add_refused(&mut self) {
        self.refused += 1;
    }

    /// Counts a request that ended in a way that no load should see.
    pub(crate) fn add_other(&mut self) {
        self.other += 1;
    }

    /// Returns whether nodes were missing, rather than the lock.
    pub(crate) fn lacked_quorum(&self) -> bool {
        self.no_quorum > 0 || self.too_far > 0
    }

    fn merge(&mut self, other: &Self) {
        self.held += other.held;
        self.no_quorum += other.no_quorum;
        self.too_far += other.too_far;
        self.no_room += other.no_room;
        self.lost += other.lost;
        self.refused += other.refused;
        self.other += other.other;
    }

    /// Counts a lock that ended before it was released.
    pub(crate) fn add_lost(&mut self) {
        self.lost += 1;
    }

    pub(crate) fn total(&self) -> u64 {
        self.kinds().iter().map(|(_, count)| count).sum()
    }

    fn kinds(&self) -> [(&'static str, u64); 7] {
        [
            ("held", self.held),
            ("no quorum", self.no_quorum),
            ("nodes too far away", self.too_far),
            ("no room", self.no_room),
            ("lost", self.lost),
            ("refused", self.refused),
            ("other", self.other),
        ]
    }
}

/// Writes the reasons that occurred: `held 1, no quorum 3`.
impl fmt::Display for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let happened = self.kinds().into_iter().filter(|&(_, count)| count > 0);
        for (index, (kind, count)) in happened.enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{kind} {}", number::grouped(count))?;
        }
        Ok(())
    }
}

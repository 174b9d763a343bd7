//! The counters and histograms of a load.

use std::fmt;
use std::time::Duration;

use redbolt::AcquireError;
use redbolt::time::Instant;

use super::latencies::Latencies;
use super::slices::Slices;
use crate::number;

pub(crate) struct Tally {
    /// Locks that were acquired and released.
    pub(crate) cycles: u64,
    /// Locks that were acquired by the end of the measured time.
    pub(crate) granted: u64,
    pub(crate) failures: Failures,
    /// Cycles that still waited for their lock when the run was over.
    pub(crate) unfinished: u64,
    /// Those of the slices that are over.
    pub(crate) acquire: Latencies,
    pub(crate) release: Latencies,
    pub(crate) extend: Latencies,
    /// From the drop of a guard to the grant of the next one, where all want one resource.
    pub(crate) hand_over: Latencies,
    pub(crate) slices: Slices,
    /// The latencies of the slice that runs.
    present: Latencies,
    /// When a cycle ended last, and the longest time between two ends.
    last_end: Instant,
    pub(crate) longest_stall: Duration,
}

impl Tally {
    /// Creates a tally that counts from `now`.
    pub(crate) fn new(now: Instant) -> Self {
        let mut tally = Self {
            cycles: 0,
            granted: 0,
            failures: Failures::default(),
            unfinished: 0,
            acquire: Latencies::new(),
            release: Latencies::new(),
            extend: Latencies::new(),
            hand_over: Latencies::new(),
            slices: Slices::default(),
            present: Latencies::new(),
            last_end: now,
            longest_stall: Duration::ZERO,
        };
        tally.slices.start(now);
        tally
    }

    /// Counts a lock that was granted.
    pub(crate) fn acquired(&mut self, latency: Duration) {
        self.present.record(latency);
    }

    /// Counts locks that were granted at the same time.
    pub(crate) fn acquired_many(&mut self, latency: Duration, locks: u64) {
        self.present.record_many(latency, locks);
    }

    /// Counts the end of a cycle.
    pub(crate) fn ended(&mut self, now: Instant) {
        self.ended_many(now, 1);
    }

    /// Counts cycles that ended at the same time.
    pub(crate) fn ended_many(&mut self, now: Instant, cycles: u64) {
        self.cycles += cycles;
        self.longest_stall = self.longest_stall.max(now - self.last_end);
        self.last_end = now;
    }

    /// Ends a slice, which takes some ten microseconds.
    pub(crate) fn close_slice(&mut self, now: Instant) {
        self.slices.close(now, self.cycles, self.failures.total(), &self.present);
        self.acquire.merge(&self.present);
        self.present.clear();
    }

    /// Ends the measured time: a wait for the end of a cycle that lasts until now is a stall too.
    pub(crate) fn end(&mut self, now: Instant) {
        self.longest_stall = self.longest_stall.max(now - self.last_end);
        self.last_end = now;
        self.close_slice(now);
        self.granted = self.acquire.count();
    }

    /// Counts the latencies of what was granted outside of the measured time.
    pub(crate) fn end_late(&mut self) {
        self.slices.late.extend(self.present.values());
        self.acquire.merge(&self.present);
        self.present.clear();
    }

    /// Adds what another load has counted at the same time. Nothing ends anywhere for no longer
    /// than nothing ends at the one that stalls least.
    pub(crate) fn merge(&mut self, other: Self) {
        self.cycles += other.cycles;
        self.granted += other.granted;
        self.unfinished += other.unfinished;
        self.failures.merge(&other.failures);
        self.acquire.merge(&other.acquire);
        self.release.merge(&other.release);
        self.extend.merge(&other.extend);
        self.hand_over.merge(&other.hand_over);
        self.slices.merge(other.slices);
        self.longest_stall = self.longest_stall.min(other.longest_stall);
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
    not_extended: u64,
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

    /// Counts an extension that failed; the cycle goes on.
    pub(crate) fn add_not_extended(&mut self) {
        self.not_extended += 1;
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
        self.not_extended += other.not_extended;
        self.other += other.other;
    }

    /// Counts a lock that ended before it was released.
    pub(crate) fn add_lost(&mut self) {
        self.lost += 1;
    }

    pub(crate) fn total(&self) -> u64 {
        self.kinds().iter().map(|(_, count)| count).sum()
    }

    pub(crate) fn kinds(&self) -> [(&'static str, u64); 8] {
        [
            ("held", self.held),
            ("no quorum", self.no_quorum),
            ("nodes too far away", self.too_far),
            ("no room", self.no_room),
            ("lost", self.lost),
            ("refused", self.refused),
            ("not extended", self.not_extended),
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

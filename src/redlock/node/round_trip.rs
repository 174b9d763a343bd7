//! The smoothed round trip of a node: how long an answer takes when nothing is wrong.
//!
//! Pauses and node timeouts are computed from this time, so one bad moment must not stretch all of
//! them after it. A server that stops for four seconds answers everything at once when it wakes,
//! and each of these replies has taken four seconds. So the estimate at most doubles for all
//! requests that were on their way together. A node that has become slow for good is still learned,
//! in a few round trips, because each of them doubles the estimate again.

use core::time::Duration;

use crate::time::Instant;

/// The smoothed round trip of one node, and how much single round trips differ from it.
///
/// A new connection has two times to begin with: that until the connection was up, in which a name
/// may have been looked up, or which a proxy close by may have cut short; and that until the first
/// reply, for which a server that was stopped may have kept the connection waiting. Until a second
/// flight of requests is answered, pauses go by the shorter time, and patience goes by the first
/// reply, because a patience that is too short would fail the first locks.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundTrip {
    /// In nanoseconds, as all times here; zero before the second flight of the connection.
    smoothed: u64,
    /// Four times the smoothed difference between a round trip and `smoothed`: as patience counts
    /// the difference.
    spread: u64,
    /// The time until the first reply of the connection; zero before, and once `smoothed` is known.
    first: u64,
    /// The time until the connection was up; zero if it was up at once, which says nothing.
    connect: u64,
    /// The least round trip of the connection, in which no request has waited in a queue;
    /// `u64::MAX` before the first reply.
    least: u64,
    /// The start of the connection attempt, then that of the connection, then the time of the first
    /// reply, then the last time at which the estimate doubled.
    since: Instant,
}

impl RoundTrip {
    pub(super) const fn new() -> Self {
        Self { smoothed: 0, spread: 0, first: 0, connect: 0, least: u64::MAX, since: Instant::ZERO }
    }

    /// Returns the estimate for pauses; zero before the first reply.
    pub(super) const fn get(self) -> Duration {
        if self.smoothed > 0 {
            return Duration::from_nanos(self.smoothed);
        }
        let is_shorter = 0 < self.connect && self.connect < self.first;
        Duration::from_nanos(if is_shorter { self.connect } else { self.first })
    }

    /// Returns the least round trip; zero before the first reply.
    #[cfg(feature = "net")]
    pub(super) const fn least(self) -> Duration {
        Duration::from_nanos(if self.least == u64::MAX { 0 } else { self.least })
    }

    /// Returns the estimate for patience, in nanoseconds; zero before the first reply.
    pub(super) const fn distance(self) -> u64 {
        // One of them is zero.
        self.smoothed + self.first
    }

    /// Returns how long an answer is worth waiting for, in nanoseconds: twice the round trip, and
    /// four times its deviation, as for the timeouts of TCP, but at most four round trips. Zero
    /// before the first reply.
    pub(super) fn patience(self) -> u64 {
        let double = self.distance().saturating_mul(2);
        if self.first > 0 {
            return double.saturating_mul(2);
        }
        double.saturating_add(self.spread.min(double))
    }

    /// Records that a connection attempt starts.
    pub(super) const fn connecting(&mut self, now: Instant) {
        self.since = now;
    }

    /// Records that the connection is up. The server may be another one than before.
    pub(super) fn connected(&mut self, now: Instant) {
        let connect = now.as_nanos().saturating_sub(self.since.as_nanos());
        *self = Self { connect, since: now, ..Self::new() };
    }

    /// Records a reply that came at `now`, `sample` nanoseconds after its request was sent.
    #[inline]
    pub(super) fn answered(&mut self, now: Instant, sent: Instant, sample: u64) {
        self.least = self.least.min(sample);
        // With a sign, all of this takes few instructions; no time is as long as three centuries.
        let old = self.smoothed as i64;
        let difference = (sample as i64).wrapping_sub(old);
        if difference <= old {
            // Each new sample counts for an eighth, and its difference for a quarter, as TCP
            // smooths its round trips.
            self.smoothed = self.smoothed.wrapping_add_signed(difference >> 3);
            let news = difference.unsigned_abs().wrapping_sub(self.spread / 4);
            self.spread = self.spread.wrapping_add(news);
        } else {
            self.surprised(now, sent, sample);
        }
    }

    /// Records a reply of the first two flights of a connection, or one that took more than twice
    /// the estimate.
    // A call would cost 50 instructions of a lone cycle, to save registers that it may change.
    #[inline(always)]
    fn surprised(&mut self, now: Instant, sent: Instant, sample: u64) {
        if self.smoothed == 0 && self.first == 0 {
            self.first = sample;
            self.since = now;
        } else if self.smoothed == 0 && sent >= self.since {
            self.smoothed = sample.min(self.first.saturating_mul(2));
            self.first = 0;
            self.spread = self.smoothed.saturating_mul(2);
            self.since = now;
        } else if sent >= self.since {
            self.smoothed = self.smoothed.saturating_mul(2);
            self.spread = self.spread.saturating_mul(2);
            self.since = now;
        }
    }
}

#[cfg(test)]
mod tests;

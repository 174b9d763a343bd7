//! The smoothed round trip of a node: how long an answer takes when nothing is wrong.
//!
//! Pauses are computed from this time, so one bad moment must not stretch all pauses after it. A
//! server that stops for four seconds answers everything at once when it wakes, and each of these
//! replies has taken four seconds. So the estimate at most doubles for all requests that were on
//! their way together. A node that has become slow for good is still learned, in a few round trips,
//! because each of them doubles the estimate again.

use core::time::Duration;

use crate::time::Instant;

/// The smoothed round trip of one node.
///
/// A new connection starts with the shorter one of two times: that until the connection was up, in
/// which a name may have been looked up, and that until the first reply, for which a server that
/// was stopped may have kept the connection waiting.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundTrip {
    /// In nanoseconds; zero before the first reply of the connection.
    smoothed: u64,
    /// The time until the connection was up, in nanoseconds; zero if it was up at once, which says
    /// nothing.
    connect: u64,
    /// The start of the connection attempt, then the last time at which the estimate doubled.
    since: Instant,
}

impl RoundTrip {
    pub(super) const fn new() -> Self {
        Self { smoothed: 0, connect: 0, since: Instant::ZERO }
    }

    /// Returns the estimate; zero before the first reply.
    pub(super) const fn get(self) -> Duration {
        Duration::from_nanos(self.smoothed)
    }

    /// Records that a connection attempt starts.
    pub(super) const fn connecting(&mut self, now: Instant) {
        self.since = now;
    }

    /// Records that the connection is up. The server may be another one than before.
    pub(super) fn connected(&mut self, now: Instant) {
        let connect = now.as_nanos().saturating_sub(self.since.as_nanos());
        *self = Self { smoothed: 0, connect, since: now };
    }

    /// Records a reply that came at `now`, `sample` nanoseconds after its request was sent.
    #[inline]
    pub(super) fn answered(&mut self, now: Instant, sent: Instant, sample: u64) {
        let old = self.smoothed;
        // Not doubled, because that could overflow.
        if sample / 2 <= old {
            // Each new sample counts for an eighth, as TCP smooths its round trips.
            self.smoothed = old - old / 8 + sample / 8;
        } else {
            self.surprised(now, sent, sample);
        }
    }

    /// Records the first reply of a connection, or one that took more than twice the estimate.
    #[cold]
    fn surprised(&mut self, now: Instant, sent: Instant, sample: u64) {
        if self.smoothed == 0 {
            self.smoothed = if self.connect == 0 { sample } else { sample.min(self.connect) };
        } else if sent >= self.since {
            self.smoothed = self.smoothed.saturating_mul(2);
            self.since = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn at(micros: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(micros)
    }

    /// Returns the estimate for a connection that was up after `connect`, and whose first reply
    /// took `first`, in microseconds.
    fn seeded(connect: u64, first: u64) -> RoundTrip {
        let mut round_trip = RoundTrip::new();
        round_trip.connecting(at(0));
        round_trip.connected(at(connect));
        reply(&mut round_trip, connect, connect + first);
        round_trip
    }

    /// Answers a request that was sent at `sent` and answered at `now`, in microseconds.
    fn reply(round_trip: &mut RoundTrip, sent: u64, now: u64) {
        round_trip.answered(at(now), at(sent), (now - sent) * 1_000);
    }

    #[test]
    fn a_connection_starts_with_the_shorter_of_its_first_two_times() {
        let rows = [
            (60_000, 61_000, 60_000),
            // The name of the node was looked up.
            (200_000, 1_000, 1_000),
            // The server was stopped, and the kernel took the connection for it.
            (1_000, 900_000, 1_000),
            // The driver had a connection.
            (0, 1_000, 1_000),
        ];
        for (connect, first, expected) in rows {
            let found = seeded(connect, first).get();
            assert_eq!(found, Duration::from_micros(expected), "{connect} {first}");
        }
    }

    #[test]
    fn all_replies_that_a_stall_kept_back_at_most_double_the_estimate() {
        let mut round_trip = seeded(1_000, 1_000);
        for sent in 0..500 {
            reply(&mut round_trip, 10_000 + sent, 4_000_000);
        }
        assert_eq!(round_trip.get(), 2 * MS);
        for number in 0..40 {
            let sent = 4_000_000 + number * 1_000;
            reply(&mut round_trip, sent, sent + 1_000);
        }
        assert!(round_trip.get() < MS + MS / 50, "{:?}", round_trip.get());
    }

    #[test]
    fn a_node_that_has_moved_far_away_is_learned_in_a_few_round_trips() {
        let mut round_trip = seeded(1_000, 1_000);
        let mut now = 10_000;
        for _ in 0..6 {
            // Ten requests are on their way at a time.
            (0..10).for_each(|number| reply(&mut round_trip, now + number, now + 60_000));
            now += 60_000;
        }
        assert!(round_trip.get() > 50 * MS, "{:?}", round_trip.get());
        assert!(round_trip.get() <= 64 * MS, "{:?}", round_trip.get());
    }

    #[test]
    fn a_new_connection_forgets_the_old_one() {
        let mut round_trip = seeded(80_000, 80_000);
        round_trip.connecting(at(500_000));
        round_trip.connected(at(501_000));
        assert_eq!(round_trip.get(), Duration::ZERO);
        reply(&mut round_trip, 501_000, 502_000);
        assert_eq!(round_trip.get(), MS);
    }
}

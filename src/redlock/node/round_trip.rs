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

    #[cfg(feature = "net")]
    #[test]
    fn the_least_round_trip_is_that_without_a_queue() {
        let mut round_trip = RoundTrip::new();
        assert_eq!(round_trip.least(), Duration::ZERO);
        reply(&mut round_trip, 0, 900);
        reply(&mut round_trip, 1_000, 1_070);
        reply(&mut round_trip, 2_000, 4_000);
        assert_eq!(round_trip.least(), Duration::from_micros(70));
        round_trip.connecting(at(5_000));
        round_trip.connected(at(9_000));
        assert_eq!(round_trip.least(), Duration::ZERO, "another server");
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

    /// Returns the patience in milliseconds.
    fn patience(round_trip: RoundTrip) -> f64 {
        round_trip.patience() as f64 / 1e6
    }

    #[test]
    fn patience_follows_the_first_reply_however_fast_the_connection_was_up() {
        // connect, first reply and second reply in µs; patience after each in ms
        let rows = [
            (60_000, 60_000, 60_000, 240.0, 240.0),
            // A proxy close by took the connection.
            (100, 60_000, 60_000, 240.0, 240.0),
            // The server was stopped, or slow to log in, and has recovered.
            (1_000, 900_000, 1_000, 3_600.0, 4.0),
            // The second reply is late: the patience at most doubles.
            (1_000, 1_000, 500_000, 4.0, 8.0),
        ];
        for (connect, first, second, after_one, after_two) in rows {
            let mut round_trip = seeded(connect, first);
            assert_eq!(patience(round_trip), after_one, "{connect} {first}");
            // The other replies to the handshake came with the first one.
            reply(&mut round_trip, connect, connect + first + 50);
            assert_eq!(patience(round_trip), after_one, "{connect} {first}");
            reply(&mut round_trip, 5_000_000, 5_000_000 + second);
            assert_eq!(patience(round_trip), after_two, "{connect} {first} {second}");
        }
    }

    #[test]
    fn patience_is_two_round_trips_where_they_are_alike_and_at_most_four() {
        let rows: [(&[u64], f64, f64); 3] = [
            (&[100_000], 200.0, 205.0),
            (&[90_000, 110_000], 235.0, 250.0),
            (&[40_000, 80_000, 120_000, 160_000], 330.0, 360.0),
        ];
        for (samples, least, most) in rows {
            let mut round_trip = seeded(samples[0], samples[0]);
            for (number, sample) in (1..400).zip(samples.iter().cycle()) {
                let sent = number * 1_000_000;
                reply(&mut round_trip, sent, sent + sample);
                let longest = 4 * round_trip.get().as_nanos() as u64;
                assert!(round_trip.patience() <= longest, "{samples:?}");
            }
            let found = patience(round_trip);
            assert!((least..=most).contains(&found), "{samples:?}: {found}");
        }
    }

    #[test]
    fn a_late_answer_doubles_the_patience_at_most() {
        let mut round_trip = seeded(50_000, 50_000);
        reply(&mut round_trip, 200_000, 250_000);
        let before = round_trip.patience();
        (0..500).for_each(|sent| reply(&mut round_trip, 300_000 + sent, 4_000_000));
        assert_eq!(round_trip.patience(), 2 * before);
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

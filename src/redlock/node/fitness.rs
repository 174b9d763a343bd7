//! Whether a node may draw fencing numbers (S13): whether its numbers are larger than all that it
//! may have forgotten.
//!
//! A number that a node has accepted is near the clock of some node, and the node draws near its
//! own clock. So what a node draws is larger than what it has forgotten as soon as its data is
//! older than the clocks of two nodes can be apart, and a second for each of the two scripts. That
//! holds for clocks within `fence_skew` of true time. A clock that is not within twice of that of
//! the clocks of a majority is wrong itself, or the majority is: then the node is not asked.

use core::fmt;
use core::time::Duration;

use super::pace::Reading;
use crate::redlock::validity::Drift;
use crate::redlock::wire::fencing::CUT;
use crate::time::{Instant, format_rounded};

/// The reason why a node takes no part in fencing numbers, although it votes for locks (S13).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum FenceBar {
    /// The data of the node is too young: the node may have forgotten numbers that are larger than
    /// those that it would draw.
    TooYoung {
        /// The time until the data is old enough.
        remaining: Duration,
    },
    /// The clock of the node is farther from those of a majority than twice
    /// [`fence_skew`](crate::redlock::RedlockConfig::fence_skew), or there is no majority.
    ClockOff,
    /// The node does not tell its time.
    ClockUnknown,
    /// The node does not let us run the scripts: the rights to `hget`, `hset` and `time` are
    /// needed. Behind each look, one request tries again.
    Denied,
}

impl fmt::Display for FenceBar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooYoung { remaining } => {
                let left = format_rounded(*remaining);
                write!(f, "it may have forgotten numbers, for another {left}")
            }
            Self::ClockOff => {
                f.write_str("its clock is farther from those of a majority than fence_skew allows")
            }
            Self::ClockUnknown => f.write_str("it does not tell its time"),
            Self::Denied => f.write_str("no right to hget, hset or time"),
        }
    }
}

/// What a node has shown of itself that matters for fencing numbers.
#[derive(Debug, Default)]
pub(super) struct Fitness {
    /// The last time that the node has told.
    pub(super) reading: Option<Reading>,
    /// Whether the node has refused one of the scripts since the last look.
    pub(super) is_denied: bool,
    /// Why the node was not asked when a number was wanted last.
    pub(super) bar: Option<FenceBar>,
}

/// Returns how old the data of a node must be by our clock, if the clocks of nodes are within
/// `skew` of true time.
pub(super) fn span(skew: Duration, drift: Drift) -> Duration {
    let span = skew.saturating_add(CUT).saturating_mul(2);
    span.saturating_add(drift.of(span))
}

/// How far the clock of a node is ahead of ours, at least and at most, in microseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Clock {
    least: i128,
    most: i128,
}

impl Clock {
    /// Makes use of what a node has told some time ago. Since then both clocks may have drifted.
    pub(super) fn read(now: Instant, reading: Reading, drift: Drift) -> Self {
        let micros = |instant: Instant| i128::from(instant.as_nanos() / 1_000);
        let age = (now - reading.answered).as_micros();
        let parts = 2 * u128::from(drift.rate_ppm);
        let slack = i128::try_from(age * parts / 1_000_000 + 1).unwrap_or(i128::MAX >> 1);
        let time = i128::from(reading.time);
        Self {
            least: time - micros(reading.answered) - slack,
            most: time - micros(reading.sent) + slack,
        }
    }

    /// Returns by how much the two clocks differ at least.
    pub(super) fn apart(self, other: Self) -> u128 {
        (self.least - other.most).max(other.least - self.most).max(0).unsigned_abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000;

    fn at(micros: u64) -> Instant {
        Instant::from_nanos(micros * 1_000)
    }

    /// A clock that showed `time` between two moments of ours, in microseconds, as it is at `now`.
    fn clock(now: u64, time: u64, sent: u64, answered: u64) -> Clock {
        let reading = Reading { time, sent: at(sent), answered: at(answered) };
        Clock::read(at(now), reading, Drift::default())
    }

    #[test]
    fn clocks_differ_by_what_no_round_trip_and_no_drift_explains() {
        let now = 100 * SECOND;
        let own = clock(now, 7_000 * SECOND, now, now);
        let rows = [
            // What another one has shown, when it was asked, when it answered; seconds apart.
            (7_000, 100, 100, 0),
            (7_012, 100, 100, 12),
            (6_988, 100, 100, 12),
            // Somewhere in ten seconds.
            (7_000, 90, 100, 0),
            (6_990, 90, 100, 0),
            (6_989, 90, 100, 1),
            (7_001, 90, 100, 1),
            // The time has gone on since.
            (6_950, 50, 50, 0),
        ];
        for (time, sent, answered, apart) in rows {
            let other = clock(now, time * SECOND, sent * SECOND, answered * SECOND);
            let slack = u128::from((100 - answered) * SECOND / 100) + 2;
            let (apart, found) = (u128::from(apart * SECOND), own.apart(other));
            assert!(found <= apart && found + slack >= apart, "{time} {sent}: {found}");
            assert_eq!(found, other.apart(own), "{time}");
        }
        // 10,000 s later, 1 % of them say nothing.
        let old = clock(10_100 * SECOND, 7_050 * SECOND, now, now);
        let new = clock(10_100 * SECOND, 17_000 * SECOND, 10_100 * SECOND, 10_100 * SECOND);
        assert_eq!(old.apart(new), 0);
        let strange = clock(now, u64::MAX, 0, now);
        assert!(strange.apart(own) > 1 << 60, "no clock makes this overflow");
    }

    #[test]
    fn data_must_be_older_than_two_clocks_and_two_scripts_can_be_apart() {
        let drift = Drift::default();
        for (skew, expected) in [(0, 2), (5, 12), (600, 1_202)] {
            let expected = Duration::from_secs(expected);
            let found = span(Duration::from_secs(skew), drift);
            assert_eq!(found, expected + drift.of(expected), "by a clock that is fast");
        }
        assert_eq!(span(Duration::MAX, drift), Duration::MAX);
    }
}

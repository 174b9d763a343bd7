//! The validity, which is how long a lock may be believed: the second of the two small files on
//! which the safety argument rests (S2).
//!
//! A node starts the clock of a key when the node executes the `SET`, which is never before the
//! client sampled `start`. Counting the ttl from `start` therefore errs on the safe side, by the
//! whole time from `start` to the execution. One danger remains: the two clocks run at different
//! rates.

use core::time::Duration;

use crate::time::Instant;

/// The bounds on how far the clocks of client and nodes may run apart.
///
/// `drift(ttl) = 2·ρ·ttl + ε + 2 ms`, where ρ bounds the rate error of each clock, ε bounds how far
/// a node's clock may be stepped while a lock is held, and 2 ms stand for Redis' expiry precision,
/// one millisecond at either end. The defaults ρ = 0.5 %, ε = 0 give the 1 % + 2 ms that Redis'
/// page on distributed locks uses.
///
/// ```
/// use redbolt::redlock::Drift;
/// use std::time::Duration;
///
/// let drift = Drift::default();
/// assert_eq!(drift.of(Duration::from_secs(10)), Duration::from_millis(102));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Drift {
    /// ρ: the largest rate error of one clock, in parts per million. At most [`Drift::MAX_RATE`].
    pub rate_ppm: u32,
    /// ε: the largest step of a node's clock while a lock is held.
    pub step: Duration,
}

impl Drift {
    /// A drift with this rate error in parts per million, and this largest step.
    pub const fn new(rate_ppm: u32, step: Duration) -> Self {
        Self { rate_ppm, step }
    }

    /// The largest accepted ρ: 10 %, as much as the Linux tick adjustment can produce.
    pub const MAX_RATE: u32 = 100_000;

    /// The cost of Redis' expiry precision.
    const PRECISION: Duration = Duration::from_millis(2);

    /// Returns the drift of a ttl, rounded up to the next nanosecond. The validity is the ttl less
    /// the drift.
    pub fn of(self, ttl: Duration) -> Duration {
        let parts = ttl.as_nanos().saturating_mul(2 * u128::from(self.rate_ppm));
        let nanos = match u64::try_from(parts) {
            // The same division, without the cost of sixteen bytes: every attempt comes here.
            Ok(parts) => parts.div_ceil(1_000_000),
            Err(_) => u64::try_from(parts.div_ceil(1_000_000)).unwrap_or(u64::MAX),
        };
        Duration::from_nanos(nanos).saturating_add(self.step).saturating_add(Self::PRECISION)
    }

    /// Returns the shortest ttl in whole milliseconds of which this drift leaves something: the
    /// shortest that can be requested, where it is not less than [`MIN_TTL`](super::MIN_TTL).
    ///
    /// With a rate above [`Drift::MAX_RATE`] there may be no such ttl, and the return value is
    /// `Duration::MAX`.
    pub fn shortest_ttl(self) -> Duration {
        let fixed = self.step.saturating_add(Self::PRECISION).as_nanos();
        let left = 1_000_000_u128.saturating_sub(2 * u128::from(self.rate_ppm));
        // Of each millisecond of the ttl, the rates leave `left` nanoseconds.
        let millis = fixed.checked_div(left).and_then(|millis| u64::try_from(millis + 1).ok());
        millis.map_or(Duration::MAX, Duration::from_millis)
    }

    /// Returns the end of the validity of a lock that was requested at `start`.
    ///
    /// The end is `start` itself when the drift takes up the whole ttl: such a lock is never valid.
    pub fn valid_until(self, start: Instant, ttl: Duration) -> Instant {
        start + ttl.saturating_sub(self.of(ttl))
    }
}

/// Returns the moment at which half of a validity is over that began at `start`. An attempt that
/// has not succeeded by then fails: most of its lock would be gone.
pub(super) const fn half(start: Instant, valid_until: Instant) -> Instant {
    let (start, end) = (start.as_nanos(), valid_until.as_nanos());
    Instant::from_nanos(start + end.saturating_sub(start) / 2)
}

impl Default for Drift {
    fn default() -> Self {
        Self { rate_ppm: 5_000, step: Duration::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Instant = Instant::from_nanos(7_000_000_000);

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn the_default_is_one_percent_and_two_milliseconds() {
        let rows = [(0, 2_000), (10, 2_100), (100, 3_000), (1_000, 12_000), (30_000, 302_000)];
        for (ttl, drift) in rows {
            let found = Drift::default().of(ms(ttl));
            assert_eq!(found, Duration::from_micros(drift), "ttl {ttl} ms");
        }
    }

    #[test]
    fn validity_counts_from_the_start() {
        let rows = [
            // rate in ppm, step in ms, ttl in ms, validity in µs
            (5_000, 0, 10, 7_900),
            (5_000, 0, 30_000, 29_698_000),
            (0, 0, 1_000, 998_000),
            (0, 500, 1_000, 498_000),
            (50_000, 0, 1_000, 898_000),
            (50_000, 900, 1_000, 0),
            (5_000, 0, 2, 0),
            (5_000, 0, 0, 0),
        ];
        for (rate_ppm, step, ttl, validity) in rows {
            let drift = Drift { rate_ppm, step: ms(step) };
            let found = drift.valid_until(START, ms(ttl)) - START;
            assert_eq!(found, Duration::from_micros(validity), "{drift:?}, ttl {ttl} ms");
        }
    }

    #[test]
    fn the_shortest_ttl_is_the_first_millisecond_of_which_something_is_left() {
        for rate_ppm in [0, 1, 5_000, 49_999, Drift::MAX_RATE] {
            for step in [0, 1, 7_900_000, 8_000_000, 500_000_001, 60_000_000_000] {
                let drift = Drift::new(rate_ppm, Duration::from_nanos(step));
                let shortest = drift.shortest_ttl();
                let shorter = shortest - ms(1);
                assert!(drift.of(shortest) < shortest, "{drift:?}: {shortest:?}");
                assert!(drift.of(shorter) >= shorter, "{drift:?}: {shortest:?}");
            }
        }
        assert_eq!(Drift::default().shortest_ttl(), ms(3));
        assert_eq!(Drift::new(500_000, Duration::ZERO).shortest_ttl(), Duration::MAX);
        assert_eq!(Drift::new(u32::MAX, Duration::MAX).shortest_ttl(), Duration::MAX);
    }

    #[test]
    fn a_fraction_of_a_nanosecond_is_rounded_against_the_holder() {
        let drift = Drift { rate_ppm: 1, step: Duration::ZERO };
        let ttl = Duration::from_nanos(1);
        assert_eq!(drift.of(ttl), Drift::PRECISION + Duration::from_nanos(1));
    }

    /// Below and above the largest number of eight bytes, the drift grows evenly.
    #[test]
    fn long_ttls_have_the_same_drift_as_short_ones() {
        let most = Duration::from_nanos(u64::MAX / 10_000);
        for (ttl, nanos) in [
            (most - Duration::from_nanos(1), 18_446_744_073_710),
            (most, 18_446_744_073_710),
            (most + Duration::from_nanos(100), 18_446_744_073_711),
            (100 * most, 1_844_674_407_370_955),
        ] {
            let found = Drift::default().of(ttl) - Drift::PRECISION;
            assert_eq!(found, Duration::from_nanos(nanos), "{ttl:?}");
        }
    }

    #[test]
    fn half_of_a_validity_is_counted_from_its_start() {
        let at = Instant::from_nanos;
        for (start, end, expected) in [(100, 200, 150), (100, 201, 150), (7, 7, 7), (9, 4, 9)] {
            assert_eq!(half(at(start), at(end)), at(expected), "{start} to {end}");
        }
        assert_eq!(half(at(1), Instant::FAR_FUTURE), at(1 << 63));
    }

    #[test]
    fn absurd_values_never_lengthen_a_lock() {
        let drift = Drift { rate_ppm: u32::MAX, step: Duration::MAX };
        assert_eq!(drift.valid_until(START, Duration::MAX), START);
        let late = Instant::from_nanos(u64::MAX - 5);
        let until = Drift::default().valid_until(late, ms(30_000));
        assert_eq!(until, Instant::FAR_FUTURE);
    }
}

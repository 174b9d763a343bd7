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
mod tests;

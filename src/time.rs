//! A point in time as a plain number: nanoseconds since boot.
//!
//! This file knows arithmetic and never a clock. Every mutating call of [`crate::redlock`] takes an
//! [`Instant`]; in production `net::Clock` supplies it from `CLOCK_BOOTTIME`, in a simulation any
//! counter does. `std::time::Instant` will not do: on Linux it reads `CLOCK_MONOTONIC`, which stops
//! while the machine is suspended, so that a holder who wakes up would believe it still holds (S9).

use core::fmt;
use core::ops::{Add, Sub};
use core::time::Duration;

/// Nanoseconds since an arbitrary origin, usually the boot of the machine.
///
/// Arithmetic saturates: a deadline too far away to be represented is [`Instant::FAR_FUTURE`],
/// which no clock reaches (584 years after boot), and the difference of two instants in the wrong
/// order is zero.
///
/// ```
/// use redbolt::time::Instant;
/// use std::time::Duration;
///
/// let start = Instant::from_nanos(1_000);
/// let later = start + Duration::from_micros(2);
/// assert_eq!(later - start, Duration::from_nanos(2_000));
/// assert_eq!(start - later, Duration::ZERO);
/// assert_eq!(later + Duration::MAX, Instant::FAR_FUTURE);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(u64);

impl Instant {
    /// The origin of the clock.
    pub const ZERO: Self = Self(0);

    /// Later than every instant that a clock returns; stands for "never".
    pub const FAR_FUTURE: Self = Self(u64::MAX);

    /// The instant `nanos` nanoseconds after the origin.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the origin.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(nanos))
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;

    fn sub(self, duration: Duration) -> Self {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        Self(self.0.saturating_sub(nanos))
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::FAR_FUTURE {
            return f.write_str("never");
        }
        write!(f, "{}.{:09}s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

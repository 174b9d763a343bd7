//! Points in time as plain numbers: nanoseconds since boot. And lengths of time as text.
//!
//! This module knows arithmetic and never reads a clock. Every mutating call of
//! [`redlock`](crate::redlock) takes an [`Instant`] as an argument. In production,
//! `redbolt::Clock` reads the instant from a clock that counts suspend; in a simulation, any
//! counter supplies the instant.
//!
//! `std::time::Instant` does not serve here: its clock stops while the machine is suspended, on
//! Linux (`CLOCK_MONOTONIC`) and on macOS (`CLOCK_UPTIME_RAW`). After a suspend, a holder would
//! believe in a lock that has ended (S9).

use core::fmt;
use core::ops::{Add, Sub};
use core::time::Duration;

mod duration;
#[cfg(feature = "serde")]
mod serde_impl;

pub use self::duration::{DurationError, format_duration, format_rounded, parse_duration};
#[cfg(feature = "serde")]
pub(crate) use self::serde_impl::{Text, TextOf};

/// A point in time, as nanoseconds since an arbitrary origin. The usual origin is the boot of the
/// machine.
///
/// Arithmetic saturates and never panics. A deadline too late for the 64 bits is
/// [`Instant::FAR_FUTURE`], 584 years after the origin, which no clock reaches. An instant before
/// the origin is [`Instant::ZERO`]. The difference of two instants in the wrong order is zero.
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

    /// An instant later than every instant that a clock returns. Stands for "never".
    pub const FAR_FUTURE: Self = Self(u64::MAX);

    /// Creates an instant `nanos` nanoseconds after the origin.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Returns the nanoseconds since the origin.
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

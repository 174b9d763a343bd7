//! Durations in four bytes, for tables with a million rows.

use core::time::Duration;

/// A number of whole milliseconds, up to seven weeks. No ttl is longer than [`LONGEST_TTL`], a
/// week.
///
/// [`LONGEST_TTL`]: super::LONGEST_TTL
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(super) struct Millis(u32);

impl Millis {
    pub(super) const ZERO: Self = Self(0);

    /// Converts a duration. A fraction of a millisecond is cut off. A duration that is too long
    /// becomes the longest possible one.
    #[inline]
    pub(super) fn of(duration: Duration) -> Self {
        Self(u32::try_from(duration.as_millis()).unwrap_or(u32::MAX))
    }

    /// Returns the same time in nanoseconds, which fit.
    #[inline]
    pub(super) const fn as_nanos(self) -> u64 {
        self.0 as u64 * 1_000_000
    }

    pub(super) const fn count(self) -> i64 {
        self.0 as i64
    }

    pub(super) const fn is_zero(self) -> bool {
        self.0 == 0
    }

    #[inline]
    pub(super) const fn duration(self) -> Duration {
        Duration::from_millis(self.0 as u64)
    }
}

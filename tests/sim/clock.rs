//! Clocks, none of which shows the true time.

use redbolt::time::Instant;

pub(crate) const MS: u64 = 1_000_000;
pub(crate) const SECOND: u64 = 1_000 * MS;

const MILLION: u64 = 1_000_000;

/// What wall clocks show when true time is zero, in microseconds since 1970. That is the year 2000,
/// in which the clocks of embedded masters begin.
const EPOCH: u64 = 946_684_800 * MILLION;

/// Returns what a wall clock shows, in microseconds since 1970.
pub(crate) fn micros(at: Instant) -> u64 {
    EPOCH + at.as_nanos() / 1_000
}

/// A clock that runs too fast or too slow, and that may be set.
///
/// True times are plain numbers of nanoseconds, and shown times are `Instant`s, so the two cannot
/// be mixed up.
#[derive(Clone, Copy)]
pub(crate) struct Clock {
    /// The true time at which the clock was last set.
    since: u64,
    /// The time that the clock showed then.
    shown: u64,
    /// The parts per million by which the clock is fast.
    rate: i64,
}

impl Clock {
    pub(crate) fn new(now: u64, shown: u64, rate: i64) -> Self {
        Self { since: now, shown, rate }
    }

    /// Returns the shown time. `now` must not lie before the clock was last set.
    pub(crate) fn show(&self, now: u64) -> Instant {
        // A world lasts for minutes, and a million times that fits.
        Instant::from_nanos(self.shown + (now - self.since) * self.speed() / MILLION)
    }

    /// Returns the first true time at which the clock shows `at`; `now` if the clock already does.
    pub(crate) fn true_time(&self, now: u64, at: Instant) -> u64 {
        let ahead = u128::from(at.as_nanos().saturating_sub(self.shown)) * u128::from(MILLION);
        let ahead = ahead.div_ceil(u128::from(self.speed()));
        u64::try_from(ahead).map_or(u64::MAX, |ahead| self.since.saturating_add(ahead)).max(now)
    }

    /// Lets the clock run at another rate from now on.
    pub(crate) fn set_rate(&mut self, now: u64, rate: i64) {
        *self = Self { since: now, shown: self.show(now).as_nanos(), rate };
    }

    /// Sets the clock forward, or back.
    pub(crate) fn step(&mut self, now: u64, by: i64) {
        let shown = self.show(now).as_nanos().saturating_add_signed(by);
        *self = Self { since: now, shown, rate: self.rate };
    }

    /// Returns how much the clock shows in a million units of true time.
    fn speed(&self) -> u64 {
        MILLION.saturating_add_signed(self.rate)
    }
}

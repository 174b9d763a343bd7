//! Clocks, none of which shows the true time.

use redbolt::time::Instant;

pub(crate) const MS: u64 = 1_000_000;
pub(crate) const SECOND: u64 = 1_000 * MS;

const MILLION: u64 = 1_000_000;

/// A clock that runs too fast or too slow, and that somebody may set.
///
/// True times are nanoseconds as plain numbers, what a clock shows is an `Instant`: the two cannot
/// be mixed up.
#[derive(Clone, Copy)]
pub(crate) struct Clock {
    /// At this true time it was set last,
    since: u64,
    /// and showed this.
    shown: u64,
    /// By how many parts per million it is fast.
    rate: i64,
}

impl Clock {
    pub(crate) fn new(now: u64, shown: u64, rate: i64) -> Self {
        Self { since: now, shown, rate }
    }

    /// What it shows. It cannot be asked about a time before it was set last.
    pub(crate) fn show(&self, now: u64) -> Instant {
        // A world lasts for minutes: a million times that fits.
        Instant::from_nanos(self.shown + (now - self.since) * self.speed() / MILLION)
    }

    /// The first true time at which it shows `at`; `now` if it already does.
    pub(crate) fn true_time(&self, now: u64, at: Instant) -> u64 {
        let ahead = u128::from(at.as_nanos().saturating_sub(self.shown)) * u128::from(MILLION);
        let ahead = ahead.div_ceil(u128::from(self.speed()));
        u64::try_from(ahead).map_or(u64::MAX, |ahead| self.since.saturating_add(ahead)).max(now)
    }

    /// From now on it runs at another rate.
    pub(crate) fn set_rate(&mut self, now: u64, rate: i64) {
        *self = Self { since: now, shown: self.show(now).as_nanos(), rate };
    }

    /// Somebody sets it forward, or back.
    pub(crate) fn step(&mut self, now: u64, by: i64) {
        let shown = self.show(now).as_nanos().saturating_add_signed(by);
        *self = Self { since: now, shown, rate: self.rate };
    }

    /// How much it shows in a million units of true time.
    fn speed(&self) -> u64 {
        MILLION.saturating_add_signed(self.rate)
    }
}

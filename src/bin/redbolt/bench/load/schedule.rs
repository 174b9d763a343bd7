//! When the cycles of an open loop should start.

use std::time::Duration;

use redbolt::time::Instant;

/// Starts at a fixed rate. A late start does not move later starts: a cycle that must wait because
/// others take too long shows that wait as latency (coordinated omission would hide the wait).
pub(crate) struct Schedule {
    /// The time of the first start.
    origin: Instant,
    /// Starts a second.
    rate: u32,
    /// The number of starts so far.
    count: u64,
    /// The time of the next start.
    next: Instant,
}

impl Schedule {
    pub(crate) fn new(origin: Instant, rate: u32) -> Self {
        Self { origin, rate, count: 0, next: origin }
    }

    /// The time at which the next cycle should start, or should have started.
    pub(crate) fn next(&self) -> Instant {
        self.next
    }

    /// Says that the next cycle has started.
    pub(crate) fn advance(&mut self) {
        self.count += 1;
        let rate = u64::from(self.rate);
        // Whole seconds are counted apart, so that no rounding adds up and nothing overflows.
        let nanos = self.count % rate * 1_000_000_000 / rate;
        self.next =
            self.origin + Duration::from_secs(self.count / rate) + Duration::from_nanos(nanos);
    }

    /// The number of cycles that should have started by `now` and have not.
    pub(crate) fn overdue(&self, now: Instant) -> u64 {
        if now < self.next {
            return 0;
        }
        let late = (now - self.next).as_nanos() * u128::from(self.rate) / 1_000_000_000;
        u64::try_from(late).unwrap_or(u64::MAX).saturating_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_keep_to_the_rate_for_ever() {
        let origin = Instant::from_nanos(5);
        let mut schedule = Schedule::new(origin, 3);
        let mut starts = Vec::new();
        for _ in 0..4 {
            starts.push((schedule.next() - origin).as_nanos());
            schedule.advance();
        }
        assert_eq!(starts, [0, 333_333_333, 666_666_666, 1_000_000_000]);
        for _ in 4..3_000_000 {
            schedule.advance();
        }
        assert_eq!(schedule.next() - origin, Duration::from_secs(1_000_000));
    }

    #[test]
    fn what_is_due_and_not_started_is_counted() {
        let origin = Instant::from_nanos(1_000);
        let mut schedule = Schedule::new(origin, 1_000);
        let at = |micros| origin + Duration::from_micros(micros);
        assert_eq!(schedule.overdue(Instant::ZERO), 0);
        assert_eq!(schedule.overdue(at(0)), 1);
        assert_eq!(schedule.overdue(at(2_500)), 3);
        schedule.advance();
        assert_eq!(schedule.overdue(at(999)), 0);
        assert_eq!(schedule.overdue(at(2_500)), 2);
    }
}

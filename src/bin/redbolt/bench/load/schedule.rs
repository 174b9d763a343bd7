//! When the cycles of an open loop should start.

use std::time::Duration;

use redbolt::time::Instant;

use super::demand::{Arrivals, Demand};

/// Starts at a rate. A late start does not move later starts: a cycle that must wait because others
/// take too long shows that wait as latency (coordinated omission would hide the wait).
pub(crate) struct Schedule {
    gaps: Gaps,
    /// The time of the next start.
    next: Instant,
}

enum Gaps {
    /// The start with the number `count` is at `origin` + `count` / `rate`.
    Even { origin: Instant, rate: u32, count: u64, stride: u64 },
    /// Gaps with an exponential distribution. The mean is in nanoseconds.
    Poisson { mean: f64, rng: fastrand::Rng },
}

impl Schedule {
    /// Creates the schedule of one of `parts` engines or workers, which together keep to the rate:
    /// of even starts each has every `parts`-th, and several Poisson processes are one. `None` for
    /// a closed loop.
    pub(crate) fn new(
        origin: Instant,
        demand: &Demand,
        index: usize,
        parts: usize,
    ) -> Option<Self> {
        let (rate, parts) = (demand.rate?, parts.max(1));
        let gaps = match demand.arrivals {
            Arrivals::Even => {
                Gaps::Even { origin, rate, count: index as u64, stride: parts as u64 }
            }
            Arrivals::Poisson => Gaps::Poisson {
                mean: 1e9 * parts as f64 / f64::from(rate),
                rng: demand.rng(!index),
            },
        };
        let mut schedule = Self { gaps, next: origin };
        match &schedule.gaps {
            Gaps::Even { count, .. } => schedule.next = origin + even(*count, rate),
            Gaps::Poisson { .. } => schedule.advance(),
        }
        Some(schedule)
    }

    /// The time at which the next cycle should start, or should have started.
    pub(crate) fn next(&self) -> Instant {
        self.next
    }

    /// Says that the next cycle has started.
    pub(crate) fn advance(&mut self) {
        match &mut self.gaps {
            Gaps::Even { origin, rate, count, stride } => {
                *count += *stride;
                self.next = *origin + even(*count, *rate);
            }
            Gaps::Poisson { mean, rng } => {
                // The logarithm of zero has no end; 1 − f64() is never zero.
                let gap = -(1.0 - rng.f64()).ln() * *mean;
                self.next = self.next + Duration::from_nanos(gap as u64);
            }
        }
    }

    /// The number of cycles that should have started by `now` and have not; of a Poisson process,
    /// the number that is to be expected.
    pub(crate) fn overdue(&self, now: Instant) -> u64 {
        if now < self.next {
            return 0;
        }
        let late = (now - self.next).as_nanos();
        let late = match &self.gaps {
            Gaps::Even { rate, stride, .. } => {
                late * u128::from(*rate) / 1_000_000_000 / u128::from(*stride)
            }
            Gaps::Poisson { mean, .. } => (late as f64 / mean) as u128,
        };
        u64::try_from(late).unwrap_or(u64::MAX).saturating_add(1)
    }
}

/// Whole seconds are counted apart, so that no rounding adds up and nothing overflows.
fn even(count: u64, rate: u32) -> Duration {
    let rate = u64::from(rate);
    Duration::from_secs(count / rate) + Duration::from_nanos(count % rate * 1_000_000_000 / rate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::load::demand::sample;

    fn schedule(
        rate: u32,
        arrivals: Arrivals,
        origin: Instant,
        [index, parts]: [usize; 2],
    ) -> Schedule {
        let demand = Demand { rate: Some(rate), arrivals, ..sample() };
        Schedule::new(origin, &demand, index, parts).expect("a rate is given")
    }

    #[test]
    fn even_starts_keep_to_the_rate_for_ever() {
        let origin = Instant::from_nanos(5);
        let mut schedule = schedule(3, Arrivals::Even, origin, [0, 1]);
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
    fn parts_of_an_even_rate_are_that_rate_together() {
        let mut starts = Vec::new();
        for index in 0..3 {
            let mut part = schedule(4, Arrivals::Even, Instant::ZERO, [index, 3]);
            for _ in 0..4 {
                starts.push(part.next().as_nanos());
                part.advance();
            }
        }
        starts.sort_unstable();
        let expected: Vec<_> = (0..12).map(|start| start * 250_000_000).collect();
        assert_eq!(starts, expected);
    }

    #[test]
    fn poisson_gaps_have_the_mean_of_the_rate_and_vary_as_much() {
        const STARTS: u32 = 200_000;
        let origin = Instant::from_nanos(77);
        for parts in [1, 4] {
            let mut schedule = schedule(1_000, Arrivals::Poisson, origin, [0, parts]);
            let mut last = origin;
            let gaps: Vec<f64> = (0..STARTS)
                .map(|_| {
                    let gap = (schedule.next() - last).as_secs_f64();
                    last = schedule.next();
                    schedule.advance();
                    gap
                })
                .collect();
            let count = f64::from(STARTS);
            let mean = gaps.iter().sum::<f64>() / count;
            let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / count;
            let expected = parts as f64 / 1_000.0;
            assert!((mean / expected - 1.0).abs() < 0.02, "{mean}");
            // The standard deviation of an exponential distribution is its mean.
            assert!((variance.sqrt() / expected - 1.0).abs() < 0.03, "{variance}");
        }
    }

    #[test]
    fn what_is_due_and_not_started_is_counted() {
        let origin = Instant::from_nanos(1_000);
        let mut schedule = schedule(1_000, Arrivals::Even, origin, [0, 1]);
        let at = |micros| origin + Duration::from_micros(micros);
        assert_eq!(schedule.overdue(Instant::ZERO), 0);
        assert_eq!(schedule.overdue(at(0)), 1);
        assert_eq!(schedule.overdue(at(2_500)), 3);
        schedule.advance();
        assert_eq!(schedule.overdue(at(999)), 0);
        assert_eq!(schedule.overdue(at(2_500)), 2);
    }
}

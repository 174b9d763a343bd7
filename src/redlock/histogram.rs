//! A histogram of durations. The width of a bucket grows with the durations in it.

use core::fmt;
use core::time::Duration;

/// The number of buckets for each power of two. With eight, a bucket is at most an eighth as wide
/// as the durations in it.
const STEPS: usize = 8;

/// The first bucket ends at 2¹⁰ ns, about a microsecond.
const FIRST_BIT: u32 = 10;

/// The number of buckets. The buckets reach up to 2³⁶ ns, about a minute; longer durations count in
/// the last bucket.
const BUCKETS: usize = (36 - FIRST_BIT as usize) * STEPS + 1;

/// A histogram of durations from a microsecond to a minute, accurate to an eighth.
///
/// Recording a duration costs a few instructions and never allocates. The count of a bucket stops
/// at four billion.
///
/// ```
/// use redbolt::redlock::Histogram;
/// use std::time::Duration;
///
/// let mut histogram = Histogram::new();
/// (1..=100).for_each(|micros| histogram.record(Duration::from_micros(micros)));
/// let median = histogram.quantile(0.5);
/// assert!(median >= Duration::from_micros(50) && median <= Duration::from_micros(57));
/// assert_eq!(histogram.count(), 100);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Histogram {
    buckets: Box<[u32; BUCKETS]>,
    count: u64,
    /// The sum of all durations, in nanoseconds.
    sum: u64,
    /// The longest duration, in nanoseconds.
    max: u64,
}

/// Durations of one bucket, which are recorded together. At first there are none.
#[derive(Default)]
pub(super) struct Alike {
    bucket: usize,
    /// The shortest duration of the bucket, and the difference to the next bucket.
    begin: u64,
    width: u64,
    count: u32,
    sum: u64,
    max: u64,
}

impl Alike {
    /// Creates an empty set of durations like this one.
    #[inline(never)]
    fn of(nanos: u64) -> Self {
        let bucket = bucket_of(nanos);
        let begin = bucket.checked_sub(1).map_or(0, end_of);
        Self { bucket, begin, width: end_of(bucket) - begin, ..Self::default() }
    }
}

impl Histogram {
    /// Creates an empty histogram, which takes about a kilobyte.
    pub fn new() -> Self {
        Self { buckets: Box::new([0; BUCKETS]), count: 0, sum: 0, max: 0 }
    }

    /// Records one duration. A duration of more than five centuries (2⁶⁴ ns) counts as five
    /// centuries.
    pub fn record(&mut self, duration: Duration) {
        self.record_nanos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
    }

    #[inline]
    pub(super) fn record_nanos(&mut self, nanos: u64) {
        let bucket = bucket_of(nanos);
        self.record_alike(Alike { bucket, count: 1, sum: nanos, max: nanos, ..Alike::default() });
    }

    /// Adds a duration to others of one bucket. A duration of another bucket makes them recorded,
    /// and begins anew.
    #[inline]
    pub(super) fn record_with(&mut self, alike: &mut Alike, nanos: u64) {
        if nanos.wrapping_sub(alike.begin) >= alike.width {
            self.record_alike(core::mem::replace(alike, Alike::of(nanos)));
        }
        alike.count += 1;
        alike.sum = alike.sum.saturating_add(nanos);
        alike.max = alike.max.max(nanos);
    }

    /// Records durations of one bucket.
    #[inline]
    pub(super) fn record_alike(&mut self, alike: Alike) {
        let bucket = &mut self.buckets[alike.bucket];
        *bucket = bucket.saturating_add(alike.count);
        self.count += u64::from(alike.count);
        self.sum = self.sum.saturating_add(alike.sum);
        self.max = self.max.max(alike.max);
    }

    /// Returns the number of recorded durations.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the longest recorded duration; zero when there is none.
    #[must_use]
    pub fn max(&self) -> Duration {
        Duration::from_nanos(self.max)
    }

    /// Returns the mean of the recorded durations; zero when there is none.
    #[must_use]
    pub fn mean(&self) -> Duration {
        Duration::from_nanos(self.sum.checked_div(self.count).unwrap_or_default())
    }

    /// Returns a quantile of the recorded durations; for 0.99, the duration that 99 % of them did
    /// not exceed. Zero when there is none.
    ///
    /// `quantile` is a number from 0 to 1. The result can be too long by an eighth or a
    /// microsecond, and is never longer than [`max`](Self::max).
    #[must_use]
    pub fn quantile(&self, quantile: f64) -> Duration {
        let wanted = (quantile.clamp(0.0, 1.0) * self.count as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (index, count) in self.buckets.iter().enumerate() {
            seen += u64::from(*count);
            if seen >= wanted {
                let end = Duration::from_nanos(end_of(index));
                return if index + 1 == BUCKETS { self.max() } else { end.min(self.max()) };
            }
        }
        self.max()
    }

    /// Adds everything that another histogram has recorded.
    pub fn merge(&mut self, other: &Self) {
        for (bucket, count) in self.buckets.iter_mut().zip(other.buckets.iter()) {
            *bucket = bucket.saturating_add(*count);
        }
        self.count = self.count.saturating_add(other.count);
        self.sum = self.sum.saturating_add(other.sum);
        self.max = self.max.max(other.max);
    }

    /// Returns an iterator over the buckets that are not empty: the end of each bucket, and the
    /// number of durations in it.
    pub fn buckets(&self) -> impl Iterator<Item = (Duration, u32)> {
        let all = self.buckets.iter().enumerate().filter(|(_, count)| **count > 0);
        all.map(|(index, count)| (Duration::from_nanos(end_of(index)), *count))
    }
}

/// Prints the figures that a reader of a log wants, instead of two hundred buckets.
impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Histogram")
            .field("count", &self.count)
            .field("p50", &self.quantile(0.5))
            .field("p99", &self.quantile(0.99))
            .field("max", &self.max())
            .finish()
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns the bucket of a duration: the position of its highest bit, then the three bits behind
/// that bit.
fn bucket_of(nanos: u64) -> usize {
    let Some(high) = nanos.checked_ilog2().filter(|high| *high >= FIRST_BIT) else { return 0 };
    let steps = (nanos >> (high - STEPS.ilog2())) as usize % STEPS;
    (((high - FIRST_BIT) as usize) * STEPS + steps + 1).min(BUCKETS - 1)
}

/// Returns the end of a bucket in nanoseconds.
fn end_of(index: usize) -> u64 {
    let Some(index) = index.checked_sub(1) else { return 1 << FIRST_BIT };
    let (high, step) = (FIRST_BIT as usize + index / STEPS, index % STEPS);
    ((STEPS + step + 1) as u64) << (high - STEPS.ilog2() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_lies_in_its_bucket_which_is_an_eighth_wide() {
        let mut rng = fastrand::Rng::with_seed(5);
        for _ in 0..100_000 {
            let nanos = 1_u64 << rng.u32(0..36);
            let nanos = nanos + rng.u64(0..nanos);
            let index = bucket_of(nanos);
            let (begin, end) = (index.checked_sub(1).map_or(0, end_of), end_of(index));
            assert!(begin <= nanos && nanos < end, "{nanos} is not in {begin}..{end}");
            assert!(end - begin <= (begin / 8).max(1 << FIRST_BIT), "{begin}..{end}");
        }
    }

    #[test]
    fn quantiles_agree_with_sorted_samples_to_an_eighth() {
        for seed in 0..50 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let mut histogram = Histogram::new();
            let mut sample = || {
                let most = 1 << rng.u32(12..34);
                Duration::from_nanos(rng.u64(2_000..most))
            };
            let mut samples: Vec<_> = (0..500).map(|_| sample()).collect();
            samples.iter().for_each(|sample| histogram.record(*sample));
            samples.sort_unstable();
            for quantile in [0.0, 0.1, 0.5, 0.9, 0.99, 1.0] {
                let rank = ((quantile * 500.0_f64).ceil() as usize).max(1);
                let (exact, found) = (samples[rank - 1], histogram.quantile(quantile));
                assert!(found >= exact && found <= exact + exact / 8 + Duration::from_nanos(1));
            }
            assert_eq!(histogram.max(), samples[499]);
        }
    }

    #[test]
    fn durations_recorded_together_count_as_those_recorded_one_by_one() {
        let mut rng = fastrand::Rng::with_seed(3);
        let (mut single, mut together) = (Histogram::new(), Histogram::new());
        for _ in 0..100 {
            let mut alike = Alike::default();
            for _ in 0..rng.usize(0..9) {
                let most = 1 << rng.u32(1..40);
                let nanos = rng.u64(0..most);
                single.record_nanos(nanos);
                together.record_with(&mut alike, nanos);
            }
            together.record_alike(alike);
            assert_eq!(single, together);
        }
    }

    #[test]
    fn what_is_too_long_or_too_short_counts_at_the_ends() {
        let mut histogram = Histogram::new();
        assert_eq!((histogram.quantile(0.5), histogram.mean()), (Duration::ZERO, Duration::ZERO));
        histogram.record(Duration::ZERO);
        histogram.record(Duration::MAX);
        assert_eq!(histogram.count(), 2);
        assert_eq!(histogram.quantile(1.0), Duration::from_nanos(u64::MAX));
        let mut other = Histogram::new();
        other.merge(&histogram);
        assert_eq!(other, histogram);
        assert_eq!(other.buckets().map(|(_, count)| count).sum::<u32>(), 2);
    }

    #[test]
    fn a_histogram_is_printed_as_the_figures_it_stands_for() {
        let mut histogram = Histogram::new();
        histogram.record(Duration::from_millis(3));
        let printed = format!("{histogram:?}");
        assert_eq!(printed, "Histogram { count: 1, p50: 3ms, p99: 3ms, max: 3ms }");
    }
}

//! Latencies of one kind, as a histogram.

use std::time::Duration;

use hdrhistogram::Histogram;

use crate::bench::run::digits::Quantiles;

/// Latencies are counted in nanoseconds, from 0.1 µs to one hour, to three digits. A histogram
/// takes some 200 kB.
const LEAST_NANOS: u64 = 100;
const MOST_NANOS: u64 = 3_600_000_000_000;
const DIGITS: u8 = 3;

/// The latencies of one kind of request.
pub(crate) struct Latencies(Histogram<u64>);

impl Latencies {
    pub(crate) fn new() -> Self {
        let histogram = Histogram::new_with_bounds(LEAST_NANOS, MOST_NANOS, DIGITS);
        // The three constants are within what a histogram accepts.
        Self(histogram.expect("the bounds are in order"))
    }

    pub(crate) fn record(&mut self, latency: Duration) {
        let nanos = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        self.0.saturating_record(nanos);
    }

    pub(crate) fn record_many(&mut self, latency: Duration, count: u64) {
        let nanos = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        self.0.saturating_record_n(nanos, count);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        // Adding fails only for different bounds, and all histograms here have the same.
        let _ = self.0.add(&other.0);
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.len()
    }

    /// Returns p50, p90, p99, p99.9 and the maximum in microseconds; `None` for no latencies.
    pub(crate) fn summary(&self) -> Option<Quantiles> {
        let quantiles = [0.5, 0.9, 0.99, 0.999, 1.0];
        let micros = |quantile| self.0.value_at_quantile(quantile) as f64 / 1e3;
        (!self.0.is_empty()).then(|| Quantiles::new(quantiles.map(micros)))
    }

    /// Returns the values that occurred, in nanoseconds, with their counts.
    pub(crate) fn values(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0.iter_recorded().map(|value| (value.value_iterated_to(), value.count_at_value()))
    }

    /// Creates a histogram of values that another one had.
    pub(crate) fn of_values(values: &[(u64, u64)]) -> Self {
        let mut latencies = Self::new();
        values.iter().for_each(|&(nanos, count)| latencies.0.saturating_record_n(nanos, count));
        latencies
    }

    pub(crate) fn clear(&mut self) {
        self.0.reset();
    }

    pub(crate) fn histogram(&self) -> &Histogram<u64> {
        &self.0
    }
}

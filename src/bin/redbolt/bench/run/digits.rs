//! What is worth printing of a figure.

use serde::{Deserialize, Serialize};

/// Quantiles of a latency, in microseconds.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Debug)]
pub(crate) struct Quantiles {
    pub(crate) p50: f64,
    pub(crate) p90: f64,
    pub(crate) p99: f64,
    pub(crate) p999: f64,
    pub(crate) max: f64,
}

impl Quantiles {
    pub(crate) fn new(summary: [f64; 5]) -> Self {
        let [p50, p90, p99, p999, max] = summary.map(tenths);
        Self { p50, p90, p99, p999, max }
    }
}

/// Rounds a rate or a latency to the digits that are worth printing.
pub(crate) fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

/// Rounds seconds or a cost per cycle to the digits that are worth printing.
pub(crate) fn thousandths(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::line;

    #[test]
    fn figures_are_short_and_stay_fractions() {
        let latencies = Quantiles::new([12.34, 56.0, 0.0, 1234.56, 1e9]);
        let expected = r#"{"p50":12.3,"p90":56.0,"p99":0.0,"p999":1234.6,"max":1000000000.0}"#;
        assert_eq!(line(&latencies), format!("{expected}\n"));
        assert_eq!(line(&thousandths(0.0004)), "0.0\n");
        assert_eq!(line(&thousandths(0.0016)), "0.002\n");
    }
}

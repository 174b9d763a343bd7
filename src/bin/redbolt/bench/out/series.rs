//! `series.csv`: a line for each slice of each step.

use std::fmt::Write;

use crate::bench::run::digits::Quantiles;
use crate::bench::run::{Contender, Step};

const TITLES: &str = "contender,round,in_flight,offered_per_s,from_ms,to_ms,cycles,cycles_per_s,\
                      failed,acquire_p50_us,acquire_p90_us,acquire_p99_us,acquire_p999_us,\
                      acquire_max_us\n";

/// Returns the file. What is not known is empty.
pub(crate) fn csv(steps: &[&Step]) -> String {
    let mut out = TITLES.to_owned();
    for step in steps {
        let contender = match step.contender {
            Contender::Redbolt => "redbolt",
            Contender::Raw => "raw",
        };
        let offered = step.offered_per_s.map_or(String::new(), |rate| rate.to_string());
        for slice in &step.series {
            let seconds = (slice.to_ms - slice.from_ms) / 1e3;
            let rate = if seconds > 0.0 { slice.cycles as f64 / seconds } else { 0.0 };
            let latencies = slice.acquire_us.map_or_else(
                || ",,,,".to_owned(),
                |latency| {
                    let Quantiles { p50, p90, p99, p999, max } = latency;
                    format!("{p50},{p90},{p99},{p999},{max}")
                },
            );
            // A string takes everything.
            _ = writeln!(
                out,
                "{contender},{},{},{offered},{},{},{},{rate:.1},{},{latencies}",
                step.round, step.in_flight, slice.from_ms, slice.to_ms, slice.cycles, slice.failed
            );
        }
    }
    out
}

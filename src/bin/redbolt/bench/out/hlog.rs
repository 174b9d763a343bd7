//! `acquire.hlog`: the latencies of all slices, in the log format of HdrHistogram, version 1.3.
//!
//! Values are nanoseconds. Each line has a tag that names the step; what was granted outside of the
//! measured time of a step is a line of its own, with the length zero. All lines of one tag
//! together are the latencies that `run.json` summarises.

use std::io::{self, Write};
use std::time::{Duration, UNIX_EPOCH};

use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use redbolt::time::Instant;

use crate::bench::figures::step::Measured;
use crate::bench::load::latencies::Latencies;
use crate::bench::run::Contender;

/// The maximum beside each histogram is in milliseconds, as the tools for such logs expect it.
const NANOS_PER_MILLI: f64 = 1e6;

/// When a run was started.
#[derive(Clone, Copy)]
pub(crate) struct Started {
    /// Since 1970, by the wall clock.
    pub(crate) wall: Duration,
    /// By the clock of all measurements.
    pub(crate) at: Instant,
}

/// Writes the log of all steps.
pub(crate) fn write(
    to: &mut impl Write,
    measured: &[Measured],
    started: Started,
) -> io::Result<()> {
    // The format has milliseconds.
    let wall = Duration::from_millis(started.wall.as_millis() as u64);
    let wall = UNIX_EPOCH + wall;
    let mut serializer = V2DeflateSerializer::new();
    let mut builder = IntervalLogWriterBuilder::new();
    builder
        .add_comment("redbolt bench: latencies of acquiring a lock, in nanoseconds")
        .with_start_time(wall)
        .with_base_time(wall)
        .with_max_value_divisor(NANOS_PER_MILLI);
    let mut log = builder.begin_log_with(to, &mut serializer)?;
    for measured in measured {
        let step = &measured.step;
        let rate = step.offered_per_s.map_or(String::new(), |rate| format!("-rate{rate}"));
        let who = if step.contender == Contender::Raw { "raw-" } else { "" };
        let name = format!("{who}round{}-inflight{}{rate}", step.round, step.in_flight);
        let tag = Tag::new(&name);
        let mut line = |from: Instant, to: Instant, values: &[(u64, u64)]| {
            let latencies = Latencies::of_values(values);
            let written =
                log.write_histogram(latencies.histogram(), from - started.at, to - from, tag);
            written.map_err(|error| io::Error::other(format!("{error:?}")))
        };
        for part in &measured.slices.parts {
            line(part.from, part.to, &part.acquire)?;
        }
        // Locks that are kept alive are all granted before the measured time, which has no slices.
        let end = measured.slices.parts.last().map_or(started.at, |last| last.to);
        line(end, end, &measured.slices.late)?;
    }
    Ok(())
}

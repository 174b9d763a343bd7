//! How a load went on over time.

use super::axis::{Axis, Scale, micros, short};
use super::markup::section as titled;
use super::plot::{Line, Plot};
use super::summary::{level_to_show, load};
use crate::bench::run::{Level, Run, Slice};

/// The most rounds that are drawn: with more lines than that, none of them can be followed.
const MOST_ROUNDS: usize = 6;

pub(super) fn section(run: &Run) -> String {
    let Some(level) = level_to_show(run) else { return String::new() };
    let has_slices = run.steps_of(level.load()).any(|step| !step.series.is_empty());
    if !has_slices {
        return String::new();
    }
    let rounds = run.steps_of(level.load()).count();
    let left_out = match rounds.saturating_sub(MOST_ROUNDS) {
        0 => String::new(),
        left => format!(" {left} more rounds are not drawn."),
    };
    let note = format!(
        "<p class=\"soft\">With {}. All slices of all loads are in series.csv.{left_out}</p>\n",
        load(run, level)
    );
    let rate = |slice: &Slice| {
        let seconds = (slice.to_ms - slice.from_ms) / 1e3;
        (seconds > 0.0).then(|| slice.cycles as f64 / seconds)
    };
    let p99 = |slice: &Slice| slice.acquire_us.map(|quantiles| quantiles.p99);
    let charts = [
        chart(run, level, "cycles a second", (Scale::Linear, short), rate),
        chart(run, level, "acquire p99", (Scale::Log, micros), p99),
    ];
    titled("Over time", &format!("{note}<div class=\"charts\">\n{}</div>\n", charts.concat()))
}

fn chart(
    run: &Run,
    level: &Level,
    what: &str,
    (scale, label): (Scale, fn(f64) -> String),
    value: impl Fn(&Slice) -> Option<f64>,
) -> String {
    let lines = run.steps_of(level.load()).take(MOST_ROUNDS).map(|step| Line {
        name: format!("round {}", step.round),
        points: step
            .series
            .iter()
            .filter_map(|slice| Some((slice.to_ms / 1e3, value(slice)?)))
            .collect(),
    });
    let lines: Vec<_> = lines.collect();
    let all = || lines.iter().flat_map(|line| &line.points);
    let plot = Plot {
        about: format!("{what} over time"),
        x: Axis::new(Scale::Linear, all().map(|&(x, _)| x), "seconds", short),
        y: Axis::new(scale, all().map(|&(_, y)| y), what, label),
        mark: None,
        lines,
    };
    plot.figure("By slices of the measured time.")
}

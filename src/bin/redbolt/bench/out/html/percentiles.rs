//! How latencies are distributed, at a few of the loads.

use super::axis::{Axis, Scale, micros};
use super::markup::section as titled;
use super::plot::{Line, Plot};
use super::summary::{level_to_show, load};
use crate::bench::figures::sample::median;
use crate::bench::run::digits::Quantiles;
use crate::bench::run::{Level, Run, Step};

/// The places of p50, p90, p99, p99.9 and the maximum beside each other.
const PLACES: [f64; 5] = [1.0, 2.0, 3.0, 4.0, 5.0];

type Request = (&'static str, fn(&Step) -> Option<Quantiles>);

const REQUESTS: [Request; 4] = [
    ("Acquire", |step| step.acquire_us),
    ("Release", |step| step.release_us),
    ("Extend", |step| step.extend_us),
    ("Hand over", |step| step.hand_over_us),
];

pub(super) fn section(run: &Run) -> String {
    let charts: String = REQUESTS.iter().filter_map(|request| chart(run, *request)).collect();
    if charts.is_empty() {
        return String::new();
    }
    titled("Percentiles", &format!("<div class=\"charts\">\n{charts}</div>\n"))
}

fn chart(run: &Run, (name, quantiles): Request) -> Option<String> {
    let line = |level: &Level| {
        let values = medians(run, level, quantiles)?;
        let points = PLACES.into_iter().zip(values).collect();
        Some(Line { name: load(run, level), points })
    };
    let lines: Vec<_> = chosen(run).into_iter().filter_map(line).collect();
    let values = || lines.iter().flat_map(|line| &line.points).map(|&(_, y)| y);
    values().next()?;
    let plot = Plot {
        about: format!("percentiles of the latency: {name}"),
        x: Axis::new(Scale::Linear, PLACES.into_iter(), "percentile", percentile),
        y: Axis::new(Scale::Log, values(), &name.to_lowercase(), micros),
        mark: None,
        lines,
    };
    Some(plot.figure(&format!("{name}: medians over the rounds of each load.")))
}

/// The loads that are drawn: the least, the one that the page shows first, and the most.
fn chosen(run: &Run) -> Vec<&Level> {
    let mut chosen: Vec<&Level> = Vec::new();
    let wanted = [run.levels.first(), level_to_show(run), run.levels.last()];
    for level in wanted.into_iter().flatten() {
        if !chosen.iter().any(|other| std::ptr::eq(*other, level)) {
            chosen.push(level);
        }
    }
    chosen
}

/// Returns the median of each quantile over the rounds of a level; `None` without any.
fn medians(
    run: &Run,
    level: &Level,
    quantiles: fn(&Step) -> Option<Quantiles>,
) -> Option<[f64; 5]> {
    let all: Vec<_> = run.steps_of(level.load()).filter_map(quantiles).collect();
    let of = |quantile: fn(&Quantiles) -> f64| median(all.iter().map(quantile));
    Some([of(|q| q.p50)?, of(|q| q.p90)?, of(|q| q.p99)?, of(|q| q.p999)?, of(|q| q.max)?])
}

/// Returns the name of a place; the ends of the axis have none.
fn percentile(place: f64) -> String {
    let names = ["", "p50", "p90", "p99", "p99.9", "max"];
    names.get(place.round() as usize).copied().unwrap_or_default().to_owned()
}

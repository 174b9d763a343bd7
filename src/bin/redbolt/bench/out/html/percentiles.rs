//! How latencies are distributed, at a few of the loads.

use super::axis::{Axis, Scale, micros};
use super::markup::section as titled;
use super::plot::{Line, Plot};
use super::summary::{level_to_show, load};
use crate::bench::run::digits::Quantiles;
use crate::bench::run::{Contender, Level, Run, Step};

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
        Some(Line { name: load(level), points })
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

/// Returns the steps of redbolt that belong to a level.
pub(super) fn steps_of<'a>(run: &'a Run, level: &'a Level) -> impl Iterator<Item = &'a Step> {
    let load = |step: &&Step| {
        step.contender == Contender::Redbolt
            && step.in_flight == level.in_flight
            && step.offered_per_s == level.offered_per_s
    };
    run.steps.iter().filter(load)
}

/// Returns the median of each quantile over the rounds of a level; `None` without any.
fn medians(
    run: &Run,
    level: &Level,
    quantiles: fn(&Step) -> Option<Quantiles>,
) -> Option<[f64; 5]> {
    let all = steps_of(run, level).filter_map(quantiles);
    let all: Vec<_> = all.map(|q| [q.p50, q.p90, q.p99, q.p999, q.max]).collect();
    let median = |index: usize| {
        let mut values: Vec<f64> = all.iter().filter_map(|all| all.get(index).copied()).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or_default()
    };
    (!all.is_empty()).then(|| [0, 1, 2, 3, 4].map(median))
}

/// Returns the name of a place; the ends of the axis have none.
fn percentile(place: f64) -> String {
    let names = ["", "p50", "p90", "p99", "p99.9", "max"];
    names.get(place.round() as usize).copied().unwrap_or_default().to_owned()
}

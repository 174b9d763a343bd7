//! The curves of a sweep: latency against load, and rate against load.

use super::axis::{Axis, Scale, micros, short};
use super::markup::section as titled;
use super::plot::{Line, Plot};
use super::summary::unit;
use crate::bench::run::{Level, Run};

/// A latency of a level, in microseconds.
type Latency = fn(&Level) -> Option<f64>;

const LATENCIES: [(&str, Latency); 3] = [
    ("p50", |level| level.acquire_p50_us),
    ("p99", |level| level.acquire_p99_us),
    ("p99.9", |level| level.acquire_p999_us),
];

pub(super) fn section(run: &Run) -> String {
    if run.levels.len() < 2 {
        return String::new();
    }
    let body = format!("<div class=\"charts\">\n{}{}</div>\n", latency(run), rate(run));
    titled("Latency and rate against load", &body)
}

fn latency(run: &Run) -> String {
    let line = |(name, latency): (&str, Latency)| Line {
        name: name.to_owned(),
        points: run
            .levels
            .iter()
            .filter_map(|level| Some((x(run, level), latency(level)?)))
            .collect(),
    };
    let begin = match is_open(run) {
        true => "From when a cycle was due until its lock is held.",
        false => "From the start of a request until the lock is held.",
    };
    let knee = match run.verdict.knee {
        Some(_) if is_open(run) => "The knee is the highest rate that was kept up with.",
        Some(_) => {
            "The knee is the least load with 95 % of the highest throughput. Beyond it, more load \
             brings little but latency."
        }
        None => "No knee was found.",
    };
    let caption = format!("{begin} {knee}");
    let y = ("acquire", Scale::Log, micros as fn(f64) -> String);
    plot(run, "latency of an acquisition against load", LATENCIES.map(line).into(), y)
        .figure(&caption)
}

fn rate(run: &Run) -> String {
    let line = |name: &str, rate: fn(&Level) -> f64| Line {
        name: name.to_owned(),
        points: run.levels.iter().map(|level| (x(run, level), rate(level))).collect(),
    };
    let mut lines = vec![line("median of the rounds", |level| level.cycles_per_s)];
    if run.levels.iter().any(|level| level.rounds > 1) {
        lines.push(line("least", |level| level.least_cycles_per_s));
        lines.push(line("most", |level| level.most_cycles_per_s));
    }
    let y = ("cycles a second", Scale::Linear, short as fn(f64) -> String);
    plot(run, "cycles a second against load", lines, y)
        .figure("Cycles that were done: a lock acquired and released.")
}

fn plot(
    run: &Run,
    about: &str,
    lines: Vec<Line>,
    (title, scale, label): (&str, Scale, fn(f64) -> String),
) -> Plot {
    let all = || lines.iter().flat_map(|line| &line.points);
    let knee = run.verdict.knee.and_then(|index| run.levels.get(index));
    let (load, load_scale) = match is_open(run) {
        true => ("starts a second, offered", Scale::Linear),
        false if unit(run) == "in flight" => ("locks in flight", Scale::Log),
        false => (unit(run), Scale::Log),
    };
    Plot {
        about: about.to_owned(),
        x: Axis::new(load_scale, all().map(|&(x, _)| x), load, short),
        y: Axis::new(scale, all().map(|&(_, y)| y), title, label),
        mark: knee.map(|level| (x(run, level), "knee".to_owned())),
        lines,
    }
}

/// Returns the load of a level, as a number for the axis of the loads.
fn x(run: &Run, level: &Level) -> f64 {
    match level.offered_per_s {
        Some(rate) if is_open(run) => rate.into(),
        _ => level.in_flight as f64,
    }
}

/// Whether all loads are starts a second.
fn is_open(run: &Run) -> bool {
    run.levels.iter().all(|level| level.offered_per_s.is_some())
}

//! Several loads as a table for people, and what follows from them.

use std::fmt::Write;

use super::table::{MAJORITY, machine};
use crate::bench::run::{Against, Comparison, Level, Run};
use crate::lines::Lines;
use crate::number::grouped;

/// What stands for a figure that there is not.
const NONE: &str = "-";

/// The column at which facts begin.
const LABEL: usize = 14;

/// Rounds that differ by more than this, in percent, leave a knee and its throughput uncertain.
const STEADY: f64 = 20.0;

/// The columns between two figures.
const GAP: usize = 1;

pub(crate) fn table(run: &Run) -> String {
    let has_failures = run.levels.iter().any(|level| level.failed > 0);
    let mut rows = vec![titles(run)];
    rows.extend(run.levels.iter().map(cells));
    if !has_failures {
        rows.iter_mut().for_each(|row| _ = row.pop());
    }
    let notes = (0..).zip(&run.levels).map(|(place, level)| note(run, place, level));
    let notes: Vec<_> = [String::new()].into_iter().chain(notes).collect();
    let mut out = format!("{:LABEL$}{}\n", "nodes", run.nodes.len());
    line(&mut out, &format!("{:LABEL$}{}", "servers", run.servers));
    if run.options.engines > 1 {
        line(&mut out, &format!("{:LABEL$}{}", "engines", run.options.engines));
    }
    if run.options.asks_majority {
        line(&mut out, &format!("{:LABEL$}{MAJORITY}", "asks first"));
    }
    out.push('\n');
    out.push_str(&aligned(&rows, &notes));
    out.push_str(
        "\nlatencies to acquire in ms; CPU in µs per cycle, of client and all servers,\n\
         and in percent of a processor, of the busiest engine and server\n",
    );
    if run.options.rounds > 1 {
        let (spread, rounds) = (widest_spread(run), rounds(run));
        line(&mut out, &format!("medians of {rounds} rounds; done/s spread up to {spread:.0} %"));
        if spread > STEADY {
            line(&mut out, "rounds differ too much to be sure: does something else run here?");
        }
    }
    let place = run.verdict.knee.or_else(|| run.levels.len().checked_sub(1));
    let busiest = place.and_then(|place| run.levels.get(place));
    let busy = |level: &Level| machine(level.machine_cpu_percent, level.own_cpu_percent);
    if let Some(machine) = busiest.and_then(busy) {
        let place = if run.verdict.knee.is_some() { "at the knee" } else { "at the highest load" };
        line(&mut out, &format!("all CPUs {place}: {machine}"));
    }
    if !run.verdict.text.is_empty() {
        let mut lines = Lines::default();
        lines.add(0, &run.verdict.text);
        out.push_str(&lines.into_text());
    }
    out
}

/// Returns how many rounds the loads have had: `5`, or `1 to 5` where some had fewer than others.
fn rounds(run: &Run) -> String {
    let rounds = || run.levels.iter().map(|level| level.rounds);
    match (rounds().min().unwrap_or_default(), rounds().max().unwrap_or_default()) {
        (least, most) if least == most => most.to_string(),
        (least, most) => format!("{least} to {most}"),
    }
}

/// Returns how far apart the rounds of any load are, in percent, where that leaves the figures
/// uncertain.
pub(crate) fn unsteady(run: &Run) -> Option<f64> {
    Some(widest_spread(run)).filter(|&spread| spread > STEADY)
}

fn widest_spread(run: &Run) -> f64 {
    run.levels.iter().map(spread).fold(0.0, f64::max)
}

/// Returns how far apart the rounds of a level are, in percent of their median.
fn spread(level: &Level) -> f64 {
    if level.cycles_per_s == 0.0 {
        return 0.0;
    }
    100.0 * (level.most_cycles_per_s - level.least_cycles_per_s) / level.cycles_per_s
}

fn titles(run: &Run) -> Vec<String> {
    let first = match run.options.load.as_str() {
        _ if !run.options.rates.is_empty() => "offered/s",
        "engines" => "in flight",
        workers => workers,
    };
    let titles = [first, "done/s", "p50", "p99", "p99.9", "max"];
    let costs = ["client", "servers", "client%", "server%", "failed"];
    titles.into_iter().chain(costs).map(str::to_owned).collect()
}

fn cells(level: &Level) -> Vec<String> {
    let load = level.offered_per_s.map_or(level.in_flight, u64::from);
    let millis = |micros: Option<f64>| match micros {
        Some(micros) if micros < 9_995.0 => format!("{:.2}", micros / 1e3),
        Some(micros) => format!("{:.1}", micros / 1e3),
        None => NONE.to_owned(),
    };
    let micros =
        |value: Option<f64>| value.map_or_else(|| NONE.to_owned(), |micros| format!("{micros:.1}"));
    let percent =
        |value: Option<f64>| value.map_or_else(|| NONE.to_owned(), |share| format!("{share:.0}"));
    vec![
        grouped(load),
        grouped(level.cycles_per_s.round() as u64),
        millis(level.acquire_p50_us),
        millis(level.acquire_p99_us),
        millis(level.acquire_p999_us),
        millis(level.acquire_max_us),
        micros(level.client_cpu_us_per_cycle),
        micros(level.servers_cpu_us_per_cycle),
        percent(Some(level.client_cpu_percent)),
        percent(level.server_cpu_percent),
        grouped(level.failed),
    ]
}

/// Returns what is to be said behind the figures of a level.
fn note(run: &Run, place: usize, level: &Level) -> String {
    let knee = if run.verdict.knee == Some(place) { " < knee" } else { "" };
    let behind = if level.is_behind { " behind" } else { "" };
    format!("{knee}{behind}")
}

/// Writes cells in columns as wide as their widest.
fn aligned(rows: &[Vec<String>], notes: &[String]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| {
        let widths = rows.iter().filter_map(|row| row.get(column));
        widths.map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<_> = (0..columns).map(width).collect();
    let mut out = String::new();
    for (row, note) in rows.iter().zip(notes) {
        for (place, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let width = if place == 0 { *width } else { width + GAP };
            // A string takes everything.
            _ = write!(out, "{cell:>width$}");
        }
        line(&mut out, note);
    }
    out
}

/// Adds the rest of a line, without spaces at its end.
fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.truncate(out.trim_end_matches(' ').len());
    out.push('\n');
}

/// Returns the engine beside bare sockets.
pub(crate) fn against(against: &Against) -> String {
    let header = ["in flight", "redbolt/s", "raw/s", "ratio", "least", "most"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    rows.extend(against.levels.iter().map(|level| {
        let rate = |rate: f64| grouped(rate.round() as u64);
        let ratio = |ratio: f64| format!("{ratio:.3}");
        vec![
            grouped(level.in_flight),
            rate(level.redbolt_cycles_per_s),
            rate(level.raw_cycles_per_s),
            ratio(level.ratio),
            ratio(level.least),
            ratio(level.most),
        ]
    }));
    let notes = vec![String::new(); rows.len()];
    let mut out = format!("\nagainst {}, to all nodes, in the same rounds:\n", against.contender);
    out.push_str(&aligned(&rows, &notes));
    out
}

/// Returns this run beside an earlier one.
pub(crate) fn comparison(comparison: &Comparison) -> String {
    let file = shown(&comparison.file);
    let mut out = format!("\nbeside {file} of {}:\n", shown(&comparison.started_at));
    let header = ["figure", "before", "after", "change", "99 % sure", ""];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    rows.extend(comparison.metrics.iter().map(|metric| {
        let percent = |share: f64| format!("{:+.1} %", 100.0 * share);
        let figure = |value: f64| {
            if value < 1_000.0 { format!("{value:.2}") } else { grouped(value.round() as u64) }
        };
        let change = metric.change.map_or_else(|| NONE.to_owned(), |change| percent(change.change));
        let sure = metric.change.map_or_else(
            || NONE.to_owned(),
            |change| format!("{} to {}", percent(change.least), percent(change.most)),
        );
        let worse = match (metric.is_judged, metric.is_worse) {
            (false, _) => "not judged",
            (true, true) => "WORSE",
            (true, false) if metric.may_be_worse(comparison.tolerance) => "not sure",
            (true, false) => "",
        };
        let before = figure(metric.before);
        vec![metric.name.clone(), before, figure(metric.after), change, sure, worse.to_owned()]
    }));
    // Words are read from the left.
    let notes: Vec<_> =
        rows.iter_mut().map(|row| format!("  {}", row.pop().unwrap_or_default())).collect();
    out.push_str(&aligned(&rows, &notes));
    line(&mut out, "before, after: geometric means over rounds, and over the loads of both runs");
    if comparison.may_be_worse() {
        line(&mut out, "not sure: may be worse by more than is tolerated; more rounds tell more");
    }
    if comparison.metrics.iter().any(|metric| !metric.is_judged) {
        line(
            &mut out,
            "not judged: client and servers share a machine, whose other work changes both",
        );
    }
    for difference in &comparison.differences {
        line(&mut out, &format!("not alike: {}", shown(difference)));
    }
    let tolerated = 100.0 * comparison.tolerance;
    let is_compared = comparison.metrics.iter().any(|metric| metric.change.is_some());
    let verdict = match (comparison.is_worse, comparison.may_be_worse()) {
        (true, _) => "worse",
        _ if !is_compared => "not compared: too few rounds have a figure of every load",
        (false, true) => "nothing is surely worse",
        (false, false) => "not worse",
    };
    line(&mut out, &format!("{verdict}, where {tolerated:.0} % are tolerated"));
    out
}

/// Returns a text of an earlier run, in which no character is left that a terminal would obey.
fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\'' | '\\' => out.push(c),
            // Any other character stands for itself, or else is an escape.
            _ => out.extend(c.escape_debug()),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_of_a_text_reaches_a_terminal_that_would_obey() {
        assert_eq!(shown("\"it's\" a\\b µs"), "\"it's\" a\\b µs");
        assert_eq!(shown("a\u{1b}[31m\u{7}\u{9b}\u{202e}"), "a\\u{1b}[31m\\u{7}\\u{9b}\\u{202e}");
    }
}

//! One step as a table for people.

use std::fmt::Write;

use crate::bench::run::digits::Quantiles;
use crate::bench::run::{Run, Step};
use crate::number::grouped;

/// The column at which figures begin.
const LABEL: usize = 14;

/// A wait for the last replies that is at least this long gets a row.
const NOTEWORTHY_MS: f64 = 500.0;

/// A time without the end of any cycle that is at least this long gets a row.
const STALL_MS: f64 = 100.0;

/// The columns between two figures.
const GAP: usize = 2;

/// What is said of locks that ask no more nodes than they need.
pub(super) const MAJORITY: &str = "a majority of the nodes";

pub(crate) fn table(run: &Run, step: &Step) -> String {
    let mut out = String::new();
    load(&mut out, run, step);
    rounds(&mut out, run, step);
    counts(&mut out, step);
    if let Some(why) = &run.ended_early {
        row(&mut out, "ended early", why);
    }
    ends(&mut out, step);
    latencies(&mut out, step);
    costs(&mut out, run, step);
    out
}

/// What was to be done, and by whom.
fn load(out: &mut String, run: &Run, step: &Step) {
    let ready = match step.absent.len() {
        0 => String::new(),
        absent => format!(", {absent} not ready at the end"),
    };
    row(out, "nodes", &format!("{}{ready}", run.nodes.len()));
    for node in &step.absent {
        row(out, "", node);
    }
    row(out, "servers", &run.servers);
    if step.engines > 1 {
        row(out, "engines", &step.engines.to_string());
    }
    if run.options.asks_majority {
        row(out, "asks first", MAJORITY);
    }
    let label = match run.options.load.as_str() {
        "engines" => "in flight",
        "keep_alive" => "wanted",
        workers => workers,
    };
    let mut text = grouped(step.in_flight);
    if let Some(resources) = &run.options.resources {
        // As the option is written: a number, or a number with an exponent.
        let count = resources.parse().map_or_else(|_| resources.clone(), grouped);
        text += &format!(", contending for {count}");
    }
    if let Some(rate) = step.offered_per_s {
        text += &format!(" at most, {} starts a second", grouped(rate.into()));
    }
    row(out, label, &text);
    if run.options.hold_ms > 0.0 {
        row(out, "each held", &format!("{} ms", run.options.hold_ms));
    }
}

/// Says which of several rounds the figures are of.
fn rounds(out: &mut String, run: &Run, step: &Step) {
    let Some(level) = run.levels.first().filter(|level| level.rounds > 1) else { return };
    let rate = |rate: f64| grouped(rate.round() as u64);
    let [least, most] = [level.least_cycles_per_s, level.most_cycles_per_s].map(rate);
    let shown = format!("{}, of which this is number {}", level.rounds, step.round);
    row(out, "rounds", &format!("{shown}; all had {least} to {most} cycles/s"));
}

fn counts(out: &mut String, step: &Step) {
    row(out, "seconds", &format!("{:.3}", step.ran_ms / 1e3));
    if let Some(kept) = &step.kept {
        row(out, "held", &grouped(kept.held));
        row(out, "extended", &grouped(kept.extended));
        row(out, "lost", &grouped(kept.lost));
        return row(out, "failed", &failed(step));
    }
    row(out, "cycles", &grouped(step.cycles));
    row(out, "cycles/s", &grouped(step.cycles_per_s.round() as u64));
    row(out, "failed", &failed(step));
    if let Some(trips) = step.further_trips {
        row(out, "further trips", &with_share(trips, step.cycles));
    }
    if let Some(widened) = step.widened {
        row(out, "asked more", &with_share(widened, step.cycles));
    }
    if let Some(fair) = &step.fairness {
        if fair.workers > 1 {
            let [fewest, most] = [fair.fewest, fair.most].map(grouped);
            let shares = format!("p1 {} p50 {} p99 {}", fair.p1, fair.p50, fair.p99);
            row(out, "by each", &format!("{fewest} to {most}; of the mean: {shares}"));
        }
    }
    if let Some(longest) = step.longest_wait_us {
        row(out, "longest wait", &format!("{:.1} ms", longest / 1e3));
    }
}

/// What is worth a row only if it happened.
fn ends(out: &mut String, step: &Step) {
    if step.longest_stall_ms >= STALL_MS && step.kept.is_none() {
        row(out, "stalled", &format!("{:.0} ms without the end of a cycle", step.longest_stall_ms));
    }
    if step.overdue > 0 {
        row(out, "behind", &format!("{} starts due and never made", grouped(step.overdue)));
    }
    if step.unfinished > 0 {
        row(out, "unfinished", &format!("{} still in line", grouped(step.unfinished)));
    }
    if step.wound_down_ms >= NOTEWORTHY_MS {
        let waited = format!("{:.1} s after the end", step.wound_down_ms / 1e3);
        row(out, "waited", &format!("{waited} for replies"));
    }
    if !step.is_clean {
        row(out, "left", "releases that no node has confirmed in time");
    }
}

fn costs(out: &mut String, run: &Run, step: &Step) {
    out.push('\n');
    let client = &step.client;
    if step.kept.is_some() {
        row(out, "client CPU", &format!("{:.1} % of a processor", client.cpu_percent));
        return;
    }
    let Some(cpu) = client.cpu_us_per_cycle else { return };
    let share = format!("{:.0} % of a processor", client.cpu_percent);
    row(out, "per cycle", &format!("{cpu:.2} µs of client CPU, {share}"));
    if let Some(servers) = &step.servers {
        if let Some(cpu) = servers.cpu_us_per_cycle {
            let share = format!("{:.0} % for the busiest", servers.busiest_cpu_percent);
            // A node that could not be asked at both ends of the step is not in the sum.
            let asked = match (servers.nodes.len(), run.nodes.len()) {
                (asked, all) if asked < all => format!("the CPU of {asked} of {all} servers"),
                _ => "the servers' CPU".to_owned(),
            };
            row(out, "", &format!("{cpu:.2} µs of {asked}, {share}"));
        }
    }
    let bytes = client.bytes_sent_per_cycle.zip(client.bytes_received_per_cycle);
    if let Some((sent, received)) = bytes {
        let [sent, received] = [sent, received].map(|bytes| grouped(bytes.round() as u64));
        row(out, "", &format!("{sent} bytes sent, {received} received"));
    }
    if let Some(calls) = client.system_calls_per_cycle {
        row(out, "", &format!("{calls:.3} system calls"));
    }
    if let Some(machine) = machine(step.machine_cpu_percent, step.own_cpu_percent) {
        row(out, "all CPUs", &machine);
    }
    if let Some(saturated) = step.saturated {
        row(out, "saturated", &saturated.to_string());
    }
}

/// Returns how busy this machine was, and by whom; `None` where that is not known.
pub(crate) fn machine(all: Option<f64>, own: Option<f64>) -> Option<String> {
    let all = format!("{:.0} % in use", all?);
    Some(match own {
        Some(own) => format!("{all}, {own:.0} % by client and servers"),
        None => all,
    })
}

fn row(out: &mut String, label: &str, text: &str) {
    line(out, format_args!("{label:LABEL$}{text}"));
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{text}");
}

fn failed(step: &Step) -> String {
    let reasons: Vec<_> = step
        .failures
        .iter()
        .map(|(reason, &count)| format!("{reason} {}", grouped(count)))
        .collect();
    match step.failed {
        0 => "0".to_owned(),
        total => format!("{} ({})", grouped(total), reasons.join(", ")),
    }
}

/// Returns a count, in all and for each hundred cycles.
fn with_share(count: u64, cycles: u64) -> String {
    let share = if cycles > 0 { 100.0 * count as f64 / cycles as f64 } else { 0.0 };
    format!("{} ({share:.3} %)", grouped(count))
}

/// Writes the latencies, in columns as wide as their figures.
fn latencies(out: &mut String, step: &Step) {
    let rows = [
        ("acquire", step.acquire_us),
        ("release", step.release_us),
        ("extend", step.extend_us),
        ("hand-over", step.hand_over_us),
    ];
    // A client that drops its guards waits for no release.
    let is_shown = |label: &str, summary: &Option<Quantiles>| {
        let is_always =
            label == "acquire" || (label == "release" && step.longest_wait_us.is_none());
        summary.is_some() || (is_always && step.kept.is_none())
    };
    let figures = |summary: Option<Quantiles>| {
        let of = |q: Quantiles| [q.p50, q.p90, q.p99, q.p999, q.max].map(decimal);
        summary.map_or_else(|| [(); 5].map(|()| "-".to_owned()), of)
    };
    let rows = rows.into_iter().filter(|(label, summary)| is_shown(label, summary));
    let rows: Vec<_> = rows.map(|(label, summary)| (label, figures(summary))).collect();
    let titles = ["p50", "p90", "p99", "p99.9", "max"].map(str::to_owned);
    let all = || rows.iter().map(|(_, figures)| figures).chain([&titles]);
    let width = GAP + all().flatten().map(String::len).max().unwrap_or_default();
    let columns =
        |figures: &[String; 5]| figures.iter().map(|text| format!("{text:>width$}")).collect();
    let titles: String = columns(&titles);
    line(out, format_args!("\n{:LABEL$}{titles}", "latency, µs"));
    for (label, figures) in &rows {
        let figures: String = columns(figures);
        line(out, format_args!("{label:LABEL$}{figures}"));
    }
}

/// Returns the number with one decimal and grouped digits: `1,234.5`.
pub(crate) fn decimal(value: f64) -> String {
    let tenths = (value * 10.0).round() as u64;
    format!("{}.{}", grouped(tenths / 10), tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_rounded_and_grouped() {
        assert_eq!(decimal(0.04), "0.0");
        assert_eq!(decimal(0.05), "0.1");
        assert_eq!(decimal(1_234.96), "1,235.0");
    }
}

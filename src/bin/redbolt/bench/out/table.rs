//! The report as a table for people.

use std::fmt::Write;
use std::time::Duration;

use crate::bench::out::report::Report;
use crate::number::grouped;

/// The column at which figures begin.
const LABEL: usize = 14;

/// A wait for the last replies that is at least this long gets a row.
const NOTEWORTHY: Duration = Duration::from_millis(500);

/// The width of a figure.
const FIGURE: usize = 12;

pub(crate) fn table(report: &Report) -> String {
    let mut out = String::new();
    let ready = match report.absent.len() {
        0 => String::new(),
        absent => format!(", {absent} not ready at the end"),
    };
    row(&mut out, "nodes", &format!("{}{ready}", report.nodes));
    for node in &report.absent {
        row(&mut out, "", node);
    }
    row(&mut out, "servers", &report.servers);
    if report.engines > 1 {
        row(&mut out, "engines", &report.engines.to_string());
    }
    row(&mut out, "in flight", &load(report));
    row(&mut out, "seconds", &format!("{:.3}", report.seconds));
    row(&mut out, "cycles", &grouped(report.cycles));
    row(&mut out, "cycles/s", &grouped(report.cycles_per_s.round() as u64));
    row(&mut out, "failed", &failed(report));
    if let Some(trips) = report.further_trips {
        row(&mut out, "further trips", &with_share(trips, report.cycles));
    }
    if let Some(widened) = report.widened {
        row(&mut out, "asked more", &with_share(widened, report.cycles));
    }
    if report.overdue > 0 {
        row(&mut out, "behind", &format!("{} starts due and never made", grouped(report.overdue)));
    }
    if report.unfinished > 0 {
        row(&mut out, "unfinished", &format!("{} still in line", grouped(report.unfinished)));
    }
    if report.wound_down >= NOTEWORTHY {
        let waited = format!("{:.1} s after the end", report.wound_down.as_secs_f64());
        row(&mut out, "waited", &format!("{waited} for replies"));
    }
    latencies(&mut out, report);
    if let Some(cycle) = &report.per_cycle {
        out.push('\n');
        row(&mut out, "per cycle", &format!("{:.2} µs of client CPU", cycle.cpu_us));
        let [sent, received] = [cycle.bytes_sent, cycle.bytes_received].map(|b| b.round() as u64);
        let bytes = format!("{} bytes sent, {} received", grouped(sent), grouped(received));
        row(&mut out, "", &bytes);
        row(&mut out, "", &format!("{:.3} system calls", cycle.system_calls));
    }
    out
}

fn row(out: &mut String, label: &str, text: &str) {
    line(out, format_args!("{label:LABEL$}{text}"));
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{text}");
}

fn load(report: &Report) -> String {
    let mut text = grouped(report.in_flight as u64);
    if let Some(resources) = report.resources {
        text += &format!(", contending for {}", grouped(resources.into()));
    }
    if let Some(rate) = report.rate {
        text += &format!(" at most, {} starts a second", grouped(rate.into()));
    }
    text
}

fn failed(report: &Report) -> String {
    match report.failures.total() {
        0 => "0".to_owned(),
        total => format!("{} ({})", grouped(total), report.failures),
    }
}

/// Returns how often nodes were asked to accept another fencing number, in all and for each
/// hundred cycles.
pub(crate) fn with_share(count: u64, cycles: u64) -> String {
    let share = if cycles > 0 { 100.0 * count as f64 / cycles as f64 } else { 0.0 };
    format!("{} ({share:.3} %)", grouped(count))
}

fn latencies(out: &mut String, report: &Report) {
    let titles = ["p50", "p90", "p99", "p99.9", "max"];
    let titles: String = titles.map(|title| format!("{title:>FIGURE$}")).concat();
    line(out, format_args!("\n{:LABEL$}{titles}", "latency, µs"));
    for (label, summary) in [("acquire", &report.acquire), ("release", &report.release)] {
        let figures = summary
            .map_or([const { String::new() }; 5].map(|_| "-".to_owned()), |all| all.map(decimal));
        let figures: String = figures.map(|figure| format!("{figure:>FIGURE$}")).concat();
        line(out, format_args!("{label:LABEL$}{figures}"));
    }
}

/// Returns the number with one decimal and grouped digits: `1,234.5`.
fn decimal(value: f64) -> String {
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

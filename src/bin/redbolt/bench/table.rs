//! The report for people.

use std::fmt::Write;

use super::report::Report;

/// Where the second column begins.
const LABEL: usize = 14;

/// How wide a figure is.
const FIGURE: usize = 12;

pub(super) fn table(report: &Report) -> String {
    let mut out = String::new();
    let ready = match report.absent.len() {
        0 => String::new(),
        absent => format!(", {absent} not ready"),
    };
    row(&mut out, "nodes", &format!("{}{ready}", report.nodes));
    for node in &report.absent {
        row(&mut out, "", node);
    }
    row(&mut out, "servers", &report.servers);
    row(&mut out, "in flight", &load(report));
    row(&mut out, "seconds", &format!("{:.3}", report.seconds));
    row(&mut out, "cycles", &integer(report.cycles));
    row(&mut out, "cycles/s", &integer(report.cycles_per_s.round() as u64));
    row(&mut out, "failed", &failed(report));
    if report.overdue > 0 {
        row(&mut out, "behind", &format!("{} due and not started", integer(report.overdue)));
    }
    if report.unfinished > 0 {
        row(&mut out, "unfinished", &format!("{} still in line", integer(report.unfinished)));
    }
    latencies(&mut out, report);
    if let Some(cycle) = &report.per_cycle {
        out.push('\n');
        row(&mut out, "per cycle", &format!("{:.2} µs of client CPU", cycle.cpu_us));
        let [sent, received] = [cycle.bytes_sent, cycle.bytes_received].map(|b| b.round() as u64);
        let bytes = format!("{} bytes sent, {} received", integer(sent), integer(received));
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
    let mut text = integer(report.in_flight as u64);
    if let Some(resources) = report.resources {
        text += &format!(", contending for {}", integer(resources.into()));
    }
    if let Some(rate) = report.rate {
        text += &format!(" at most, {} starts a second", integer(rate.into()));
    }
    text
}

fn failed(report: &Report) -> String {
    match report.failures.total() {
        0 => "0".to_owned(),
        total => format!("{} ({})", integer(total), report.failures),
    }
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

/// `1,234.5`
fn decimal(value: f64) -> String {
    let tenths = (value * 10.0).round() as u64;
    format!("{}.{}", integer(tenths / 10), tenths % 10)
}

/// `1,234,567`
pub(super) fn integer(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        let rows = [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (123_456, "123,456"),
            (1_234_567, "1,234,567"),
        ];
        for (value, text) in rows {
            assert_eq!(integer(value), text);
        }
        assert_eq!(decimal(0.04), "0.0");
        assert_eq!(decimal(0.05), "0.1");
        assert_eq!(decimal(1_234.96), "1,235.0");
    }
}

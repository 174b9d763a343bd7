//! The report for programs: one object on one line.

use std::fmt::Write;

use super::report::Report;

pub(super) fn object(report: &Report) -> String {
    let latencies = |summary: &Option<[f64; 5]>| {
        let [p50, p90, p99, p999, max] = summary.unwrap_or_default();
        format!(
            r#"{{"p50":{p50:.1},"p90":{p90:.1},"p99":{p99:.1},"p999":{p999:.1},"max":{max:.1}}}"#
        )
    };
    let members = [
        ("nodes", report.nodes.to_string()),
        ("servers", string(&report.servers)),
        ("in_flight", report.in_flight.to_string()),
        ("seconds", format!("{:.3}", report.seconds)),
        ("cycles", report.cycles.to_string()),
        ("cycles_per_s", format!("{:.1}", report.cycles_per_s)),
        ("failed", report.failures.total().to_string()),
        (
            "client_cpu_us_per_cycle",
            format!("{:.3}", report.per_cycle.as_ref().map_or(0.0, |cycle| cycle.cpu_us)),
        ),
        ("acquire_us", latencies(&report.acquire)),
        ("release_us", latencies(&report.release)),
    ];
    let members = members.map(|(key, value)| format!("{}:{value}", string(key)));
    format!("{{{}}}\n", members.join(","))
}

/// A string with its quotation marks.
fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            // Writing to a string cannot fail.
            '\0'..='\x1f' => _ = write!(out, "\\u{:04x}", u32::from(c)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_json_cannot_hold_is_escaped() {
        assert_eq!(string("redis-server 7.0.15"), r#""redis-server 7.0.15""#);
        assert_eq!(string("a\"b\\c\n\u{1b}µ"), r#""a\"b\\c\u000a\u001bµ""#);
    }
}

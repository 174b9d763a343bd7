//! Every single measurement, folded up.

use super::markup::section as titled;
use super::markup::{
    ABSENT, Cell, Row, count, escaped, facts, figure, figure_or_absent, table, yes,
};
use super::servers::costs;
use super::summary::unit;
use crate::bench::run::digits::Quantiles;
use crate::bench::run::{Contender, Fairness, Run, Step};

pub(super) fn section(run: &Run) -> String {
    if run.steps.is_empty() {
        return String::new();
    }
    let steps: String = run.steps.iter().map(|it| step(run, it)).collect();
    titled("Every measurement", &steps)
}

fn step(run: &Run, step: &Step) -> String {
    let who = match step.contender {
        Contender::Redbolt => "redbolt",
        Contender::Raw => "bare sockets",
    };
    let load = match step.offered_per_s {
        Some(rate) => format!("{} starts a second, at most ", count(rate.into())),
        None => String::new(),
    };
    let mut body = figures(step) + &latencies(step);
    if let Some(kept) = &step.kept {
        body += &facts([
            ("locks held", count(kept.held)),
            ("extended", count(kept.extended)),
            ("lost", count(kept.lost)),
        ]);
    }
    if !step.absent.is_empty() {
        let absent = step.absent.iter().map(|node| escaped(node)).collect::<Vec<_>>().join("; ");
        body += &facts([("not ready", absent)]);
    }
    if let Some(fairness) = &step.fairness {
        body += &fair(fairness);
    }
    if let Some(servers) = &step.servers {
        body += &costs(&servers.nodes);
    }
    format!(
        "<details><summary>{who}, {load}{} {}, round {}: {} cycles/s</summary>\n{body}\
         </details>\n",
        count(step.in_flight),
        unit(run),
        step.round,
        figure(step.cycles_per_s),
    )
}

fn figures(step: &Step) -> String {
    let failures = step.failures.iter();
    let failures = failures.map(|(why, n)| format!("{} {}", escaped(why), count(*n)));
    let failures = failures.collect::<Vec<_>>().join(", ");
    let or_absent = |value: Option<u64>| value.map_or_else(|| ABSENT.to_owned(), count);
    let servers = step.servers.as_ref();
    let client = &step.client;
    facts([
        ("engines", count(step.engines as u64)),
        ("ran, ms", figure(step.ran_ms)),
        ("cycles", count(step.cycles)),
        ("failed", format!("{} {failures}", count(step.failed)).trim().to_owned()),
        ("unfinished", count(step.unfinished)),
        ("starts due", or_absent(step.starts_due)),
        ("of these never made", count(step.overdue)),
        ("behind the rate", yes(step.is_behind)),
        ("further trips for a fencing number", or_absent(step.further_trips)),
        ("asked more than a majority", or_absent(step.widened)),
        ("longest stall, ms", figure(step.longest_stall_ms)),
        ("longest wait of a worker, µs", figure_or_absent(step.longest_wait_us)),
        ("waited for the last replies, ms", figure(step.wound_down_ms)),
        ("all releases confirmed", yes(step.is_clean)),
        ("client CPU, %", figure(client.cpu_percent)),
        ("client CPU per cycle, µs", figure_or_absent(client.cpu_us_per_cycle)),
        ("bytes sent per cycle", figure_or_absent(client.bytes_sent_per_cycle)),
        ("bytes received per cycle", figure_or_absent(client.bytes_received_per_cycle)),
        ("system calls per cycle", figure_or_absent(client.system_calls_per_cycle)),
        ("busiest server, %", figure_or_absent(servers.map(|cost| cost.busiest_cpu_percent))),
        (
            "servers' CPU per cycle, µs",
            figure_or_absent(servers.and_then(|cost| cost.cpu_us_per_cycle)),
        ),
        ("machine, %", figure_or_absent(step.machine_cpu_percent)),
        ("of that client and servers, %", figure_or_absent(step.own_cpu_percent)),
        (
            "saturated",
            step.saturated.map_or_else(|| ABSENT.to_owned(), |what| escaped(&what.to_string())),
        ),
    ])
}

fn latencies(step: &Step) -> String {
    let all = [
        ("acquire", step.acquire_us),
        ("release", step.release_us),
        ("extend", step.extend_us),
        ("hand over", step.hand_over_us),
    ];
    let row = |(name, quantiles): (&str, Option<Quantiles>)| {
        let q = quantiles?;
        let figures = [q.p50, q.p90, q.p99, q.p999, q.max].map(|value| Cell::Figure(figure(value)));
        let mut cells = vec![Cell::Text(name.to_owned())];
        cells.extend(figures);
        Some(Row::new(cells))
    };
    let rows: Vec<_> = all.into_iter().filter_map(row).collect();
    table(&["latency, µs", "p50", "p90", "p99", "p99.9", "max"], &rows)
}

fn fair(fairness: &Fairness) -> String {
    facts([
        ("workers", count(fairness.workers)),
        ("fewest cycles of one", count(fairness.fewest)),
        ("most cycles of one", count(fairness.most)),
        ("p1 of the mean", figure(fairness.p1)),
        ("p50 of the mean", figure(fairness.p50)),
        ("p99 of the mean", figure(fairness.p99)),
    ])
}

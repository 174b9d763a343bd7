//! The report for programs, as one JSON object.

use serde::Serialize;

use super::json::{self, Latencies, tenths, thousandths};
use super::report::Report;

/// The members of the object, in the order in which they are printed.
#[derive(Serialize)]
struct Object<'a> {
    nodes: usize,
    servers: &'a str,
    in_flight: usize,
    seconds: f64,
    cycles: u64,
    cycles_per_s: f64,
    failed: u64,
    client_cpu_us_per_cycle: f64,
    acquire_us: Latencies,
    release_us: Latencies,
}

pub(super) fn of(report: &Report) -> String {
    let latencies = |summary: Option<[f64; 5]>| summary.map(Latencies::new).unwrap_or_default();
    json::line(&Object {
        nodes: report.nodes,
        servers: &report.servers,
        in_flight: report.in_flight,
        seconds: thousandths(report.seconds),
        cycles: report.cycles,
        cycles_per_s: tenths(report.cycles_per_s),
        failed: report.failures.total(),
        client_cpu_us_per_cycle: thousandths(
            report.per_cycle.as_ref().map_or(0.0, |cycle| cycle.cpu_us),
        ),
        acquire_us: latencies(report.acquire),
        release_us: latencies(report.release),
    })
}

//! The report for programs, as one JSON object.

use serde::Serialize;

use crate::bench::out::report::Report;
use crate::bench::run::digits::{Quantiles, tenths, thousandths};
use crate::json::{self, Millis};

/// The members of the object, in the order in which they are printed.
#[derive(Serialize)]
struct Object<'a> {
    nodes: usize,
    servers: &'a str,
    engines: usize,
    in_flight: usize,
    ran_ms: Millis,
    cycles: u64,
    cycles_per_s: f64,
    failed: u64,
    unfinished: u64,
    /// Null for locks without a fencing number.
    further_trips: Option<u64>,
    /// Null for locks that ask all nodes.
    widened: Option<u64>,
    /// Null, as the latencies are, in a run without any cycle.
    client_cpu_us_per_cycle: Option<f64>,
    acquire_us: Option<Quantiles>,
    release_us: Option<Quantiles>,
}

pub(crate) fn of(report: &Report) -> String {
    json::line(&Object {
        nodes: report.nodes,
        servers: &report.servers,
        engines: report.engines,
        in_flight: report.in_flight,
        ran_ms: Millis(report.seconds * 1e3),
        cycles: report.cycles,
        cycles_per_s: tenths(report.cycles_per_s),
        failed: report.failures.total(),
        unfinished: report.unfinished,
        further_trips: report.further_trips,
        widened: report.widened,
        client_cpu_us_per_cycle: report.per_cycle.as_ref().map(|cycle| thousandths(cycle.cpu_us)),
        acquire_us: report.acquire.map(Quantiles::new),
        release_us: report.release.map(Quantiles::new),
    })
}

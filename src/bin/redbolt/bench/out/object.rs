//! The report for programs, as one JSON object, the same for all kinds of load.

use serde::Serialize;

use crate::bench::run::digits::Quantiles;
use crate::bench::run::{Level, Run, Step, Verdict};
use crate::json::{self, Millis};

/// The members of the object, in the order in which they are printed. What a kind of load does not
/// have is null.
#[derive(Serialize)]
struct Object<'a> {
    nodes: usize,
    servers: &'a str,
    engines: usize,
    in_flight: u64,
    load: &'a str,
    offered_per_s: Option<u32>,
    seconds: f64,
    ran_ms: Millis,
    cycles: u64,
    cycles_per_s: f64,
    failed: u64,
    unfinished: u64,
    overdue: u64,
    /// Null for locks without a fencing number.
    further_trips: Option<u64>,
    /// Null for locks that ask all nodes.
    widened: Option<u64>,
    /// Null in an open loop.
    fewest_by_one: Option<u64>,
    most_by_one: Option<u64>,
    longest_wait_us: Option<f64>,
    longest_stall_ms: f64,
    /// Null for locks that are not only kept alive.
    extended: Option<u64>,
    lost: Option<u64>,
    /// Null, as the latencies are, in a run without any cycle.
    client_cpu_us_per_cycle: Option<f64>,
    servers_cpu_us_per_cycle: Option<f64>,
    acquire_us: Option<Quantiles>,
    release_us: Option<Quantiles>,
    extend_us: Option<Quantiles>,
    hand_over_us: Option<Quantiles>,
    /// Null for a run of one load, measured once.
    verdict: Option<&'a Verdict>,
    levels: Option<&'a [Level]>,
    /// Null without a baseline.
    is_worse: Option<bool>,
    /// Null without anything to be compared with: the median for the last load.
    ratio_to_raw: Option<f64>,
    /// Null unless something ended the run before its time, such as `a signal`.
    ended_early: Option<&'a str>,
}

/// Returns the object of a run: the figures of one step, and the levels if there were several
/// steps.
pub(crate) fn of(run: &Run, step: &Step) -> String {
    let has_levels = run.steps.len() > 1;
    let ratio = run.against.as_ref().and_then(|against| against.levels.last());
    json::line(&Object {
        nodes: run.nodes.len(),
        servers: &run.servers,
        engines: step.engines,
        in_flight: step.in_flight,
        load: &run.options.load,
        offered_per_s: step.offered_per_s,
        seconds: (step.ran_ms * 1e3).round() / 1e6,
        ran_ms: Millis(step.ran_ms),
        cycles: step.cycles,
        cycles_per_s: step.cycles_per_s,
        failed: step.failed,
        unfinished: step.unfinished,
        overdue: step.overdue,
        further_trips: step.further_trips,
        widened: step.widened,
        fewest_by_one: step.fairness.as_ref().map(|fairness| fairness.fewest),
        most_by_one: step.fairness.as_ref().map(|fairness| fairness.most),
        longest_wait_us: step.longest_wait_us,
        longest_stall_ms: step.longest_stall_ms,
        extended: step.kept.as_ref().map(|kept| kept.extended),
        lost: step.kept.as_ref().map(|kept| kept.lost),
        client_cpu_us_per_cycle: step.client.cpu_us_per_cycle,
        servers_cpu_us_per_cycle: step.servers.as_ref().and_then(|cost| cost.cpu_us_per_cycle),
        acquire_us: step.acquire_us,
        release_us: step.release_us,
        extend_us: step.extend_us,
        hand_over_us: step.hand_over_us,
        verdict: has_levels.then_some(&run.verdict),
        levels: has_levels.then_some(&run.levels),
        is_worse: run.baseline.as_ref().map(|baseline| baseline.is_worse),
        ratio_to_raw: ratio.map(|ratio| ratio.ratio),
        ended_early: run.ended_early.as_deref(),
    })
}

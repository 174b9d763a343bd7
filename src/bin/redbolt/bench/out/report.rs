//! The figures of one run, ready to be printed.

use std::time::Duration;

use redbolt::{Clock, IoCounters};

use crate::bench::args::Args;
use crate::bench::load::engines::Run;
use crate::bench::load::snapshot::absent;
use crate::bench::load::tally::{Failures, Tally};
use crate::bench::nodes::masters::Masters;

pub(crate) struct Report {
    pub(crate) nodes: usize,
    /// The states of the nodes that were not ready at the end of the measurement or are not now.
    pub(crate) absent: Vec<String>,
    pub(crate) servers: String,
    /// The engines that had a part in the load.
    pub(crate) engines: usize,
    pub(crate) in_flight: usize,
    pub(crate) resources: Option<u32>,
    pub(crate) rate: Option<u32>,
    pub(crate) seconds: f64,
    pub(crate) cycles: u64,
    pub(crate) cycles_per_s: f64,
    pub(crate) failures: Failures,
    /// How often nodes were asked to accept another fencing number, at most four times for a lock;
    /// `None` for locks without one.
    pub(crate) further_trips: Option<u64>,
    /// How often an attempt that had asked a majority asked the other nodes too; `None` where all
    /// are asked.
    pub(crate) widened: Option<u64>,
    /// The cycles that an open loop should have started and has not.
    pub(crate) overdue: u64,
    /// The cycles that still waited for their lock when the run was over.
    pub(crate) unfinished: u64,
    /// The time that the last cycles and the last replies took after the end of the measurement.
    pub(crate) wound_down: Duration,
    /// In microseconds: p50, p90, p99, p99.9 and the maximum.
    pub(crate) acquire: Option<[f64; 5]>,
    pub(crate) release: Option<[f64; 5]>,
    /// `None` if there was no cycle.
    pub(crate) per_cycle: Option<PerCycle>,
}

/// The cost of one cycle.
pub(crate) struct PerCycle {
    pub(crate) cpu_us: f64,
    pub(crate) bytes_sent: f64,
    pub(crate) bytes_received: f64,
    pub(crate) system_calls: f64,
}

impl Report {
    /// Rates and costs are those between the two snapshots. Failures and latencies also count the
    /// cycles that ended after the second snapshot, or the slowest cycles would be missing. The
    /// figures of several engines are sums, over the longest of their times.
    pub(crate) fn new(args: &Args, masters: &Masters, runs: &[Run]) -> Self {
        let sum = |count: fn(&Run) -> u64| runs.iter().map(count).sum::<u64>();
        let longest = |time: fn(&Run) -> Duration| runs.iter().map(time).max().unwrap_or_default();
        let seconds = longest(|run| run.after.at - run.before.at).as_secs_f64();
        let cycles = sum(|run| run.after.cycles - run.before.cycles);
        // A variable or a file can choose to ask a majority, too.
        let widened = sum(|run| run.after.widened - run.before.widened);
        let mut tally = Tally::new();
        runs.iter().for_each(|run| tally.merge(run.load.tally()));
        Self {
            nodes: runs.first().map_or(0, |run| run.load.engine().nodes().count()),
            absent: all_absent(runs),
            servers: masters.kind().to_owned(),
            engines: runs.len(),
            in_flight: args.in_flight(),
            resources: args.resources,
            rate: args.rate,
            seconds,
            cycles,
            // A run that a signal ends at once has lasted zero seconds.
            cycles_per_s: if seconds > 0.0 { cycles as f64 / seconds } else { 0.0 },
            failures: tally.failures,
            further_trips: args
                .fenced
                .then(|| sum(|run| run.after.further_trips - run.before.further_trips)),
            widened: Some(widened).filter(|widened| args.asks_majority() || *widened > 0),
            overdue: sum(|run| run.after.overdue),
            unfinished: tally.unfinished,
            wound_down: Clock::now()
                - runs.iter().map(|run| run.after.at).max().unwrap_or_default(),
            acquire: tally.acquire.summary(),
            release: tally.release.summary(),
            per_cycle: (cycles > 0).then(|| PerCycle::new(cycles as f64, runs)),
        }
    }
}

/// Returns the address and the state of each node that an engine did not find ready: the state
/// now, or else at the end of the measurement, as the first such engine saw the node. For a node
/// that is still not ready, the state now says more.
fn all_absent(runs: &[Run]) -> Vec<String> {
    let mut nodes: Vec<Option<String>> = Vec::new();
    for run in runs {
        let now = absent(&run.load);
        nodes.resize(now.len(), None);
        for ((node, now), then) in nodes.iter_mut().zip(now).zip(&run.after.absent) {
            if node.is_none() {
                *node = now.or_else(|| then.clone());
            }
        }
    }
    nodes.into_iter().flatten().collect()
}

impl PerCycle {
    fn new(cycles: f64, runs: &[Run]) -> Self {
        let per_cycle = |count: fn(&IoCounters) -> u64| {
            let since = |run: &Run| count(&run.after.io).saturating_sub(count(&run.before.io));
            runs.iter().map(since).sum::<u64>() as f64 / cycles
        };
        let cpu: Duration =
            runs.iter().map(|run| run.after.cpu.saturating_sub(run.before.cpu)).sum();
        Self {
            cpu_us: cpu.as_secs_f64() * 1e6 / cycles,
            bytes_sent: per_cycle(|io| io.bytes_sent),
            bytes_received: per_cycle(|io| io.bytes_received),
            system_calls: per_cycle(IoCounters::system_calls),
        }
    }
}

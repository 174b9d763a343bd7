//! The figures of one run, ready to be printed.

use std::time::Duration;

use redbolt::time::Instant;
use redbolt::{Clock, IoCounters, NodeState};
use rustix::time::{ClockId, clock_gettime};

use super::args::Args;
use super::load::Load;
use super::masters::Masters;
use super::tally::Failures;

/// All counters at one moment.
pub(super) struct Snapshot {
    pub(super) at: Instant,
    /// The processor time of the engine's thread. Embedded masters have threads of their own.
    cpu: Duration,
    cycles: u64,
    overdue: u64,
    further_trips: u64,
    io: IoCounters,
    /// For each node: its state, unless the node is ready.
    absent: Vec<Option<String>>,
}

impl Snapshot {
    /// Takes a snapshot. Cycles that are due by now are started first, if there is room for them.
    #[expect(clippy::disallowed_methods, reason = "processor time is no time of a clock")]
    pub(super) fn take(load: &mut Load) -> Self {
        let at = Clock::now();
        load.catch_up(at);
        let cpu = clock_gettime(ClockId::ThreadCPUTime);
        Self {
            at,
            // The kernel counts from the start of the thread, so it is not negative.
            cpu: Duration::try_from(cpu).unwrap_or_default(),
            cycles: load.tally().cycles,
            overdue: load.overdue(at),
            further_trips: load.engine().counters().raised,
            io: load.engine().io_counters(),
            absent: absent(load),
        }
    }
}

pub(super) struct Report {
    pub(super) nodes: usize,
    /// The states of the nodes that were not ready at the end of the measurement or are not now.
    pub(super) absent: Vec<String>,
    pub(super) servers: String,
    pub(super) in_flight: usize,
    pub(super) resources: Option<u32>,
    pub(super) rate: Option<u32>,
    pub(super) seconds: f64,
    pub(super) cycles: u64,
    pub(super) cycles_per_s: f64,
    pub(super) failures: Failures,
    /// How often nodes were asked to accept another fencing number, at most four times for a lock;
    /// `None` for locks without one.
    pub(super) further_trips: Option<u64>,
    /// The cycles that an open loop should have started and has not.
    pub(super) overdue: u64,
    /// The cycles that still waited for their lock when the run was over.
    pub(super) unfinished: u64,
    /// The time that the last cycles and the last replies took after the end of the measurement.
    pub(super) wound_down: Duration,
    /// In microseconds: p50, p90, p99, p99.9 and the maximum.
    pub(super) acquire: Option<[f64; 5]>,
    pub(super) release: Option<[f64; 5]>,
    /// `None` if there was no cycle.
    pub(super) per_cycle: Option<PerCycle>,
}

/// The cost of one cycle.
pub(super) struct PerCycle {
    pub(super) cpu_us: f64,
    pub(super) bytes_sent: f64,
    pub(super) bytes_received: f64,
    pub(super) system_calls: f64,
}

impl Report {
    /// Rates and costs are those between the two snapshots. Failures and latencies also count the
    /// cycles that ended after the second snapshot, or the slowest cycles would be missing.
    pub(super) fn new(
        args: &Args,
        masters: &Masters,
        load: &Load,
        before: &Snapshot,
        after: &Snapshot,
    ) -> Self {
        let seconds = (after.at - before.at).as_secs_f64();
        let cycles = after.cycles - before.cycles;
        // For a node that is still not ready, the state now says more than the state at the end of
        // the measurement.
        let absent = absent(load).into_iter().zip(&after.absent);
        Self {
            nodes: load.engine().nodes().count(),
            absent: absent.filter_map(|(now, then)| now.or_else(|| then.clone())).collect(),
            servers: masters.kind().to_owned(),
            in_flight: args.in_flight(),
            resources: args.resources,
            rate: args.rate,
            seconds,
            cycles,
            // A run that a signal ends at once has lasted zero seconds.
            cycles_per_s: if seconds > 0.0 { cycles as f64 / seconds } else { 0.0 },
            failures: load.tally().failures,
            further_trips: args.fenced.then(|| after.further_trips - before.further_trips),
            overdue: after.overdue,
            unfinished: load.tally().unfinished,
            wound_down: Clock::now() - after.at,
            acquire: load.tally().acquire.summary(),
            release: load.tally().release.summary(),
            per_cycle: (cycles > 0).then(|| PerCycle::new(cycles as f64, before, after)),
        }
    }
}

/// Returns for each node its address and state, unless the node is ready.
fn absent(load: &Load) -> Vec<Option<String>> {
    let nodes = load.engine().nodes().map(|(_, address, status)| {
        let is_ready = status.state == NodeState::Ready;
        (!is_ready).then(|| format!("{address}: {status}"))
    });
    nodes.collect()
}

impl PerCycle {
    fn new(cycles: f64, before: &Snapshot, after: &Snapshot) -> Self {
        let per_cycle = |count: fn(&IoCounters) -> u64| {
            let since = count(&after.io).saturating_sub(count(&before.io));
            since as f64 / cycles
        };
        Self {
            cpu_us: after.cpu.saturating_sub(before.cpu).as_secs_f64() * 1e6 / cycles,
            bytes_sent: per_cycle(|io| io.bytes_sent),
            bytes_received: per_cycle(|io| io.bytes_received),
            system_calls: per_cycle(IoCounters::system_calls),
        }
    }
}

//! The figures of one step, from what was counted.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::thread;
use std::time::Duration;

use redbolt::time::Instant;
use redbolt::{Address, IoCounters};

use super::fairness::fairness;
use super::saturation::{Busy, full};
use crate::bench::crowd::figures::Crowd;
use crate::bench::load::engines::Part;
use crate::bench::load::latencies::Latencies;
use crate::bench::load::slices::{self, Slices};
use crate::bench::load::snapshot::absent;
use crate::bench::load::tally::{Failures, Tally};
use crate::bench::plan::Level;
use crate::bench::raw::Raw;
use crate::bench::run::digits::{tenths, thousandths};
use crate::bench::run::{ClientCost, Contender, Kept, ServerCost, Slice, Step};
use crate::bench::watch::Seen;
use crate::bench::watch::servers::cost;

/// How many of the starts that were due may lack their lock in any step.
const FEW: u64 = 2;

/// Which step of a run it is, and of whom.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) level: Level,
    /// From 1.
    pub(crate) round: u32,
    pub(crate) nodes: &'a [Address],
    pub(crate) engines: usize,
    pub(crate) is_fenced: bool,
    pub(crate) asks_majority: bool,
}

/// A step, with what its outputs need besides.
pub(crate) struct Measured {
    pub(crate) step: Step,
    /// The latencies of each slice.
    pub(crate) slices: Slices,
    pub(crate) failures: Failures,
}

/// Returns the step of some engines. Rates and costs are those between the two snapshots. Failures
/// and latencies also count the cycles that ended after the second snapshot, or the slowest cycles
/// would be missing. The figures of several engines are sums, over the longest of their times.
pub(crate) fn of_engines(place: Place<'_>, parts: Vec<Part>, seen: &Seen) -> Option<Measured> {
    let sum = |count: fn(&Part) -> u64| parts.iter().map(count).sum::<u64>();
    let since = |part: &Part| part.after.at - part.before.at;
    let seconds = parts.iter().map(since).max().unwrap_or_default();
    let cycles = sum(|part| part.after.cycles - part.before.cycles);
    let trips = sum(|part| part.after.further_trips - part.before.further_trips);
    let widened = sum(|part| part.after.widened - part.before.widened);
    let overdue = sum(|part| part.after.overdue);
    let due = sum(|part| part.after.started + part.after.overdue)
        .saturating_sub(sum(|part| part.before.started + part.before.overdue));
    let engines = parts.len();
    let wound_down = parts.iter().map(|part| part.wound_down).max().unwrap_or_default();
    let client = client_cost(&parts, cycles, seconds);
    let busiest = Some(client.cpu_percent);
    let absent = all_absent(&parts);
    let (tally, lanes) = counts(parts)?;
    let granted = tally.granted;
    let mut measured = common(place, seconds, cycles, tally, seen, client, busiest);
    let step = &mut measured.step;
    // Starts are made in turn, so only those that were due last are missing.
    step.overdue = overdue.min(due);
    count_due(step, due, granted);
    step.further_trips = place.is_fenced.then_some(trips);
    // A variable or a file can choose to ask a majority, too.
    step.widened = Some(widened).filter(|&widened| place.asks_majority || widened > 0);
    step.fairness = fairness(lanes);
    step.wound_down_ms = thousandths(wound_down.as_secs_f64() * 1e3);
    step.engines = engines;
    step.absent = absent;
    Some(measured)
}

/// Returns the step of a client.
pub(crate) fn of_crowd(place: Place<'_>, crowd: Crowd) -> Measured {
    let (counted, seconds) = (crowd.counted, crowd.seconds);
    let cycles = crowd.kept.as_ref().map_or(counted.tally.cycles, |kept| kept.held);
    let client = ClientCost {
        cpu_us_per_cycle: per_cycle(crowd.cpu.as_secs_f64() * 1e6, cycles),
        cpu_percent: percent(crowd.cpu, seconds),
        ..ClientCost::default()
    };
    let granted = counted.tally.granted;
    let mut measured = common(place, seconds, cycles, counted.tally, &crowd.seen, client, None);
    let step = &mut measured.step;
    step.overdue = counted.overdue;
    count_due(step, counted.due, granted);
    step.further_trips = place.is_fenced.then_some(crowd.further_trips);
    step.widened = Some(crowd.widened).filter(|&widened| place.asks_majority || widened > 0);
    step.fairness = fairness(counted.cycles);
    step.longest_wait_us = Some(tenths(counted.longest.as_secs_f64() * 1e6));
    step.wound_down_ms = thousandths(crowd.wound_down.as_secs_f64() * 1e3);
    step.is_clean = crowd.is_clean;
    step.absent = crowd.absent;
    if let Some(kept) = crowd.kept {
        step.kept = Some(Kept { held: kept.held, extended: kept.extended, lost: kept.lost });
        step.longest_wait_us = None;
    }
    measured
}

/// Returns the step of bare sockets.
pub(crate) fn of_raw(place: Place<'_>, raw: Raw) -> Measured {
    let client = ClientCost {
        cpu_us_per_cycle: per_cycle(raw.cpu.as_secs_f64() * 1e6, raw.cycles),
        cpu_percent: percent(raw.cpu, raw.seconds),
        ..ClientCost::default()
    };
    let busiest = Some(client.cpu_percent);
    let mut measured =
        common(place, raw.seconds, raw.cycles, raw.tally, &raw.seen, client, busiest);
    measured.step.contender = Contender::Raw;
    measured
}

/// Returns what is alike for engines, a client and bare sockets. The threads of a client share
/// several processors, so that none of them is the busiest.
fn common(
    place: Place<'_>,
    seconds: Duration,
    cycles: u64,
    tally: Tally,
    seen: &Seen,
    client: ClientCost,
    busiest_thread: Option<f64>,
) -> Measured {
    // A run that a signal ends at once has lasted zero seconds.
    let rate = if seconds.is_zero() { 0.0 } else { cycles as f64 / seconds.as_secs_f64() };
    let servers = cost(place.nodes, &seen.before, &seen.after, rate);
    let busy = Busy {
        client: busiest_thread,
        server: servers.as_ref().map(|servers| servers.busiest_cpu_percent),
        machine: seen.machine_cpu,
    };
    let own_cpu_percent = own_percent(place.nodes, &client, servers.as_ref(), rate);
    let summary = |latencies: &Latencies| latencies.summary();
    let happened = tally.failures.kinds().into_iter().filter(|&(_, count)| count > 0);
    let step = Step {
        contender: Contender::Redbolt,
        round: place.round,
        engines: place.engines,
        in_flight: place.level.in_flight as u64,
        offered_per_s: place.level.rate,
        ran_ms: thousandths(seconds.as_secs_f64() * 1e3),
        cycles,
        cycles_per_s: tenths(rate),
        failed: tally.failures.total(),
        failures: happened
            .map(|(kind, count)| (kind.to_owned(), count))
            .collect::<BTreeMap<_, _>>(),
        unfinished: tally.unfinished,
        starts_due: None,
        is_behind: false,
        overdue: 0,
        further_trips: None,
        widened: None,
        acquire_us: summary(&tally.acquire),
        release_us: summary(&tally.release),
        extend_us: summary(&tally.extend),
        hand_over_us: summary(&tally.hand_over),
        longest_stall_ms: thousandths(tally.longest_stall.as_secs_f64() * 1e3),
        client,
        servers,
        machine_cpu_percent: seen.machine_cpu.map(tenths),
        own_cpu_percent,
        fairness: None,
        kept: None,
        longest_wait_us: None,
        wound_down_ms: 0.0,
        is_clean: true,
        absent: Vec::new(),
        saturated: full(busy),
        series: series(&tally.slices),
    };
    Measured { step, slices: tally.slices, failures: tally.failures }
}

/// Returns how much of all processors of this machine client and servers have had; `None` unless
/// all servers are here and have told.
fn own_percent(
    nodes: &[Address],
    client: &ClientCost,
    servers: Option<&ServerCost>,
    cycles_per_s: f64,
) -> Option<f64> {
    let is_here = |node: &Address| match node.host() {
        None => true,
        Some("localhost") => true,
        Some(host) => host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback()),
    };
    let servers = servers.filter(|servers| servers.nodes.len() == nodes.len())?;
    let per_cycle = client.cpu_us_per_cycle? + servers.cpu_us_per_cycle?;
    let processors = thread::available_parallelism().ok()?.get() as f64;
    // One percent of a processor is 10,000 µs a second.
    nodes.iter().all(is_here).then(|| tenths(per_cycle * cycles_per_s / 1e4 / processors))
}

/// Says how many starts were due in an open loop, and whether the step has kept up with them: by
/// the locks that were granted, because cycles that hold their locks for long end long after. Some
/// requests are under way at both ends, and so one in a hundred may be missing, or a few.
fn count_due(step: &mut Step, due: u64, granted: u64) {
    if step.offered_per_s.is_some() {
        step.starts_due = Some(due);
        step.is_behind = granted + FEW.max(due / 100) < due;
    }
}

/// Returns the slices, the first of which begins at zero.
fn series(slices: &Slices) -> Vec<Slice> {
    let Some(begin) = slices.parts.first().map(|part| part.from) else { return Vec::new() };
    let millis = |at: Instant| thousandths((at - begin).as_secs_f64() * 1e3);
    let slice = |part: &slices::Part| Slice {
        from_ms: millis(part.from),
        to_ms: millis(part.to),
        cycles: part.cycles,
        failed: part.failed,
        acquire_us: Latencies::of_values(&part.acquire).summary(),
    };
    slices.parts.iter().map(slice).collect()
}

/// Puts together what all engines have counted; `None` without an engine.
fn counts(parts: Vec<Part>) -> Option<(Tally, Vec<u64>)> {
    let counts = parts.into_iter().map(|part| part.load.into_counts());
    counts.reduce(|(mut tally, mut lanes), (other, others)| {
        tally.merge(other);
        lanes.extend(others);
        (tally, lanes)
    })
}

/// Returns the address and the state of each node that an engine did not find ready: the state
/// now, or else at the end of the measurement, as the first such engine saw the node. For a node
/// that is still not ready, the state now says more.
fn all_absent(parts: &[Part]) -> Vec<String> {
    let mut nodes: Vec<Option<String>> = Vec::new();
    for part in parts {
        let now = absent(&part.load);
        nodes.resize(now.len(), None);
        for ((node, now), then) in nodes.iter_mut().zip(now).zip(&part.after.absent) {
            if node.is_none() {
                *node = now.or_else(|| then.clone());
            }
        }
    }
    nodes.into_iter().flatten().collect()
}

fn client_cost(parts: &[Part], cycles: u64, seconds: Duration) -> ClientCost {
    let counted = |count: fn(&IoCounters) -> u64| {
        let since = |part: &Part| count(&part.after.io).saturating_sub(count(&part.before.io));
        per_cycle(parts.iter().map(since).sum::<u64>() as f64, cycles)
    };
    let cpu = |part: &Part| part.after.cpu.saturating_sub(part.before.cpu);
    let all: Duration = parts.iter().map(cpu).sum();
    let busiest = parts.iter().map(cpu).max().unwrap_or_default();
    ClientCost {
        cpu_us_per_cycle: per_cycle(all.as_secs_f64() * 1e6, cycles),
        cpu_percent: percent(busiest, seconds),
        bytes_sent_per_cycle: counted(|io| io.bytes_sent),
        bytes_received_per_cycle: counted(|io| io.bytes_received),
        system_calls_per_cycle: counted(IoCounters::system_calls),
    }
}

/// `None` without a cycle.
fn per_cycle(whole: f64, cycles: u64) -> Option<f64> {
    (cycles > 0).then(|| thousandths(whole / cycles as f64))
}

fn percent(cpu: Duration, seconds: Duration) -> f64 {
    if seconds.is_zero() { 0.0 } else { tenths(100.0 * cpu.as_secs_f64() / seconds.as_secs_f64()) }
}

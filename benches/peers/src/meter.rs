//! The counts and times, the same for every contestant.

use std::time::Duration;

use hdrhistogram::Histogram;
use redbolt::Clock;
use redbolt::time::Instant;
use rustix::time::{ClockId, clock_gettime};

use crate::plan::Plan;
use crate::row::Row;

/// Bounds of the latencies, from 0.1 µs to a minute in nanoseconds, and their precision of three
/// digits.
const LEAST_NANOS: u64 = 100;
const MOST_NANOS: u64 = 60_000_000_000;
const DIGITS: u8 = 3;

/// Counts cycles between the end of the warm-up and the end of the run.
pub(crate) struct Meter {
    warm: Instant,
    end: Instant,
    since: Option<Snapshot>,
    until: Option<Snapshot>,
    cycles: u64,
    acquire: Histogram<u64>,
}

/// A moment, and the processor time of this process until then.
#[derive(Clone, Copy)]
struct Snapshot {
    at: Instant,
    cpu: Duration,
    cycles: u64,
}

impl Meter {
    pub(crate) fn new(plan: &Plan) -> Self {
        let warm = Clock::now() + plan.warm_up;
        let acquire = Histogram::new_with_bounds(LEAST_NANOS, MOST_NANOS, DIGITS)
            .expect("the bounds are in order");
        Self { warm, end: warm + plan.seconds, since: None, until: None, cycles: 0, acquire }
    }

    /// Returns whether the run goes on. A contestant calls this at least once per cycle or turn.
    pub(crate) fn goes_on(&mut self, now: Instant) -> bool {
        if self.since.is_none() && now >= self.warm {
            self.since = Some(self.snapshot(now));
            self.acquire.reset();
        }
        if self.until.is_none() && now >= self.end {
            self.until = Some(self.snapshot(now));
        }
        now < self.end
    }

    /// Counts an acquired lock. Locks acquired after the end count too: the slowest are among them.
    pub(crate) fn acquired(&mut self, latency: Duration) {
        self.acquired_many(latency, 1);
    }

    /// Counts locks that were acquired at once.
    pub(crate) fn acquired_many(&mut self, latency: Duration, count: u64) {
        let nanos = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        self.acquire.saturating_record_n(nanos, count);
    }

    /// Counts released locks.
    pub(crate) fn released(&mut self, count: u64) {
        self.cycles += count;
    }

    fn snapshot(&self, at: Instant) -> Snapshot {
        // The time of all threads of this process, so that no contestant can hide work in a thread.
        let cpu = clock_gettime(ClockId::ProcessCPUTime);
        Snapshot { at, cpu: Duration::try_from(cpu).unwrap_or_default(), cycles: self.cycles }
    }

    /// Returns the figures, or `None` if the run was over before the counting began. The nodes have
    /// used `servers` seconds of processor time for all cycles, including those not counted.
    pub(crate) fn row(&self, contestant: &str, plan: &Plan, servers: f64) -> Option<Row> {
        let (since, until) = (self.since?, self.until?);
        let cycles = until.cycles - since.cycles;
        let seconds = (until.at - since.at).as_secs_f64();
        if cycles == 0 || seconds == 0.0 {
            return None;
        }
        let micros = |quantile| self.acquire.value_at_quantile(quantile) as f64 / 1e3;
        Some(Row {
            round: plan.round,
            contestant: contestant.to_owned(),
            in_flight: plan.in_flight,
            rate: plan.rate.unwrap_or(0),
            seconds,
            cycles,
            cycles_per_s: cycles as f64 / seconds,
            cpu_us: (until.cpu - since.cpu).as_secs_f64() * 1e6 / cycles as f64,
            server_cpu_us: servers * 1e6 / self.cycles as f64,
            p50_us: micros(0.5),
            p90_us: micros(0.9),
            p99_us: micros(0.99),
            p999_us: micros(0.999),
        })
    }
}

//! The figures of a run of transactions, for people and for programs.

use std::fmt::Write;
use std::time::Duration;

use serde::Serialize;

use super::args::Locks;
use super::snapshot::Snapshot;
use super::tally::Tally;
use crate::bench::load::tally::Failures;
use crate::bench::out::table::decimal;
use crate::bench::run::digits::{Quantiles, tenths, thousandths};
use crate::json;
use crate::number::grouped;

/// The column at which figures begin.
const LABEL: usize = 14;

/// The width of a figure: five fit into 74 columns.
const FIGURE: usize = 12;

/// What was run, and on what.
pub(super) struct Context<'a> {
    pub(super) nodes: usize,
    pub(super) servers: &'a str,
    pub(super) trace: String,
    /// The transactions of the trace, after which it begins again.
    pub(super) prepared: usize,
    pub(super) locks: Locks,
    pub(super) in_flight: usize,
}

pub(super) struct Figures<'a> {
    context: Context<'a>,
    time: Duration,
    pub(super) transactions: u64,
    locks: u64,
    aborts: Failures,
    unfinished: u64,
    cpu: Duration,
    acquire: Option<Quantiles>,
}

impl<'a> Figures<'a> {
    /// Rates and costs are those between the two snapshots. Aborts and latencies also count the
    /// transactions that ended after the second snapshot, or the slowest would be missing.
    pub(super) fn new(
        context: Context<'a>,
        before: &Snapshot,
        after: &Snapshot,
        tally: &Tally,
    ) -> Self {
        Self {
            context,
            time: after.at - before.at,
            transactions: after.transactions - before.transactions,
            locks: after.locks - before.locks,
            aborts: tally.aborts,
            unfinished: tally.unfinished,
            cpu: after.cpu.saturating_sub(before.cpu),
            acquire: tally.acquire.summary(),
        }
    }

    fn per_second(&self, count: u64) -> f64 {
        // A run that a signal ends at once has lasted zero seconds.
        let seconds = self.time.as_secs_f64();
        if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
    }

    /// In microseconds; `None` without a transaction.
    fn cpu_of_one(&self) -> Option<f64> {
        let cpu = self.cpu.as_secs_f64() * 1e6;
        (self.transactions > 0).then(|| cpu / self.transactions as f64)
    }

    pub(super) fn table(&self) -> String {
        let Context { nodes, servers, trace, prepared, locks, in_flight } = &self.context;
        let mut out = String::new();
        let mut row = |label: &str, text: &str| {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{label:LABEL$}{text}");
        };
        let rounded = |rate: f64| grouped(rate.round() as u64);
        row("nodes", &nodes.to_string());
        row("servers", servers);
        row("trace", &format!("{trace}, {} transactions, then again", grouped(*prepared as u64)));
        row(
            "locks",
            match locks {
                Locks::Set => "all at once",
                Locks::Each => "one after the other",
            },
        );
        row("in flight", &format!("{} transactions", grouped(*in_flight as u64)));
        row("seconds", &format!("{:.3}", self.time.as_secs_f64()));
        row("transactions", &grouped(self.transactions));
        row("  a second", &rounded(self.per_second(self.transactions)));
        row("locks taken", &grouped(self.locks));
        row("  a second", &rounded(self.per_second(self.locks)));
        row(
            "aborted",
            &match self.aborts.total() {
                0 => "0".to_owned(),
                total => format!("{} ({})", grouped(total), self.aborts),
            },
        );
        if self.unfinished > 0 {
            row("unfinished", &format!("{} still in line", grouped(self.unfinished)));
        }
        let titles = ["p50", "p90", "p99", "p99.9", "max"];
        row("\nlatency, µs", &titles.map(|title| format!("{title:>FIGURE$}")).concat());
        let figures = self.acquire.map(|q| [q.p50, q.p90, q.p99, q.p999, q.max].map(decimal));
        let figures = figures.unwrap_or_else(|| std::array::from_fn(|_| "-".to_owned()));
        row("all locks", &figures.map(|figure| format!("{figure:>FIGURE$}")).concat());
        if let Some(cpu) = self.cpu_of_one() {
            row("\ntransaction", &format!("{cpu:.2} µs of client CPU"));
        }
        out
    }

    pub(super) fn object(&self) -> String {
        json::line(&Object {
            nodes: self.context.nodes,
            servers: self.context.servers,
            trace: &self.context.trace,
            locks: self.context.locks.to_string(),
            in_flight: self.context.in_flight,
            seconds: thousandths(self.time.as_secs_f64()),
            transactions: self.transactions,
            transactions_per_s: tenths(self.per_second(self.transactions)),
            locks_taken: self.locks,
            locks_per_s: tenths(self.per_second(self.locks)),
            aborted: self.aborts.total(),
            unfinished: self.unfinished,
            client_cpu_us_per_transaction: self.cpu_of_one().map(thousandths),
            acquire_us: self.acquire,
        })
    }
}

/// The members of the object for programs, in the order in which they are printed.
#[derive(Serialize)]
struct Object<'a> {
    nodes: usize,
    servers: &'a str,
    trace: &'a str,
    locks: String,
    in_flight: usize,
    seconds: f64,
    transactions: u64,
    transactions_per_s: f64,
    locks_taken: u64,
    locks_per_s: f64,
    aborted: u64,
    unfinished: u64,
    /// Null, as the latencies are, in a run without any transaction.
    client_cpu_us_per_transaction: Option<f64>,
    /// From the start of a transaction until all its locks are held.
    acquire_us: Option<Quantiles>,
}

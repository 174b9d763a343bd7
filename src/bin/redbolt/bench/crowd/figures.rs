//! The figures of a run with a client, for people and for programs.

use std::fmt::Write;
use std::time::Duration;

use serde::Serialize;

use crate::bench::args::Kind;
use crate::bench::load::tally::Failures;
use crate::bench::out::table::with_share;
use crate::bench::run::digits::{Quantiles, tenths, thousandths};
use crate::json::{self, Millis};
use crate::number::grouped;

/// The column at which figures begin.
const LABEL: usize = 14;

/// The width of a figure.
const FIGURE: usize = 12;

pub(super) struct Crowd {
    pub(super) seconds: Duration,
    /// The processor time of the whole process, embedded masters included.
    pub(super) cpu: Duration,
    /// The cycles; for locks that are only held, the locks that were held at the end.
    pub(super) cycles: u64,
    pub(super) failures: Failures,
    /// The requests that still waited for their lock when the client was shut down.
    pub(super) unfinished: u64,
    /// Whether all releases were confirmed in time.
    pub(super) is_clean: bool,
    /// In microseconds: p50, p90, p99, p99.9 and the maximum.
    pub(super) acquire: Option<[f64; 5]>,
    /// From the drop of a guard to the grant of the next one, where all want one resource.
    pub(super) hand_over: Option<[f64; 5]>,
    pub(super) fewest: u64,
    pub(super) most: u64,
    pub(super) longest: Duration,
    /// The locks whose validity was extended.
    pub(super) extended: u64,
    pub(super) lost: u64,
    /// How often nodes were asked to accept another fencing number, at most four times for a lock;
    /// `None` for locks without one.
    pub(super) further_trips: Option<u64>,
}

pub(super) struct Figures {
    pub(super) kind: Kind,
    pub(super) nodes: usize,
    pub(super) engines: usize,
    pub(super) servers: String,
    pub(super) crowd: Crowd,
}

impl Figures {
    fn rate(&self) -> f64 {
        let seconds = self.crowd.seconds.as_secs_f64();
        if seconds > 0.0 { self.crowd.cycles as f64 / seconds } else { 0.0 }
    }

    /// In microseconds; `None` without a cycle.
    fn cpu_per_cycle(&self) -> Option<f64> {
        let cycles = self.crowd.cycles;
        (cycles > 0).then(|| self.crowd.cpu.as_secs_f64() * 1e6 / cycles as f64)
    }

    pub(super) fn table(&self) -> String {
        let Crowd { seconds, cpu, cycles, failures, fewest, most, longest, .. } = &self.crowd;
        let mut out = String::new();
        let mut row = |label: &str, text: String| {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{label:LABEL$}{text}");
        };
        row("nodes", self.nodes.to_string());
        row("servers", self.servers.clone());
        let (who, count) = match self.kind {
            Kind::Threads(count) => ("threads", count),
            Kind::Tasks(count) => ("tasks", count),
            Kind::Hold(count) => ("wanted", count),
        };
        if self.engines > 1 {
            row("engines", self.engines.to_string());
        }
        row(who, grouped(count as u64));
        row("seconds", format!("{:.3}", seconds.as_secs_f64()));
        let failed = failures.total();
        let failed =
            if failed == 0 { "0".into() } else { format!("{} ({failures})", grouped(failed)) };
        if let Kind::Hold(_) = self.kind {
            row("held", grouped(*cycles));
            row("extended", grouped(self.crowd.extended));
            row("lost", grouped(self.crowd.lost));
            row("failed", failed);
            let share = cpu.as_secs_f64() / seconds.as_secs_f64().max(1e-9);
            row("client CPU", format!("{:.1} % of a processor", 100.0 * share));
        } else {
            row("cycles", grouped(*cycles));
            row("cycles/s", grouped(self.rate().round() as u64));
            row("failed", failed);
            if let Some(trips) = self.crowd.further_trips {
                row("further trips", with_share(trips, *cycles));
            }
            row("by each", format!("{} to {}", grouped(*fewest), grouped(*most)));
            row("longest wait", format!("{:.1} ms", longest.as_secs_f64() * 1e3));
            if let Some(cpu) = self.cpu_per_cycle() {
                row("per cycle", format!("{cpu:.2} µs of client CPU"));
            }
        }
        if self.crowd.unfinished > 0 {
            row("unfinished", format!("{} still in line", grouped(self.crowd.unfinished)));
        }
        if !self.crowd.is_clean {
            row("left", "releases that no node has confirmed in time".to_owned());
        }
        let titles = ["p50", "p90", "p99", "p99.9", "max"];
        let titles: String = titles.map(|title| format!("{title:>FIGURE$}")).concat();
        row("\nlatency, µs", titles);
        for (label, summary) in
            [("acquire", self.crowd.acquire), ("hand-over", self.crowd.hand_over)]
        {
            let Some(figures) = summary else { continue };
            row(label, figures.map(|figure| format!("{figure:>FIGURE$.1}")).concat());
        }
        out
    }

    pub(super) fn object(&self) -> String {
        let Crowd { seconds, cycles, failures, fewest, most, longest, .. } = &self.crowd;
        json::line(&Object {
            nodes: self.nodes,
            engines: self.engines,
            ran_ms: Millis::of(*seconds),
            cycles: *cycles,
            cycles_per_s: tenths(self.rate()),
            failed: failures.total(),
            unfinished: self.crowd.unfinished,
            fewest_by_one: *fewest,
            most_by_one: *most,
            longest_wait_us: tenths(longest.as_secs_f64() * 1e6),
            extended: self.crowd.extended,
            lost: self.crowd.lost,
            further_trips: self.crowd.further_trips,
            client_cpu_us_per_cycle: self.cpu_per_cycle().map(thousandths),
            acquire_us: self.crowd.acquire.map(Quantiles::new),
            hand_over_us: self.crowd.hand_over.map(Quantiles::new),
        })
    }
}

/// The members of the object for programs, in the order in which they are printed.
#[derive(Serialize)]
struct Object {
    nodes: usize,
    engines: usize,
    ran_ms: Millis,
    cycles: u64,
    cycles_per_s: f64,
    failed: u64,
    unfinished: u64,
    fewest_by_one: u64,
    most_by_one: u64,
    longest_wait_us: f64,
    extended: u64,
    lost: u64,
    further_trips: Option<u64>,
    client_cpu_us_per_cycle: Option<f64>,
    acquire_us: Option<Quantiles>,
    hand_over_us: Option<Quantiles>,
}

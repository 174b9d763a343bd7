//! A record as tables in Markdown.

use std::fmt::Write;

use crate::aims;
use crate::record::{Load, Record, Spread};
use crate::row::Figure;

const OURS: &str = "redbolt";

pub(crate) fn tables(record: &Record) -> String {
    let mut out = String::new();
    for in_flight in [512, 1] {
        closed(&mut out, record, Load { in_flight, rate: 0 });
    }
    pairs(&mut out, record, "TLS", &ENCRYPTED);
    pairs(&mut out, record, "a majority asked first", &MAJORITY);
    pairs(&mut out, record, "fencing numbers", &FENCED);
    sweep(&mut out, record);
    open(&mut out, record);
    out + "\nfigures to reach\n\n" + &aims::table(record)
}

/// Writes the table of all contestants under one load.
fn closed(out: &mut String, record: &Record, load: Load) {
    line(out, &format!("\n{} in flight\n", load.in_flight));
    line(
        out,
        "| | cycles/s | min – max | redbolt ÷ it | client CPU per cycle, µs \
         | server CPU per cycle, µs \
         | acquire p50, µs | p90 | p99 | p99.9 | p50: redbolt ÷ it |",
    );
    line(out, &format!("|{}", " --- |".repeat(11)));
    for name in record.contestants(load) {
        let of = |figure| record.spread(name, load, figure);
        let Some(rate) = of(|row| row.cycles_per_s) else { continue };
        let median = |figure: Figure| of(figure).map_or(0.0, |found| found.median);
        let ratio = |figure: Figure| {
            let found = record.ratio([OURS, name], load, figure);
            found.map_or_else(String::new, |found| format!("{:.2}", found.median))
        };
        let figures: [Figure; 6] = [
            |row| row.cpu_us,
            |row| row.server_cpu_us,
            |row| row.p50_us,
            |row| row.p90_us,
            |row| row.p99_us,
            |row| row.p999_us,
        ];
        let figures: String = figures.map(|figure| format!(" {:.2} |", median(figure))).concat();
        let Spread { least, median, most } = rate;
        let (faster, sooner) = (ratio(|row| row.cycles_per_s), ratio(|row| row.p50_us));
        let head = format!("| {name} | {median:.0} | {least:.0} – {most:.0} | {faster} |");
        line(out, &format!("{head}{figures} {sooner} |"));
    }
}

/// What TLS costs each contestant, and redbolt beside others, both with TLS.
const ENCRYPTED: [[&str; 2]; 5] = [
    ["redbolt-tls", "redbolt"],
    ["redis-rs-tls", "redis-rs"],
    ["redis-rs-tuned-tls", "redis-rs-tuned"],
    ["redbolt-tls", "redis-rs-tls"],
    ["redbolt-tls", "redis-rs-tuned-tls"],
];

/// What asking a majority of the nodes first gains, and how far that is from bare sockets and from
/// others.
const MAJORITY: [[&str; 2]; 10] = [
    ["redbolt-majority", "redbolt"],
    ["redbolt-majority", "raw-group"],
    ["redbolt-majority", "raw-fresh"],
    ["redbolt-majority", "raw-majority"],
    ["raw-majority", "raw-group"],
    ["redbolt-majority", "redis-rs"],
    ["redbolt-majority", "rslock"],
    ["redbolt", "raw-fresh"],
    ["redbolt-majority-rest", "redbolt-rest"],
    ["redbolt-majority-busy", "redbolt-busy"],
];

/// What a fencing number costs.
const FENCED: [[&str; 2]; 1] = [["redbolt-fenced", "redbolt"]];

/// Writes ratios between two contestants, pair by pair, if the first of all has taken part.
fn pairs(out: &mut String, record: &Record, title: &str, pairs: &[[&str; 2]]) {
    const FIGURES: [Figure; 4] =
        [|row| row.cycles_per_s, |row| row.cpu_us, |row| row.server_cpu_us, |row| row.p50_us];
    let loads = record.loads(pairs[0][0]);
    if loads.is_empty() {
        return;
    }
    line(out, &format!("\n{title}: ratios of medians per round (min – max)\n"));
    line(out, "| in flight | | cycles/s | client CPU per cycle | server CPU per cycle | p50 |");
    line(out, &format!("|{}", " --- |".repeat(6)));
    for load in loads {
        let under = match load.rate {
            0 => load.in_flight.to_string(),
            rate => format!("{rate} starts/s"),
        };
        for &pair in pairs {
            let ratios = FIGURES.into_iter().filter_map(|figure| record.ratio(pair, load, figure));
            let cells = ratios.map(|Spread { least, median, most }| {
                format!(" {median:.2} ({least:.2} – {most:.2}) |")
            });
            let [above, below] = pair;
            let cells: String = cells.collect();
            // Not every pair takes part under every load.
            if cells.is_empty() {
                continue;
            }
            line(out, &format!("| {under} | {above} ÷ {below} |{cells}"));
        }
    }
}

/// Writes cycles a second against locks in flight.
fn sweep(out: &mut String, record: &Record) {
    let mut loads = record.loads(OURS);
    loads.retain(|load| load.rate == 0);
    // Contestants that ran at a few loads only are no part of the sweep.
    let Some(narrowest) = loads.iter().min_by_key(|&&load| record.contestants(load).len()) else {
        return;
    };
    line(out, "\ncycles/s by locks in flight\n");
    let titles: String = loads.iter().map(|load| format!(" {} |", load.in_flight)).collect();
    line(out, &format!("| |{titles}"));
    line(out, &format!("|{}", " --- |".repeat(loads.len() + 1)));
    for name in record.contestants(*narrowest) {
        let rate = |&load: &Load| record.spread(name, load, |row| row.cycles_per_s);
        let cell = |load| {
            rate(load).map_or_else(|| " |".to_owned(), |all| format!(" {:.0} |", all.median))
        };
        line(out, &format!("| {name} |{}", loads.iter().map(cell).collect::<String>()));
    }
}

/// Writes latency against rate.
fn open(out: &mut String, record: &Record) {
    let mut loads = record.loads(OURS);
    loads.retain(|load| load.rate > 0);
    if loads.is_empty() {
        return;
    }
    line(out, "\nlatency by starts a second, from when each should have been\n");
    line(out, "| starts/s | | cycles/s | acquire p50, µs | p90 | p99 | p99.9 |");
    line(out, &format!("|{}", " --- |".repeat(7)));
    for load in loads {
        for name in record.contestants(load) {
            let figures: [Figure; 5] = [
                |row| row.cycles_per_s,
                |row| row.p50_us,
                |row| row.p90_us,
                |row| row.p99_us,
                |row| row.p999_us,
            ];
            let median = |figure| record.spread(name, load, figure).map(|found| found.median);
            let cells = figures.into_iter().filter_map(median).map(|cell| format!(" {cell:.0} |"));
            line(out, &format!("| {} | {name} |{}", load.rate, cells.collect::<String>()));
        }
    }
}

fn line(out: &mut String, text: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{text}");
}

//! The figures to reach, as ratios, and whether they are.

use std::fmt::Write;

use crate::record::{Load, Record};
use crate::row::Figure;

const MANY: Load = Load { in_flight: 512, rate: 0 };
const ONE: Load = Load { in_flight: 1, rate: 0 };

struct Aim {
    what: &'static str,
    load: Load,
    /// The contestant, and the one to compare with; without the second, the figure counts by
    /// itself.
    who: (&'static str, Option<&'static str>),
    figure: Figure,
    bound: Bound,
}

enum Bound {
    AtLeast { must: f64, aim: f64 },
    AtMost { must: f64, aim: f64 },
}

fn aims() -> [Aim; 7] {
    let throughput = |what, peer, must, aim| Aim {
        what,
        load: MANY,
        who: ("redbolt", Some(peer)),
        figure: |row| row.cycles_per_s,
        bound: Bound::AtLeast { must, aim },
    };
    let latency = |what, engine, must, aim| Aim {
        what,
        load: ONE,
        who: (engine, Some("raw-single")),
        figure: |row| row.p50_us,
        bound: Bound::AtMost { must, aim },
    };
    [
        throughput("512 in flight: cycles/s over raw-group", "raw-group", 0.85, 0.95),
        throughput("512 in flight: cycles/s over redis-rs", "redis-rs", 2.0, 2.4),
        throughput("512 in flight: cycles/s over redis-rs-tuned", "redis-rs-tuned", 2.0, 2.4),
        throughput("512 in flight: cycles/s over rslock", "rslock", 2.8, 3.3),
        Aim {
            what: "512 in flight: client CPU per cycle, µs",
            load: MANY,
            who: ("redbolt", None),
            figure: |row| row.cpu_us,
            bound: Bound::AtMost { must: 2.0, aim: 1.0 },
        },
        latency("1 in flight: acquire p50 over raw-single", "redbolt", 1.15, 1.0),
        latency("1 in flight, busy-poll: acquire p50 over raw-single", "redbolt-busy", 1.0, 1.0),
    ]
}

/// Returns a table with one line per aim.
pub(crate) fn table(record: &Record) -> String {
    let mut out = "| figure | must be | aim | measured | min – max | |\n\
         | --- | --- | --- | --- | --- | --- |\n"
        .to_owned();
    for Aim { what, load, who, figure, bound } in aims() {
        let spread = match who {
            (above, Some(below)) => record.ratio([above, below], load, figure),
            (above, None) => record.spread(above, load, figure),
        };
        let (must, aim) = bound.words();
        // Writing to a string cannot fail.
        let _ = match spread {
            None => writeln!(out, "| {what} | {must} | {aim} | not measured | | |"),
            Some(found) => writeln!(
                out,
                "| {what} | {must} | {aim} | {:.2} | {:.2} – {:.2} | {} |",
                found.median,
                found.least,
                found.most,
                bound.verdict(found.median)
            ),
        };
    }
    out
}

impl Bound {
    fn words(&self) -> (String, String) {
        match self {
            Self::AtLeast { must, aim } => (format!("≥ {must}"), format!("≥ {aim}")),
            Self::AtMost { must, aim } => (format!("≤ {must}"), format!("≤ {aim}")),
        }
    }

    fn verdict(&self, value: f64) -> &'static str {
        let (must, aim) = match *self {
            Self::AtLeast { must, aim } => (value >= must, value >= aim),
            Self::AtMost { must, aim } => (value <= must, value <= aim),
        };
        match (must, aim) {
            (_, true) => "aim reached",
            (true, false) => "reached, aim missed",
            (false, false) => "**missed**",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_tell_the_aim_from_what_must_be() {
        let most = Bound::AtMost { must: 2.0, aim: 1.0 };
        assert_eq!(most.verdict(1.0), "aim reached");
        assert_eq!(most.verdict(1.5), "reached, aim missed");
        assert_eq!(most.verdict(2.5), "**missed**");
        let least = Bound::AtLeast { must: 0.85, aim: 0.95 };
        assert_eq!(least.verdict(0.95), "aim reached");
        assert_eq!(least.verdict(0.84), "**missed**");
    }
}

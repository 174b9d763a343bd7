//! A record as pictures.
//!
//! Three pictures: throughput against locks in flight, latency percentiles against rate, client
//! processor time per cycle.
//!
//! The folder knows lines, bars and axes, and writes SVG that reads well on light and on dark
//! pages. Figures come from `Record`, as those of the tables do; nothing is computed here that the
//! tables do not show.
//!
//! `plotters` was tried on the record of 2026-11-21 and drew less well: its SVG has no classes for
//! the colours of dark pages, no outline around names that cross a line and no label for screen
//! readers, and its coordinates are whole pixels, in which dashed lines waver. It saved no code.

mod axis;
mod bars;
mod plot;
mod svg;

use crate::record::{Load, Record};
use crate::row::Figure;
use axis::Axis;
use plot::{Line, Plot, Point};
use svg::Colour;

/// The contestants in the order in which they are drawn, each with its colour in all pictures.
const CONTESTANTS: [(&str, Colour); 9] = [
    ("raw-group", Colour(0)),
    ("raw-fresh", Colour(1)),
    ("raw-single", Colour(2)),
    ("redbolt", Colour(3)),
    ("redis-rs-tuned", Colour(4)),
    ("redis-rs", Colour(5)),
    ("rslock", Colour(6)),
    ("node-redlock", Colour(7)),
    ("redlock-py", Colour(8)),
];

/// A contestant that reaches less than this share of a rate does not keep up: its latency is only
/// that of an ever longer queue.
const KEEPS_UP: f64 = 0.97;

/// Returns the pictures for which the record has figures: name and text of each file.
pub(crate) fn all(record: &Record) -> Vec<(&'static str, String)> {
    let pictures =
        [("throughput", throughput(record)), ("latency", latency(record)), ("cpu", cpu(record))];
    pictures.into_iter().filter_map(|(name, picture)| Some((name, picture?))).collect()
}

fn throughput(record: &Record) -> Option<String> {
    let mut lines = Vec::new();
    for (name, colour) in CONTESTANTS {
        let loads = record.loads(name).into_iter().filter(|load| load.rate == 0);
        let points: Vec<Point> = loads
            .filter_map(|load| {
                let rate = record.spread(name, load, |row| row.cycles_per_s)?;
                let (x, y) = (load.in_flight as f64, rate.median);
                Some(Point { x, y, spread: Some([rate.least, rate.most]) })
            })
            .collect();
        lines.push(Line { label: name.to_owned(), colour, dashed: false, points });
    }
    // A contestant that ran at the two ends only has no line in between.
    lines.retain(|line| line.points.len() > 2);
    let plot = Plot {
        title: "Throughput against locks in flight",
        subtitle: "cycles a second, five nodes; medians, bars from the slowest to the fastest run",
        x: Axis::doubling(&xs(&lines))?,
        x_title: "locks in flight",
        y: Axis::from_zero(&ys(&lines))?,
        lines,
    };
    Some(plot.draw())
}

fn latency(record: &Record) -> Option<String> {
    let figures: [(&str, bool, Figure); 2] =
        [("p50", false, |row| row.p50_us), ("p99", true, |row| row.p99_us)];
    let mut lines = Vec::new();
    for (name, colour) in CONTESTANTS {
        for (quantile, dashed, figure) in figures {
            let loads = record.loads(name).into_iter().filter(|load| load.rate > 0);
            let points: Vec<Point> = loads
                .filter(|&load| keeps_up(record, name, load))
                .filter_map(|load| {
                    let found = record.spread(name, load, figure)?;
                    Some(Point { x: load.rate.into(), y: found.median, spread: None })
                })
                .collect();
            lines.push(Line { label: format!("{name} {quantile}"), colour, dashed, points });
        }
    }
    lines.retain(|line| !line.points.is_empty());
    let plot = Plot {
        title: "Acquire latency against rate",
        subtitle: "µs from when each lock should have been asked for; a line ends where its \
                   contestant no longer keeps up",
        x: Axis::doubling(&xs(&lines))?,
        x_title: "locks started a second (open loop)",
        y: Axis::decades(&ys(&lines))?,
        lines,
    };
    Some(plot.draw())
}

fn keeps_up(record: &Record, name: &str, load: Load) -> bool {
    let rate = record.spread(name, load, |row| row.cycles_per_s);
    rate.is_some_and(|found| found.median >= KEEPS_UP * f64::from(load.rate))
}

fn cpu(record: &Record) -> Option<String> {
    let load = Load { in_flight: 512, rate: 0 };
    let bars = CONTESTANTS.into_iter().filter_map(|(name, colour)| {
        let cpu = record.spread(name, load, |row| row.cpu_us)?;
        Some((name, colour, cpu.median))
    });
    bars::draw(
        "Client processor time per cycle",
        "µs per acquire and release over five nodes, 512 in flight; medians",
        &bars.collect::<Vec<_>>(),
    )
}

fn xs(lines: &[Line]) -> Vec<f64> {
    lines.iter().flat_map(|line| &line.points).map(|point| point.x).collect()
}

fn ys(lines: &[Line]) -> Vec<f64> {
    let points = lines.iter().flat_map(|line| &line.points);
    points.map(|point| point.spread.map_or(point.y, |[_, most]| most)).collect()
}

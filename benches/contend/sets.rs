//! `sets`: some want many resources at once, and others want each of these alone.
//!
//! A set is granted whole or not at all, so those who want one resource could keep the set away for
//! ever, each with a turn at another time. How often the set gets its turn is what is measured.

use std::time::Duration;

use redbolt::Clock;

use crate::Outcome;
use crate::args::{Args, check_contenders};
use crate::children::Worker;
use crate::figures::Figures;
use crate::house::{RESOURCE, TTL, WARM_UP};
use crate::load::sleep_until;
use crate::record::Record;
use crate::report::Row;

const MILLI: f64 = 1e6;

/// For how long those may go on waiting who wait at the end.
const GRACE: Duration = Duration::from_secs(10);

/// The most resources of a set: each has a process of its own.
const MOST_SIZE: u32 = 64;

pub(crate) fn run(args: &Args) -> Outcome {
    for size in args.counts("sizes", "2,4,8", MOST_SIZE)? {
        measure(args, size)?;
    }
    Ok(())
}

/// Runs a process for each resource, whose contenders want that one, and a process whose contenders
/// want all.
fn measure(args: &Args, size: u32) -> Outcome {
    let nodes = args.nodes()?;
    let (singles, sets) = (args.count("clients", 4)?, args.count("sets", 2)?);
    check_contenders(size * singles + sets)?;
    let hold = args.duration("hold", Duration::from_millis(5))?;
    let names: Vec<_> = (0..size).map(|number| format!("{RESOURCE}:{number}")).collect();
    let start = |(resources, clients): (&str, u32)| {
        let options = [
            ("resource", resources.to_owned()),
            ("clients", clients.to_string()),
            ("hold", format!("{}us", hold.as_micros())),
            ("ttl", format!("{}us", args.duration("ttl", TTL)?.as_micros())),
        ];
        Worker::start(&nodes, &options)
    };
    let all = names.join(",");
    let wishes = names.iter().map(|name| (name.as_str(), singles)).chain([(all.as_str(), sets)]);
    let mut workers: Vec<_> = wishes.map(start).collect::<Outcome<_>>()?;
    for worker in &mut workers {
        worker.expect("ready")?;
    }
    sleep_until(Clock::now() + WARM_UP);
    // From the first request on: a set that waits from then to the end is what is looked for.
    let begin = Clock::now();
    let end = begin + args.seconds(20.0)?;
    for worker in &mut workers {
        worker.tell(&format!("run {} {}", end.as_nanos(), GRACE.as_nanos()))?;
    }
    let mut records = Vec::new();
    for (number, worker) in workers.iter_mut().enumerate() {
        records.extend(worker.records(number as u32)?);
    }
    let window = begin.as_nanos()..end.as_nanos();
    let (of_sets, of_singles): (Vec<_>, Vec<_>) =
        records.into_iter().partition(|record| record.process == size);
    let title = format!("sets: {sets} want {size} resources, {singles} each of them, {hold:?}");
    let overlaps: usize = (0..size).map(|one| overlaps(&of_singles, &of_sets, one)).sum();
    let contenders = (0..size).flat_map(|one| (0..singles).map(move |thread| (one, thread)));
    let figures = Figures::new(&of_singles, window.clone(), contenders);
    report(&format!("{title}: one alone"), &figures, overlaps);
    let figures = Figures::new(&of_sets, window, (0..sets).map(|thread| (size, thread)));
    report(&format!("{title}: all"), &figures, overlaps);
    Ok(())
}

/// Counts the guards of one resource that were there before the one before was dropped.
fn overlaps(singles: &[Record], sets: &[Record], resource: u32) -> usize {
    let singles = singles.iter().filter(|record| record.process == resource);
    let mut held: Vec<_> = singles.chain(sets).filter(|record| record.is_granted()).collect();
    held.sort_unstable_by_key(|record| record.ended);
    held.windows(2).filter(|pair| pair[1].ended < pair[0].released).count()
}

fn report(title: &str, figures: &Figures, overlaps: usize) {
    let mut row = Row::new(title);
    row.count("grants", figures.grants);
    row.count("least", figures.by_thread.least());
    row.count("most", figures.by_thread.most());
    row.figure("p50_ms", figures.waits.percentile(50.0) / MILLI);
    row.figure("p99_ms", figures.waits.percentile(99.0) / MILLI);
    row.figure("longest_ms", figures.waits.percentile(100.0) / MILLI);
    row.count("unfinished", figures.unfinished);
    row.count("overlaps", overlaps);
    row.print();
}

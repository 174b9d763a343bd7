//! `processes` and `engines`: the contenders are strangers, who meet at the servers only.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::time::Duration;

use redbolt::Clock;

use crate::Outcome;
use crate::args::{Args, check_contenders};
use crate::census::{Census, Counts};
use crate::children::Worker;
use crate::figures::Figures;
use crate::house::{IDLE, TTL, WARM_UP};
use crate::load::sleep_until;
use crate::peer::Peer;
use crate::proxy;
use crate::record::Record;
use crate::report::Row;

const MILLI: f64 = 1e6;

/// For how long those may go on waiting who wait at the end.
const MOST_GRACE: Duration = Duration::from_secs(30);

/// What a scenario is where no option says otherwise.
pub(crate) struct Defaults {
    title: &'static str,
    processes: u32,
    /// Clients in each process, and threads for each client.
    clients: u32,
    threads: u32,
    hold: Duration,
    seconds: f64,
}

/// Ten processes, each a line of ten threads.
pub(crate) const PROCESSES: Defaults = Defaults {
    title: "processes",
    processes: 10,
    clients: 1,
    threads: 10,
    hold: Duration::from_millis(5),
    seconds: 60.0,
};

/// A hundred clients of one thread each. That ten of them share a process saves memory only: their
/// engines, connections and threads are their own.
pub(crate) const ENGINES: Defaults = Defaults {
    title: "engines",
    processes: 10,
    clients: 10,
    threads: 1,
    hold: Duration::from_millis(100),
    seconds: 300.0,
};

/// What was measured.
struct Run {
    records: Vec<Record>,
    window: std::ops::Range<u64>,
    counts: Counts,
    idle: Counts,
    /// Whether the counts are of the servers that were contended for: those of etcd have none.
    is_counted: bool,
}

pub(crate) fn run(args: &Args, defaults: &Defaults) -> Outcome {
    let nodes = args.nodes()?;
    let nodes = match args.duration("rtt", Duration::ZERO)? {
        Duration::ZERO => nodes,
        trip => proxy::start(&nodes, trip)?,
    };
    let processes = args.count("processes", defaults.processes)?;
    let clients = args.count("clients", defaults.clients)?;
    let threads = args.count("threads", defaults.threads)?;
    let hold = args.duration("hold", defaults.hold)?;
    let contenders = processes.saturating_mul(clients).saturating_mul(threads);
    check_contenders(contenders)?;
    let trip = Census::round_trip(&nodes)?;
    let fair = (hold + trip) * contenders;
    let mut options = vec![
        ("clients", clients.to_string()),
        ("threads", threads.to_string()),
        ("hold", format!("{}us", hold.as_micros())),
        ("ttl", format!("{}us", args.duration("ttl", TTL)?.as_micros())),
    ];
    let mut title = defaults.title.to_owned();
    let mut reached = nodes;
    if let Some(peer) = args.text("peer") {
        // For a program from elsewhere, the word is its own.
        if args.text("worker").is_none() {
            Peer::check(peer)?;
        }
        options.push(("peer", peer.to_owned()));
        title = format!("{title} by {peer}");
        if let Some(etcd) = args.text("etcd") {
            reached = etcd.split(',').map(str::to_owned).collect();
        }
    }
    let start = |_| match args.text("worker") {
        Some(program) => Worker::start_program(program.as_ref(), &reached, &options),
        None => Worker::start(&reached, &options),
    };
    let workers: Vec<_> = (0..processes).map(start).collect::<Outcome<_>>()?;
    let grace = (fair * 2).clamp(Duration::from_secs(2), MOST_GRACE);
    let run = measure(args, workers, args.seconds(defaults.seconds)?, grace)?;
    if let Some(path) = args.text("records") {
        write_records(path, &run.records)?;
    }
    let title = format!(
        "{title}: {processes} processes, {clients} clients each, {threads} threads, hold {hold:?}",
    );
    let each = clients * threads;
    let who = (0..processes).flat_map(|process| (0..each).map(move |thread| (process, thread)));
    let figures = Figures::new(&run.records, run.window.clone(), who);
    report(title, &run, &figures, trip, fair);
    Ok(())
}

fn measure(
    args: &Args,
    mut workers: Vec<Worker>,
    length: Duration,
    grace: Duration,
) -> Outcome<Run> {
    let census = Census::connect(&args.nodes()?)?;
    for worker in &mut workers {
        worker.expect("ready")?;
    }
    sleep_until(Clock::now() + WARM_UP);
    let idle = census.rate(IDLE)?;
    let begin = Clock::now() + WARM_UP;
    let end = begin + length;
    for worker in &mut workers {
        worker.tell(&format!("run {} {}", end.as_nanos(), grace.as_nanos()))?;
    }
    sleep_until(begin);
    let before = census.counts()?;
    sleep_until(end);
    let counts = census.between(&before, &census.counts()?);
    let mut records = Vec::new();
    for (number, worker) in workers.iter_mut().enumerate() {
        records.extend(worker.records(number as u32)?);
    }
    let counts = counts.without(&idle, length.as_secs_f64());
    let is_counted = args.text("etcd").is_none();
    Ok(Run { records, window: begin.as_nanos()..end.as_nanos(), counts, idle, is_counted })
}

fn report(title: String, run: &Run, figures: &Figures, trip: Duration, fair: Duration) {
    let (grants, fair) = (figures.grants as f64, fair.as_nanos() as f64);
    let seconds = (run.window.end - run.window.start) as f64 / 1e9;
    let mut row = Row::new(format!("{title}: shares, {seconds:.0} s"));
    row.count("grants", figures.grants);
    row.figure("grants_per_s", grants / seconds);
    row.count("process_least", figures.by_process.least());
    row.count("process_most", figures.by_process.most());
    row.count("thread_least", figures.by_thread.least());
    row.count("thread_most", figures.by_thread.most());
    let factor = figures.by_thread.most() as f64 / figures.by_thread.least() as f64;
    row.figure("thread_factor", factor);
    let counted = |figure| if run.is_counted { figure } else { f64::NAN };
    row.figure("requests_per_grant", counted(run.counts.requests() / grants));
    row.figure("commands_per_grant", counted(run.counts.total() / grants));
    row.figure("idle_per_s", counted(run.idle.total()));
    row.count("overlaps", figures.overlaps);
    row.raw("by_name", run.counts.iter());
    row.print();
    let mut row = Row::new(format!("{title}: waits"));
    let waits = [
        ("p50", figures.waits.percentile(50.0)),
        ("p99", figures.waits.percentile(99.0)),
        ("longest", figures.waits.percentile(100.0)),
    ];
    row.figure("fair_wait_ms", fair / MILLI);
    for (name, wait) in waits {
        row.figure(&format!("{name}_ms"), wait / MILLI);
        row.figure(&format!("{name}_by_fair"), wait / fair);
    }
    row.figure("longest_before_by_fair", figures.waits_before.percentile(100.0) / fair);
    row.count("unfinished", figures.unfinished);
    row.figure("round_trip_us", trip.as_secs_f64() * 1e6);
    row.count("across", figures.across.count());
    row.figure("across_p50_ms", figures.across.percentile(50.0) / MILLI);
    row.figure("across_p99_ms", figures.across.percentile(99.0) / MILLI);
    row.count("any", figures.hand_over.count());
    row.figure("any_p50_ms", figures.hand_over.percentile(50.0) / MILLI);
    row.figure("any_p99_ms", figures.hand_over.percentile(99.0) / MILLI);
    row.print();
}

/// Keeps the samples, for whoever wants other figures.
fn write_records(path: &str, records: &[Record]) -> Outcome {
    let mut file = BufWriter::new(File::create(path)?);
    writeln!(file, "process thread asked queued ended released")?;
    for record in records {
        writeln!(file, "{} {record}", record.process)?;
    }
    Ok(file.flush()?)
}

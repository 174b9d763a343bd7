//! `redbolt bench --trace`: transactions that take several locks, hold them, and release them.
//!
//! A transaction has two phases: locks are only taken in the first, and only released in the
//! second. All locks are exclusive.
//!
//! `kind` says which traces there are. `synthetic`, `tpcc` and `tatp` generate them
//! from a seed, and `file` reads and writes them as text, so that other programs can run the same
//! transactions. `transactions` has a trace in memory, made before the run, because the processor
//! time of a run counts as that of locking. `load` runs the transactions on one engine, and
//! `figures` has what is printed.
//!
//! This folder must never know how a lock is agreed on.

pub(crate) mod args;
mod draw;
mod figures;
mod file;
mod kind;
mod load;
mod place;
mod snapshot;
mod synthetic;
mod tally;
mod tatp;
mod tpcc;
mod transactions;

use redbolt::{Clock, Config};

use self::args::{Locks, Trace as TraceArgs};
use self::figures::{Context, Figures};
use self::kind::Kind;
use self::load::{Load, Settings};
use self::transactions::{MOST_BYTES, Transactions};
use crate::bench::args::Args;
use crate::bench::nodes::connect::connect;
use crate::bench::nodes::masters::Masters;
use crate::bench::outcome::Outcome;
use crate::bench::signals::Signals;
use crate::duration::written;
use crate::failure::Failure;
use crate::number::grouped;

/// How many transactions a generated trace has. A run that is through begins again: at a hundred
/// thousand transactions a second, after five seconds.
const PREPARED: usize = 500_000;

/// The most locks that are wanted or held at a time; they take 400 MB.
const MOST_LOCKS: usize = 1_000_000;

/// Returns the transactions that `--print` asks for, one on a line.
pub(crate) fn print(args: &TraceArgs, count: usize) -> Result<String, Failure> {
    let trace = prepare(args, count)?;
    let is_file = matches!(args.kind, Kind::File(_));
    if is_file || trace.len() == count {
        return Ok(file::write(&args.kind, &trace, count));
    }
    Err(Failure::usage(format_args!(
        "--print is {}, at most {} is possible with --trace {} and --transaction {}: the names of \
         more take over {} MiB",
        grouped(count as u64),
        grouped(trace.len() as u64),
        args.kind,
        args.transaction,
        MOST_BYTES >> 20,
    )))
}

/// Makes the trace, before anything is started or connected: a trace that cannot be used is told of
/// at once.
pub(crate) fn prepared(args: &Args, trace: &TraceArgs) -> Result<Transactions, Failure> {
    let transactions = prepare(trace, PREPARED)?;
    check(args, trace, locks_at_a_time(args, trace, &transactions))?;
    Ok(transactions)
}

fn prepare(args: &TraceArgs, count: usize) -> Result<Transactions, Failure> {
    match &args.kind {
        Kind::File(path) => file::read(path).map_err(Failure::usage),
        kind => kind.generate(args.transaction, args.seed, count).map_err(Failure::usage),
    }
}

/// Runs the transactions, and returns the report, and whether the run has measured anything.
pub(crate) fn bench(
    args: &Args,
    trace: &TraceArgs,
    transactions: &Transactions,
    masters: &Masters,
    mut config: Config,
    signals: &Signals,
) -> Result<(String, Outcome), Failure> {
    // The settings have room for one lock of every transaction.
    config.redlock.max_locks += locks_at_a_time(args, trace, transactions) - args.in_flight();
    let max_locks = config.redlock.max_locks;
    let settings = Settings {
        locks: trace.locks,
        ttl: args.ttl,
        patience: trace.patience,
        hold: trace.hold,
        at_a_time: args.in_flight(),
        max_locks,
    };
    let mut load = Load::new(connect(config)?, transactions, settings);
    load.run_until(Clock::now() + args.warm_up, signals)?;
    load.forget();
    let before = load.snapshot();
    load.run_until(before.at + args.seconds(), signals)?;
    let after = load.snapshot();
    load.finish()?;
    let context = Context {
        nodes: load.engine().nodes().count(),
        servers: masters.kind(),
        trace: trace.kind.to_string(),
        prepared: transactions.len(),
        locks: trace.locks,
        in_flight: args.in_flight(),
    };
    let figures = Figures::new(context, &before, &after, load.tally());
    let tally = load.tally();
    // Transactions that hold their locks for longer than the run lasts end in none of it.
    let waits = tally.aborts.total() > 0 || tally.unfinished > 0;
    let has_locks = figures.transactions > 0 || tally.acquire.count() > 0 || !waits;
    let outcome = Outcome::of_locks(has_locks, || tally.aborts.lacked_quorum(), signals);
    Ok((if args.json { figures.object() } else { figures.table() }, outcome))
}

/// Returns how many locks of the engine all transactions together have at most. A set is one lock.
fn locks_at_a_time(args: &Args, trace: &TraceArgs, transactions: &Transactions) -> usize {
    match trace.locks {
        Locks::Set => args.in_flight(),
        Locks::Each => args.in_flight() * transactions.most_locks(),
    }
}

/// Checks what no option alone can say.
fn check(args: &Args, trace: &TraceArgs, at_a_time: usize) -> Result<(), Failure> {
    if at_a_time > MOST_LOCKS {
        return Err(Failure::usage(format_args!(
            "--in-flight {} with --locks {} is {} locks at a time, at most {} are possible",
            grouped(args.in_flight() as u64),
            trace.locks,
            grouped(at_a_time as u64),
            grouped(MOST_LOCKS as u64),
        )));
    }
    // The first lock of a transaction must last for as long as the last one may take, and for as
    // long as all are held.
    let most = args.ttl / 2;
    if trace.patience + trace.hold > most {
        return Err(Failure::usage(format_args!(
            "--patience and --hold are {} together, at most {}, half of --ttl, is possible",
            written(trace.patience + trace.hold),
            written(most),
        )));
    }
    Ok(())
}

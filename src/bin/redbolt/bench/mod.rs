//! `redbolt bench`: how many locks a second the nodes and this machine can take, and how long one
//! takes.
//!
//! A cycle acquires one lock and releases it. `load` runs cycles on one engine and knows nothing of
//! who measures; `tally` counts what it sees; `masters` provides nodes where none are given;
//! `report` prints. This folder must never reach past the public API: what it measures is what
//! every user of the library gets.

mod args;
mod crowd;
mod json;
mod live;
mod load;
mod masters;
mod names;
mod object;
mod process;
mod report;
mod schedule;
mod signals;
mod table;
mod tally;

use std::fmt::Display;
use std::io;
use std::process::ExitCode;
use std::time::Duration;

use redbolt::time::Instant;
use redbolt::{Clock, Config, Engine, EngineError};

pub(crate) use self::args::Args;
use self::live::Live;
use self::load::Load;
use self::masters::Masters;
use self::report::{Report, Snapshot};
use self::signals::Signals;
use crate::exit;
use crate::nodes::{GUARD_HINT, describe, quarantined_for};
use crate::number::grouped;
use crate::output::{print, say};

/// How long the load runs before anything is counted: connections come up, tables and caches warm.
const WARM_UP: Duration = Duration::from_millis(200);

/// How long nodes have to come up: connecting and the handshake may take a second each.
const SETTLE: Duration = Duration::from_secs(3);

pub(crate) fn run(args: Args) -> ExitCode {
    match bench(&args) {
        Ok(text) => print(&text),
        Err(failure) => {
            say(failure.message.trim_end());
            failure.code.into()
        }
    }
}

/// Why there is no measurement: the exit code, and what to say.
struct Failure {
    code: u8,
    message: String,
}

impl Failure {
    fn usage(message: impl Display) -> Self {
        Self { code: exit::USAGE, message: message.to_string() }
    }

    fn software(message: impl Display) -> Self {
        Self { code: exit::SOFTWARE, message: message.to_string() }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::software(error)
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Config(error) => Self::usage(error),
            EngineError::Io(_) => Self::software(error),
        }
    }
}

/// The report.
fn bench(args: &Args) -> Result<String, Failure> {
    // Before the first child is started: from here on a signal ends the run in an orderly way.
    let signals = Signals::listen()?;
    let (masters, config) = match args.config() {
        Some(config) => (Masters::Given, config?),
        None => start_masters(args)?,
    };
    if let Some(kind) = args.crowd() {
        return crowd::bench(args, kind, &masters, config, &signals);
    }
    let max_locks = config.redlock.max_locks;
    let mut load = Load::new(connect(config)?, args, max_locks);
    let mut live = Live::new();
    let before = warm_up(&mut load, &mut live, &signals)?;
    run_until(&mut load, &mut live, &signals, before.at + args.seconds)?;
    let after = Snapshot::take(&mut load);
    live.clear();
    load.finish()?;
    let report = Report::new(args, &masters, &load, &before, &after);
    if !args.json {
        return Ok(table::table(&report));
    }
    if report.overdue > 0 {
        // The object has no member for it, and its rate must not pass for the one asked for.
        let overdue = grouped(report.overdue);
        say(format_args!("behind the rate: {overdue} starts due and never made"));
    }
    Ok(object::of(&report))
}

fn start_masters(args: &Args) -> Result<(Masters, Config), Failure> {
    let masters = Masters::start()?;
    say(&masters);
    let config = args.local_config(&masters.addresses())?;
    Ok((masters, config))
}

/// An engine with a quorum of nodes that are ready.
fn connect(config: Config) -> Result<Engine, Failure> {
    let nodes = config.nodes.len();
    let need = config.redlock.check(nodes).map_err(Failure::usage)?.need();
    let mut engine = Engine::new(config)?;
    let ready = engine.settle(SETTLE)?;
    if ready >= need {
        return Ok(engine);
    }
    let nodes_one_by_one = describe(&engine, None);
    let mut message =
        format!("no quorum: {ready} of {nodes} nodes ready, {need} needed\n{nodes_one_by_one}");
    if quarantined_for(&engine).is_some() {
        message.push_str(GUARD_HINT);
    }
    Err(Failure { code: exit::NO_QUORUM, message })
}

/// Runs the load without counting, and forgets what it has counted nevertheless.
fn warm_up(load: &mut Load, live: &mut Live, signals: &Signals) -> Result<Snapshot, Failure> {
    run_until(load, live, signals, Clock::now() + WARM_UP)?;
    load.forget();
    live.forget();
    Ok(Snapshot::take(load))
}

fn run_until(load: &mut Load, live: &mut Live, signals: &Signals, end: Instant) -> io::Result<()> {
    let mut now = Clock::now();
    while now < end && !signals.caught() {
        now = load.turn(now, end.min(live.due()))?;
        if now >= live.due() {
            live.show(now, load);
        }
    }
    Ok(())
}

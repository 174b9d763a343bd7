//! `redbolt bench`: how many locks a second the nodes and this machine can take, and how long one
//! takes.
//!
//! A cycle acquires one lock and releases it. `nodes` has those that are measured, `load` the cycles
//! on engines and `crowd` those of a client with many threads or tasks. `run` is all that a run has
//! measured, and `out` writes that for people and for programs.
//!
//! This folder must never reach past the public API: every user of the library gets what is
//! measured here.

mod args;
mod crowd;
mod load;
mod nodes;
mod out;
mod outcome;
#[expect(dead_code, unused_imports, reason = "the steps of a run are filled in next")]
mod run;
mod signals;

use std::process::ExitCode;

use redbolt::{Config, Init};

pub(crate) use self::args::Args;
use self::nodes::masters::{MASTERS, Masters};
use self::out::report::Report;
use self::outcome::Outcome;
use self::signals::Signals;
use crate::failure::Failure;
use crate::number::grouped;
use crate::output::{print, say};

pub(crate) fn run(args: Args) -> ExitCode {
    match bench(&args) {
        Ok((text, outcome)) => {
            let printed = print(&text);
            let Some((code, message)) = outcome.complaint() else { return printed };
            say(message);
            code.into()
        }
        Err(failure) => {
            say(failure.message.trim_end());
            failure.code.into()
        }
    }
}

/// Measures, and returns the report, and whether the run has measured anything.
fn bench(args: &Args) -> Result<(String, Outcome), Failure> {
    // Signals come before the first child: from here on a signal ends the run in an orderly way.
    let signals = Signals::listen()?;
    let (masters, config) = match args.config()? {
        Some(config) => (Masters::Given, config),
        None => start_masters(args)?,
    };
    if let Some(kind) = args.crowd() {
        return crowd::bench(args, kind, &masters, config, &signals);
    }
    let runs = load::engines::measure(args, &config, &signals)?;
    let report = Report::new(args, &masters, &runs);
    let outcome = Outcome::of(report.cycles, &report.failures, &signals);
    if !args.json {
        return Ok((out::table::table(&report), outcome));
    }
    if report.overdue > 0 {
        // The JSON object has no member for overdue starts, and the rate that it shows must not
        // pass for the rate that the caller has asked for.
        let overdue = grouped(report.overdue);
        say(format_args!("behind the rate: {overdue} starts due and never made"));
    }
    Ok((out::object::of(&report), outcome))
}

fn start_masters(args: &Args) -> Result<(Masters, Config), Failure> {
    // An option that cannot be used is told of before five servers are started in vain.
    let nobody = (1..=MASTERS).map(|port| format!("127.0.0.1:{port}"));
    args.local_config(&nobody.collect::<Vec<_>>())?;
    let masters = Masters::start()?;
    say(&masters);
    let config = args.local_config(&masters.addresses())?;
    // Nobody but this process knows these masters, and no lock was ever held there.
    Init::new(config.clone()).fresh().run().map_err(Failure::software)?;
    Ok((masters, config))
}

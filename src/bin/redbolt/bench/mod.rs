//! `redbolt bench`: how many locks a second the nodes and this machine can take, and how long one
//! takes.
//!
//! A cycle acquires one lock and releases it. `conduct` runs the steps of a run, each with the
//! demand of a `plan`'s level: `nodes` has those that are measured, `load` the cycles on engines
//! and `crowd` those of a client with many threads or tasks, and `watch` what is seen of them from
//! beside. `raw` has bare sockets to compare with. `figures` makes of the counts what `run` holds,
//! with the `facts` of program, machine and options, and `out` writes that for people and for
//! programs. `outcome` is the end of it. `trace` runs transactions of several locks instead of
//! cycles.
//!
//! This folder must never reach past the public API: every user of the library gets what is
//! measured here.

mod args;
mod conduct;
mod crowd;
mod facts;
mod figures;
mod load;
mod nodes;
mod out;
mod outcome;
mod plan;
mod raw;
mod run;
mod signals;
mod trace;
mod watch;

use std::process::ExitCode;
use std::time::Duration;

use redbolt::{Clock, Config, Init};

pub(crate) use self::args::Args;
use self::args::{Kind, check};
use self::conduct::Conducted;
use self::figures::baseline;
use self::figures::compare::compare;
use self::figures::step::Measured;
use self::nodes::masters::{MASTERS, Masters};
use self::nodes::{announce, connect};
use self::out::folder::Folder;
use self::out::hlog::Started;
use self::outcome::Outcome;
use self::run::{Node, Run, SCHEMA, Step};
use self::signals::Signals;
use self::trace::args::Trace;
use crate::duration::written;
use crate::failure::Failure;
use crate::number::grouped;
use crate::output::{print, say};
use crate::wall_clock;

pub(crate) fn run(args: Args) -> ExitCode {
    match bench(&args) {
        Ok(Report { text, outcome, failure }) => {
            let printed = print(&text);
            if let Some(failure) = failure {
                return complain(&failure);
            }
            let Some((code, message)) = outcome.complaint() else { return printed };
            say(message);
            code.into()
        }
        Err(failure) => complain(&failure),
    }
}

fn complain(failure: &Failure) -> ExitCode {
    say(failure.message.trim_end());
    failure.code.into()
}

/// What a run has come to.
struct Report {
    /// The text for standard output.
    text: String,
    outcome: Outcome,
    /// What has failed although there are figures: they are printed all the same.
    failure: Option<Failure>,
}

/// Measures, and returns the report, and whether the run has measured anything.
fn bench(args: &Args) -> Result<Report, Failure> {
    if let Some(trace) = args.trace() {
        let (text, outcome) = bench_trace(args, &trace)?;
        return Ok(Report { text, outcome, failure: None });
    }
    check::load(args).map_err(Failure::usage)?;
    let baseline = args.baseline.as_deref();
    let baseline = baseline.map(|file| baseline::read(file, &args.levels(), args.rounds()));
    let baseline = baseline.transpose()?;
    let folder = args.out.as_deref().map(Folder::create).transpose()?;
    // Signals come before the first child: from here on a signal ends the run in an orderly way.
    let signals = Signals::listen()?;
    let (masters, config) = masters(args)?;
    // An engine says what is wrong with the nodes, if anything is.
    drop(connect::connect(config.clone())?);
    let nodes = announce::ask(&config)?;
    if let Masters::Given = masters {
        say(announce::announcement(&load(args), &nodes));
    }
    let started = Started { wall: wall_clock::now(), at: Clock::now() };
    let seed = facts::seed(args);
    let Conducted { measured, broken } = conduct::conduct(args, &config, seed, &signals)?;
    let mut run = run_of(args, &masters, &config, nodes, seed, &measured, started.wall);
    run.ended_early = match &broken {
        Some(failure) => Some(failure.message.clone()),
        None => signals.caught().then(|| "a signal".to_owned()),
    };
    if run.ended_early.is_some() {
        let each = args.levels().len() * if args.has_raw() { 2 } else { 1 };
        let all = each * args.rounds() as usize;
        run.verdict = figures::knee::ended_early(&run.levels, run.steps.len(), [each, all]);
    }
    if let (Some(before), Some(file)) = (baseline, &args.baseline) {
        let (file, tolerance) = (file.display().to_string(), f64::from(args.tolerance) / 100.0);
        run.baseline = Some(compare(&before, &run, file, tolerance));
    }
    let outcome = Outcome::of(&run, &measured, &signals);
    let files = folder.map_or(Ok(Vec::new()), |folder| folder.write(&run, &measured, started));
    let (files, unwritten) = match files {
        Ok(files) => (files, None),
        Err(failure) => (Vec::new(), Some(failure)),
    };
    files.iter().for_each(|file| say(format_args!("written: {}", file.display())));
    Ok(Report { text: report(args, &run), outcome, failure: broken.or(unwritten) })
}

/// Prints transactions, or runs them.
fn bench_trace(args: &Args, trace: &Trace) -> Result<(String, Outcome), Failure> {
    if let Some(count) = trace.print {
        return Ok((trace::print(trace, count)?, Outcome::Measured));
    }
    let transactions = trace::prepared(args, trace)?;
    let signals = Signals::listen()?;
    let (masters, config) = masters(args)?;
    if let Masters::Given = masters {
        let load = format!(
            "{} transactions in flight for {}",
            grouped(args.in_flight() as u64),
            written(args.seconds())
        );
        say(announce::announcement(&load, &announce::ask(&config)?));
    }
    trace::bench(args, trace, &transactions, &masters, config, &signals)
}

/// Returns what is going to happen, for the person at the terminal.
fn load(args: &Args) -> String {
    let levels = args.levels();
    let in_flight = grouped(args.in_flight() as u64);
    let mut text = match args.crowd() {
        None => format!("{in_flight} in flight"),
        Some(Kind::Threads(_)) => format!("{in_flight} threads"),
        Some(Kind::Tasks(_)) => format!("{in_flight} tasks"),
        Some(Kind::KeepAlive(_)) => format!("{in_flight} locks kept alive"),
    };
    if let Some(rate) = levels.last().and_then(|level| level.rate) {
        text = format!("up to {text}, {} starts a second", grouped(rate.into()));
    } else if levels.len() > 1 {
        text = format!("up to {text}");
    }
    let steps = levels.len() * args.rounds() as usize;
    let times = if steps > 1 { format!(", {steps} times") } else { String::new() };
    format!("{text}{times} for {}", written(args.seconds()))
}

fn run_of(
    args: &Args,
    masters: &Masters,
    config: &Config,
    nodes: Vec<Node>,
    seed: u64,
    measured: &[Measured],
    started: Duration,
) -> Run {
    let steps: Vec<Step> = measured.iter().map(|measured| measured.step.clone()).collect();
    let levels = figures::level::levels(&steps);
    let level = args.levels().pop().unwrap_or(plan::Level { in_flight: 1, rate: None });
    Run {
        schema: SCHEMA,
        redbolt: facts::build(),
        started_at: wall_clock::rfc3339(started),
        machine: facts::machine(),
        options: facts::options(args, config, &args.demand(level, seed)),
        ended_early: None,
        servers: masters.kind().to_owned(),
        nodes,
        verdict: figures::knee::verdict(&levels),
        against: figures::against::against(&levels, &steps),
        levels,
        steps,
        baseline: None,
    }
}

/// Returns the text for standard output.
fn report(args: &Args, run: &Run) -> String {
    let Some(step) = chosen(run) else { return String::new() };
    if !args.json {
        let mut text = match run.levels.len() {
            0 | 1 => out::table::table(run, step),
            _ => out::levels::table(run),
        };
        text.extend(run.against.as_ref().map(out::levels::against));
        text.extend(run.baseline.as_ref().map(out::levels::comparison));
        return text;
    }
    if step.overdue > 0 && run.levels.len() < 2 {
        // The rate that the object shows must not pass for the rate that was asked for.
        let overdue = grouped(step.overdue);
        say(format_args!("behind the rate: {overdue} starts due and never made"));
    }
    out::object::of(run, step)
}

/// Returns the step that stands for the run: of the knee, or else of the last level, the one whose
/// rate is in the middle.
fn chosen(run: &Run) -> Option<&Step> {
    let level = run.levels.get(run.verdict.knee.unwrap_or(run.levels.len().checked_sub(1)?))?;
    let mut steps: Vec<_> = run.steps_of(level.load()).collect();
    steps.sort_by(|a, b| a.cycles_per_s.total_cmp(&b.cycles_per_s));
    steps.get(steps.len().saturating_sub(1) / 2).copied()
}

/// Returns the given nodes, or five masters that are started for the run.
fn masters(args: &Args) -> Result<(Masters, Config), Failure> {
    if let Some(config) = args.config()? {
        return Ok((Masters::Given, config));
    }
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

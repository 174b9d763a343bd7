//! `redbolt init`: prepares the nodes of a deployment for their clients.
//!
//! [`args`] is the command line. The library inspects the nodes and writes. [`left_alone`] waits
//! until no client uses nodes that are to be changed. [`wait`] polls an engine until the nodes
//! vote. This folder must never know the protocol or the algorithm.

mod args;
mod left_alone;
mod wait;

use std::process::ExitCode;
use std::time::Duration;

use redbolt::time::{format_duration, format_rounded};
use redbolt::{Config, Init, InitAction, InitError, InitPlan, InitReport};

pub(crate) use self::args::Args;
use crate::failure::Failure;
use crate::output::{print, say};

/// Said when some nodes could not be done.
const NOT_ALL: &str = "not every node is done: mend the others, and run init again";

pub(crate) fn run(args: Args) -> ExitCode {
    let code = args.nodes.required().and_then(|config| prepare(&args, config));
    code.unwrap_or_else(|failure| {
        say(failure.message.trim_end());
        failure.code.into()
    })
}

fn prepare(args: &Args, config: Config) -> Result<ExitCode, Failure> {
    let need = config.redlock.check(config.nodes.len()).map_err(Failure::usage)?.need();
    let init = args.init(config.clone());
    let plan = init.inspect()?;
    let is_refused = plan.is_refused() && (plan.report().wait().is_zero() || !args.waits());
    if !is_refused {
        print(&format!("found, and to be done:\n{}", plan.report()));
    }
    if args.is_dry_run() {
        return rehearsed(&plan, is_refused);
    }
    let (target, dropped, found) = (plan.target(), plan.dropped(), plan.report().to_string());
    let (report, missing) = execute(&init, plan, args.waits())?;
    // Where nothing could be done, all has been said.
    let is_news = report.done() > 0 || report.to_string() != found;
    let printed = if is_news { print(&format!("done:\n{report}")) } else { ExitCode::SUCCESS };
    let is_quorate = report.done() >= need;
    if args.waits() && is_quorate {
        wait::until_quorate(config, report.look_period())?;
        print("a quorum of the nodes votes\n");
    }
    if is_quorate {
        let wait = if args.waits() { Duration::ZERO } else { report.look_period() };
        let when = match format_rounded(wait) {
            _ if wait.is_zero() => "now".to_owned(),
            wait => format!("in {wait}"),
        };
        if let Some(target) = target {
            print(&format!("clients with {target} may start {when}\n"));
        } else if let Some(max_ttl) = raised(&report) {
            print(&format!("clients with max_ttl {max_ttl} may start {when}\n"));
        }
    }
    if dropped > 0 {
        let noun = if dropped == 1 { "node" } else { "nodes" };
        say(format_args!(
            "the old list has {dropped} {noun} more, or some have lost their witness: shut the \
             servers down that are not on this list, and start no client with the old one"
        ));
    }
    missing.map_or(Ok(printed), Err)
}

/// Carries a plan out. Where clients must leave the nodes alone first, and `waits` is set, waits
/// for that and makes a new plan.
fn execute(
    init: &Init,
    mut plan: InitPlan,
    waits: bool,
) -> Result<(InitReport, Option<Failure>), Failure> {
    loop {
        if waits && !plan.report().wait().is_zero() {
            plan = left_alone::wait(init, plan)?;
        }
        let error = match plan.execute() {
            Ok(report) => return Ok((report, None)),
            Err(error) => error,
        };
        let left = error.report().map_or(Duration::ZERO, InitReport::wait);
        if waits && !left.is_zero() {
            plan = init.inspect()?;
            continue;
        }
        return match error {
            InitError::Unfinished(report) => Ok((report, Some(Failure::no_quorum(NOT_ALL)))),
            error => Err(Failure::from(error)),
        };
    }
}

/// Ends a run that writes nothing, with the exit code that the other run would have.
fn rehearsed(plan: &InitPlan, is_refused: bool) -> Result<ExitCode, Failure> {
    match plan.refusal() {
        Some(refusal) if is_refused => Err(refusal.into()),
        _ if !plan.report().is_complete() => Err(Failure::no_quorum(NOT_ALL)),
        _ => Ok(print("nothing was written\n")),
    }
}

/// Returns the `max_ttl` to which that of a deployment was raised.
fn raised(report: &InitReport) -> Option<String> {
    let raised = |action| match action {
        InitAction::Raised { to, .. } => Some(format_duration(to)),
        _ => None,
    };
    report.nodes().iter().find_map(|node| raised(*node.result.as_ref().ok()?))
}

/// Returns whether a node cannot tell for how long it has been left alone.
fn cannot_tell(report: &InitReport) -> bool {
    report.nodes().iter().any(|node| node.wait.is_some_and(|wait| wait.ago.is_none()))
}

impl From<InitError> for Failure {
    fn from(error: InitError) -> Self {
        let left = error.report().map_or(Duration::ZERO, InitReport::wait);
        match error {
            InitError::Refused(ref report) if !left.is_zero() && cannot_tell(report) => {
                Self::no_quorum(format_args!(
                    "{error}stop every client, and run init without --no-wait: a node cannot tell \
                     when a client has looked last, and begins to measure only when init waits"
                ))
            }
            InitError::Refused(_) if !left.is_zero() => Self::no_quorum(format_args!(
                "{error}stop every client, and run init again in {}",
                format_rounded(left)
            )),
            InitError::Refused(_) | InitError::Unfinished(_) => Self::no_quorum(error),
            InitError::Io(_) => Self::software(error),
            _ => Self::usage(error),
        }
    }
}

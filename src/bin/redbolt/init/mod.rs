//! `redbolt init`: prepares the nodes of a deployment for their clients.
//!
//! [`args`] is the command line. The library does the work. [`wait`] polls an engine until the
//! nodes vote. This folder must never know the protocol or the algorithm.

mod args;
mod wait;

use std::process::ExitCode;

use redbolt::{Config, InitError};

pub(crate) use self::args::Args;
use crate::failure::Failure;
use crate::output::{print, say};

pub(crate) fn run(args: Args) -> ExitCode {
    let code = args.config().and_then(|config| prepare(&args, config));
    code.unwrap_or_else(|failure| {
        say(failure.message.trim_end());
        failure.code.into()
    })
}

fn prepare(args: &Args, config: Config) -> Result<ExitCode, Failure> {
    let need = config.redlock.check(config.nodes.len()).map_err(Failure::usage)?.need();
    let (report, missing) = match args.init(config.clone()).run() {
        Ok(report) => (report, None),
        Err(InitError::Unfinished(report)) => {
            let missing = "not every node is done: mend the others, and run init again";
            (report, Some(Failure::no_quorum(missing)))
        }
        Err(error @ InitError::Refused(_)) => return Err(Failure::no_quorum(error)),
        Err(error @ InitError::Io(_)) => return Err(Failure::software(error)),
        Err(error) => return Err(Failure::usage(error)),
    };
    let printed = print(&report.to_string());
    let printed = match args.waits() && report.done() >= need {
        true => {
            wait::until_quorate(config, report.look_period())?;
            print("a quorum of the nodes votes\n")
        }
        false => printed,
    };
    missing.map_or(Ok(printed), Err)
}

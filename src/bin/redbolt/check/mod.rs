//! `redbolt check`: whether the nodes can vote, and what to change where they cannot.
//!
//! [`args`] is the command line. The library asks and judges: [`look`] calls it. [`table`] is for
//! people, whose lines [`text`] breaks, and [`object`] for programs. [`code`] has the exit codes,
//! and [`watch`] looks again and again. This folder must never know the protocol or the algorithm.

mod args;
mod code;
mod look;
mod object;
mod table;
mod text;
mod watch;

use std::process::ExitCode;

use redbolt::Config;

pub(crate) use self::args::Args;
use crate::failure::Failure;
use crate::output::{print, say};

pub(crate) fn run(args: Args) -> ExitCode {
    let code = args.nodes.required().and_then(|config| match args.watch {
        Some(pause) => watch::run(config, args.json, pause),
        None => once(config, args.json),
    });
    code.unwrap_or_else(|failure| {
        say(failure.message.trim_end());
        failure.code.into()
    })
}

fn once(config: Config, json: bool) -> Result<ExitCode, Failure> {
    let report = look::look(config)?;
    let printed = print(&look::written(&report, json));
    let is_printed = printed == ExitCode::SUCCESS;
    Ok(if is_printed { code::of(report.verdict()).into() } else { printed })
}

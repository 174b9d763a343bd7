//! `redbolt who`: says who holds a lock, for how long, and on how many nodes.
//!
//! [`args`] is the command line. The library asks. [`text`] is for people, [`object`] for programs.
//! This folder must never know the protocol or the algorithm.

mod args;
mod object;
mod text;

use std::process::ExitCode;

use redbolt::{WhoReport, WhoResource, WhoState};

pub(crate) use self::args::Args;
use crate::exit;
use crate::failure::Failure;
use crate::output::{print, say};

pub(crate) fn run(args: Args) -> ExitCode {
    let (is_json, is_verbose) = (args.json, args.verbose);
    let report = args.who().and_then(|who| who.run().map_err(Failure::from));
    let printed = report.map(|report| {
        let text = match is_json {
            true => object::of(&report),
            false => text::of(&report, is_verbose),
        };
        let printed = print(&text);
        if printed == ExitCode::SUCCESS { verdict(&report, is_json) } else { printed }
    });
    printed.unwrap_or_else(|failure| {
        say(failure.message.trim_end());
        failure.code.into()
    })
}

fn verdict(report: &WhoReport, is_json: bool) -> ExitCode {
    let states = || report.resources().iter().map(|resource| resource.state);
    let is_unknown = |resource: &&WhoResource| resource.state == WhoState::Unknown;
    if let Some(resource) = report.resources().iter().find(is_unknown) {
        // The text has said so.
        if is_json {
            say(text::heard(resource, report));
        }
        return exit::NO_QUORUM.into();
    }
    if states().all(WhoState::is_free) { exit::FREE.into() } else { ExitCode::SUCCESS }
}

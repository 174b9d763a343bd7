//! `redbolt unlock`: ends a lock that somebody holds, by its token.
//!
//! [`args`] is the command line. The library does the work. This folder must never know the
//! protocol or the algorithm.

mod args;

use std::process::ExitCode;

use redbolt::{UnlockReport, UnlockVerdict};

pub(crate) use self::args::Args;
use crate::exit;
use crate::failure::Failure;
use crate::lines::Lines;
use crate::output::{print, say};

/// What an operator must know who sees that a lock has ended.
const HOLDER: &str = "A holder that is at work does not know yet, and may go on until its next \
                      extension or until its ttl is over";

pub(crate) fn run(args: Args) -> ExitCode {
    let report = args.unlock().and_then(|unlock| unlock.run().map_err(Failure::from));
    report.map(|report| tell(&report)).unwrap_or_else(|failure| {
        say(failure.message.trim_end());
        failure.code.into()
    })
}

fn tell(report: &UnlockReport) -> ExitCode {
    let mut lines = Lines::default();
    report.nodes().iter().for_each(|node| lines.add(2, &node.to_string()));
    let (verdict, count, deleted) = (report.verdict(), report.nodes().len(), report.deleted());
    let code = match verdict {
        UnlockVerdict::Ended => {
            lines.add(0, &format!("{verdict}: deleted on {deleted} of {count} nodes"));
            lines.add(0, HOLDER);
            ExitCode::SUCCESS
        }
        UnlockVerdict::WasFree => {
            lines.add(0, &verdict.to_string());
            ExitCode::SUCCESS
        }
        UnlockVerdict::OtherValue | UnlockVerdict::Back => exit::HELD.into(),
        _ => exit::NO_QUORUM.into(),
    };
    let printed = print(&lines.into_text());
    match verdict {
        UnlockVerdict::Ended | UnlockVerdict::WasFree => return printed,
        UnlockVerdict::OtherValue if deleted == 0 => {
            say(format_args!("nothing deleted: {verdict}"))
        }
        _ => say(format_args!("{verdict} (deleted on {deleted} of {count})")),
    }
    code
}

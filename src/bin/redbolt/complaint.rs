//! The one-line message about a command line that cannot be parsed.

use std::error::Error as _;
use std::ffi::OsString;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::quote::{quoted, with_colons};

const COMMANDS: &str = "`bench` measures locking, `check` tells whether nodes can vote, `exec` \
                        runs a command while holding a lock, `init` prepares nodes, `who` says who \
                        has a lock, `unlock` ends one";

/// Options whose values have colons, and no addresses.
const WITH_COLONS: [&str; 2] = ["--resources", "--trace"];

/// Options that other commands which lock have, and `exec` has not.
const FOREIGN: [(&[&str], &str); 5] = [
    (&["-c", "--command"], "a line for a shell is written -- sh -c '…'"),
    (&["-x", "-e", "--exclusive"], "every lock is exclusive"),
    (&["-s", "--shared"], "there are no shared locks"),
    (&["-o", "--close"], "COMMAND never inherits the lock"),
    (&["-F", "--no-fork"], "redbolt stays, and keeps the lock alive"),
];

/// Names that other programs have for what a command does.
const MEANT: [(&[&str], &str); 4] = [
    (&["lock", "flock", "run", "with", "acquire"], "`exec` runs a command while holding a lock"),
    (&["release", "free", "delete"], "`unlock` ends a lock that somebody holds"),
    (&["list", "show", "holder", "get", "query"], "`who` says who has a lock"),
    (&["status", "ping", "health", "doctor", "info"], "`check` tells whether nodes can vote"),
];

/// Returns the message, and where to read on. The first of the arguments may be a subcommand of
/// `program`.
pub(crate) fn describe(error: &clap::Error, program: &Command, arguments: &[OsString]) -> String {
    let subcommand = arguments.first().and_then(|name| program.find_subcommand(name));
    // For a shell, nodes with spaces between them are several arguments.
    let is_list = ["--nodes", "--"].iter().all(|name| arguments.iter().any(|other| other == name));
    let help = match subcommand {
        Some(command) => format!("see redbolt {} --help", command.get_name()),
        None => "see redbolt --help".to_owned(),
    };
    format!("{}; {help}", what_is_wrong(error, subcommand, is_list))
}

fn what_is_wrong(error: &clap::Error, subcommand: Option<&Command>, is_list: bool) -> String {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            format!("no command given: {COMMANDS}")
        }
        ErrorKind::InvalidSubcommand => {
            let given = context(ContextKind::InvalidSubcommand).unwrap_or_default();
            let meant = MEANT.iter().find(|(names, _)| names.contains(&given));
            let given = quoted(given);
            if let Some((_, what)) = meant {
                return format!("there is no command {given}: {what}");
            }
            match suggested(error, ContextKind::SuggestedSubcommand) {
                Some(meant) => format!("there is no command {given}, `{meant}` is one"),
                None => format!("there is no command {given}: {COMMANDS}"),
            }
        }
        ErrorKind::ValueValidation | ErrorKind::InvalidValue => {
            let option = context(ContextKind::InvalidArg).unwrap_or_default();
            // The name of the value comes after the option.
            let option = option.split(' ').next().unwrap_or_default();
            let value = context(ContextKind::InvalidValue).unwrap_or_default();
            let given =
                if WITH_COLONS.contains(&option) { with_colons(value) } else { quoted(value) };
            match error.source() {
                Some(source) => format!("{option} is {given}, {source}"),
                None if value.is_empty() => format!("{option} lacks its value"),
                None => format!("{option} is {given}{}", possible(error)),
            }
        }
        ErrorKind::UnknownArgument => {
            let given = context(ContextKind::InvalidArg).unwrap_or_default();
            let is_exec = subcommand.is_some_and(|command| command.get_name() == "exec");
            let foreign = FOREIGN.iter().find(|(names, _)| is_exec && names.contains(&given));
            let hint = match (foreign, suggested(error, ContextKind::SuggestedArg)) {
                (Some((_, hint)), _) => format!(": {hint}"),
                (None, Some(meant)) => format!(", {meant} is one"),
                (None, None) if is_exec && !given.starts_with('-') => match is_list {
                    true => ": commas separate nodes, and RESOURCE is one argument".to_owned(),
                    false => ": COMMAND stands behind --".to_owned(),
                },
                (None, None) => String::new(),
            };
            // The argument may be a list of nodes whose option was forgotten.
            let given = if given.contains('@') { "…" } else { given };
            format!("unexpected argument '{given}' found{hint}")
        }
        _ => first_paragraph(&error.to_string()),
    }
}

/// Returns what was meant by a name that does not exist, as far as there is one like it.
fn suggested(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(name)) => Some(name),
        // The one that is most like it comes last.
        Some(ContextValue::Strings(names)) => names.last().map(String::as_str),
        _ => None,
    }
}

/// Returns the end of a sentence that names the values which are possible.
fn possible(error: &clap::Error) -> String {
    match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(values)) if !values.is_empty() => {
            format!(", one of {} is possible", values.join(", "))
        }
        _ => ", which cannot be used".to_owned(),
    }
}

/// Returns what is wrong, without tips and usage. The names of missing arguments have lines of
/// their own, which are joined to the message.
fn first_paragraph(text: &str) -> String {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let lines = text.lines().map(str::trim).take_while(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}

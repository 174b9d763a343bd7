//! The one-line message about a command line that cannot be parsed.

use std::error::Error as _;
use std::ffi::OsStr;

use clap::error::{ContextKind, ContextValue, ErrorKind};

const COMMANDS: &str = "`bench` measures locking, `exec` runs a command while holding a lock";

/// Returns the message, and where to read on. `first` is the first argument, which may be the
/// subcommand.
pub(crate) fn describe(error: &clap::Error, first: Option<&OsStr>) -> String {
    let subcommand = first.and_then(OsStr::to_str).filter(|name| matches!(*name, "bench" | "exec"));
    let help = match subcommand {
        Some(name) => format!("see redbolt {name} --help"),
        None => "see redbolt --help".to_owned(),
    };
    format!("{}; {help}", what_is_wrong(error, subcommand))
}

fn what_is_wrong(error: &clap::Error, subcommand: Option<&str>) -> String {
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
            format!("there is no command {given:?}: {COMMANDS}")
        }
        ErrorKind::ValueValidation | ErrorKind::InvalidValue => {
            let option = context(ContextKind::InvalidArg).unwrap_or_default();
            // The name of the value comes after the option.
            let option = option.split(' ').next().unwrap_or_default();
            let value = context(ContextKind::InvalidValue).unwrap_or_default();
            match error.source() {
                Some(source) => format!("{option} is {value:?}, {source}"),
                None if value.is_empty() => format!("{option} lacks its value"),
                None => format!("{option} is {value:?}, which cannot be used"),
            }
        }
        ErrorKind::UnknownArgument if subcommand == Some("exec") => {
            let given = context(ContextKind::InvalidArg).unwrap_or_default();
            let hint = if given.starts_with('-') { "" } else { ": COMMAND stands behind --" };
            format!("{}{hint}", first_paragraph(&error.to_string()))
        }
        _ => first_paragraph(&error.to_string()),
    }
}

/// Returns what is wrong, without tips and usage. The names of missing arguments have lines of
/// their own, which are joined to the message.
fn first_paragraph(text: &str) -> String {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let lines = text.lines().map(str::trim).take_while(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}

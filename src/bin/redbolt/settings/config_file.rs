//! The file of `--config`: TOML with the names of the variables, in small letters and without
//! `redbolt_`.
//!
//! A value becomes the text that a variable would have, so that what is possible, and what is said
//! of the rest, are the same. Nodes and the prefix are read at once: lists are possible there.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use redbolt::{Address, Config, EnvErrorKind};
use serde::Deserialize;
use toml::{Spanned, Value};

use super::file::{LARGEST, Text};
use crate::quote::quoted;

/// What the names of variables begin with.
const VARIABLE: &str = "REDBOLT_";

/// What only the command line reads.
const OF_COMMAND_LINE: [&str; 10] = [
    "password_file",
    "conflict_exit_code",
    "lost_exit_code",
    "unavailable_exit_code",
    "expiring_signal",
    "keep_alive",
    "verbose",
    "quiet",
    "log",
    "wait_group",
];

/// A configuration file that has been read.
pub(super) struct ConfigFile {
    path: PathBuf,
    /// By the name: the line, and the value as text.
    values: BTreeMap<String, (usize, OsString)>,
    pub(super) nodes: Vec<Address>,
    pub(super) prefix: Option<Vec<u8>>,
}

impl ConfigFile {
    /// Reads a file. The error names the file, the line and the setting, and shows no password.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let file = Text::read(path, LARGEST).map_err(|error| error.to_string())?;
        let config = Self::parse(path, &file.text)?;
        let has_password = config.values.contains_key("password");
        if has_password || config.nodes.iter().any(|node| node.login().password.is_some()) {
            file.check_private().map_err(|error| error.to_string())?;
        }
        Ok(config)
    }

    fn parse(path: &Path, text: &str) -> Result<Self, String> {
        let line_at = |at: usize| 1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count();
        let entries = toml::from_str::<BTreeMap<Spanned<String>, Value>>(text);
        let mut entries: Vec<_> = entries
            .map_err(|error| {
                let line = line_at(error.span().map_or(0, |span| span.start));
                // The error itself quotes the line, which may have a password.
                format!("{}:{line}: {}", path.display(), error.message())
            })?
            .into_iter()
            .map(|(name, value)| (line_at(name.span().start), name.into_inner(), value))
            .collect();
        // The first mistake is told first.
        entries.sort_by_key(|(line, ..)| *line);
        let (values, nodes) = (BTreeMap::new(), Vec::new());
        let mut config = Self { path: path.to_owned(), values, nodes, prefix: None };
        let known = known_names();
        for (line, name, value) in entries {
            let set = check_name(&known, &name).and_then(|()| config.set(line, &name, value));
            set.map_err(|error| format!("{}:{line}: {error}", path.display()))?;
        }
        Ok(config)
    }

    fn set(&mut self, line: usize, name: &str, value: Value) -> Result<(), String> {
        let text = match (name, value) {
            ("nodes", Value::String(list)) => {
                let nodes = Address::parse_list(&list);
                self.nodes = nodes.map_err(|error| format!("nodes: {error}"))?;
                OsString::new()
            }
            ("nodes", Value::Array(list)) => {
                self.nodes = addresses(list)?;
                OsString::new()
            }
            ("prefix", Value::String(text)) => {
                self.prefix = Some(text.into_bytes());
                OsString::new()
            }
            ("prefix", Value::Array(bytes)) => {
                let bytes: Result<_, _> = Value::Array(bytes).try_into();
                let wrong = |_| "prefix: a text, or a list of bytes, is possible".to_owned();
                self.prefix = Some(bytes.map_err(wrong)?);
                OsString::new()
            }
            // A relative path starts where the file is, whatever folder the program runs in.
            ("password_file", Value::String(file)) if !file.is_empty() => {
                self.path.parent().unwrap_or_else(|| Path::new("")).join(file).into()
            }
            (name, value) => text_of(name, value)?.into(),
        };
        self.values.insert(name.to_owned(), (line, text));
        Ok(())
    }

    /// Returns the value of a setting, by the name of its variable.
    pub(super) fn value(&self, variable: &str) -> Option<&OsStr> {
        let (_, text) = self.values.get(&name_of(variable))?;
        Some(text).filter(|text| !text.is_empty()).map(OsString::as_os_str)
    }

    /// Returns how a message names a setting that this file has: by the file, the line and the
    /// name.
    pub(super) fn place(&self, variable: &str) -> Option<String> {
        let name = name_of(variable);
        let (line, _) = self.values.get(&name)?;
        Some(format!("{}:{line}: {name}", self.path.display()))
    }
}

/// The name in a file of what a variable sets.
fn name_of(variable: &str) -> String {
    variable.strip_prefix(VARIABLE).unwrap_or(variable).to_ascii_lowercase()
}

/// The names that a file may have: those that the library asks for, and those of the command line.
fn known_names() -> Vec<String> {
    let mut names = Vec::from(OF_COMMAND_LINE.map(str::to_owned));
    // The result does not matter: the library asks for every setting once there are nodes.
    _ = Config::from_vars(|variable| {
        names.push(name_of(variable));
        (variable == "REDBOLT_NODES").then_some("node")
    });
    names
}

fn check_name(known: &[String], name: &str) -> Result<(), String> {
    if known.iter().any(|known| known == name) {
        return Ok(());
    }
    let variable = format!("{VARIABLE}{}", name.to_ascii_uppercase());
    let nearest = match Config::check_names([variable.as_str()]).map_err(|e| e.kind().clone()) {
        Err(EnvErrorKind::Unknown { nearest }) => nearest.map(name_of),
        _ => known.iter().find(|known| known.eq_ignore_ascii_case(name)).cloned(),
    };
    // A file cannot name another file with settings.
    let nearest = nearest.filter(|nearest| known.contains(nearest));
    Err(match nearest {
        Some(nearest) => format!("{} is not a setting, {nearest} is one", quoted(name)),
        None => format!("{} is not a setting, but these are: {}", quoted(name), known.join(", ")),
    })
}

fn addresses(list: Vec<Value>) -> Result<Vec<Address>, String> {
    let nodes = list.into_iter().enumerate().map(|(index, node)| {
        let place = index + 1;
        match node {
            Value::String(text) => text.parse().map_err(|error| format!("nodes: {error}")),
            Value::Table(_) => {
                let node = Address::deserialize(node);
                node.map_err(|error| format!("nodes: node {place}: {}", error.message()))
            }
            _ => Err(format!("nodes: node {place} is neither a text nor a table of host, port, …")),
        }
    });
    nodes.collect()
}

/// Returns a value as a variable would have it. The error shows nothing of the value.
fn text_of(name: &str, value: Value) -> Result<String, String> {
    let is_secret = matches!(name, "user" | "password");
    let text = match value {
        Value::String(text) => text,
        // As a number, 007 would have lost its zeros.
        _ if is_secret => return Err(format!("{name} is not a text: quotes are needed")),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Boolean(switch) => switch.to_string(),
        _ => return Err(format!("{name} is a list, a table or a date: a text is possible")),
    };
    // An empty variable counts as absent. In a file, it is a line that was not finished.
    if text.is_empty() { Err(format!("{name} is empty")) } else { Ok(text) }
}

#[cfg(test)]
mod tests;

//! The file of `--config`: TOML with the names of the variables, in small letters and without
//! `redbolt_`.
//!
//! A value becomes the text that a variable would have, so that what is possible, and what is said
//! of the rest, are the same. Nodes and the prefix are read at once: lists are possible there.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use redbolt::Address;
use serde::Deserialize;
use toml::{Spanned, Value};

use super::file::{LARGEST, Text};
use super::{list, names, unquoted};

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
            file.check_private("a password").map_err(|error| error.to_string())?;
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
                let what = unquoted::what_is_wrong(text, line);
                let what = what.unwrap_or_else(|| error.message().to_owned());
                format!("{}:{line}: {what}", path.display())
            })?
            .into_iter()
            .map(|(name, value)| (line_at(name.span().start), name.into_inner(), value))
            .collect();
        // The first mistake is told first.
        entries.sort_by_key(|(line, ..)| *line);
        let (values, nodes) = (BTreeMap::new(), Vec::new());
        let mut config = Self { path: path.to_owned(), values, nodes, prefix: None };
        let known = names::known();
        for (line, name, value) in entries {
            let set = names::check(&known, &name).and_then(|()| config.set(line, &name, value));
            set.map_err(|error| format!("{}:{line}: {error}", path.display()))?;
        }
        Ok(config)
    }

    fn set(&mut self, line: usize, name: &str, value: Value) -> Result<(), String> {
        let text = match (name, value) {
            // The list is read where it counts: an option or a variable goes before it.
            ("nodes", Value::String(list)) if list.starts_with(list::FILE) => self.beside(&list),
            ("nodes", Value::String(list)) => {
                let nodes = list::parse(&list);
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
            ("password_file", Value::String(file)) if !file.is_empty() => {
                self.folder().join(file).into()
            }
            (name, value) => text_of(name, value)?.into(),
        };
        self.values.insert(name.to_owned(), (line, text));
        Ok(())
    }

    /// Where a relative path in this file starts, whatever folder the program runs in.
    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or_else(|| Path::new(""))
    }

    /// Returns `@FILE` with the path from here. What is no path stays as it is.
    fn beside(&self, list: &str) -> OsString {
        match list.strip_prefix(list::FILE) {
            Some(file) if !matches!(file, "" | "-") => {
                let mut path = OsString::from(list::FILE.to_string());
                path.push(self.folder().join(file));
                path
            }
            _ => list.into(),
        }
    }

    /// Returns the value of a setting, by the name of its variable.
    pub(super) fn value(&self, variable: &str) -> Option<&OsStr> {
        let (_, text) = self.values.get(&names::of_variable(variable))?;
        Some(text).filter(|text| !text.is_empty()).map(OsString::as_os_str)
    }

    /// Returns how a message names a setting that this file has: by the file, the line and the
    /// name.
    pub(super) fn place(&self, variable: &str) -> Option<String> {
        let name = names::of_variable(variable);
        let (line, _) = self.values.get(&name)?;
        Some(format!("{}:{line}: {name}", self.path.display()))
    }
}

fn addresses(list: Vec<Value>) -> Result<Vec<Address>, String> {
    let nodes = list.into_iter().enumerate().map(|(index, node)| {
        let place = index + 1;
        match node {
            Value::String(text) if text.starts_with(list::FILE) => {
                Err("nodes: a file stands alone: nodes = \"@FILE\"".to_owned())
            }
            Value::String(text) if list::is_several(&text) => {
                let list = "nodes = [\"HOST:PORT\", \"HOST:PORT\", …]";
                Err(format!("nodes: text {place} has several nodes: {list} is possible"))
            }
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

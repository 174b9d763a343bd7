//! Where a setting comes from when no option has it: a variable, or else the file of `--config`.

use std::env;
use std::ffi::OsString;
use std::path::Path;

use redbolt::Address;

use super::config_file::ConfigFile;
use super::names::{self, CONFIG};
use crate::quote::quoted;

/// The variables, and the file if there is one.
pub(crate) struct Sources {
    file: Option<ConfigFile>,
}

/// A value, and how a message names its place: `--ttl`, `REDBOLT_TTL`, or file, line and name.
pub(crate) struct Given {
    pub(crate) name: String,
    pub(crate) value: OsString,
}

impl Given {
    pub(super) fn new(name: &str, value: impl Into<OsString>) -> Self {
        Self { name: name.to_owned(), value: value.into() }
    }

    /// Parses the value. The error names its place.
    pub(crate) fn parse<T>(&self, parser: impl Fn(&str) -> Result<T, String>) -> Result<T, String> {
        let text = self.value.to_string_lossy();
        parser(text.trim()).map_err(|error| format!("{} is {}, {error}", self.name, quoted(&text)))
    }
}

impl Sources {
    /// Checks the names of all variables, and reads the file: the one of the option, or else the
    /// one of the variable.
    pub(super) fn new(option: Option<&OsString>) -> Result<Self, String> {
        names::check_variables(env::vars_os().map(|(name, _)| name))?;
        let (name, path) = match (option, variable(CONFIG)) {
            (Some(path), _) => ("--config", path.clone()),
            (None, Some(path)) => (CONFIG, path),
            (None, None) => return Ok(Self { file: None }),
        };
        if path.is_empty() {
            return Err(format!("{name} is empty"));
        }
        let file = ConfigFile::read(Path::new(&path));
        file.map(|file| Self { file: Some(file) }).map_err(|error| format!("{name}: {error}"))
    }

    /// Returns the value of a variable, or of the setting of the same name in the file.
    pub(crate) fn given(&self, name: &str) -> Option<Given> {
        let from_variable = variable(name).map(|value| Given::new(name, value));
        from_variable.or_else(|| self.in_file(name))
    }

    /// Returns the value in the file, by the name of its variable.
    pub(super) fn in_file(&self, name: &str) -> Option<Given> {
        let file = self.file.as_ref()?;
        Some(Given { name: file.place(name)?, value: file.value(name)?.to_owned() })
    }

    /// Returns the name of the place that has a setting, if one has.
    pub(super) fn name_of(&self, name: &str) -> Option<String> {
        let is_variable = variable(name).is_some();
        let in_file = || self.file.as_ref()?.place(name);
        if is_variable { Some(name.to_owned()) } else { in_file() }
    }

    /// The nodes of the file.
    pub(super) fn nodes(&self) -> &[Address] {
        self.file.as_ref().map_or(&[], |file| &file.nodes)
    }

    /// The prefix of the file.
    pub(super) fn prefix(&self) -> Option<&[u8]> {
        self.file.as_ref()?.prefix.as_deref()
    }
}

/// Returns the value of a variable. An empty variable counts as absent.
pub(super) fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

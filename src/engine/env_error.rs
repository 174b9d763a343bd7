//! [`EnvError`], the error of variables that give no configuration.

use core::fmt;

use super::env_names::SETTINGS;
use crate::net::AddressError;
use crate::quote::shown;
use crate::redlock::ConfigError;

/// The error returned when the environment does not give a configuration.
///
/// The message names the variable, its value and what is possible. The value of `REDBOLT_USER` and
/// `REDBOLT_PASSWORD` is never shown, and of `REDBOLT_NODES` only what holds no login. The value of
/// another variable is shown unless it looks like an address, so a bare password there is shown.
///
/// ```
/// use redbolt::Config;
///
/// let error = Config::from_vars(|name| match name {
///     "REDBOLT_NODES" => Some("10.0.0.1"),
///     "REDBOLT_MAX_TTL" => Some("5ms"),
///     _ => None,
/// });
/// let error = error.unwrap_err();
/// assert_eq!(error.variable(), "REDBOLT_MAX_TTL");
/// let expected = r#"REDBOLT_MAX_TTL is "5ms", between 10ms and 168h is possible"#;
/// assert_eq!(error.to_string(), expected);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct EnvError {
    variable: String,
    kind: EnvErrorKind,
}

/// What is wrong with a variable.
///
/// `Display` gives the end of a sentence that begins with the name of the variable.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum EnvErrorKind {
    /// The variable is needed, and is absent or empty.
    Missing,
    /// There is a `REDBOLT_USER`, but no password for it.
    PasswordMissing,
    /// The value is not UTF-8.
    NotUtf8,
    /// An address cannot be parsed, or a login cannot be used.
    Address(AddressError),
    /// The value is not one that the setting can have.
    Value {
        /// The value, or `…` for one that looks like an address, which could have a login.
        value: String,
        /// What is possible.
        reason: String,
    },
    /// The settings do not fit together.
    Config(ConfigError),
    /// The variable names a file, which only the command line of redbolt reads.
    File,
    /// There is no setting with this name.
    Unknown {
        /// The variable whose name is most like this one; `None` if none is like it.
        nearest: Option<&'static str>,
    },
}

impl EnvError {
    pub(super) fn new(variable: &str, kind: EnvErrorKind) -> Self {
        Self { variable: variable.to_owned(), kind }
    }

    /// Returns the name of the variable.
    pub fn variable(&self) -> &str {
        &self.variable
    }

    /// Returns what is wrong with the variable.
    pub fn kind(&self) -> &EnvErrorKind {
        &self.kind
    }
}

impl EnvErrorKind {
    /// A value that the setting cannot have.
    pub(super) fn value(value: &str, reason: String) -> Self {
        Self::Value { value: shown(value.trim()), reason }
    }
}

impl fmt::Display for EnvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.variable, self.kind)
    }
}

impl fmt::Display for EnvErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str(" is not set"),
            Self::PasswordMissing => {
                f.write_str(" is not set, but REDBOLT_USER is: a user needs a password")
            }
            Self::NotUtf8 => f.write_str(" is not UTF-8"),
            Self::Address(error) => write!(f, ": {error}"),
            Self::Value { value, reason } => write!(f, " is {value:?}, {reason}"),
            // The setting is named already.
            Self::Config(error @ ConfigError::Length { len, .. }) => {
                write!(f, " has {len} bytes, {}", error.possible().unwrap_or_default())
            }
            Self::Config(error) => write!(f, ": {error}"),
            Self::File => f.write_str(
                " names a file that only the command line of redbolt reads: without what stands \
                 there, this process could have settings that other clients do not have",
            ),
            Self::Unknown { nearest: Some(name) } => write!(f, " is not a setting, {name} is one"),
            Self::Unknown { nearest: None } => {
                write!(f, " is not a setting, but these are: {}", SETTINGS.join(", "))
            }
        }
    }
}

/// Prints what `Display` writes: `fn main` that returns the error shows this.
impl fmt::Debug for EnvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EnvError({self})")
    }
}

impl core::error::Error for EnvError {}

//! [`InitError`]: why not every node is prepared.

use core::fmt;
use std::io;

use super::report::InitReport;
use crate::redlock::ConfigError;

/// The error returned when not every node is prepared.
#[derive(Debug)]
#[non_exhaustive]
pub enum InitError {
    /// A setting is out of bounds, or a node is given twice. No node was visited.
    Config(ConfigError),
    /// The system could not start a thread. Running it again does no harm.
    Io(io::Error),
    /// A node is missing or unfit, or has not been left alone for long enough. Nothing was written
    /// on any node.
    Refused(InitReport),
    /// A node is missing or unfit, or failed during the write. The other nodes have what was
    /// wanted, or are closed. Running it again is safe.
    Unfinished(InitReport),
}

impl InitError {
    /// Returns the report, if nodes were visited.
    pub fn report(&self) -> Option<&InitReport> {
        match self {
            Self::Refused(report) | Self::Unfinished(report) => Some(report),
            _ => None,
        }
    }
}

impl fmt::Display for InitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::Io(error) => write!(f, "the system cannot visit the nodes: {error}"),
            Self::Refused(report) => {
                write!(f, "nothing was written on any node:\n{report}{}", report.advice())
            }
            Self::Unfinished(report) => {
                write!(f, "not every node is done:\n{report}{}", report.advice())
            }
        }
    }
}

impl core::error::Error for InitError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            // `Display` already shows this error, so the chain goes on with its source.
            Self::Config(error) => error.source(),
            Self::Io(error) => Some(error),
            Self::Refused(_) | Self::Unfinished(_) => None,
        }
    }
}

impl From<ConfigError> for InitError {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl From<io::Error> for InitError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

//! Why nobody could be asked anything.

use core::fmt;
use std::io;

use crate::redlock::{ConfigError, RequestError, StoredValue};

/// The largest number of resources that can be asked about at once.
pub(super) const MAX_RESOURCES: usize = 1024;

/// The error returned when no node was asked anything.
#[derive(Debug)]
#[non_exhaustive]
pub enum DeskError {
    /// A setting is out of bounds, or a node is given twice.
    Config(ConfigError),
    /// A resource cannot be that of a lock.
    Resource(RequestError),
    /// No resource is given, or more than [`Who::MAX_RESOURCES`](super::Who::MAX_RESOURCES).
    Count {
        /// The number of given resources.
        given: usize,
    },
    /// The value is longer than [`StoredValue::MAX_LEN`].
    ValueTooLong {
        /// The length of the given value in bytes.
        len: usize,
    },
    /// The system could not start a thread. Some nodes may have been visited, and running it again
    /// does no harm.
    Io(io::Error),
}

impl fmt::Display for DeskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::Resource(error) => error.fmt(f),
            Self::Count { given } => {
                let most = MAX_RESOURCES;
                write!(f, "{given} resources are given, between 1 and {most} are possible")
            }
            Self::ValueTooLong { len } => {
                let most = StoredValue::MAX_LEN;
                write!(f, "the value has {len} bytes, at most {most} are possible")
            }
            Self::Io(error) => write!(f, "the system cannot visit the nodes: {error}"),
        }
    }
}

impl core::error::Error for DeskError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            // `Display` already shows these errors, so the chain goes on with their sources.
            Self::Config(error) => error.source(),
            Self::Resource(error) => error.source(),
            Self::Count { .. } | Self::ValueTooLong { .. } => None,
            Self::Io(error) => Some(error),
        }
    }
}

impl From<ConfigError> for DeskError {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl From<io::Error> for DeskError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

//! Why nobody could be asked anything, or nothing was to be deleted.

use core::fmt;
use std::io;

use crate::net::Address;
use crate::redlock::{ConfigError, RequestError, StoredValue};

/// The largest number of resources that can be asked about at once.
pub(super) const MAX_RESOURCES: usize = 1024;

/// The error returned when no node was asked who has a resource.
#[derive(Debug)]
#[non_exhaustive]
pub enum WhoError {
    /// A setting is out of bounds, or a node is given twice.
    Config(ConfigError),
    /// A resource cannot be that of a lock.
    Resource(RequestError),
    /// No resource is given, or more than [`Who::MAX_RESOURCES`](super::Who::MAX_RESOURCES).
    Count {
        /// The number of given resources.
        given: usize,
    },
    /// The system could not start a thread. Running it again does no harm.
    Io(io::Error),
}

/// The error returned when no lock was to be ended. Nothing was deleted, except perhaps after
/// [`Io`](Self::Io).
#[derive(Debug)]
#[non_exhaustive]
pub enum UnlockError {
    /// A setting is out of bounds, or a node is given twice.
    Config(ConfigError),
    /// The resource cannot be that of a lock.
    Resource(RequestError),
    /// The value is longer than [`StoredValue::MAX_LEN`].
    ValueTooLong {
        /// The length of the given value in bytes.
        len: usize,
    },
    /// A node belongs to a deployment with another number of nodes. The nodes that are not listed
    /// would keep the lock, or are another's.
    OtherNodes {
        /// The node.
        node: Address,
        /// The number of nodes of the configuration.
        ours: u64,
        /// The number of nodes of the deployment.
        recorded: u64,
    },
    /// The system could not start a thread. The value may have been deleted on some nodes. Running
    /// it again does no harm.
    Io(io::Error),
}

impl fmt::Display for WhoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::Resource(error) => error.fmt(f),
            Self::Count { given } => {
                let most = MAX_RESOURCES;
                write!(f, "{given} resources are given, between 1 and {most} are possible")
            }
            Self::Io(error) => write!(f, "the system cannot visit the nodes: {error}"),
        }
    }
}

impl fmt::Display for UnlockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::Resource(error) => error.fmt(f),
            Self::ValueTooLong { len } => {
                let most = StoredValue::MAX_LEN;
                write!(f, "the value has {len} bytes, at most {most} are possible")
            }
            Self::OtherNodes { node, ours, recorded } => {
                let noun = if *ours == 1 { "node is" } else { "nodes are" };
                write!(
                    f,
                    "{ours} {noun} configured here, and {recorded} in the deployment of {node}: \
                     nothing was deleted; list the nodes that all clients list"
                )
            }
            Self::Io(error) => write!(f, "the system cannot visit the nodes: {error}"),
        }
    }
}

// `Display` already shows the errors of settings and resources, so the chain goes on with their
// sources.

impl core::error::Error for WhoError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Config(error) => error.source(),
            Self::Resource(error) => error.source(),
            Self::Count { .. } => None,
            Self::Io(error) => Some(error),
        }
    }
}

impl core::error::Error for UnlockError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Config(error) => error.source(),
            Self::Resource(error) => error.source(),
            Self::ValueTooLong { .. } | Self::OtherNodes { .. } => None,
            Self::Io(error) => Some(error),
        }
    }
}

/// Gives an error the reasons that both have.
macro_rules! from {
    ($($cause:ty => $error:ident::$variant:ident),* $(,)?) => {$(
        impl From<$cause> for $error {
            fn from(error: $cause) -> Self {
                Self::$variant(error)
            }
        }
    )*};
}

from! {
    ConfigError => WhoError::Config,
    RequestError => WhoError::Resource,
    io::Error => WhoError::Io,
    ConfigError => UnlockError::Config,
    RequestError => UnlockError::Resource,
    io::Error => UnlockError::Io,
}

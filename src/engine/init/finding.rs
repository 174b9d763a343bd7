//! What stood on a node before.

use core::fmt;
use core::time::Duration;

use crate::time::format_rounded;

/// The witness that stood on a node before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum InitFinding {
    /// None.
    Nothing {
        /// The number of keys in the database, without the labels of clients; `None` if the user
        /// has no right to ask.
        keys: Option<u64>,
    },
    /// An operator has declared this process fresh.
    Declared {
        /// The longest ttl of the deployment.
        max_ttl: Duration,
    },
    /// An operator has declared this process fresh, and somebody has looked since: a client that
    /// may have a lock there, or [`Init`](super::Init) when it was done.
    Used {
        /// The longest ttl of the deployment.
        max_ttl: Duration,
    },
    /// The witness of this data.
    Witness {
        /// For how long the data has been in one piece, by the clock of the node.
        age: Duration,
        /// The longest ttl of the deployment.
        max_ttl: Duration,
    },
    /// The witness of an earlier process, or of other data.
    Other {
        /// The longest ttl of the deployment.
        max_ttl: Duration,
    },
    /// An operator has closed the node for all clients, to change the deployment.
    Closed {
        /// The longest ttl of the deployment before the change.
        max_ttl: Duration,
    },
}

impl InitFinding {
    /// Returns the longest ttl of the deployment, as the witness says.
    pub fn max_ttl(&self) -> Option<Duration> {
        match *self {
            Self::Nothing { .. } => None,
            Self::Declared { max_ttl }
            | Self::Used { max_ttl }
            | Self::Witness { max_ttl, .. }
            | Self::Other { max_ttl }
            | Self::Closed { max_ttl } => Some(max_ttl),
        }
    }
}

impl fmt::Display for InitFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing { keys: Some(0) } => f.write_str("empty"),
            Self::Nothing { .. } => f.write_str("no witness"),
            Self::Declared { .. } => f.write_str("declared fresh before"),
            Self::Used { .. } => f.write_str("declared fresh before, and looked at since"),
            Self::Witness { age, .. } => write!(f, "a witness of {}", format_rounded(*age)),
            Self::Other { .. } => f.write_str("the witness of an earlier process or other data"),
            Self::Closed { .. } => f.write_str("closed for a change"),
        }
    }
}

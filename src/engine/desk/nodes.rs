//! The nodes that were visited, and what the answer of each is worth.

use core::fmt;
use core::time::Duration;

use crate::net::Address;
use crate::redlock::NodeError;
use crate::time::format_rounded;

/// One node that was visited.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct VisitedNode {
    /// The address, as configured. `Display` does not show the login.
    pub address: Address,
    /// What the answers of the node are worth.
    pub weight: NodeWeight,
    /// What else is known of a node that cannot be asked, such as the path of a file; may be empty.
    pub detail: String,
}

impl VisitedNode {
    /// Returns what the answers of the node are worth, with all that is known of the reason.
    pub fn status(&self) -> String {
        let Self { weight, detail, .. } = self;
        if detail.is_empty() { weight.to_string() } else { format!("{weight} ({detail})") }
    }
}

/// What the answers of a node are worth. `Display` says why they do not count.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum NodeWeight {
    /// They count.
    Counts,
    /// The node may have forgotten keys (S11). What it has counts, and that it has nothing does
    /// not.
    Quarantined {
        /// For how long a client would wait that comes now; `None` where nobody can know.
        remaining: Option<Duration>,
    },
    /// The node cannot vote, or cannot be asked. Whatever it has does not count.
    Out(NodeError),
    /// The node is the same server process as this other one, and would count twice.
    SameProcess(Address),
}

impl NodeWeight {
    /// Returns whether what the node has counts.
    pub fn counts(&self) -> bool {
        matches!(self, Self::Counts | Self::Quarantined { .. })
    }
}

impl fmt::Display for NodeWeight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Counts => f.write_str("ready"),
            Self::Quarantined { remaining: Some(left) } => {
                write!(f, "in quarantine for {}: it may have forgotten keys", format_rounded(*left))
            }
            Self::Quarantined { remaining: None } => {
                f.write_str("in quarantine: it may have forgotten keys")
            }
            Self::Out(NodeError::HandshakeTimeout) => f.write_str("connected, but no answer"),
            Self::Out(error) => error.fmt(f),
            Self::SameProcess(other) => write!(f, "the same server process as {other}"),
        }
    }
}

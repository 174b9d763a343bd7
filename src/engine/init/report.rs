//! What [`Init`](super::Init) has found on the nodes, and what it did there.

use core::fmt;
use core::time::Duration;

use crate::net::Address;
use crate::redlock::NodeError;
use crate::time::{format_duration, format_rounded};

/// What was found and done, node by node, in the order of the configuration. `Display` writes one
/// line for each node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InitReport {
    pub(super) nodes: Vec<InitNode>,
    pub(super) look_period: Duration,
}

impl InitReport {
    /// Returns the nodes.
    pub fn nodes(&self) -> &[InitNode] {
        &self.nodes
    }

    /// Returns whether every node has what was wanted.
    pub fn is_complete(&self) -> bool {
        self.done() == self.nodes.len()
    }

    /// Returns the number of nodes that have what was wanted.
    pub fn done(&self) -> usize {
        self.nodes.iter().filter(|node| node.result.is_ok()).count()
    }

    /// Returns for how long clients with a longer `max_ttl` have to wait before they start: until
    /// every client that runs has looked at the nodes again. Zero unless `max_ttl` was raised.
    pub fn look_period(&self) -> Duration {
        self.look_period
    }
}

impl fmt::Display for InitReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.nodes.iter().try_for_each(|node| writeln!(f, "  {node}"))
    }
}

/// What was found and done on one node.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct InitNode {
    /// The address, as configured. `Display` does not show the login.
    pub address: Address,
    /// What the inspection has found; `None` if the node could not be inspected.
    pub finding: Option<InitFinding>,
    /// What was done, or why nothing could be.
    pub result: Result<InitAction, InitRefusal>,
}

impl fmt::Display for InitNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.address)?;
        match (&self.result, &self.finding) {
            (Err(refusal), _) => refusal.fmt(f),
            (Ok(action), Some(finding)) => write!(f, "{finding}: {action}"),
            (Ok(action), None) => action.fmt(f),
        }
    }
}

/// The witness that stood on a node before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum InitFinding {
    /// None.
    Nothing {
        /// The number of keys in the database.
        keys: u64,
    },
    /// An operator has declared this process fresh.
    Declared {
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
}

impl InitFinding {
    /// Returns the longest ttl of the deployment, as the witness says.
    pub fn max_ttl(&self) -> Option<Duration> {
        match *self {
            Self::Nothing { .. } => None,
            Self::Declared { max_ttl }
            | Self::Witness { max_ttl, .. }
            | Self::Other { max_ttl } => Some(max_ttl),
        }
    }
}

impl fmt::Display for InitFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing { keys: 0 } => f.write_str("empty"),
            Self::Nothing { .. } => f.write_str("no witness"),
            Self::Declared { .. } => f.write_str("declared fresh before"),
            Self::Witness { age, .. } => write!(f, "a witness of {}", format_rounded(*age)),
            Self::Other { .. } => f.write_str("the witness of an earlier process or other data"),
        }
    }
}

/// What was done on a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum InitAction {
    /// Nothing, because another node was missing or unfit.
    Nothing,
    /// The witness that stood was kept.
    Kept,
    /// A witness was written.
    Written,
    /// The node was declared fresh.
    Declared,
    /// The `max_ttl` of the deployment was raised.
    Raised {
        /// The `max_ttl` before.
        from: Duration,
        /// The `max_ttl` from now on.
        to: Duration,
    },
}

impl fmt::Display for InitAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("fit, nothing written"),
            Self::Kept => f.write_str("kept"),
            Self::Written => f.write_str("a witness written"),
            Self::Declared => f.write_str("declared fresh"),
            Self::Raised { from, to } => {
                let [from, to] = [from, to].map(|ttl| format_duration(*ttl));
                write!(f, "max_ttl raised from {from} to {to}")
            }
        }
    }
}

/// The reason why a node does not have what was wanted. `Display` says what to do.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum InitRefusal {
    /// The node cannot be reached, cannot serve, or belongs to another deployment.
    Node(NodeError),
    /// The node is the same server process as this other one, and would vote twice.
    SameProcess(Address),
    /// A node with keys is not new.
    NotEmpty {
        /// The number of keys in the database.
        keys: u64,
    },
    /// A node with a witness is not new: clients have been there.
    HasWitness(InitFinding),
    /// The deployment has a longer `max_ttl`.
    LongerMaxTtl {
        /// The `max_ttl` of the configuration.
        ours: Duration,
        /// The `max_ttl` of the deployment.
        recorded: Duration,
    },
}

impl fmt::Display for InitRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(NodeError::HandshakeTimeout) => f.write_str("connected, but no answer"),
            Self::Node(error) => error.fmt(f),
            Self::SameProcess(other) => write!(f, "the same server process as {other}"),
            Self::NotEmpty { keys } => {
                let noun = if *keys == 1 { "key" } else { "keys" };
                write!(f, "not new, it has {keys} {noun}: use init without --fresh")
            }
            Self::HasWitness(finding) => write!(f, "{finding}: use init without --fresh"),
            Self::LongerMaxTtl { ours, recorded } => {
                let [ours, recorded] = [ours, recorded].map(|ttl| format_duration(*ttl));
                write!(f, "max_ttl is {recorded}, and cannot be lowered to {ours}")
            }
        }
    }
}

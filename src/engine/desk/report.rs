//! What [`Who`](super::Who) has found.

use core::fmt;
use core::time::Duration;

use super::client::WhoClient;
use super::nodes::VisitedNode;
use crate::redlock::{NodeError, NodeSet, Quorum, Stored, StoredValue};

/// What stands under some resources, by the answers of all nodes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WhoReport {
    pub(super) quorum: Quorum,
    pub(super) nodes: Vec<VisitedNode>,
    pub(super) resources: Vec<WhoResource>,
}

impl WhoReport {
    /// Returns how many nodes must agree.
    pub fn quorum(&self) -> Quorum {
        self.quorum
    }

    /// Returns the nodes, in the order of the configuration.
    pub fn nodes(&self) -> &[VisitedNode] {
        &self.nodes
    }

    /// Returns the resources, in the order in which they were asked about.
    pub fn resources(&self) -> &[WhoResource] {
        &self.resources
    }
}

/// A line for each node, indented by two spaces, and one for each resource: `"orders/42" is held`.
impl fmt::Display for WhoReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for node in &self.nodes {
            writeln!(f, "  {}: {}", node.address, node.status())?;
        }
        let line = |of: &WhoResource| (of.resource.escape_ascii().to_string(), of.state);
        let mut lines = self.resources.iter().map(line);
        lines.try_for_each(|(resource, state)| writeln!(f, "\"{resource}\" {state}"))
    }
}

/// What stands under one resource.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct WhoResource {
    /// The name, without the prefix.
    pub resource: Vec<u8>,
    /// What all answers say together.
    pub state: WhoState,
    /// The different values, those on the most nodes first. If the state is
    /// [`Held`](WhoState::Held), the first is that of the holder.
    pub values: Vec<WhoValue>,
    /// The nodes that count and have nothing.
    pub free: NodeSet,
    /// The nodes that count and have data which is no lock.
    pub data: NodeSet,
    /// The other nodes: they gave no answer, or an answer that does not count.
    pub unknown: NodeSet,
    /// What each node has, in the order of the nodes, or why it did not say.
    pub stored: Vec<Result<Stored, NodeError>>,
}

/// A value, and where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct WhoValue {
    /// The value. Of a lock, the value is the token.
    pub value: StoredValue,
    /// The nodes that count and have the value.
    pub nodes: NodeSet,
    /// The shortest time that is left on one of these nodes; `None` if none has a ttl.
    pub least: Option<Duration>,
    /// The longest time that is left on one of these nodes; `None` if one has no ttl.
    pub most: Option<Duration>,
    /// The client whose token the value is, if the client has left a label.
    pub client: Option<WhoClient>,
}

/// What the nodes say of a resource together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum WhoState {
    /// A quorum of the nodes has the same value.
    Held {
        /// For how long a quorum keeps the value. The holder believes in the lock for less time.
        remaining: Duration,
    },
    /// A quorum of the nodes has the same value, and the value has no ttl: no wait is long enough.
    Permanent,
    /// A quorum of the nodes has nothing, and no node has a value.
    Free,
    /// A quorum of the nodes has nothing, and others have something, such as the rest of a lock.
    /// Nobody holds the resource, and a lock can be had.
    Dangling,
    /// Nobody holds the resource, and nobody can have it for now: the nodes have different values.
    Split,
    /// Too many nodes for a lock have data that is no lock.
    Data,
    /// Too few nodes have said what they have.
    Unknown,
}

impl WhoState {
    /// Returns whether a lock can be had now: a quorum has nothing.
    pub fn is_free(self) -> bool {
        matches!(self, Self::Free | Self::Dangling)
    }

    /// Returns a name for machines to read, such as `held`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Held { .. } => "held",
            Self::Permanent => "permanent",
            Self::Free => "free",
            Self::Dangling => "dangling",
            Self::Split => "split",
            Self::Data => "data",
            Self::Unknown => "unknown",
        }
    }
}

/// Continues the name of a resource: `"orders/42" is held`.
impl fmt::Display for WhoState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Held { .. } => "is held",
            Self::Permanent => "is held without a ttl",
            Self::Free => "is free",
            Self::Dangling => "is free, but some nodes still have something there",
            Self::Split => "is not held, and not free: the nodes have different values",
            Self::Data => "is no lock: other data stands there",
            Self::Unknown => "cannot be told: too few nodes have said what they have",
        })
    }
}

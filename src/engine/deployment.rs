//! What all clients of a deployment must agree on.

use core::fmt;
use core::time::Duration;

use crate::redlock::Constants;
use crate::time::format_duration;

/// What all clients of a deployment must agree on, as the witnesses of its nodes say (S11).
///
/// `Display` writes `3 nodes, max_ttl 1m`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Deployment {
    /// The number of nodes. Of a node that [`Init::reconfigure`](crate::Init::reconfigure) has
    /// closed, the number before; 0 if the node belonged to no deployment.
    pub nodes: u64,
    /// The longest ttl.
    pub max_ttl: Duration,
}

impl Deployment {
    /// What a witness says. Whether the node is closed is not told.
    pub(super) fn recorded(constants: Constants) -> Self {
        Self { nodes: constants.nodes, max_ttl: constants.longest_ttl() }
    }

    /// Returns whether the witness of an open node has exactly this.
    pub(super) fn is_of(self, recorded: Constants) -> bool {
        let has_ttl = u128::from(recorded.max_ttl) == self.max_ttl.as_millis();
        has_ttl && recorded.nodes == self.nodes && !recorded.is_closed
    }
}

impl fmt::Display for Deployment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = if self.nodes == 1 { "node" } else { "nodes" };
        write!(f, "{} {noun}, max_ttl {}", self.nodes, format_duration(self.max_ttl))
    }
}

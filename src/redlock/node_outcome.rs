//! The outcome of a request at each node.

use core::fmt;

use smallvec::SmallVec;

use super::node_set::{MAX_NODES, NodeId};

/// The outcome of one request at one node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum NodeOutcome {
    /// The node agreed.
    Granted,
    /// The node refused: another value stands at the key, or, for an extension, no value.
    Refused,
    /// The node answered with an error.
    Failed,
    /// The node was asked and did not answer in time, or its connection broke.
    NoReply,
    /// Not asked: the node is not connected.
    Down,
    /// Not asked: the connection to the node is being set up.
    Connecting,
    /// Not asked, or not believed: the node may have forgotten locks in a restart (S11).
    Quarantined,
    /// Not asked: an older request to the node has waited for too long.
    Stalled,
    /// Not asked: the node recently reported that it cannot serve for the moment.
    Unhealthy,
    /// Not asked: the pipeline of the node is full.
    Full,
    /// Not asked: the configuration of the node does not allow a vote.
    Misconfigured,
    /// Not asked: the request needs a script, as an extension and several resources do, and the
    /// node runs none for us.
    NoScripts,
    /// Not asked: the request wants a fencing number, and the node takes no part in those
    /// ([`NodeStatus::fence_bar`](super::NodeStatus::fence_bar) says why).
    NoFences,
    /// Not asked, although the node is ready now. Either the node was not ready when the other
    /// nodes were asked, or too few nodes were ready for a quorum.
    NotAsked,
}

impl fmt::Display for NodeOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Granted => "granted",
            Self::Refused => "refused",
            Self::Failed => "answered with an error",
            Self::NoReply => "no reply in time",
            Self::Down => "down",
            Self::Connecting => "connecting",
            Self::Quarantined => "quarantined",
            Self::Stalled => "stalled",
            Self::Unhealthy => "unable to serve",
            Self::Full => "pipeline full",
            Self::Misconfigured => "misconfigured",
            Self::NoScripts => "runs no scripts",
            Self::NoFences => "takes no part in fencing numbers",
            Self::NotAsked => "not asked",
        })
    }
}

/// The outcomes of one request, one for each node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct NodeOutcomes {
    outcomes: [NodeOutcome; MAX_NODES],
    nodes: u8,
}

impl NodeOutcomes {
    pub(crate) fn new(nodes: usize, outcome: impl Fn(NodeId) -> NodeOutcome) -> Self {
        let mut outcomes = [NodeOutcome::Down; MAX_NODES];
        for (index, slot) in outcomes.iter_mut().enumerate().take(nodes) {
            if let Some(node) = NodeId::new(index) {
                *slot = outcome(node);
            }
        }
        Self { outcomes, nodes: nodes as u8 }
    }

    pub(super) fn at_nodes(&self) -> AtNodes {
        let outcomes = self.as_slice().iter().enumerate();
        outcomes.filter_map(|(index, outcome)| Some((NodeId::new(index)?, *outcome))).collect()
    }

    /// Returns one outcome per configured node, in the order of the configuration.
    pub fn as_slice(&self) -> &[NodeOutcome] {
        &self.outcomes[..usize::from(self.nodes)]
    }
}

impl fmt::Debug for NodeOutcomes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.as_slice()).finish()
    }
}

impl fmt::Display for NodeOutcomes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Numbered(&self.at_nodes()).fmt(f)
    }
}

/// Nodes, and the outcome at each.
pub(crate) type AtNodes = SmallVec<[(NodeId, NodeOutcome); 8]>;

/// Outcomes at nodes, which are named by their numbers.
pub(super) struct Numbered<'a>(pub(super) &'a [(NodeId, NodeOutcome)]);

impl fmt::Display for Numbered<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (node, outcome)) in self.0.iter().enumerate() {
            let comma = if place == 0 { "" } else { ", " };
            write!(f, "{comma}{}: {outcome}", node.index())?;
        }
        Ok(())
    }
}

//! [`NodeReport`], which is what a client says of a node.

use core::fmt;
use core::time::Duration;

use super::survey::Merge;
use crate::engine::{Engine, Status};
use crate::net::Address;
use crate::redlock::{
    MissingRights, NodeCounters, NodeError, NodeId, NodeLatencies, NodeState, NodeStatus,
    Quarantine,
};

/// A report on one node at one moment. `Display` writes one line for a log.
///
/// [`Client::nodes`](super::Client::nodes) says what the report of a client with several threads
/// is. All other reports are those of one thread, about its own connection.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NodeReport {
    /// The id of the node.
    pub node: NodeId,
    /// The address of the node.
    pub address: Address,
    /// The state of the connection to the node.
    pub state: NodeState,
    /// The last error of the node; `None` when nothing is wrong.
    pub error: Option<NodeError>,
    /// The time until the next attempt to connect; `None` while there is a connection, or an
    /// attempt under way.
    pub retry_in: Option<Duration>,
    /// The quarantine of the node, while the node does not vote because it may have forgotten locks
    /// (S11).
    pub quarantine: Option<Quarantine>,
    /// Set on a session with a node that does not allow the witness (S11). The node is treated as
    /// with [`RestartGuard::Strict`](crate::redlock::RestartGuard::Strict).
    pub lacks_witness: bool,
    /// Set on a session that the node tells at once when somebody flushes it (S11). A loss on any
    /// other session is noticed by the next look.
    pub tracks_witness: bool,
    /// The commands that the node does not run for us, on a session that needs none of them for
    /// locks. Without them a node may lack the witness.
    pub missing: MissingRights,
    /// The number of requests that the node has not answered yet.
    pub in_flight: usize,
    /// The number of tokens that wait to be cleaned up on the node (S6).
    pub cleanup: usize,
    /// The smoothed time from sending a request to its reply.
    pub round_trip: Duration,
    /// The counters of the node since the client was created.
    pub counters: NodeCounters,
    /// How long requests to the node took, from the write to the reply, since the client was
    /// created. About 2.5 KiB, which every report copies.
    pub latencies: NodeLatencies,
    text: String,
}

impl NodeReport {
    /// Reports on all nodes, by number.
    pub(super) fn all(engine: &Engine, addresses: &[Address]) -> Vec<Self> {
        engine.nodes().map(|(node, _, status)| Self::new(node, addresses, &status)).collect()
    }

    /// Reports on one node. `addresses` are those of all nodes.
    pub(super) fn new(node: NodeId, addresses: &[Address], status: &NodeStatus<'_>) -> Self {
        Self {
            node,
            address: addresses[node.index()].clone(),
            state: status.state,
            error: status.error,
            retry_in: status.retry_in,
            quarantine: status.quarantine,
            lacks_witness: status.lacks_witness,
            tracks_witness: status.tracks_witness,
            missing: status.missing,
            in_flight: status.in_flight,
            cleanup: status.cleanup,
            round_trip: status.round_trip,
            counters: status.counters,
            latencies: status.latencies.clone(),
            text: Status { status, addresses }.to_string(),
        }
    }
}

impl NodeReport {
    /// Returns `true` if the node votes.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.state == NodeState::Ready
    }
}

/// What several threads say of the same nodes, in the same order.
impl Merge for Vec<NodeReport> {
    fn merge(&mut self, other: Self) {
        if self.is_empty() {
            *self = other;
            return;
        }
        self.iter_mut().zip(other).for_each(|(report, other)| report.merge(other));
    }
}

impl NodeReport {
    /// Adds what another thread says of the node.
    fn merge(&mut self, mut other: Self) {
        if other.severity() > self.severity() {
            // What explains the state goes with the state.
            core::mem::swap(self, &mut other);
        }
        self.in_flight += other.in_flight;
        self.cleanup += other.cleanup;
        self.round_trip = self.round_trip.max(other.round_trip);
        self.counters += other.counters;
        self.latencies.merge(&other.latencies);
    }

    /// How far the node is from a vote: first by its state, then by what is left of a quarantine.
    fn severity(&self) -> (u8, Duration) {
        let state = match self.state {
            NodeState::Ready => 0,
            NodeState::Unhealthy => 1,
            NodeState::Stalled => 2,
            NodeState::Quarantined => 3,
            NodeState::Handshake => 4,
            NodeState::Connecting => 5,
            NodeState::Down => 6,
            NodeState::Misconfigured => 7,
        };
        let quarantine = self.quarantine.map(|quarantine| quarantine.remaining);
        (state, quarantine.unwrap_or_default())
    }
}

impl fmt::Display for NodeReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.address, self.text)
    }
}

//! What the owner of an engine can see of a node.

use core::fmt;
use core::time::Duration;

use super::error::NodeError;
use super::quarantine::Quarantine;
use crate::redlock::counters::{NodeCounters, NodeLatencies};

/// Where a node stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum NodeState {
    /// No connection; the next attempt comes by itself.
    Down,
    /// No connection, because somebody must change a configuration first: the error says what.
    /// It is tried about twice a minute.
    Misconfigured,
    /// The connection is being set up.
    Connecting,
    /// Connected; the node has not yet proved that it may vote.
    Handshake,
    /// The node votes.
    Ready,
    /// Connected and well, but it may have forgotten locks: it does not vote yet (S11).
    Quarantined,
    /// Ready, but its oldest request has waited for longer than a node timeout.
    Stalled,
    /// Ready, but it said lately that it cannot serve for the moment.
    Unhealthy,
}

impl fmt::Display for NodeState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Down => "down",
            Self::Misconfigured => "misconfigured",
            Self::Connecting => "connecting",
            Self::Handshake => "handshake",
            Self::Ready => "ready",
            Self::Quarantined => "quarantined",
            Self::Stalled => "stalled",
            Self::Unhealthy => "unhealthy",
        })
    }
}

/// One node at one moment; `Display` makes a line of it for a log.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct NodeStatus<'a> {
    /// Where it stands.
    pub state: NodeState,
    /// What was wrong last; `None` when nothing is.
    pub error: Option<NodeError>,
    /// Set while the node does not vote because it may have forgotten locks (S11), connected or
    /// not.
    pub quarantine: Option<Quarantine>,
    /// The server's own words, when it answered with an error; at most 128 characters.
    pub message: &'a str,
    /// How many requests it has not answered.
    pub in_flight: usize,
    /// How many tokens wait to be cleaned up on it (S6).
    pub cleanup: usize,
    /// Smoothed time from sending a request to its reply; zero before the first.
    pub round_trip: Duration,
    /// What was counted since the engine was made.
    pub counters: NodeCounters,
    /// How long requests took, from the write to the reply, since the engine was made.
    pub latencies: &'a NodeLatencies,
}

impl fmt::Display for NodeStatus<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.state.fmt(f)?;
        if let Some(Quarantine { reason, remaining }) = self.quarantine {
            let comma = if self.state == NodeState::Quarantined { "" } else { ", quarantined" };
            // A tenth of a second is as much as anybody waits for with their eyes.
            write!(f, "{comma} for another {:.1} s: {reason}", remaining.as_secs_f64())?;
        }
        if let Some(error) = self.error {
            write!(f, ": {error}")?;
        }
        if !self.message.is_empty() {
            write!(f, " ({})", self.message)?;
        }
        Ok(())
    }
}

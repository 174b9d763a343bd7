//! What one run is to do.

use std::net::SocketAddr;
use std::time::Duration;

/// How long a lock lives that nobody releases: longer than any run.
pub(crate) const TTL: Duration = Duration::from_secs(30);

/// Every contestant takes these errors: a run is over at the first one.
pub(crate) type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) nodes: Vec<SocketAddr>,
    /// How many cycles there are at a time; in an open loop, at most.
    pub(crate) in_flight: usize,
    /// Starts a second, whether or not earlier cycles are over (an open loop); `None` starts one
    /// whenever one ends (a closed loop).
    pub(crate) rate: Option<u32>,
    pub(crate) warm_up: Duration,
    pub(crate) seconds: Duration,
    /// Which repetition this is; only written down.
    pub(crate) round: u32,
}

impl Plan {
    /// How many nodes are a majority.
    pub(crate) fn quorum(&self) -> usize {
        self.nodes.len() / 2 + 1
    }
}

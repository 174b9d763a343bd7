//! The plan of one run.

use std::net::SocketAddr;
use std::time::Duration;

/// The lifetime of a lock that nobody releases: longer than any run.
pub(crate) const TTL: Duration = Duration::from_secs(30);

/// The result of everything that can fail. A run is over at the first error.
pub(crate) type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) nodes: Vec<SocketAddr>,
    /// The number of cycles at a time; in an open loop, the greatest number.
    pub(crate) in_flight: usize,
    /// Starts a second, whether or not earlier cycles are over (an open loop); `None` starts a
    /// cycle whenever one ends (a closed loop).
    pub(crate) rate: Option<u32>,
    pub(crate) warm_up: Duration,
    pub(crate) seconds: Duration,
    /// The number of the repetition, only written down.
    pub(crate) round: u32,
}

impl Plan {
    /// Returns how many nodes are a majority.
    pub(crate) fn quorum(&self) -> usize {
        self.nodes.len() / 2 + 1
    }
}

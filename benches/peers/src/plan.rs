//! The plan of one run.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// The lifetime of a lock that nobody releases: longer than any run.
pub(crate) const TTL: Duration = Duration::from_secs(30);

/// The result of everything that can fail. A run is over at the first error.
pub(crate) type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) nodes: Vec<SocketAddr>,
    /// The same nodes behind TLS, where contestants use it.
    pub(crate) tls: Option<TlsNodes>,
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

/// How a contestant reaches the nodes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Transport {
    #[default]
    Tcp,
    Tls,
}

/// The addresses at which nodes expect TLS, in the order of the nodes, and how they are verified.
#[derive(Clone, Debug)]
pub(crate) struct TlsNodes {
    pub(crate) nodes: Vec<SocketAddr>,
    /// The file with the certificate of their authority.
    pub(crate) ca: PathBuf,
}

impl Plan {
    pub(crate) fn tls(&self) -> Outcome<&TlsNodes> {
        Ok(self.tls.as_ref().ok_or("TLS needs --tls-nodes and --tls-ca")?)
    }

    /// Returns how many nodes are a majority.
    pub(crate) fn quorum(&self) -> usize {
        self.nodes.len() / 2 + 1
    }
}

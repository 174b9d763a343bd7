//! What was measured, where, and with which options.

use serde::{Deserialize, Serialize};

/// The program that measured.
#[derive(Serialize, Deserialize)]
pub(crate) struct Build {
    pub(crate) version: String,
    /// `null` where the build was not told by `REDBOLT_COMMIT`.
    pub(crate) commit: Option<String>,
}

/// The machine of the client.
#[derive(Serialize, Deserialize)]
pub(crate) struct Machine {
    /// The system and its release, such as `Linux 6.8.0`.
    pub(crate) system: String,
    pub(crate) architecture: String,
    pub(crate) processor: Option<String>,
    /// The processors that this process may use.
    pub(crate) processors: usize,
}

/// The settings of a run, after all defaults.
#[derive(Serialize, Deserialize)]
pub(crate) struct Options {
    /// `engines`, `threads`, `tasks` or `keep_alive`: the last three go through a client.
    pub(crate) load: String,
    /// The threads, the tasks, or the locks that are kept alive; `null` for engines.
    pub(crate) workers: Option<u64>,
    pub(crate) engines: usize,
    /// The locks in flight at most; a sweep has less before.
    pub(crate) in_flight: u64,
    pub(crate) is_sweep: bool,
    /// The starts a second of each level; empty for a closed loop.
    pub(crate) rates: Vec<u32>,
    /// `even` or `poisson`; `null` for a closed loop.
    pub(crate) arrivals: Option<String>,
    /// How often each level was measured.
    pub(crate) rounds: u32,
    pub(crate) seconds: f64,
    pub(crate) warm_up_ms: f64,
    pub(crate) ttl_ms: f64,
    pub(crate) hold_ms: f64,
    /// `1000`, or `zipf:1000:0.99`; `null` where no two cycles want the same resource.
    pub(crate) resources: Option<String>,
    /// The bytes of a resource, without the prefix of the deployment.
    pub(crate) key_len: usize,
    /// The percentage of the locks that are extended once before they are released.
    pub(crate) extend_percent: u32,
    pub(crate) is_fenced: bool,
    pub(crate) asks_majority: bool,
    pub(crate) confirms: bool,
    /// With this seed, resources, gaps between arrivals and extensions are drawn the same way.
    pub(crate) seed: u64,
}

/// A node before the load.
#[derive(Serialize, Deserialize)]
pub(crate) struct Node {
    /// The address, without a login.
    pub(crate) node: String,
    /// `redis`, `valkey`, or the name that another server gives itself.
    pub(crate) server: Option<String>,
    pub(crate) version: Option<String>,
    /// The state in a word or two, as `redbolt check` says it.
    pub(crate) state: String,
    pub(crate) round_trip_ms: Option<f64>,
    /// Why the figures of the server are missing; `null` where they are not.
    pub(crate) unasked: Option<String>,
}

//! One measurement: one load, once.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::digits::Quantiles;
use super::verdict::Saturated;

/// Who bore the load of a step.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Contender {
    /// The engines of this library, or a client.
    Redbolt,
    /// Bare sockets with prepared bytes.
    Raw,
}

/// One measurement. Rates and costs are those of the measured time; latencies and failures count
/// the cycles that ended after it too, or the slowest would be missing.
#[derive(Serialize, Deserialize, Clone)]
pub(crate) struct Step {
    pub(crate) contender: Contender,
    /// From 1.
    pub(crate) round: u32,
    /// The engines that had a part in the load.
    pub(crate) engines: usize,
    pub(crate) in_flight: u64,
    /// The starts a second that were wanted; `null` for a closed loop.
    pub(crate) offered_per_s: Option<u32>,
    pub(crate) ran_ms: f64,
    pub(crate) cycles: u64,
    pub(crate) cycles_per_s: f64,
    pub(crate) failed: u64,
    /// The reasons that occurred, with their counts.
    pub(crate) failures: BTreeMap<String, u64>,
    /// The cycles that still waited for their lock when the step was over.
    pub(crate) unfinished: u64,
    /// The starts that were due in the measured time; `null` for a closed loop.
    pub(crate) starts_due: Option<u64>,
    /// Whether fewer locks were granted than starts were due.
    pub(crate) is_behind: bool,
    /// The starts that were due and never made.
    pub(crate) overdue: u64,
    /// `null` for locks without a fencing number.
    pub(crate) further_trips: Option<u64>,
    /// `null` where all nodes are asked.
    pub(crate) widened: Option<u64>,
    pub(crate) acquire_us: Option<Quantiles>,
    /// `null` where nobody waits for the answer to a release.
    pub(crate) release_us: Option<Quantiles>,
    pub(crate) extend_us: Option<Quantiles>,
    /// From a release to the next grant, where all want one resource of a client.
    pub(crate) hand_over_us: Option<Quantiles>,
    /// The longest time without the end of any cycle.
    pub(crate) longest_stall_ms: f64,
    pub(crate) client: ClientCost,
    /// `null` if no node could be asked.
    pub(crate) servers: Option<ServerCost>,
    /// How much of all processors of this machine was in use, by anybody; `null` where the system
    /// does not tell.
    pub(crate) machine_cpu_percent: Option<f64>,
    /// The part of that which client and servers have had; `null` where a server is elsewhere, or
    /// could not be asked.
    pub(crate) own_cpu_percent: Option<f64>,
    /// `null` where cycles belong to no worker.
    pub(crate) fairness: Option<Fairness>,
    /// `null` for cycles.
    pub(crate) kept: Option<Kept>,
    /// The longest wait of one worker of a client for one lock; `null` without a client.
    pub(crate) longest_wait_us: Option<f64>,
    /// How long the last cycles and the last replies took after the end.
    pub(crate) wound_down_ms: f64,
    /// Whether a client was shut down with all its releases confirmed.
    pub(crate) is_clean: bool,
    /// Addresses and states of the nodes that were not ready at the end, or are not since.
    pub(crate) absent: Vec<String>,
    pub(crate) saturated: Option<Saturated>,
    pub(crate) series: Vec<Slice>,
}

/// What tells the loads of a run apart: the locks in flight, and the starts a second.
pub(crate) type Load = (u64, Option<u32>);

impl Step {
    pub(crate) fn load(&self) -> Load {
        (self.in_flight, self.offered_per_s)
    }
}

/// Locks that were only kept alive.
#[derive(Serialize, Deserialize, Clone)]
pub(crate) struct Kept {
    pub(crate) held: u64,
    pub(crate) extended: u64,
    pub(crate) lost: u64,
}

/// What the cycles have cost the client.
#[derive(Serialize, Deserialize, Clone, Default)]
pub(crate) struct ClientCost {
    /// `null` without a cycle.
    pub(crate) cpu_us_per_cycle: Option<f64>,
    /// The processor time of the busiest engine; with a client, of the whole process. 100 is one
    /// processor.
    pub(crate) cpu_percent: f64,
    /// `null` with a client, as the next two.
    pub(crate) bytes_sent_per_cycle: Option<f64>,
    pub(crate) bytes_received_per_cycle: Option<f64>,
    pub(crate) system_calls_per_cycle: Option<f64>,
}

/// What the cycles have cost the servers that could be asked.
#[derive(Serialize, Deserialize, Clone)]
pub(crate) struct ServerCost {
    /// Of all servers together; `null` without a cycle.
    pub(crate) cpu_us_per_cycle: Option<f64>,
    /// The processor time of the busiest server; 100 is one processor.
    pub(crate) busiest_cpu_percent: f64,
    pub(crate) nodes: Vec<NodeCost>,
}

/// What the cycles have cost one server.
#[derive(Serialize, Deserialize, Clone)]
pub(crate) struct NodeCost {
    pub(crate) node: String,
    pub(crate) cpu_percent: f64,
    /// The commands that the server has run, as it names them, by its own count.
    pub(crate) commands: BTreeMap<String, Calls>,
}

/// The calls of one command.
#[derive(Serialize, Deserialize, Clone)]
pub(crate) struct Calls {
    pub(crate) calls_per_s: f64,
    pub(crate) us_per_call: f64,
}

/// How evenly the cycles were divided among those that wanted them. 1 is as many as the mean.
#[derive(Serialize, Deserialize, Clone)]
pub(crate) struct Fairness {
    pub(crate) workers: u64,
    pub(crate) fewest: u64,
    pub(crate) most: u64,
    pub(crate) p1: f64,
    pub(crate) p50: f64,
    pub(crate) p99: f64,
}

/// A part of the measured time.
#[derive(Serialize, Deserialize, Clone)]
pub(crate) struct Slice {
    /// Since the warm-up.
    pub(crate) from_ms: f64,
    pub(crate) to_ms: f64,
    pub(crate) cycles: u64,
    pub(crate) failed: u64,
    pub(crate) acquire_us: Option<Quantiles>,
}

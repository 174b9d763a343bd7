//! All rounds of one load together.

use serde::{Deserialize, Serialize};

use super::step::Load;
use super::verdict::Saturated;

/// All rounds of one load together: medians, and the spread of the rate.
#[derive(Serialize, Deserialize, Clone)]
pub(crate) struct Level {
    pub(crate) in_flight: u64,
    /// `null` for a closed loop.
    pub(crate) offered_per_s: Option<u32>,
    pub(crate) rounds: u32,
    pub(crate) cycles_per_s: f64,
    pub(crate) least_cycles_per_s: f64,
    pub(crate) most_cycles_per_s: f64,
    pub(crate) failed: u64,
    pub(crate) overdue: u64,
    /// Whether fewer locks were granted than starts were due, in half of the rounds or more.
    pub(crate) is_behind: bool,
    pub(crate) acquire_p50_us: Option<f64>,
    pub(crate) acquire_p99_us: Option<f64>,
    pub(crate) acquire_p999_us: Option<f64>,
    pub(crate) acquire_max_us: Option<f64>,
    pub(crate) client_cpu_percent: f64,
    pub(crate) client_cpu_us_per_cycle: Option<f64>,
    /// Of the busiest server.
    pub(crate) server_cpu_percent: Option<f64>,
    /// Of all servers together.
    pub(crate) servers_cpu_us_per_cycle: Option<f64>,
    pub(crate) machine_cpu_percent: Option<f64>,
    pub(crate) own_cpu_percent: Option<f64>,
    /// What was saturated in most rounds.
    pub(crate) saturated: Option<Saturated>,
}

impl Level {
    pub(crate) fn load(&self) -> Load {
        (self.in_flight, self.offered_per_s)
    }
}

//! The counters of an engine and its load at one moment.

use std::time::Duration;

use redbolt::time::Instant;
use redbolt::{Clock, IoCounters, NodeState};

use super::cycles::Load;
use crate::bench::watch::processor;

/// All counters at one moment.
pub(crate) struct Snapshot {
    pub(crate) at: Instant,
    /// The processor time of the engine's thread.
    pub(crate) cpu: Duration,
    pub(crate) cycles: u64,
    pub(crate) started: u64,
    pub(crate) overdue: u64,
    pub(crate) further_trips: u64,
    pub(crate) widened: u64,
    pub(crate) io: IoCounters,
    /// For each node: its state, unless the node is ready.
    pub(crate) absent: Vec<Option<String>>,
}

impl Snapshot {
    /// Takes a snapshot. Cycles that are due by now are started first, if there is room for them.
    pub(crate) fn take(load: &mut Load) -> Self {
        let at = Clock::now();
        load.catch_up(at);
        Self {
            at,
            cpu: processor::of_thread(),
            cycles: load.tally().cycles,
            started: load.started(),
            overdue: load.overdue(at),
            further_trips: load.engine().counters().raised,
            widened: load.engine().counters().widened,
            io: load.engine().io_counters(),
            absent: absent(load),
        }
    }
}

/// Returns for each node its address and state, unless the node is ready.
pub(crate) fn absent(load: &Load) -> Vec<Option<String>> {
    let nodes = load.engine().nodes().map(|(_, address, status)| {
        let is_ready = status.state == NodeState::Ready;
        (!is_ready).then(|| format!("{address}: {status}"))
    });
    nodes.collect()
}

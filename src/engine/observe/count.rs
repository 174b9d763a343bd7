//! Counters and gauges of the engine, through `metrics`.

use metrics::{counter, gauge};

use crate::net::Address;
use crate::redlock::{AcquireError, Event, LostReason, NodeState, NodeStatus};

const FAILED: &str = "redbolt_acquire_failed_total";
const LOST: &str = "redbolt_lost_total";

/// Counts what has become of a lock.
pub(super) fn lock(event: &Event) {
    match event {
        Event::Acquired { .. } => counter!("redbolt_acquired_total").increment(1),
        // Labels that are literals cost no allocation.
        Event::AcquireFailed { error, .. } => match error {
            AcquireError::Held { .. } => counter!(FAILED, "reason" => "held"),
            AcquireError::NoQuorum(_) => counter!(FAILED, "reason" => "no_quorum"),
            AcquireError::Unavailable { .. } => counter!(FAILED, "reason" => "unavailable"),
            AcquireError::TimedOut => counter!(FAILED, "reason" => "timed_out"),
            AcquireError::Gone => counter!(FAILED, "reason" => "gone"),
            AcquireError::Cancelled => counter!(FAILED, "reason" => "cancelled"),
        }
        .increment(1),
        Event::Extended { .. } => counter!("redbolt_extended_total").increment(1),
        Event::ExtendFailed { .. } => counter!("redbolt_extend_failed_total").increment(1),
        Event::Released { .. } => counter!("redbolt_released_total").increment(1),
        Event::Lost { reason, .. } => match reason {
            LostReason::Expired => counter!(LOST, "reason" => "expired"),
            LostReason::Majority => counter!(LOST, "reason" => "majority"),
        }
        .increment(1),
        Event::Expiring { .. } => counter!("redbolt_expiring_total").increment(1),
        Event::Queried { .. } => counter!("redbolt_queried_total").increment(1),
        Event::Node(_) => {}
    }
}

/// Counts a change of a node, and sets its gauges.
pub(super) fn node(address: &Address, status: &NodeStatus<'_>) {
    let address = address.to_string();
    let votes = f64::from(u8::from(status.state == NodeState::Ready));
    gauge!("redbolt_node_votes", "node" => address.clone()).set(votes);
    let round_trip = status.round_trip.as_secs_f64();
    gauge!("redbolt_node_round_trip_seconds", "node" => address.clone()).set(round_trip);
    let state = status.state.to_string();
    counter!("redbolt_node_changes_total", "node" => address, "state" => state).increment(1);
}

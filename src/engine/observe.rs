//! What happens, told to whoever listens: `tracing` and `metrics`, each behind its feature. Without
//! them nothing of this is compiled.

use super::Engine;
use crate::redlock::Event;

/// An event is on its way to the owner of the engine.
#[inline]
pub(super) fn told(engine: &Engine, event: &Event) {
    #[cfg(feature = "tracing")]
    log::told(engine, event);
    #[cfg(feature = "metrics")]
    count::told(engine, event);
    let _ = (engine, event);
}

#[cfg(feature = "tracing")]
mod log {
    use tracing::{debug, error, info, warn};

    use super::{Engine, Event};
    use crate::redlock::{NodeId, NodeState};

    pub(super) fn told(engine: &Engine, event: &Event) {
        match event {
            Event::Node(node) => changed(engine, *node),
            Event::Lost { lock, reason } => warn!(?lock, %reason, "a lock is lost"),
            Event::Expiring { lock, valid_until } => {
                let left = *valid_until - engine.now();
                warn!(?lock, ?left, "a lock is about to end");
            }
            Event::AcquireFailed { lock, error } => debug!(?lock, %error, "no lock"),
            Event::ExtendFailed { lock, error } => debug!(?lock, %error, "no extension"),
            _ => {}
        }
    }

    fn changed(engine: &Engine, id: NodeId) {
        let (Some(address), Some(status)) = (engine.address(id), engine.node(id)) else { return };
        // A connection that is being set up is no news until something comes of it.
        match status.state {
            NodeState::Connecting | NodeState::Handshake => {
                debug!(%address, state = %status.state, "node");
            }
            NodeState::Misconfigured => error!(%address, "node is {status}"),
            NodeState::Ready => info!(%address, "node is ready"),
            state => warn!(%address, %state, "node is {status}"),
        }
    }
}

#[cfg(feature = "metrics")]
mod count {
    use metrics::{counter, gauge};

    use super::{Engine, Event};
    use crate::redlock::{AcquireError, LostReason, NodeState};

    const FAILED: &str = "redbolt_acquire_failed_total";
    const LOST: &str = "redbolt_lost_total";

    pub(super) fn told(engine: &Engine, event: &Event) {
        match event {
            Event::Acquired { .. } => counter!("redbolt_acquired_total").increment(1),
            // Labels that are written out cost no allocation.
            Event::AcquireFailed { error, .. } => match error {
                AcquireError::Held => counter!(FAILED, "reason" => "held"),
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
            Event::Node(node) => {
                let (Some(address), Some(status)) = (engine.address(*node), engine.node(*node))
                else {
                    return;
                };
                let address = address.to_string();
                let votes = f64::from(u8::from(status.state == NodeState::Ready));
                gauge!("redbolt_node_votes", "node" => address.clone()).set(votes);
                let round_trip = status.round_trip.as_secs_f64();
                gauge!("redbolt_node_round_trip_seconds", "node" => address.clone())
                    .set(round_trip);
                let state = status.state.to_string();
                counter!("redbolt_node_changes_total", "node" => address, "state" => state)
                    .increment(1);
            }
        }
    }
}

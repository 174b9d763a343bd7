//! Events of the engine for `tracing` and `metrics`, each behind its feature. Without these
//! features nothing of this file is compiled.

use crate::net::Address;
use crate::redlock::{Event, Redlock};
#[cfg(any(feature = "tracing", feature = "metrics"))]
use crate::{
    net::Clock,
    redlock::{NodeId, NodeStatus},
};

/// Reports an event that is on its way to the owner of the engine. `addresses` are those of the
/// nodes.
#[inline]
pub(super) fn told(redlock: &Redlock, addresses: &[Address], event: &Event) {
    #[cfg(feature = "tracing")]
    log::told(redlock, addresses, event);
    #[cfg(feature = "metrics")]
    count::told(redlock, addresses, event);
    let _ = (redlock, addresses, event);
}

/// The address of a node, and where the node stands now.
#[cfg(any(feature = "tracing", feature = "metrics"))]
fn node<'a, 'b>(
    redlock: &'a Redlock,
    addresses: &'b [Address],
    id: NodeId,
) -> Option<(&'b Address, NodeStatus<'a>)> {
    Some((addresses.get(id.index())?, redlock.node(Clock::now(), id)?))
}

#[cfg(feature = "tracing")]
mod log {
    use core::fmt;

    use tracing::{debug, error, info, warn};

    use super::{Address, Clock, Event, Redlock};
    use crate::engine::shown::{self, Nodes, Resources};
    use crate::redlock::{AtNodes, LockId, NodeId, NodeState};

    pub(super) fn told(redlock: &Redlock, addresses: &[Address], event: &Event) {
        let resource = |lock: &LockId| Resources::new(redlock.resources(*lock));
        match event {
            Event::Node(node) => changed(redlock, addresses, *node),
            Event::Lost { lock, reason } => {
                warn!(?lock, resource = %resource(lock), %reason, "a lock is lost");
            }
            Event::Expiring { lock, valid_until } => {
                let left = *valid_until - Clock::now();
                warn!(?lock, resource = %resource(lock), ?left, "a lock is about to end");
            }
            Event::AcquireFailed { lock, error } => {
                let failure = || Failure {
                    nodes: nodes(redlock, addresses, error.at_nodes()),
                    write: |f: &mut fmt::Formatter<'_>, nodes: &dyn fmt::Display| {
                        error.write(f, nodes)
                    },
                };
                debug!(?lock, resource = %resource(lock), error = %failure(), "no lock");
            }
            Event::ExtendFailed { lock, error } => {
                let failure = || Failure {
                    nodes: nodes(redlock, addresses, error.at_nodes()),
                    write: |f: &mut fmt::Formatter<'_>, nodes: &dyn fmt::Display| {
                        error.write(f, nodes)
                    },
                };
                debug!(?lock, resource = %resource(lock), error = %failure(), "no extension");
            }
            _ => {}
        }
    }

    fn nodes<'a>(redlock: &Redlock, addresses: &'a [Address], at_nodes: AtNodes) -> Nodes<'a> {
        let mut nodes = Vec::new();
        for (id, outcome) in at_nodes {
            if let Some((address, status)) = super::node(redlock, addresses, id) {
                nodes.push((address, outcome, shown::reason(outcome, &status).into()));
            }
        }
        Nodes(nodes)
    }

    /// The error of a request, with the addresses of the nodes.
    struct Failure<'a, F> {
        nodes: Nodes<'a>,
        write: F,
    }

    impl<F> fmt::Display for Failure<'_, F>
    where
        F: Fn(&mut fmt::Formatter<'_>, &dyn fmt::Display) -> fmt::Result,
    {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            (self.write)(f, &self.nodes)
        }
    }

    fn changed(redlock: &Redlock, addresses: &[Address], id: NodeId) {
        let Some((address, status)) = super::node(redlock, addresses, id) else { return };
        // A connection that is being set up is no news before its outcome is known.
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

    use super::{Address, Event, Redlock};
    use crate::redlock::{AcquireError, LostReason, NodeState};

    const FAILED: &str = "redbolt_acquire_failed_total";
    const LOST: &str = "redbolt_lost_total";

    pub(super) fn told(redlock: &Redlock, addresses: &[Address], event: &Event) {
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
            Event::Node(node) => {
                let Some((address, status)) = super::node(redlock, addresses, *node) else {
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

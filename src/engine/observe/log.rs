//! Log lines of the engine, through `tracing`.

use core::fmt;

use tracing::{debug, error, info, warn};

use crate::engine::shown::{self, Nodes, Resources};
use crate::net::{Address, Clock};
use crate::redlock::{
    AcquireError, AtNodes, Event, ExtendError, LockId, NodeState, NodeStatus, Redlock,
};

/// The target of all events for the `tracing` crate, for filters such as `redbolt=info`.
pub const TRACING_TARGET: &str = "redbolt";

/// Tells of a lock.
pub(super) fn lock(redlock: &Redlock, addresses: &[Address], event: &Event) {
    let of = |lock: &LockId| Resources::new(redlock.resources(*lock));
    let nodes = |at_nodes: AtNodes| nodes(redlock, addresses, at_nodes);
    // The texts are only made if somebody listens.
    match event {
        Event::Lost { lock, reason } => {
            let resource = of(lock);
            warn!(target: TRACING_TARGET, ?lock, %resource, %reason, "a lock is lost");
        }
        Event::Expiring { lock, valid_until } => {
            let (resource, left) = (of(lock), *valid_until - Clock::now());
            warn!(target: TRACING_TARGET, ?lock, %resource, ?left, "a lock is about to end");
        }
        Event::AcquireFailed { lock, error } => {
            let resource = of(lock);
            let error = || Failure { nodes: nodes(error.at_nodes()), error };
            debug!(target: TRACING_TARGET, ?lock, %resource, error = %error(), "no lock");
        }
        Event::ExtendFailed { lock, error } => {
            let resource = of(lock);
            let error = || Failure { nodes: nodes(error.at_nodes()), error };
            debug!(target: TRACING_TARGET, ?lock, %resource, error = %error(), "no extension");
        }
        _ => {}
    }
}

fn nodes<'a>(redlock: &Redlock, addresses: &'a [Address], at_nodes: AtNodes) -> Nodes<'a> {
    let mut nodes = Vec::new();
    for (id, outcome) in at_nodes {
        let status = redlock.node(Clock::now(), id);
        if let (Some(address), Some(status)) = (addresses.get(id.index()), status) {
            nodes.push((address, outcome, shown::reason(outcome, &status).into()));
        }
    }
    Nodes(nodes)
}

/// The error of a request, with the addresses of the nodes.
struct Failure<'a, E> {
    nodes: Nodes<'a>,
    error: &'a E,
}

impl fmt::Display for Failure<'_, AcquireError> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.write(f, &self.nodes)
    }
}

impl fmt::Display for Failure<'_, ExtendError> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.write(f, &self.nodes)
    }
}

/// Tells of a node. What is no news is for somebody who looks at every attempt to connect.
pub(super) fn node(address: &Address, status: &NodeStatus<'_>, is_news: bool) {
    let state = status.state;
    match state {
        _ if !is_news => debug!(target: TRACING_TARGET, %address, %state, "node is {status}"),
        NodeState::Misconfigured => error!(target: TRACING_TARGET, %address, "node is {status}"),
        NodeState::Ready => info!(target: TRACING_TARGET, %address, "node is ready"),
        _ => warn!(target: TRACING_TARGET, %address, %state, "node is {status}"),
    }
}

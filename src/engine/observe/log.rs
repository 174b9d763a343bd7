//! Log lines of the engine, through `tracing`.

use tracing::{debug, error, info, warn};

use super::board::News;
use crate::engine::display::Told;
use crate::engine::shown::Status;
use crate::net::{Address, Clock};
use crate::redlock::{Event, LostReason, NodeState};

/// The target of all events for the `tracing` crate, for filters such as `redbolt=info`.
pub const TRACING_TARGET: &str = "redbolt";

/// Tells of a lock.
pub(super) fn lock(told: Told<'_>, event: &Event) {
    let of = |lock| told.resources(lock);
    // The texts are only made if somebody listens.
    match event {
        Event::Lost { lock, reason: LostReason::MaxHold } => {
            let resource = of(*lock);
            info!(target: TRACING_TARGET, ?lock, %resource, "a lock has ended with its max_hold");
        }
        Event::Lost { lock, reason } => {
            let resource = of(*lock);
            warn!(target: TRACING_TARGET, ?lock, %resource, %reason, "a lock is lost");
        }
        Event::Expiring { lock, valid_until, reason: LostReason::MaxHold } => {
            let (resource, left) = (of(*lock), *valid_until - Clock::now());
            info!(target: TRACING_TARGET, ?lock, %resource, ?left, "the max_hold is about to end");
        }
        Event::Expiring { lock, valid_until, .. } => {
            let (resource, left) = (of(*lock), *valid_until - Clock::now());
            warn!(target: TRACING_TARGET, ?lock, %resource, ?left, "a lock is about to end");
        }
        Event::Shortened { lock, valid_until } => {
            let (resource, left) = (of(*lock), *valid_until - Clock::now());
            let reason = LostReason::ClockBehind;
            warn!(target: TRACING_TARGET, ?lock, %resource, ?left, %reason, "a lock is shortened");
        }
        Event::AcquireFailed { lock, error } => {
            let (resource, error) = (of(*lock), || told.failure(error));
            debug!(target: TRACING_TARGET, ?lock, %resource, error = %error(), "no lock");
        }
        Event::ExtendFailed { lock, error } => {
            let (resource, error) = (of(*lock), || told.failure(error));
            debug!(target: TRACING_TARGET, ?lock, %resource, error = %error(), "no extension");
        }
        Event::FenceFailed { lock, error } => {
            let (resource, error) = (of(*lock), || told.failure(error));
            debug!(target: TRACING_TARGET, ?lock, %resource, error = %error(), "no new fence");
        }
        _ => {}
    }
}

/// Tells of a function of the caller's that has panicked.
pub(super) fn panicked(callback: &str) {
    error!(target: TRACING_TARGET, callback, "a callback has panicked");
}

/// Tells of a node. What is no news is for somebody who looks at every attempt to connect.
pub(super) fn node(address: &Address, status: Status<'_>, news: Option<News>) {
    let Some(News { state, is_own }) = news else {
        let state = status.status.state;
        debug!(target: TRACING_TARGET, %address, %state, "node is {status}");
        return;
    };
    match state {
        NodeState::Ready => info!(target: TRACING_TARGET, %address, "node is ready"),
        NodeState::Misconfigured if is_own => {
            error!(target: TRACING_TARGET, %address, "node is {status}");
        }
        NodeState::Misconfigured => {
            error!(target: TRACING_TARGET, %address, "node is {state} for another thread");
        }
        _ if is_own => warn!(target: TRACING_TARGET, %address, %state, "node is {status}"),
        _ => warn!(target: TRACING_TARGET, %address, %state, "node is {state} for another thread"),
    }
}

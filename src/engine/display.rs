//! [`EventDisplay`], the text of an event: with the resource, and the nodes by their addresses.

use core::fmt;

use super::shown::{self, Nodes, Resources, Status};
use crate::net::{Address, Clock};
use crate::redlock::{
    AcquireError, AtNodes, DrawError, Event, ExtendError, LockId, LostReason, NodeId, Redlock,
};
use crate::time::format_rounded;

/// The text of an event, from [`Engine::display`](super::Engine::display): one line, with the
/// resource and the addresses of the nodes.
#[derive(Clone, Copy)]
pub struct EventDisplay<'a> {
    told: Told<'a>,
    event: &'a Event,
}

/// What an engine knows of its locks and nodes while an event is told.
#[derive(Clone, Copy)]
pub(super) struct Told<'a> {
    pub(super) redlock: &'a Redlock,
    pub(super) addresses: &'a [Address],
}

impl<'a> EventDisplay<'a> {
    pub(super) const fn new(told: Told<'a>, event: &'a Event) -> Self {
        Self { told, event }
    }
}

impl<'a> Told<'a> {
    /// Returns the resources of a lock.
    pub(super) fn resources(self, lock: LockId) -> Resources<'a> {
        Resources::new(self.redlock.resources(lock))
    }

    /// Returns the text of an error, with the addresses of the nodes that were the reason.
    pub(super) fn failure<E: AboutNodes>(self, error: &'a E) -> Failure<'a, E> {
        let mut nodes = Vec::new();
        for (id, outcome) in error.at_nodes() {
            let status = self.redlock.node(Clock::now(), id);
            if let (Some(address), Some(status)) = (self.addresses.get(id.index()), status) {
                let reason = shown::reason(outcome, &status, self.addresses);
                nodes.push((address, outcome, reason.into()));
            }
        }
        Failure { nodes: Nodes(nodes), error }
    }

    fn write_node(self, f: &mut fmt::Formatter<'_>, id: NodeId) -> fmt::Result {
        let status = self.redlock.node(Clock::now(), id);
        let (Some(address), Some(status)) = (self.addresses.get(id.index()), status) else {
            return write!(f, "{id}");
        };
        write!(f, "{address}: {}", Status { status: &status, addresses: self.addresses })
    }
}

impl fmt::Display for EventDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { told, event } = *self;
        if let Some(lock) = event.lock() {
            write!(f, "lock {}: ", told.resources(lock))?;
        }
        match event {
            Event::Acquired { fence: Some(fence), .. } => write!(f, "acquired with fence {fence}"),
            Event::Acquired { .. } => f.write_str("acquired"),
            Event::Fenced { fence, .. } => write!(f, "has the new fence {fence}"),
            Event::FenceFailed { error, .. } => write!(f, "no new fence: {}", told.failure(error)),
            Event::AcquireFailed { error, .. } => told.failure(error).fmt(f),
            Event::Extended { .. } => f.write_str("extended"),
            Event::Shortened { valid_until, .. } => {
                let left = (*valid_until - Clock::now()).as_secs_f64();
                write!(f, "shortened: {}, ends in {left:.3} s", LostReason::ClockBehind)
            }
            Event::ExtendFailed { error, .. } => {
                write!(f, "not extended: {}", told.failure(error))
            }
            Event::Released { outcome, .. } => {
                outcome.write(f, |node| told.addresses.get(node.index()))
            }
            Event::Lost { reason, .. } => write!(f, "lost: {reason}"),
            Event::Expiring { valid_until, reason, .. } => {
                let left = format_rounded(*valid_until - Clock::now());
                let planned =
                    if *reason == LostReason::MaxHold { " with its max_hold" } else { "" };
                write!(f, "about to end{planned}, in {left}")
            }
            Event::Queried { resource, holder, .. } => {
                write!(f, "holder of {}: {holder}", Resources { first: resource, count: 1 })
            }
            Event::Node(id) => told.write_node(f, *id),
        }
    }
}

/// Prints what `Display` writes.
impl fmt::Debug for EventDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EventDisplay({self})")
    }
}

/// The error of a request, with the addresses of the nodes.
pub(super) struct Failure<'a, E> {
    nodes: Nodes<'a>,
    error: &'a E,
}

/// An error for which nodes were the reason.
pub(super) trait AboutNodes {
    /// Returns these nodes, and the outcome at each.
    fn at_nodes(&self) -> AtNodes;

    /// Writes the error with the given text about its nodes.
    fn write(&self, f: &mut fmt::Formatter<'_>, nodes: &dyn fmt::Display) -> fmt::Result;
}

impl AboutNodes for AcquireError {
    fn at_nodes(&self) -> AtNodes {
        self.at_nodes()
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, nodes: &dyn fmt::Display) -> fmt::Result {
        self.write(f, nodes)
    }
}

impl AboutNodes for ExtendError {
    fn at_nodes(&self) -> AtNodes {
        self.at_nodes()
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, nodes: &dyn fmt::Display) -> fmt::Result {
        self.write(f, nodes)
    }
}

impl AboutNodes for DrawError {
    fn at_nodes(&self) -> AtNodes {
        self.at_nodes()
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, nodes: &dyn fmt::Display) -> fmt::Result {
        self.write(f, nodes)
    }
}

impl<E: AboutNodes> fmt::Display for Failure<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.write(f, &self.nodes)
    }
}

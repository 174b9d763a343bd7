//! The commands to the engine's thread.

use core::time::Duration;
use std::sync::Arc;

use super::counters::ClientCounters;
use super::handover::Handover;
use super::lock_error::{ClientClosed, LockError};
use super::oneshot::Oneshot;
use super::ready::{ReadyError, Wanted};
use super::release::ReleaseReport;
use super::report::NodeReport;
use super::survey::Survey;
use super::ticket::Ticket;
use crate::redlock::{Fence, Holder};
use crate::time::Instant;

/// The place where the answer to a command is left.
pub(super) type Answer<T> = Arc<Oneshot<T>>;

/// A callback for changes of nodes.
pub(super) type OnNode = Box<dyn FnMut(&NodeReport) + Send>;

/// A command to the engine's thread.
pub(super) enum Command {
    /// The answer goes to the ticket.
    Acquire(Arc<Ticket>),
    /// Nobody wants the lock any more.
    Cancel(Arc<Ticket>),
    Extend {
        ticket: Arc<Ticket>,
        ttl: Duration,
        answer: Answer<Result<Instant, LockError>>,
    },
    DrawFence {
        ticket: Arc<Ticket>,
        answer: Answer<Result<Fence, LockError>>,
    },
    Release {
        ticket: Arc<Ticket>,
        /// `None` for a guard that was dropped.
        answer: Option<Answer<Result<ReleaseReport, ClientClosed>>>,
    },
    Disown {
        ticket: Arc<Ticket>,
        answer: Answer<Result<Handover, LockError>>,
    },
    Query {
        resource: Box<[u8]>,
        answer: Answer<Result<Holder, LockError>>,
    },
    Counters(Arc<Survey<ClientCounters>>),
    Nodes(Arc<Survey<Vec<NodeReport>>>),
    /// Answers as soon as the nodes are ready, or the time is over.
    Ready {
        wanted: Wanted,
        timeout: Duration,
        answer: Answer<Result<(), ReadyError>>,
    },
    Watch(OnNode),
    /// Give everything back within this time, and end.
    Shutdown(Duration),
}

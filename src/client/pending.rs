//! Requests on their way to the engine's thread and back: futures that a thread can block on.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::Arc;

use super::error::LockError;
use super::guard::Guard;
use super::shared::Shared;
use super::slot::Slot;
use super::ticket::Ticket;
use super::wait::{block_for, block_on};
use super::worker::Command;

/// A request for a lock: a future, and for threads a blocking wait.
///
/// To drop it takes the request back: what it may have taken on the nodes is released. Once it has
/// given its result there is nothing more to come of it: polled again it stays pending, and
/// [`wait`](Self::wait) would wait for ever.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let client = redbolt::Client::new(redbolt::Config::new(["127.0.0.1:7001"])?)?;
/// let first = client.lock("a").start();
/// let second = client.lock("b").start();
/// let guards = (first.wait()?, second.wait()?);
/// # Ok(())
/// # }
/// ```
#[must_use = "to drop a request for a lock takes it back"]
pub struct Acquire {
    shared: Arc<Shared>,
    /// `None` once it has ended.
    ticket: Option<Arc<Ticket>>,
    /// It was refused before it got anywhere.
    refused: Option<LockError>,
}

impl Acquire {
    pub(super) fn new(shared: Arc<Shared>, ticket: Arc<Ticket>) -> Self {
        let refused = shared.submit(&ticket).err();
        Self { shared, ticket: Some(ticket), refused }
    }

    /// Blocks until the lock is held, or not to be had.
    ///
    /// # Errors
    ///
    /// A [`LockError`]: the request is out of bounds, or it ended without a lock.
    pub fn wait(mut self) -> Result<Guard, LockError> {
        block_on(|context| self.poll_once(context))
    }

    fn poll_once(&mut self, context: &Context<'_>) -> Poll<Result<Guard, LockError>> {
        if let Some(error) = self.refused.take() {
            self.ticket = None;
            return Poll::Ready(Err(error));
        }
        // It has ended before, and its guard is somewhere else.
        let Some(ticket) = &self.ticket else { return Poll::Pending };
        let Poll::Ready(outcome) = ticket.outcome.poll(context) else { return Poll::Pending };
        let ticket = self.ticket.take();
        Poll::Ready(match (outcome, ticket) {
            (Ok(()), Some(ticket)) => Ok(Guard::new(Arc::clone(&self.shared), ticket)),
            (Err(error), _) => Err(error),
            (Ok(()), None) => Err(LockError::Closed),
        })
    }
}

impl Future for Acquire {
    type Output = Result<Guard, LockError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_once(context)
    }
}

impl Drop for Acquire {
    fn drop(&mut self) {
        let Some(ticket) = self.ticket.take().filter(|_| self.refused.is_none()) else { return };
        match ticket.outcome.abandon() {
            // It came while nobody looked.
            Some(Ok(())) => drop(Guard::new(Arc::clone(&self.shared), ticket)),
            Some(Err(_)) => {}
            // Whatever comes from now on, the engine's thread finds nobody who wants it.
            None => self.shared.send(&ticket, Command::Cancel(Arc::clone(&ticket))),
        }
    }
}

impl fmt::Debug for Acquire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acquire").field("is_done", &self.ticket.is_none()).finish_non_exhaustive()
    }
}

/// Another request: a future, and for threads a blocking wait. To drop it takes nothing back. Once
/// it has given its result it stays pending, and [`wait`](Self::wait) would wait for ever.
#[must_use = "what became of the request is not known unless this is awaited or waited for"]
pub struct Pending<T> {
    slot: Arc<Slot<T>>,
}

impl<T> Pending<T> {
    pub(super) fn new(slot: Arc<Slot<T>>) -> Self {
        Self { slot }
    }

    /// One that is answered already.
    pub(super) fn ready(value: T) -> Self {
        let slot = Slot::new();
        // A new slot takes a value, and nobody waits yet.
        let _ = slot.complete(value);
        Self { slot: Arc::new(slot) }
    }

    /// Blocks until it is answered.
    pub fn wait(self) -> T {
        block_on(|context| self.slot.poll(context))
    }

    /// The same for at most `limit`.
    pub(super) fn wait_for(self, limit: Duration) -> Option<T> {
        block_for(limit, |context| self.slot.poll(context))
    }
}

impl<T, E> Pending<Result<T, E>> {
    /// Hands in a request that says where its answer goes.
    pub(super) fn ask(hand_in: impl FnOnce(Arc<Slot<Result<T, E>>>) -> Result<(), E>) -> Self {
        let slot = Arc::new(Slot::new());
        match hand_in(Arc::clone(&slot)) {
            Ok(()) => Self::new(slot),
            Err(error) => Self::ready(Err(error)),
        }
    }
}

impl<T> Future for Pending<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        self.slot.poll(context)
    }
}

impl<T> fmt::Debug for Pending<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pending")
    }
}

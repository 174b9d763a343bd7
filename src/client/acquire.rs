//! [`Acquire`], a request for a lock on its way: a future that a thread can block on as well.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::sync::Arc;

use super::cause::LockErrorKind;
use super::command::Command;
use super::guard::Guard;
use super::lock_error::LockError;
use super::runtime;
use super::shared::Shared;
use super::ticket::Ticket;

/// A request for a lock on its way: a future for tasks, with
/// [`blocking_wait`](Self::blocking_wait) for threads.
///
/// Dropping an `Acquire` cancels the request, and releases whatever the request may have taken on
/// the nodes. Once the result has been returned, polling stays pending for ever, and
/// [`blocking_wait`](Self::blocking_wait) blocks for ever.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let client = redbolt::Client::new(redbolt::Config::new(["127.0.0.1:7001"])?)?;
/// let first = client.lock("a").acquire();
/// let second = client.lock("b").acquire();
/// let guards = (first.blocking_wait()?, second.blocking_wait()?);
/// # Ok(())
/// # }
/// ```
#[must_use = "to drop a request for a lock takes it back"]
pub struct Acquire {
    shared: Arc<Shared>,
    /// `None` once the request has ended.
    ticket: Option<Arc<Ticket>>,
    /// Set when the request was refused before it reached the engine's thread.
    refused: Option<LockError>,
}

impl Acquire {
    pub(super) fn new(shared: Arc<Shared>, ticket: Arc<Ticket>) -> Self {
        let refused = shared.submit(&ticket).err();
        Self { shared, ticket: Some(ticket), refused }
    }

    /// Blocks until the lock is held, or the request has failed.
    ///
    /// # Errors
    ///
    /// A [`LockError`]: the request is out of bounds, or the request ended without a lock.
    #[track_caller]
    pub fn blocking_wait(mut self) -> Result<Guard, LockError> {
        runtime::wait(|context| self.poll_once(context))
    }

    fn poll_once(&mut self, context: &Context<'_>) -> Poll<Result<Guard, LockError>> {
        if let Some(error) = self.refused.take() {
            self.ticket = None;
            return Poll::Ready(Err(error));
        }
        // Without a ticket the request has ended before, and its guard is somewhere else.
        let Some(ticket) = self.ticket.take() else { return Poll::Pending };
        if let Err(error) = self.shared.check_process() {
            return Poll::Ready(Err(ticket.order.error(LockErrorKind::OtherProcess(error))));
        }
        match ticket.outcome.poll(context) {
            Poll::Ready(Ok(())) => Poll::Ready(Ok(Guard::new(Arc::clone(&self.shared), ticket))),
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => {
                self.ticket = Some(ticket);
                Poll::Pending
            }
        }
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
        if !self.shared.is_at_home() {
            return;
        }
        match ticket.outcome.abandon() {
            // The lock was granted, and nobody has polled since then.
            Some(Ok(())) => drop(Guard::new(Arc::clone(&self.shared), ticket)),
            Some(Err(_)) => {}
            // Should the lock still be granted, the engine's thread finds that nobody wants it.
            None => self.shared.send(&ticket, Command::Cancel(Arc::clone(&ticket))),
        }
    }
}

impl fmt::Debug for Acquire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acquire").field("is_done", &self.ticket.is_none()).finish_non_exhaustive()
    }
}

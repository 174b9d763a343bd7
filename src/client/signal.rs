//! [`LockSignal`], which waits for the loss of a lock or for the warning ahead of the end.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::Arc;

use super::notice::LockNotice;
use super::runtime;
use super::ticket::{Awaited, Ticket};
use crate::net::Clock;

/// A signal that fires when a lock ends, or is about to end: a future, with a blocking
/// [`blocking_wait`](Self::blocking_wait) for threads.
///
/// A signal borrows nothing: another thread or task can wait for the signal while the work goes on.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let client = redbolt::Client::new(redbolt::Config::new(["127.0.0.1:7001"])?)?;
/// let guard = client.lock("orders/42").blocking_acquire()?;
/// let lost = guard.lost();
/// std::thread::spawn(move || {
///     let notice = lost.blocking_wait();
///     if notice.is_lost() {
///         eprintln!("stop: {notice}");
///     }
/// });
/// # Ok(())
/// # }
/// ```
#[must_use = "nobody is told unless this is polled or waited for"]
pub struct LockSignal {
    ticket: Arc<Ticket>,
    awaited: Awaited,
    number: u64,
}

impl LockSignal {
    pub(super) fn new(ticket: Arc<Ticket>, awaited: Awaited) -> Self {
        Self { ticket, awaited, number: 0 }
    }

    /// Blocks until the signal fires, and returns the reason.
    ///
    /// The signal fires when the deadline of the lock passes, even if the engine's thread is stuck.
    #[track_caller]
    pub fn blocking_wait(mut self) -> LockNotice {
        loop {
            if let Some(notice) = self.blocking_wait_timeout(Duration::MAX) {
                return notice;
            }
        }
    }

    /// Blocks until the signal fires, for at most `limit`. Returns `None` when the time is up.
    #[track_caller]
    pub fn blocking_wait_timeout(&mut self, limit: Duration) -> Option<LockNotice> {
        let end = Clock::now() + limit;
        loop {
            let next = end.min(self.ticket.deadline());
            let left = next - Clock::now();
            let poll = |context: &mut Context<'_>| match self.poll_once(context) {
                Poll::Ready(notice) => Poll::Ready(Some(notice)),
                // The lock ends earlier than it did before.
                Poll::Pending if self.ticket.deadline() < next => Poll::Ready(None),
                Poll::Pending => Poll::Pending,
            };
            let notice = runtime::wait_for(left, poll).flatten();
            if notice.is_some() || Clock::now() >= end {
                return notice;
            }
        }
    }

    fn poll_once(&mut self, context: &Context<'_>) -> Poll<LockNotice> {
        let kind = self.ticket.poll(self.awaited, &mut self.number, context);
        kind.map(|kind| self.ticket.order.notice(kind))
    }
}

impl Future for LockSignal {
    type Output = LockNotice;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<LockNotice> {
        self.poll_once(context)
    }
}

impl Drop for LockSignal {
    fn drop(&mut self) {
        if self.number != 0 {
            self.ticket.give_up(self.number);
        }
    }
}

impl fmt::Debug for LockSignal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LockSignal").field("awaited", &self.awaited).finish_non_exhaustive()
    }
}

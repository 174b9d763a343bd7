//! Waiting for what befalls a lock: its loss, or the warning ahead of its end.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::Arc;

use super::ticket::{Awaited, Ticket};
use super::wait::{block_for, block_on};
use crate::redlock::LostReason;

/// The loss of a lock, or the warning ahead of it: a future, and for threads a blocking wait.
///
/// It borrows nothing, so it can be waited for beside the work that the lock protects. Its value is
/// why the lock was lost; `None` for a warning, and for a lock that ended otherwise: it was
/// released, handed over, or its client was shut down.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let client = redbolt::Client::new(redbolt::Config::new(["127.0.0.1:7001"])?)?;
/// let guard = client.lock("orders/42").acquire()?;
/// let lost = guard.lost();
/// std::thread::spawn(move || {
///     if let Some(reason) = lost.wait() {
///         eprintln!("stop: {reason}");
///     }
/// });
/// # Ok(())
/// # }
/// ```
#[must_use = "nobody is told unless this is polled or waited for"]
pub struct Signal {
    ticket: Arc<Ticket>,
    awaited: Awaited,
    number: u64,
}

impl Signal {
    pub(super) fn new(ticket: Arc<Ticket>, awaited: Awaited) -> Self {
        Self { ticket, awaited, number: 0 }
    }

    /// Blocks until it happens.
    pub fn wait(mut self) -> Option<LostReason> {
        block_on(|context| self.poll_once(context))
    }

    /// Blocks until it happens, for at most `limit`; `None` when the time is up.
    pub fn wait_timeout(&mut self, limit: Duration) -> Option<Option<LostReason>> {
        block_for(limit, |context| self.poll_once(context))
    }

    fn poll_once(&mut self, context: &Context<'_>) -> Poll<Option<LostReason>> {
        self.ticket.poll(self.awaited, &mut self.number, context)
    }
}

impl Future for Signal {
    type Output = Option<LostReason>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<LostReason>> {
        self.poll_once(context)
    }
}

impl Drop for Signal {
    fn drop(&mut self) {
        if self.number != 0 {
            self.ticket.give_up(self.number);
        }
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signal").field("awaited", &self.awaited).finish_non_exhaustive()
    }
}

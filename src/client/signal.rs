//! Waiting for what befalls a lock: its loss, or the warning ahead of its end.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::Arc;

use super::ticket::{Awaited, Ticket};
use super::wait::block_for;
use crate::net::Clock;
use crate::redlock::LostReason;

/// What has befallen a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Notice {
    /// Little is left of its validity.
    Expiring,
    /// It is held no more although its owner has not given it back.
    Lost(LostReason),
    /// The same, because the client was shut down or its thread has died.
    Closed,
    /// Its owner has released it, or handed it over.
    Released,
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expiring => f.write_str("little is left of the validity"),
            Self::Lost(reason) => reason.fmt(f),
            Self::Closed => f.write_str("the client is shut down"),
            Self::Released => f.write_str("released"),
        }
    }
}

/// The end of a lock, or the warning ahead of it: a future, and for threads a blocking wait.
///
/// It borrows nothing, so it can be waited for beside the work that the lock protects.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let client = redbolt::Client::new(redbolt::Config::new(["127.0.0.1:7001"])?)?;
/// let guard = client.lock("orders/42").acquire()?;
/// let lost = guard.lost();
/// std::thread::spawn(move || {
///     match lost.wait() {
///         redbolt::Notice::Released => {}
///         notice => eprintln!("stop: {notice}"),
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

    /// Blocks until it happens. The deadline is looked at even if the thread of the engine is
    /// stuck.
    pub fn wait(mut self) -> Notice {
        loop {
            if let Some(notice) = self.wait_timeout(Duration::MAX) {
                return notice;
            }
        }
    }

    /// The same for at most `limit`; `None` when the time is up.
    pub fn wait_timeout(&mut self, limit: Duration) -> Option<Notice> {
        let end = Clock::now() + limit;
        loop {
            let next = end.min(self.ticket.deadline());
            let notice = block_for(next - Clock::now(), |context| self.poll_once(context));
            if notice.is_some() || Clock::now() >= end {
                return notice;
            }
        }
    }

    fn poll_once(&mut self, context: &Context<'_>) -> Poll<Notice> {
        self.ticket.poll(self.awaited, &mut self.number, context)
    }
}

impl Future for Signal {
    type Output = Notice;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Notice> {
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

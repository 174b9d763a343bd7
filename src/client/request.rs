//! What is asked for, setting by setting.

use core::fmt;
use core::future::IntoFuture;
use core::time::Duration;
use std::sync::Arc;

use super::error::LockError;
use super::guard::Guard;
use super::pending::Acquire;
use super::shared::Shared;
use super::sync::Mutex;
use super::ticket::{Order, Ticket};
use crate::redlock::LostReason;

/// A lock that is about to be asked for. [`acquire`](Self::acquire) blocks, `.await` does not, and
/// both ask the same.
///
/// ```no_run
/// # use std::time::Duration;
/// # async fn both(client: redbolt::Client) -> Result<(), redbolt::LockError> {
/// let ask = |client: &redbolt::Client| {
///     client.lock("orders/42").ttl(Duration::from_secs(10)).wait(Duration::from_secs(2))
/// };
/// let guard = ask(&client).acquire()?;
/// drop(guard);
/// let guard = ask(&client).await?;
/// # drop(guard);
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is asked for before `acquire`, `start` or `await`"]
pub struct LockRequest {
    shared: Arc<Shared>,
    order: Order,
}

impl LockRequest {
    pub(super) const DEFAULT_TTL: Duration = Duration::from_secs(10);

    pub(super) fn new(shared: Arc<Shared>, order: Order) -> Self {
        Self { shared, order }
    }

    /// How long the lock lasts unless it is extended or kept alive. Default: 10 s, or the
    /// configured `max_ttl` if that is less. It counts in whole milliseconds, from 10 ms to
    /// `max_ttl`.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.order.ttl = ttl;
        self
    }

    /// How long to wait for it; with zero, the default, there is one attempt.
    ///
    /// That attempt waits for nodes that are still being connected to, but not for longer than a
    /// node timeout (50 ms unless configured): the first request of a process that has just started
    /// wants a wait of a second or more.
    pub fn wait(mut self, wait: Duration) -> Self {
        self.order.wait = wait;
        self
    }

    /// Keeps the lock alive by itself, for at most `max_hold` from its acquisition, which may not
    /// be more than the configured one (S12). It lasts as long as its ttl in any case. See
    /// [`Redlock::keep_alive`].
    ///
    /// A holder that hangs would hold for ever; that is why there is a limit. Look at
    /// [`Guard::is_held`] before every step, or wait for [`Guard::lost`].
    ///
    /// [`Redlock::keep_alive`]: crate::redlock::Redlock::keep_alive
    pub fn keep_alive(mut self, max_hold: Duration) -> Self {
        self.order.max_hold = Some(max_hold);
        self
    }

    /// Fires [`Guard::expiring`] when no more than `ahead` is left. With keep-alive, choose less
    /// than two thirds of the ttl, or it fires before the first renewal.
    pub fn warn(mut self, ahead: Duration) -> Self {
        self.order.ahead = ahead;
        self
    }

    /// Called once, on the thread of the engine, if the lock is lost; not where it ends because the
    /// client does ([`Notice::Closed`](crate::Notice::Closed)). It must return at once, and must
    /// not wait for this client: all locks of that thread wait for it. A panic in it ends the
    /// thread, as any other would.
    pub fn on_lost(mut self, call: impl FnOnce(LostReason) + Send + 'static) -> Self {
        self.order.on_lost = Mutex::new(Some(Box::new(call)));
        self
    }

    /// Asks, and blocks until the lock is held or not to be had.
    ///
    /// # Errors
    ///
    /// A [`LockError`]: the request is out of bounds, or it ended without a lock.
    pub fn acquire(self) -> Result<Guard, LockError> {
        self.start().wait()
    }

    /// Asks once, whatever [`wait`](Self::wait) says, and blocks for the answer.
    ///
    /// # Errors
    ///
    /// As [`acquire`](Self::acquire); [`LockError::is_held`] tells that somebody else has it.
    pub fn try_acquire(self) -> Result<Guard, LockError> {
        self.wait(Duration::ZERO).acquire()
    }

    /// Asks, and returns at once.
    pub fn start(self) -> Acquire {
        Acquire::new(self.shared, Arc::new(Ticket::new(self.order)))
    }
}

impl IntoFuture for LockRequest {
    type Output = Result<Guard, LockError>;
    type IntoFuture = Acquire;

    fn into_future(self) -> Acquire {
        self.start()
    }
}

impl fmt::Debug for LockRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LockRequest")
            .field("resources", &self.order.resources.len())
            .field("ttl", &self.order.ttl)
            .field("wait", &self.order.wait)
            .finish_non_exhaustive()
    }
}

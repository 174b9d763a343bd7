//! What a caller asks of an engine for a lock: each request is stamped with the present time and
//! handed to the state machine.

use core::time::Duration;

use super::engine::Engine;
use crate::net::Clock;
use crate::redlock::{AcquireOptions, LockId, QueryId, RequestError, Token};
#[cfg(doc)]
use crate::redlock::{Event, Redlock};

impl Engine {
    /// Requests a lock on `resource` for `ttl`. The engine keeps trying for up to `wait`; with a
    /// `wait` of zero there is one attempt.
    ///
    /// The request ends in one [`Event::Acquired`] or [`Event::AcquireFailed`]. See
    /// [`Redlock::acquire`] for the deadline and the cost.
    ///
    /// # Errors
    ///
    /// Returns a [`RequestError`] that names the value out of bounds. No event follows then.
    pub fn acquire(
        &mut self,
        resource: impl AsRef<[u8]>,
        ttl: Duration,
        wait: Duration,
    ) -> Result<LockId, RequestError> {
        self.redlock.acquire(Clock::now(), resource.as_ref(), ttl, wait)
    }

    /// Requests one lock on `resources`: on all of them or on none.
    ///
    /// The request ends in one [`Event::Acquired`] or [`Event::AcquireFailed`]. See
    /// [`Redlock::acquire_all`] for the limits and the cost.
    ///
    /// # Errors
    ///
    /// Returns a [`RequestError`] that names the value out of bounds. No event follows then.
    pub fn acquire_all<R: AsRef<[u8]>>(
        &mut self,
        resources: &[R],
        ttl: Duration,
        wait: Duration,
    ) -> Result<LockId, RequestError> {
        self.redlock.acquire_all(Clock::now(), resources, ttl, wait)
    }

    /// Requests to take over a lock on `resources`, which exists on the nodes under `token`. The
    /// engine keeps trying for up to `wait`; with a `wait` of zero there is one attempt.
    ///
    /// The request ends in one [`Event::Acquired`] or [`Event::AcquireFailed`]. See
    /// [`Redlock::adopt`] for the duty of the former owner.
    ///
    /// # Errors
    ///
    /// Returns a [`RequestError`] that names the value out of bounds. No event follows then.
    pub fn adopt<R: AsRef<[u8]>>(
        &mut self,
        resources: &[R],
        token: Token,
        ttl: Duration,
        wait: Duration,
    ) -> Result<LockId, RequestError> {
        self.redlock.adopt(Clock::now(), resources, token, ttl, wait)
    }

    /// Requests one lock on `resources`, with `options`: a number of tries, pauses, a node
    /// timeout, a token of the caller's own, or a fencing number.
    ///
    /// The request ends in one [`Event::Acquired`] or [`Event::AcquireFailed`]. [`AcquireOptions`]
    /// has the limits. A function that chooses the pauses is called on this thread, most often
    /// inside [`poll`](Self::poll).
    ///
    /// # Errors
    ///
    /// Returns a [`RequestError`] that names the value out of bounds, or why the token is refused.
    /// No event follows then.
    pub fn acquire_with<R: AsRef<[u8]>>(
        &mut self,
        resources: &[R],
        ttl: Duration,
        wait: Duration,
        options: &AcquireOptions,
    ) -> Result<LockId, RequestError> {
        self.redlock.acquire_with(Clock::now(), resources, ttl, wait, options)
    }

    /// Requests to take over a lock, as [`adopt`](Self::adopt) does, with `options`.
    ///
    /// # Errors
    ///
    /// Returns a [`RequestError`] that names the value out of bounds, or refuses a token in
    /// `options`. No event follows then.
    pub fn adopt_with<R: AsRef<[u8]>>(
        &mut self,
        resources: &[R],
        token: Token,
        ttl: Duration,
        wait: Duration,
        options: &AcquireOptions,
    ) -> Result<LockId, RequestError> {
        self.redlock.adopt_with(Clock::now(), resources, token, ttl, wait, options)
    }

    /// Gives up a held lock without releasing its keys. Returns the token with which another
    /// engine can [`adopt`](Self::adopt) the lock. See [`Redlock::disown`].
    ///
    /// # Errors
    ///
    /// Returns a [`RequestError`] if the lock is not held.
    pub fn disown(&mut self, lock: LockId) -> Result<Token, RequestError> {
        // In a child of `fork`, the token is that of the parent.
        if !self.driver.is_at_home() {
            return Err(RequestError::NotHeld);
        }
        let token = self.redlock.disown(Clock::now(), lock)?;
        self.observer.disowned(&self.redlock);
        Ok(token)
    }

    /// Renews a held lock automatically, by `ttl` each time, until `max_hold` after its
    /// acquisition. See [`Redlock::keep_alive`].
    ///
    /// # Errors
    ///
    /// Returns a [`RequestError`] if `ttl` is out of bounds, the lock is not held, or `max_hold` is
    /// over that of the configuration (S12).
    pub fn keep_alive(
        &mut self,
        lock: LockId,
        ttl: Duration,
        max_hold: Duration,
    ) -> Result<(), RequestError> {
        self.redlock.keep_alive(Clock::now(), lock, ttl, max_hold)
    }

    /// Requests an [`Event::Expiring`] for the moment when the remaining validity of a held lock
    /// falls to `ahead`. See [`Redlock::warn`].
    ///
    /// # Errors
    ///
    /// Returns a [`RequestError`] if the lock is not held, or if too many events wait to be taken.
    pub fn warn(&mut self, lock: LockId, ahead: Duration) -> Result<(), RequestError> {
        self.redlock.warn(Clock::now(), lock, ahead)
    }

    /// Asks the nodes who holds `resource`. The answer is advice, not a lock.
    ///
    /// The query ends in one [`Event::Queried`]. See [`Redlock::query`].
    ///
    /// # Errors
    ///
    /// Returns a [`RequestError`] if the resource is empty or too long, or if too many queries are
    /// under way.
    pub fn query(&mut self, resource: impl AsRef<[u8]>) -> Result<QueryId, RequestError> {
        self.redlock.query(Clock::now(), resource.as_ref())
    }

    /// Extends a held lock: asks the nodes to keep the lock for `ttl` from now.
    ///
    /// The request ends in one [`Event::Extended`] or [`Event::ExtendFailed`]. See
    /// [`Redlock::extend`].
    ///
    /// # Errors
    ///
    /// Returns a [`RequestError`] if `ttl` is out of bounds, the lock is not held, another
    /// extension is under way, or the lock would be held longer than `max_hold` (S12).
    pub fn extend(&mut self, lock: LockId, ttl: Duration) -> Result<(), RequestError> {
        self.redlock.extend(Clock::now(), lock, ttl)
    }

    /// Draws a new fencing number for a held lock (S13).
    ///
    /// The request ends in one [`Event::Fenced`] or [`Event::FenceFailed`], or with the lock. See
    /// [`Redlock::draw_fence`].
    ///
    /// # Errors
    ///
    /// Returns a [`RequestError`] if the lock is not held, or if another draw is under way.
    pub fn draw_fence(&mut self, lock: LockId) -> Result<(), RequestError> {
        self.redlock.draw_fence(Clock::now(), lock)
    }

    /// Releases a held lock.
    ///
    /// The release ends in one [`Event::Released`]. See [`Redlock::release`].
    ///
    /// # Errors
    ///
    /// Returns a [`RequestError`] if the lock is not held.
    pub fn release(&mut self, lock: LockId) -> Result<(), RequestError> {
        self.redlock.release(Clock::now(), lock)
    }

    /// Cancels the request for a lock that is not held yet.
    ///
    /// The request ends in one [`Event::AcquireFailed`] with
    /// [`AcquireError::Cancelled`](crate::AcquireError::Cancelled). See [`Redlock::cancel`].
    ///
    /// # Errors
    ///
    /// Returns a [`RequestError`] if the lock is held already or has ended.
    pub fn cancel(&mut self, lock: LockId) -> Result<(), RequestError> {
        self.redlock.cancel(Clock::now(), lock)
    }
}

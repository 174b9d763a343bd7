//! [`Engine`]: the algorithm and the driver, owned by one thread.

use core::fmt;
use core::time::Duration;
use std::io;
use std::os::fd::{AsRawFd, RawFd};

use super::config::{Config, EngineError};
use super::observe;
use crate::net::{Address, Clock, Driver, IoCounters, Waker, entropy};
use crate::redlock::{
    self, Counters, Event, LockId, NodeId, NodeStatus, QueryId, Quorum, Redlock, RequestError,
    Token,
};
use crate::time::Instant;

/// A Redlock engine for one thread.
///
/// Commands queue bytes and return at once, [`poll`](Self::poll) sends and receives, and
/// [`next_event`](Self::next_event) returns the results. All commands between two polls leave in
/// one write per node.
///
/// The first polls open the connections, and later polls reopen connections that break.
///
/// Once tables and buffers have grown, a lock costs no allocation. At most `max_locks` locks can be
/// wanted or held at once.
///
/// # Example
///
/// ```no_run
/// use redbolt::{Config, Engine, Event};
/// use std::time::Duration;
///
/// let mut engine = Engine::new(Config::new(["10.0.0.1", "10.0.0.2", "10.0.0.3"])?)?;
/// engine.acquire("orders/42", Duration::from_secs(10), Duration::from_secs(2))?;
/// loop {
///     engine.poll(None)?;
///     while let Some(event) = engine.next_event() {
///         match event {
///             Event::Acquired { lock, .. } => {
///                 // The resource is locked as long as `engine.is_held(lock)`.
///                 engine.release(lock)?;
///             }
///             Event::AcquireFailed { error, .. } => return Err(error.into()),
///             Event::Released { .. } => return Ok(()),
///             _ => {}
///         }
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # In another loop
///
/// [`as_raw_fd`](AsRawFd::as_raw_fd) returns one descriptor that becomes readable when a socket has
/// something *and* when a deadline has come. Whenever the descriptor is readable, call `poll` with
/// a timeout of zero and take the events. After commands from elsewhere call
/// [`flush`](Self::flush), and take the events then too, because some commands end at once. Loops
/// that have a timer of their own can use [`next_deadline`](Self::next_deadline).
pub struct Engine {
    pub(super) redlock: Redlock,
    driver: Driver,
    addresses: Vec<Address>,
    busy_poll: Duration,
}

impl Engine {
    /// Creates an engine, which starts to connect at the first poll.
    ///
    /// # Errors
    ///
    /// [`EngineError::Config`] names the setting that is out of bounds. [`EngineError::Io`] says
    /// what the system could not provide: an epoll, a timer, a thread's waker, entropy.
    pub fn new(config: Config) -> Result<Self, EngineError> {
        config.check_nodes()?;
        let logins = config.nodes.iter().map(|node| node.login().clone()).collect();
        let seed = u64::from_ne_bytes(entropy()?);
        let redlock = Redlock::new(config.redlock, logins, seed, entropy()?)?;
        let driver = Driver::new(config.nodes.clone())?;
        Ok(Self { redlock, driver, addresses: config.nodes, busy_poll: config.busy_poll })
    }

    /// Requests a lock on `resource` for `ttl`, and waits for the lock for at most `wait`. With a
    /// `wait` of zero there is one attempt. See [`Redlock::acquire`].
    ///
    /// # Errors
    ///
    /// A [`RequestError`] names what is out of bounds. No event follows in that case.
    pub fn acquire(
        &mut self,
        resource: impl AsRef<[u8]>,
        ttl: Duration,
        wait: Duration,
    ) -> Result<LockId, RequestError> {
        self.redlock.acquire(Clock::now(), resource.as_ref(), ttl, wait)
    }

    /// Requests one lock on all of `resources`, or on none. See [`Redlock::acquire_all`].
    ///
    /// # Errors
    ///
    /// A [`RequestError`] names what is out of bounds. No event follows in that case.
    pub fn acquire_all<R: AsRef<[u8]>>(
        &mut self,
        resources: &[R],
        ttl: Duration,
        wait: Duration,
    ) -> Result<LockId, RequestError> {
        self.redlock.acquire_all(Clock::now(), resources, ttl, wait)
    }

    /// Takes over a lock on `resources` that is held elsewhere under `token`. See
    /// [`Redlock::adopt`].
    ///
    /// # Errors
    ///
    /// A [`RequestError`] names what is out of bounds. No event follows in that case.
    pub fn adopt<R: AsRef<[u8]>>(
        &mut self,
        resources: &[R],
        token: Token,
        ttl: Duration,
        wait: Duration,
    ) -> Result<LockId, RequestError> {
        self.redlock.adopt(Clock::now(), resources, token, ttl, wait)
    }

    /// Gives up a held lock without releasing it. See [`Redlock::disown`].
    ///
    /// # Errors
    ///
    /// A [`RequestError`] when the lock is not held.
    pub fn disown(&mut self, lock: LockId) -> Result<Token, RequestError> {
        self.redlock.disown(Clock::now(), lock)
    }

    /// Extends a held lock again and again, until `max_hold` after its acquisition. See
    /// [`Redlock::keep_alive`].
    ///
    /// # Errors
    ///
    /// A [`RequestError`]: the ttl is out of bounds, the lock is not held, or `max_hold` is more
    /// than that of the configuration.
    pub fn keep_alive(
        &mut self,
        lock: LockId,
        ttl: Duration,
        max_hold: Duration,
    ) -> Result<(), RequestError> {
        self.redlock.keep_alive(Clock::now(), lock, ttl, max_hold)
    }

    /// Requests an [`Event::Expiring`] for the moment when no more than `ahead` is left of the
    /// validity of a held lock. See [`Redlock::warn`].
    ///
    /// # Errors
    ///
    /// A [`RequestError`] when the lock is not held.
    pub fn warn(&mut self, lock: LockId, ahead: Duration) -> Result<(), RequestError> {
        self.redlock.warn(Clock::now(), lock, ahead)
    }

    /// Asks the nodes who holds `resource`. The answer is advice, not a lock. See
    /// [`Redlock::query`].
    ///
    /// # Errors
    ///
    /// A [`RequestError`]: the resource is empty or too long, or too many queries are under way.
    pub fn query(&mut self, resource: impl AsRef<[u8]>) -> Result<QueryId, RequestError> {
        self.redlock.query(Clock::now(), resource.as_ref())
    }

    /// Asks the nodes to keep the lock for another `ttl` from now. See [`Redlock::extend`].
    ///
    /// # Errors
    ///
    /// A [`RequestError`]: the ttl is out of bounds, the lock is not held, or `max_hold` is over.
    pub fn extend(&mut self, lock: LockId, ttl: Duration) -> Result<(), RequestError> {
        self.redlock.extend(Clock::now(), lock, ttl)
    }

    /// Releases a held lock. See [`Redlock::release`].
    ///
    /// # Errors
    ///
    /// A [`RequestError`] when the lock is not held.
    pub fn release(&mut self, lock: LockId) -> Result<(), RequestError> {
        self.redlock.release(Clock::now(), lock)
    }

    /// Cancels a request for a lock that is not held yet. See [`Redlock::cancel`].
    ///
    /// # Errors
    ///
    /// A [`RequestError`] when the lock is held already or has ended.
    pub fn cancel(&mut self, lock: LockId) -> Result<(), RequestError> {
        self.redlock.cancel(Clock::now(), lock)
    }

    /// Runs one turn: writes what commands have queued, waits until something happens, for at most
    /// `timeout` (`None` for no limit), and handles what happened.
    ///
    /// Returns after every turn, whether or not there are events, so call `poll` in a loop. `poll`
    /// does not wait while there are events to be taken, because some commands end at once.
    ///
    /// # Errors
    ///
    /// The error of `epoll_wait` or of the timer. No node can cause an error here.
    pub fn poll(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        self.turn(timeout)?;
        // What the state machine sends by itself, such as retries, leaves now: a caller without an
        // event to react to may not call again for long.
        self.flush()
    }

    /// Runs one turn as [`poll`](Self::poll) does, but without the last write. The caller passes
    /// the events on, and then writes: after a loss, the requests of the next waiters must not
    /// leave before the owner of the lost lock has heard of the loss.
    pub(crate) fn turn(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        let timeout = if self.redlock.has_event() { Some(Duration::ZERO) } else { timeout };
        self.wait(timeout)
    }

    pub(super) fn wait(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        self.flush()?;
        self.driver.wait(&mut self.redlock, timeout, self.busy_poll)
    }

    /// Writes what commands have queued and arms the timer for the next deadline, without waiting.
    ///
    /// # Errors
    ///
    /// The error of the timer. No node can cause an error here.
    pub fn flush(&mut self) -> io::Result<()> {
        self.driver.flush(&mut self.redlock)
    }

    /// Returns the next event, in the order in which events happened.
    #[must_use]
    pub fn next_event(&mut self) -> Option<Event> {
        let event = self.redlock.poll_event()?;
        observe::told(&self.redlock, &self.addresses, &event);
        Some(event)
    }

    /// Returns a waker with which other threads end the wait in [`poll`](Self::poll), for example
    /// after they have put a request into a queue of the caller's own.
    pub fn waker(&self) -> Waker {
        self.driver.waker()
    }

    /// The settings of the algorithm.
    pub fn config(&self) -> &redlock::Config {
        self.redlock.config()
    }

    /// The number of nodes, and how many of them must agree.
    pub fn quorum(&self) -> Quorum {
        self.redlock.quorum()
    }

    /// The current time on the clock that the engine uses.
    pub fn now(&self) -> Instant {
        Clock::now()
    }

    /// The time at which [`poll`](Self::poll) must be called at the latest.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        self.redlock.poll_timeout().map(|(at, _)| at)
    }

    /// The validity that is left; zero for a lock that is not held (S8).
    #[must_use]
    pub fn remaining(&self, lock: LockId) -> Duration {
        self.redlock.remaining(Clock::now(), lock)
    }

    /// Whether the lock is held now, by the deadline and the clock (S8).
    #[must_use]
    pub fn is_held(&self, lock: LockId) -> bool {
        self.redlock.is_held(Clock::now(), lock)
    }

    /// The value under which a held lock is stored on the nodes.
    #[must_use]
    pub fn token(&self, lock: LockId) -> Option<Token> {
        self.redlock.token(lock)
    }

    /// The number of locks that are wanted or held, or for which nodes still owe replies.
    #[must_use]
    pub fn in_use(&self) -> usize {
        self.redlock.in_use()
    }

    /// The address of a node.
    pub fn address(&self, node: NodeId) -> Option<&Address> {
        self.addresses.get(node.index())
    }

    /// The state of a node, the last thing that was wrong with it, and its counters.
    pub fn node(&self, node: NodeId) -> Option<NodeStatus<'_>> {
        self.redlock.node(Clock::now(), node)
    }

    /// All nodes, with their addresses and states.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &Address, NodeStatus<'_>)> {
        let ids = self.redlock.nodes().into_iter();
        ids.filter_map(|id| Some((id, self.address(id)?, self.node(id)?)))
    }

    /// Counters of what became of requests so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.redlock.counters()
    }

    /// Counters of bytes and system calls since the engine was created.
    #[must_use]
    pub fn io_counters(&self) -> IoCounters {
        self.driver.counters()
    }
}

// An engine is created in one thread and may be moved into another.
const _: fn() = || {
    fn is_send<T: Send>() {}
    is_send::<Engine>();
};

impl AsRawFd for Engine {
    fn as_raw_fd(&self) -> RawFd {
        self.driver.as_raw_fd()
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("nodes", &self.addresses)
            .field("in_use", &self.in_use())
            .finish_non_exhaustive()
    }
}

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
/// Commands queue bytes and return at once; [`poll`](Self::poll) moves them, and
/// [`next_event`](Self::next_event) tells what came of it. All commands between two polls leave in
/// one write per node.
///
/// Connections come up by themselves during the first polls, and whenever they break.
///
/// Once warm, a lock costs no allocation. At most `max_locks` locks can be wanted or held at once.
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
///                 // The resource is ours as long as `engine.is_held(lock)`.
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
/// [`as_raw_fd`](AsRawFd::as_raw_fd) yields one descriptor that becomes readable when a socket has
/// something *and* when a deadline has come. Whenever it is readable, call `poll` with a timeout of
/// zero and take the events; after commands from elsewhere call [`flush`](Self::flush), and take
/// the events then too, because some commands end at once.
/// [`next_deadline`](Self::next_deadline) is there for loops that have a timer anyway.
pub struct Engine {
    pub(super) redlock: Redlock,
    driver: Driver,
    addresses: Vec<Address>,
    busy_poll: Duration,
}

impl Engine {
    /// An engine that starts to connect at the first poll.
    ///
    /// # Errors
    ///
    /// [`EngineError::Config`] names the setting that is out of bounds, [`EngineError::Io`] what
    /// the system could not provide (an epoll, a timer, a thread's waker, entropy).
    pub fn new(config: Config) -> Result<Self, EngineError> {
        config.check_nodes()?;
        let logins = config.nodes.iter().map(|node| node.login().clone()).collect();
        let seed = u64::from_ne_bytes(entropy()?);
        let redlock = Redlock::new(config.redlock, logins, seed, entropy()?)?;
        let driver = Driver::new(config.nodes.clone())?;
        Ok(Self { redlock, driver, addresses: config.nodes, busy_poll: config.busy_poll })
    }

    /// Asks for a lock on `resource` for `ttl`, and waits for it up to `wait`; with a `wait` of
    /// zero there is one attempt. See [`Redlock::acquire`].
    ///
    /// # Errors
    ///
    /// A [`RequestError`] names what is out of bounds; no event follows then.
    pub fn acquire(
        &mut self,
        resource: impl AsRef<[u8]>,
        ttl: Duration,
        wait: Duration,
    ) -> Result<LockId, RequestError> {
        self.redlock.acquire(Clock::now(), resource.as_ref(), ttl, wait)
    }

    /// Asks for one lock on all of `resources`, or none of them. See [`Redlock::acquire_all`].
    ///
    /// # Errors
    ///
    /// A [`RequestError`] names what is out of bounds; no event follows then.
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
    /// A [`RequestError`] names what is out of bounds; no event follows then.
    pub fn adopt<R: AsRef<[u8]>>(
        &mut self,
        resources: &[R],
        token: Token,
        ttl: Duration,
        wait: Duration,
    ) -> Result<LockId, RequestError> {
        self.redlock.adopt(Clock::now(), resources, token, ttl, wait)
    }

    /// Lets go of a held lock without releasing it. See [`Redlock::disown`].
    ///
    /// # Errors
    ///
    /// A [`RequestError`] when the lock is not held.
    pub fn disown(&mut self, lock: LockId) -> Result<Token, RequestError> {
        self.redlock.disown(Clock::now(), lock)
    }

    /// Keeps a held lock alive by itself, until `max_hold` after its acquisition. See
    /// [`Redlock::keep_alive`].
    ///
    /// # Errors
    ///
    /// A [`RequestError`]: a ttl out of bounds, a lock that is not held, or a `max_hold` over that
    /// of the configuration.
    pub fn keep_alive(
        &mut self,
        lock: LockId,
        ttl: Duration,
        max_hold: Duration,
    ) -> Result<(), RequestError> {
        self.redlock.keep_alive(Clock::now(), lock, ttl, max_hold)
    }

    /// Asks for an [`Event::Expiring`] when no more than `ahead` is left of the validity of a held
    /// lock. See [`Redlock::warn`].
    ///
    /// # Errors
    ///
    /// A [`RequestError`] when the lock is not held.
    pub fn warn(&mut self, lock: LockId, ahead: Duration) -> Result<(), RequestError> {
        self.redlock.warn(Clock::now(), lock, ahead)
    }

    /// Asks who holds `resource`: advice, not a lock. See [`Redlock::query`].
    ///
    /// # Errors
    ///
    /// A [`RequestError`]: an empty or too long resource, or too many questions under way.
    pub fn query(&mut self, resource: impl AsRef<[u8]>) -> Result<QueryId, RequestError> {
        self.redlock.query(Clock::now(), resource.as_ref())
    }

    /// Asks the nodes to keep the lock for another `ttl` from now. See [`Redlock::extend`].
    ///
    /// # Errors
    ///
    /// A [`RequestError`]: a ttl out of bounds, a lock that is not held, or `max_hold` passed.
    pub fn extend(&mut self, lock: LockId, ttl: Duration) -> Result<(), RequestError> {
        self.redlock.extend(Clock::now(), lock, ttl)
    }

    /// Gives the lock back. See [`Redlock::release`].
    ///
    /// # Errors
    ///
    /// A [`RequestError`] when the lock is not held.
    pub fn release(&mut self, lock: LockId) -> Result<(), RequestError> {
        self.redlock.release(Clock::now(), lock)
    }

    /// Takes back a request for a lock that is not held yet. See [`Redlock::cancel`].
    ///
    /// # Errors
    ///
    /// A [`RequestError`] when the lock is held already or has ended.
    pub fn cancel(&mut self, lock: LockId) -> Result<(), RequestError> {
        self.redlock.cancel(Clock::now(), lock)
    }

    /// One turn: writes what gathered, waits until something happens, at most for `timeout`
    /// (`None`: as long as it takes), and deals with it.
    ///
    /// Returns after every turn, whether or not there are events: call it in a loop. It does not
    /// wait while there are events to be taken, because some commands end at once.
    ///
    /// # Errors
    ///
    /// What `epoll_wait` or the timer say; nothing that a node can cause.
    pub fn poll(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        self.turn(timeout)?;
        // What the state machine wants to send by itself, retries and the like, leaves now: a
        // caller who has no event to react to may not come back for long.
        self.flush()
    }

    /// [`poll`](Self::poll) without its last write, for an owner who comes back at once and hands
    /// events on before it writes: what a loss sets free must not leave before those who believe in
    /// the lock have heard of it.
    pub(crate) fn turn(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        let timeout = if self.redlock.has_event() { Some(Duration::ZERO) } else { timeout };
        self.wait(timeout)
    }

    pub(super) fn wait(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        self.flush()?;
        self.driver.wait(&mut self.redlock, timeout, self.busy_poll)
    }

    /// Writes what gathered and arms the timer for the next deadline, without waiting for anything.
    ///
    /// # Errors
    ///
    /// What the timer says; nothing that a node can cause.
    pub fn flush(&mut self) -> io::Result<()> {
        self.driver.flush(&mut self.redlock)
    }

    /// The next thing that happened, in order.
    #[must_use]
    pub fn next_event(&mut self) -> Option<Event> {
        let event = self.redlock.poll_event()?;
        observe::told(&self.redlock, &self.addresses, &event);
        Some(event)
    }

    /// Lets other threads wake this one out of [`poll`](Self::poll), for example after they have
    /// put a request into a queue of the caller's own.
    pub fn waker(&self) -> Waker {
        self.driver.waker()
    }

    /// The settings of the algorithm.
    pub fn config(&self) -> &redlock::Config {
        self.redlock.config()
    }

    /// How many nodes of how many must agree.
    pub fn quorum(&self) -> Quorum {
        self.redlock.quorum()
    }

    /// The time by which everything here is measured.
    pub fn now(&self) -> Instant {
        Clock::now()
    }

    /// When [`poll`](Self::poll) should be called at the latest.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        self.redlock.poll_timeout().map(|(at, _)| at)
    }

    /// How long the lock may still be believed; zero unless it is held (S8).
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

    /// How many locks are wanted, held, or still owed a reply.
    #[must_use]
    pub fn in_use(&self) -> usize {
        self.redlock.in_use()
    }

    /// The address of a node.
    pub fn address(&self, node: NodeId) -> Option<&Address> {
        self.addresses.get(node.index())
    }

    /// Where a node stands, what was wrong with it last, and what was counted.
    pub fn node(&self, node: NodeId) -> Option<NodeStatus<'_>> {
        self.redlock.node(Clock::now(), node)
    }

    /// All nodes, with their addresses.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &Address, NodeStatus<'_>)> {
        let ids = self.redlock.nodes().into_iter();
        ids.filter_map(|id| Some((id, self.address(id)?, self.node(id)?)))
    }

    /// What became of requests so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.redlock.counters()
    }

    /// Bytes and system calls since the engine was made.
    #[must_use]
    pub fn io_counters(&self) -> IoCounters {
        self.driver.counters()
    }
}

// An engine is made in one thread and may be moved into another.
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

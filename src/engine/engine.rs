//! [`Engine`]: the algorithm and the driver, owned by one thread.

use core::fmt;
use core::time::Duration;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use super::config::{Config, EngineError};
use super::display::{EventDisplay, Told};
use super::observe::{Board, Observer};
#[cfg(doc)]
use crate::net::OtherProcess;
use crate::net::{Address, Clock, Driver, IoCounters, Waker, entropy};
use crate::redlock::{
    AcquireOptions, Counters, Event, LockId, LostReason, NodeId, NodeSet, NodeStatus, QueryId,
    Quorum, Redlock, RedlockConfig, RequestError, Token,
};
use crate::time::Instant;

/// A Redlock engine for one thread.
///
/// Commands such as [`acquire`](Self::acquire) queue bytes and return at once.
/// [`poll`](Self::poll) sends and receives, and [`next_event`](Self::next_event) returns the
/// results. All commands between two polls leave in one write per node.
///
/// The engine connects to the nodes by itself: during the first polls, and again whenever a
/// connection breaks.
///
/// Once warm, the engine allocates nothing for a lock on one resource. At most
/// [`max_locks`](RedlockConfig::max_locks) locks can be wanted or held at the same time.
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
///                 // The resource is ours while `engine.is_held(lock)` is true.
///                 engine.release(lock)?;
///             }
///             Event::AcquireFailed { .. } => {
///                 return Err(engine.display(&event).to_string().into());
///             }
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
/// An engine can run inside another event loop, which waits for one file descriptor of the engine:
/// [`as_fd`](AsFd::as_fd), or [`as_raw_fd`](AsRawFd::as_raw_fd). The descriptor becomes readable
/// when a node has answered, when a deadline of the engine has come, and when a [`Waker`] was used.
/// So the loop needs no timer. In the repository, `examples/async_fd.rs` and
/// `examples/foreign_loop.rs` are complete programs for tokio and for mio.
///
/// One turn of the loop:
///
/// 1. If the descriptor is readable, call [`poll`](Self::poll) once, with a timeout of zero.
/// 2. Take all events, also after commands at other times, because some commands end at once.
/// 3. Call [`flush`](Self::flush) after commands. This call sends them, and makes sure that the
///    descriptor becomes readable at the next deadline.
///
/// Call `poll` once before the first wait as well: the first poll starts to connect.
///
/// ```no_run
/// use redbolt::{Config, Engine};
/// use std::time::Duration;
/// use tokio::io::Interest;
/// use tokio::io::unix::AsyncFd;
///
/// /// Whoever forbids `unsafe` writes this; before tokio 1.54 the first line is not needed.
/// #[expect(deprecated, reason = "the new call is unsafe")]
/// fn watch(engine: Engine) -> std::io::Result<AsyncFd<Engine>> {
///     AsyncFd::with_interest(engine, Interest::READABLE)
/// }
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let engine = Engine::new(Config::new(["10.0.0.1", "10.0.0.2", "10.0.0.3"])?)?;
/// let mut engine = watch(engine)?;
/// engine.get_mut().poll(Some(Duration::ZERO))?;
/// engine.get_mut().acquire("orders/42", Duration::from_secs(10), Duration::from_secs(2))?;
/// loop {
///     while let Some(event) = engine.get_mut().next_event() {
///         println!("{event:?}");
///     }
///     engine.get_mut().flush()?;
///     engine.readable_mut().await?.clear_ready();
///     engine.get_mut().poll(Some(Duration::ZERO))?;
/// }
/// # }
/// ```
///
/// Since tokio 1.54, `AsyncFd::with_interest` is deprecated. The unsafe
/// `AsyncFd::register_with_interest` takes its place, and demands the first promise below. The
/// deprecated call does the same, and is sound for an engine, which keeps the promise. A program
/// with `#![forbid(unsafe_code)]` keeps the deprecated call with `#[expect(deprecated)]`, as
/// `examples/async_fd.rs` does.
///
/// What a loop can rely on:
///
/// * **One descriptor for life.** It stays the same from [`new`](Self::new) until the engine is
///   dropped: valid, open, and with the same number, whatever becomes of the connections, and also
///   when the engine is moved. This is what tokio's `AsyncFd::register` demands. Register the
///   descriptor once, and take it out of the loop before dropping the engine, which closes it. It
///   is closed on `exec`.
/// * **For waiting only.** It is an epoll. Wait until it is readable, and do nothing else with it.
/// * **Level or edge.** A level-triggered loop sees the descriptor readable until `poll` is called.
///   In an edge-triggered loop, such as those of tokio and mio, one `poll` for each edge is enough;
///   where `poll` has left bytes for the next turn, a new edge follows. A loop that keeps the
///   readiness itself clears it *before* `poll`, so that no later edge is lost.
/// * **Spurious wake-ups.** The descriptor can be readable although nothing is to be done.
/// * **Late turns.** A turn that comes late makes events late and can cost renewals, but never
///   makes a lock look held that is not: [`is_held`](Self::is_held) reads the clock (S8).
///
/// A loop with a timer of its own can ask for [`next_deadline`](Self::next_deadline) after each
/// turn, and call `poll` by then at the latest.
pub struct Engine {
    pub(super) redlock: Redlock,
    driver: Driver,
    addresses: Vec<Address>,
    busy_poll: Duration,
    observer: Observer,
}

impl Engine {
    /// Creates an engine. The first poll starts to connect.
    ///
    /// # Errors
    ///
    /// Returns [`EngineError::Config`] for the first invalid setting, and [`EngineError::Io`] if
    /// the system cannot provide an epoll, a timer, a waker or entropy.
    pub fn new(config: Config) -> Result<Self, EngineError> {
        Self::on_board(config, &Board::default())
    }

    /// Creates one of the engines of a client, which tell `tracing` and `metrics` of a node
    /// together.
    pub(crate) fn on_board(config: Config, board: &Board) -> Result<Self, EngineError> {
        config.check()?;
        let logins = config.nodes.iter().map(|node| node.login().clone()).collect();
        let seed = u64::from_ne_bytes(entropy()?);
        let redlock = Redlock::new(config.redlock, logins, seed, entropy()?)?;
        let driver = Driver::new(config.nodes.clone(), config.credentials)?;
        Ok(Self {
            redlock,
            driver,
            addresses: config.nodes,
            busy_poll: config.busy_poll,
            observer: Observer::new(board),
        })
    }

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

    /// Requests one lock on `resources`, with `options`: a number of tries, pauses, a node timeout
    /// or a token of the caller's own.
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

    /// Runs one turn: writes the queued bytes, waits until something happens, and handles what
    /// happened. The wait lasts for `timeout` at most; `None` sets no limit.
    ///
    /// Each call returns after one turn, with or without events: call `poll` in a loop. There is no
    /// wait while events are still to be taken, because some commands end at once.
    ///
    /// # Errors
    ///
    /// Returns the error of `epoll_wait` or of the timer, or [`OtherProcess`] after a `fork`. A
    /// node cannot cause an error here.
    pub fn poll(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        self.turn(timeout)?;
        // What the state machine sends by itself, such as retries, leaves now: a caller without an
        // event to react to may not call again for long.
        self.driver.flush(&mut self.redlock)
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

    /// Writes the queued bytes and arms the timer for the next deadline, without waiting.
    ///
    /// # Errors
    ///
    /// Returns the error of the timer, or [`OtherProcess`] after a `fork`. A node cannot cause an
    /// error here.
    pub fn flush(&mut self) -> io::Result<()> {
        self.driver.check_process()?;
        self.driver.flush(&mut self.redlock)
    }

    /// Returns the next event: first those of locks, in order, then those of nodes. Returns `None`
    /// when no event is left.
    #[must_use]
    pub fn next_event(&mut self) -> Option<Event> {
        let event = self.redlock.poll_event()?;
        self.observer.told(&self.redlock, &self.addresses, &event);
        Some(event)
    }

    /// Returns the text of an event that was just taken: one line, with the resource of the lock,
    /// the address of every node that has to do with it, and what is wrong with that node. The
    /// errors in events know the nodes by their numbers only.
    ///
    /// The resource is that of the event for sure before the next request to this engine, which may
    /// give the place of the lock to another. The cost: nothing before the text is written.
    ///
    /// ```no_run
    /// # fn wait(engine: &mut redbolt::Engine) -> Result<(), Box<dyn std::error::Error>> {
    /// while let Some(event) = engine.next_event() {
    ///     // lock "orders/42": no quorum of nodes (10.0.0.1:6379: granted; 10.0.0.2:6379: down,
    ///     // connecting failed: connection refused; 10.0.0.3:6379: no reply in time)
    ///     println!("{}", engine.display(&event));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn display<'a>(&'a self, event: &'a Event) -> EventDisplay<'a> {
        EventDisplay::new(Told { redlock: &self.redlock, addresses: &self.addresses }, event)
    }

    /// Reports how long the caller of a granted lock has waited.
    #[inline]
    pub(crate) fn waited(&self, wait: Duration) {
        self.observer.waited(wait);
    }

    /// Returns the reason for which a lock ends with its present validity.
    pub(crate) fn end_reason(&self, lock: LockId) -> LostReason {
        self.redlock.end_reason_of(lock)
    }

    /// Reports that a function of the caller's has panicked.
    #[cold]
    pub(crate) fn panicked(&self, callback: &'static str) {
        self.observer.panicked(callback);
    }

    /// Returns how many calls of the credentials have panicked.
    pub(crate) fn credential_panics(&self) -> u64 {
        self.driver.credential_panics()
    }

    /// Returns a handle with which other threads end the wait of [`poll`](Self::poll), for example
    /// after putting a request into a queue of your own.
    pub fn waker(&self) -> Waker {
        self.driver.waker()
    }

    /// Returns the settings of the algorithm: those of [`Config::redlock`].
    pub fn redlock_config(&self) -> &RedlockConfig {
        self.redlock.config()
    }

    /// Returns the quorum: how many of the configured nodes must agree.
    pub fn quorum(&self) -> Quorum {
        self.redlock.quorum()
    }

    /// Returns the current time, on the clock that all deadlines and events use.
    pub fn now(&self) -> Instant {
        Clock::now()
    }

    /// Returns the latest instant for the next call of [`poll`](Self::poll), or `None` if no
    /// deadline is set.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        self.redlock.poll_timeout().map(|(at, _)| at)
    }

    /// Returns the remaining validity of a lock; zero unless the lock is held, and zero in a child
    /// of `fork`. Computed from the deadline and the clock at every call (S8).
    #[must_use]
    pub fn remaining(&self, lock: LockId) -> Duration {
        // A lock belongs to the process that acquired it.
        if !self.driver.is_at_home() {
            return Duration::ZERO;
        }
        self.redlock.remaining(Clock::now(), lock)
    }

    /// Returns `true` if the lock is held now, by this process. Computed from the deadline and the
    /// clock at every call (S8).
    #[must_use]
    pub fn is_held(&self, lock: LockId) -> bool {
        self.driver.is_at_home() && self.redlock.is_held(Clock::now(), lock)
    }

    /// Returns the token of a lock, which is the value of its keys on the nodes. Returns `None`
    /// before the acquisition, and after the release or the loss.
    #[must_use]
    pub fn token(&self, lock: LockId) -> Option<Token> {
        self.redlock.token(lock)
    }

    /// Returns the resources of a lock, also when the last event of the lock was just taken.
    /// See [`Redlock::resources`].
    pub fn resources(&self, lock: LockId) -> impl Iterator<Item = &[u8]> {
        self.redlock.resources(lock)
    }

    /// Returns the number of locks that are wanted, held, or still owed a reply.
    #[must_use]
    pub fn in_use(&self) -> usize {
        self.redlock.in_use()
    }

    /// Returns the number of tokens that wait to be cleaned up, on all nodes together (S6).
    #[must_use]
    pub fn cleanup(&self) -> usize {
        self.redlock.cleanup()
    }

    /// Returns the nodes on which something may be left: the nodes that owe an answer about a lock,
    /// and those with tokens to be cleaned up.
    #[must_use]
    pub fn owing(&self) -> NodeSet {
        self.redlock.owing()
    }

    /// Returns the address of a node, or `None` for a node that is not configured.
    pub fn address(&self, node: NodeId) -> Option<&Address> {
        self.addresses.get(node.index())
    }

    /// Returns the state, the last error and the counters of a node, or `None` for a node that is
    /// not configured.
    pub fn node(&self, node: NodeId) -> Option<NodeStatus<'_>> {
        self.redlock.node(Clock::now(), node)
    }

    /// Returns an iterator over all nodes, each with its address and status.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &Address, NodeStatus<'_>)> {
        let ids = self.redlock.nodes().into_iter();
        ids.filter_map(|id| Some((id, self.address(id)?, self.node(id)?)))
    }

    /// Returns the number of requests and of each outcome so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.redlock.counters()
    }

    /// Returns the number of bytes and system calls since the engine was created.
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

/// The descriptor for [another loop](Engine#in-another-loop).
impl AsFd for Engine {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.driver.as_fd()
    }
}

/// The descriptor for [another loop](Engine#in-another-loop). The number is valid until the engine
/// is dropped.
impl AsRawFd for Engine {
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
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

//! [`Engine`]: the algorithm and the driver, owned by one thread, and the loop that drives both.

use core::fmt;
use core::time::Duration;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use super::config::{Config, EngineError};
use super::observe::{Board, Observer};
#[cfg(doc)]
use crate::net::OtherProcess;
use crate::net::{Address, Clock, Driver, Process, Waker, entropy};
#[cfg(doc)]
use crate::redlock::RedlockConfig;
use crate::redlock::{Event, Redlock};
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
/// * **For waiting only.** It is an epoll, or a kqueue on macOS. Wait until it is readable, and do
///   nothing else with it.
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
    pub(super) driver: Driver,
    /// The last `poll` has left something for the next call to write.
    owes_write: bool,
    pub(super) addresses: Vec<Address>,
    pub(super) observer: Observer,
    busy_poll: Duration,
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
    pub(crate) fn on_board(mut config: Config, board: &Board) -> Result<Self, EngineError> {
        config.check_engine()?;
        let logins = config.nodes.iter().map(|node| node.login().clone()).collect();
        let seed = u64::from_ne_bytes(entropy()?);
        config.redlock.place = Process::place();
        config.redlock.names = config.nodes.iter().map(Address::name).collect();
        let redlock = Redlock::new(config.redlock, logins, seed, entropy()?)?;
        let driver = Driver::new(config.nodes.clone(), config.credentials)?;
        Ok(Self {
            redlock,
            driver,
            addresses: config.nodes,
            observer: Observer::new(board),
            owes_write: false,
            busy_poll: config.busy_poll,
        })
    }

    /// Runs one turn: writes the queued bytes, waits until something happens, and handles what
    /// happened. The wait lasts for `timeout` at most; `None` sets no limit.
    ///
    /// Each call returns after one turn, with or without events: call `poll` in a loop. There is no
    /// wait while events are still to be taken, because some commands end at once.
    ///
    /// With hundreds of requests on their way, the wait begins with a pause, so that replies come
    /// together: half of the time that requests spend in the queues of the nodes, at most 2 ms, and
    /// counted from the last turn. Nothing ends a pause early, neither a [`waker`](Self::waker) nor
    /// a reply. But no pause is longer than what is due for a lock without a reply, such as the
    /// news of a loss, can wait: 500 µs, and then the time in which the replies that have come are
    /// handled. All else can be as late as the pause is long. There is no pause with a timeout
    /// below 500 µs, nor with
    /// [`busy_poll`](Config::busy_poll).
    ///
    /// What the engine sends by itself leaves before `poll` returns. With so many requests on their
    /// way, and events to be taken, releases that have waited for others leave at the next call,
    /// together with what the caller asks for, if the caller was back within 2 ms the last time:
    /// before work that takes long, call [`flush`](Self::flush).
    ///
    /// # Errors
    ///
    /// Returns the error of `epoll_wait` or of the timer, or [`OtherProcess`] after a `fork`. A
    /// node cannot cause an error here.
    pub fn poll(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        if timeout == Some(Duration::ZERO) {
            self.driver.be_punctual();
        }
        self.turn(timeout)?;
        // What the state machine sends by itself, such as retries, leaves now: a caller without an
        // event to react to may not call again for long. In a crowd a caller with events is back
        // soon, and groups of releases leave in the same writes as what the events make them send.
        self.owes_write = self.redlock.has_event() && self.driver.may_write_later(&self.redlock);
        if self.owes_write { Ok(()) } else { self.driver.flush(&mut self.redlock) }
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
        self.owes_write = false;
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

    /// Returns a handle with which other threads end the wait of [`poll`](Self::poll), for example
    /// after putting a request into a queue of your own. A pause before the wait goes on: 2 ms at
    /// most, with hundreds of requests on their way.
    pub fn waker(&self) -> Waker {
        self.driver.waker()
    }

    /// Returns the current time, on the clock that all deadlines and events use.
    pub fn now(&self) -> Instant {
        Clock::now()
    }

    /// Returns the latest instant for the next call of [`poll`](Self::poll), or `None` if no
    /// deadline is set.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        if self.owes_write {
            return Some(self.now());
        }
        self.redlock.poll_timeout().map(|(at, _)| at)
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

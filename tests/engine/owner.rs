//! An engine whose requests and events are kept book of.

use std::collections::VecDeque;
use std::time::Duration;

use redbolt::redlock::{NodeError, RestartGuard};
use redbolt::{
    AcquireError, AcquireOptions, Config, Engine, Event, ExtendError, Fence, LockId, LostReason,
    NodeId, NodeState, NodeStatus, ReleaseOutcome, RequestError,
};

use crate::book::Book;
use crate::support::servers::Node;
use crate::support::{now, until};

/// The ttl of locks that are not to end by themselves: longer than [`CLEAN_UP`], so that a key
/// which is left behind is still there when it is looked for.
pub(crate) const TTL: Duration = Duration::from_secs(60);

/// How long a request waits that is to succeed, and a test for anything that is to happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(40);

/// How long the keys of a test may take to vanish when it is over.
const CLEAN_UP: Duration = Duration::from_secs(20);

/// One turn of the loop, when nothing happens.
const TURN: Duration = Duration::from_millis(5);

/// A configuration in which no timeout ends what a slow machine has not yet done.
pub(crate) fn config<I>(nodes: I) -> Config
where
    I: IntoIterator<Item: AsRef<str>>,
{
    let mut config = Config::new(nodes).expect("the addresses of servers can be read");
    let redlock = &mut config.redlock;
    // The servers of a test have just been started.
    redlock.restart_guard = RestartGuard::Off;
    redlock.node_timeout = Some(PATIENCE);
    redlock.close_timeout = PATIENCE;
    redlock.connect_timeout = PATIENCE;
    redlock.release_timeout = PATIENCE;
    redlock.retry_max = Duration::from_millis(20);
    redlock.reconnect_max = Duration::from_millis(50);
    // Memory is reserved for as many.
    redlock.max_locks = 1_000;
    config
}

/// The node at this place of the list.
pub(crate) fn node(index: usize) -> NodeId {
    NodeId::new(index).expect("tests have few nodes")
}

/// An engine, and the book of its locks.
pub(crate) struct Owner {
    pub(crate) engine: Engine,
    book: Book,
    events: VecDeque<Event>,
    /// How often it was told that a node changed.
    pub(crate) node_events: usize,
}

impl Owner {
    /// The owner of a patient engine on these nodes.
    pub(crate) fn of<I>(nodes: I) -> Self
    where
        I: IntoIterator<Item: AsRef<str>>,
    {
        Self::new(config(nodes))
    }

    pub(crate) fn new(config: Config) -> Self {
        let engine = Engine::new(config).expect("an engine can be made");
        Self { engine, book: Book::default(), events: VecDeque::new(), node_events: 0 }
    }

    /// Asks for a lock that is not to end by itself, and waits for it as long as it takes.
    pub(crate) fn acquire(&mut self, resource: impl AsRef<[u8]>) -> LockId {
        self.acquire_for(resource, TTL, PATIENCE)
    }

    /// The same, but tries only once.
    pub(crate) fn attempt(&mut self, resource: impl AsRef<[u8]>) -> LockId {
        self.acquire_for(resource, TTL, Duration::ZERO)
    }

    pub(crate) fn acquire_for(
        &mut self,
        resource: impl AsRef<[u8]>,
        ttl: Duration,
        wait: Duration,
    ) -> LockId {
        let lock = self.engine.acquire(resource, ttl, wait).expect("the request is in bounds");
        self.wanted(lock)
    }

    /// Asks for a lock with options.
    pub(crate) fn ask_with(
        &mut self,
        resource: &str,
        ttl: Duration,
        wait: Duration,
        options: &AcquireOptions,
    ) -> LockId {
        let lock = self.engine.acquire_with(&[resource], ttl, wait, options);
        self.wanted(lock.expect("the request is in bounds"))
    }

    /// Asks for a lock with a fencing number, and waits until it is held.
    #[allow(dead_code, reason = "the tests of flavours do not use it")]
    pub(crate) fn hold_fenced(&mut self, resource: &str) -> (LockId, Fence) {
        self.hold_all_fenced(&[resource])
    }

    /// The same for all of these resources.
    #[allow(dead_code, reason = "the tests of flavours do not use it")]
    pub(crate) fn hold_all_fenced(&mut self, resources: &[&str]) -> (LockId, Fence) {
        let options = AcquireOptions::new().fenced();
        let lock = self.engine.acquire_with(resources, TTL, PATIENCE, &options);
        self.wanted(lock.expect("the request is in bounds"));
        match self.next() {
            Event::Acquired { lock, fence: Some(fence), .. } => (lock, fence),
            other => panic!("not acquired with a number: {other:?}"),
        }
    }

    /// Tries once to have all of these resources.
    #[allow(dead_code, reason = "the tests of flavours use it")]
    pub(crate) fn attempt_all(&mut self, resources: &[&str]) -> LockId {
        let lock = self.engine.acquire_all(resources, TTL, Duration::ZERO);
        self.wanted(lock.expect("the request is in bounds"))
    }

    /// The same as [`Self::acquire`], and the engine may refuse.
    pub(crate) fn try_acquire(&mut self, resource: &str) -> Result<LockId, RequestError> {
        self.engine.acquire(resource, TTL, PATIENCE).map(|lock| self.wanted(lock))
    }

    fn wanted(&mut self, lock: LockId) -> LockId {
        self.book.wanted(lock);
        lock
    }

    pub(crate) fn extend(&mut self, lock: LockId) {
        self.extend_for(lock, TTL);
    }

    pub(crate) fn extend_for(&mut self, lock: LockId, ttl: Duration) {
        self.take_events();
        self.engine.extend(lock, ttl).expect("the lock is held");
        self.book.extending(lock);
    }

    /// Whether every request has ended and no lock is held.
    pub(crate) fn has_nothing_open(&self) -> bool {
        self.book.is_empty()
    }

    /// Whether an extension of this lock is under way.
    pub(crate) fn is_extending(&self, lock: LockId) -> bool {
        self.book.is_extending(lock)
    }

    pub(crate) fn release(&mut self, lock: LockId) {
        self.take_events();
        self.engine.release(lock).expect("the lock is held");
        self.book.releasing(lock);
    }

    pub(crate) fn cancel(&mut self, lock: LockId) {
        self.take_events();
        self.engine.cancel(lock).expect("the lock is wanted");
    }

    /// Asks for a lock and waits until it is held.
    pub(crate) fn hold(&mut self, resource: impl AsRef<[u8]>) -> LockId {
        let lock = self.acquire(resource);
        assert_eq!(self.acquired(), lock);
        lock
    }

    /// Releases a lock and waits for what became of it.
    pub(crate) fn let_go(&mut self, lock: LockId) -> ReleaseOutcome {
        self.release(lock);
        self.released()
    }

    pub(crate) fn acquired(&mut self) -> LockId {
        match self.next() {
            Event::Acquired { lock, .. } => lock,
            other => panic!("not acquired: {other:?}"),
        }
    }

    pub(crate) fn not_acquired(&mut self) -> AcquireError {
        match self.next() {
            Event::AcquireFailed { error, .. } => error,
            other => panic!("not an acquisition that failed: {other:?}"),
        }
    }

    pub(crate) fn extended(&mut self) {
        let event = self.next();
        assert!(matches!(event, Event::Extended { .. }), "not extended: {event:?}");
    }

    pub(crate) fn not_extended(&mut self) -> ExtendError {
        match self.next() {
            Event::ExtendFailed { error, .. } => error,
            other => panic!("not an extension that failed: {other:?}"),
        }
    }

    pub(crate) fn released(&mut self) -> ReleaseOutcome {
        match self.next() {
            Event::Released { outcome, .. } => outcome,
            other => panic!("not released: {other:?}"),
        }
    }

    pub(crate) fn lost(&mut self) -> LostReason {
        match self.next() {
            Event::Lost { reason, .. } => reason,
            other => panic!("not lost: {other:?}"),
        }
    }

    /// The next event about a lock.
    pub(crate) fn next(&mut self) -> Event {
        self.poll_until("an event about a lock", |owner| !owner.events.is_empty());
        self.events.pop_front().expect("it was waited for")
    }

    /// The next event about a lock, if it is there already.
    pub(crate) fn next_now(&mut self) -> Option<Event> {
        self.take_events();
        self.events.pop_front()
    }

    /// Polls until `condition` holds. Events about locks stay to be taken.
    pub(crate) fn poll_until(&mut self, what: &str, mut condition: impl FnMut(&Self) -> bool) {
        let deadline = now() + PATIENCE + PATIENCE;
        self.take_events();
        while !condition(self) {
            assert!(now() < deadline, "waited in vain for {what}: {self:?}");
            self.turn();
        }
    }

    /// Polls until every node is ready.
    pub(crate) fn all_ready(&mut self) {
        self.poll_until("all nodes to be ready", |owner| {
            owner.engine.nodes().all(|(_, _, status)| status.state == NodeState::Ready)
        });
    }

    /// Polls until no node owes a reply.
    pub(crate) fn all_answered(&mut self) {
        self.poll_until("all answers", |owner| {
            owner.engine.nodes().all(|(_, _, status)| status.in_flight == 0)
        });
    }

    /// Polls until this node is out because of `error`.
    pub(crate) fn failed_with(&mut self, index: usize, error: NodeError) {
        self.poll_until(&format!("node {index}: {error}"), |owner| {
            owner.status(index).error == Some(error)
        });
    }

    /// Waits for an error with this text.
    pub(crate) fn failed_with_text(&mut self, index: usize, text: &str) {
        self.poll_until(&format!("node {index}: {text}"), |owner| {
            owner.status(index).error.is_some_and(|error| error.to_string() == text)
        });
    }

    pub(crate) fn status(&self, index: usize) -> NodeStatus<'_> {
        self.engine.node(node(index)).expect("the node is configured")
    }

    /// One turn of the loop.
    pub(crate) fn turn(&mut self) {
        self.engine.poll(Some(TURN)).expect("polling works");
        self.take_events();
    }

    /// Writes what gathered, without taking a turn of the loop.
    pub(crate) fn flush(&mut self) {
        self.engine.flush().expect("the timer can be armed");
    }

    /// The end of a test: all has ended, and nothing of ours is left on these nodes.
    pub(crate) fn finish<'a>(mut self, nodes: impl IntoIterator<Item = &'a Node>) {
        self.poll_until("the end of all requests", |owner| owner.engine.in_use() == 0);
        assert!(self.book.is_empty(), "these never ended: {:?}", self.book);
        assert!(self.events.is_empty(), "nobody expected these: {:?}", self.events);
        // What a broken connection left open is cleaned up in the background.
        for node in nodes {
            let clean = until(CLEAN_UP, || {
                self.turn();
                node.keys().is_empty()
            });
            assert!(clean, "left on {}: {:?}, {self:?}", node.addr(), node.keys());
        }
        assert!(self.events.is_empty(), "nobody expected these: {:?}", self.events);
    }

    fn take_events(&mut self) {
        while let Some(event) = self.engine.next_event() {
            self.book.enter(&event);
            match event {
                Event::Node(_) => self.node_events += 1,
                event => self.events.push_back(event),
            }
        }
    }
}

impl std::fmt::Debug for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let nodes: Vec<_> = self.engine.nodes().map(|(_, _, status)| status).collect();
        write!(f, "{:?}, events {:?}, nodes {nodes:?}", self.book, self.events)
    }
}

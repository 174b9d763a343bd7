//! The client: what threads and tasks have in their hands.

use core::fmt;
use core::hash::{Hash, Hasher};
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::collections::hash_map::DefaultHasher;
use std::sync::Arc;
use std::thread::{self, JoinHandle, ThreadId};

use smallvec::SmallVec;

use super::error::{Closed, KeepError, LockError, Refusal};
use super::pending::Pending;
use super::queue::{Added, Queue, Refused};
use super::request::LockRequest;
use super::slot::Slot;
use super::sync::{Mutex, lock};
use super::ticket::{Order, Ticket};
use super::worker::{Command, Inlet, Worker};
use crate::engine::{Config, Engine, EngineError};
use crate::net::Address;
use crate::redlock::{
    ConfigError, Holder, MAX_RESOURCE, MAX_SET, MAX_SET_BYTES, NodeCounters, NodeId, NodeState,
    NodeStatus, Quarantine, RequestError, Token, Trouble,
};

/// How long the last clone waits, when it is dropped, for the last releases to arrive.
const GOODBYE: Duration = Duration::from_millis(250);

/// How long the threads go on for the last releases when nobody waits for them any more.
const LINGER: Duration = Duration::from_secs(5);

/// How much longer than it was allowed the engine's thread may take to end.
const PATIENCE: Duration = Duration::from_secs(1);

/// The most threads of one client.
const MAX_THREADS: usize = 64;

/// Locks for any thread and any task.
///
/// Cheap to clone: all clones, and the guards they hand out, share one thread that owns an
/// [`Engine`]. The same calls block and are futures, on any runtime or none. A request costs one
/// push into a queue, and waking the engine's thread if that sleeps.
///
/// When the last clone is dropped and no guard is left, releases that are still on their way get a
/// quarter of a second to arrive; [`shutdown`](Self::shutdown) gives them as long as one wants, and
/// tells whether they did. Guards that outlive the last clone are served as before, and to drop the
/// last of them waits for nobody: a process that ends right then may leave a lock to its ttl.
///
/// Where no quorum of nodes can be had, [`nodes`](Self::nodes) says why, node by node, and
/// [`on_node`](Self::on_node) says it when it happens. Masters that have just been started do not
/// vote at first: see [`RestartGuard`](crate::RestartGuard).
///
/// ```no_run
/// use redbolt::{Client, Config};
/// use std::time::Duration;
///
/// let client = Client::new(Config::new(["10.0.0.1", "10.0.0.2", "10.0.0.3"])?)?;
/// let guard = client.lock("orders/42").wait(Duration::from_secs(2)).acquire()?;
/// assert!(guard.is_held());
/// drop(guard);
/// client.shutdown(Duration::from_secs(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Client {
    handle: Arc<Handle>,
}

/// What the clones of a client share, and guards and requests do not: only the last clone waits.
struct Handle {
    shared: Arc<Shared>,
}

/// What a client, its guards and its requests share.
pub(super) struct Shared {
    shards: Vec<Shard>,
    default_ttl: Duration,
    max_locks: usize,
}

struct Shard {
    inlet: Arc<Inlet>,
    thread: ThreadId,
    /// Until somebody has joined it.
    handle: Mutex<Option<JoinHandle<()>>>,
}

impl Client {
    /// A client with one thread.
    ///
    /// # Errors
    ///
    /// An [`EngineError`]: a setting is out of bounds, or the system does not provide what is
    /// needed.
    pub fn new(config: Config) -> Result<Self, EngineError> {
        Self::with_threads(config, 1)
    }

    /// A client with several threads, from 1 to 64, each with an engine and connections of its own.
    /// A resource always goes to the same one. One is enough until its processor is not: see
    /// PERFORMANCE.md for how far that goes.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn with_threads(config: Config, threads: usize) -> Result<Self, EngineError> {
        let default_ttl = LockRequest::DEFAULT_TTL.min(config.redlock.max_ttl);
        let max_locks = config.redlock.max_locks;
        let mut shared = Shared { shards: Vec::new(), default_ttl, max_locks };
        if !(1..=MAX_THREADS).contains(&threads) {
            let (what, value) = ("threads", threads);
            let (least, most) = (1, MAX_THREADS);
            return Err(ConfigError::Size { what, value, least, most }.into());
        }
        for number in 0..threads {
            let engine = Engine::new(config.clone())?;
            let inlet = Arc::new(Inlet {
                queue: Queue::new(max_locks),
                waker: engine.waker(),
                is_done: AtomicBool::new(false),
            });
            let worker = Worker::new(engine, Arc::clone(&inlet));
            let thread = thread::Builder::new()
                .name(format!("redbolt-{number}"))
                .spawn(move || worker.run())
                .map_err(EngineError::Io)?;
            let (id, handle) = (thread.thread().id(), Mutex::new(Some(thread)));
            shared.shards.push(Shard { inlet, thread: id, handle });
        }
        Ok(Self { handle: Arc::new(Handle { shared: Arc::new(shared) }) })
    }

    /// A lock on one resource, yet to be asked for.
    pub fn lock(&self, resource: impl AsRef<[u8]>) -> LockRequest {
        self.request([resource], None)
    }

    /// One lock on several resources, at most [`MAX_SET`] of them: all or
    /// nothing, and one guard. See [`Redlock::acquire_all`](crate::redlock::Redlock::acquire_all).
    pub fn lock_all<R: AsRef<[u8]>>(&self, resources: impl IntoIterator<Item = R>) -> LockRequest {
        self.request(resources, None)
    }

    /// A lock that another process has let go of, by [`Guard::into_parts`](super::Guard): what it
    /// knows is all that is needed. See [`Redlock::adopt`](crate::redlock::Redlock::adopt).
    pub fn adopt<R: AsRef<[u8]>>(
        &self,
        resources: impl IntoIterator<Item = R>,
        token: Token,
    ) -> LockRequest {
        self.request(resources, Some(token))
    }

    fn request<R: AsRef<[u8]>>(
        &self,
        resources: impl IntoIterator<Item = R>,
        adopts: Option<Token>,
    ) -> LockRequest {
        let order = Order {
            resources: resources.into_iter().map(|name| name.as_ref().into()).collect(),
            ttl: self.handle.shared.default_ttl,
            wait: Duration::ZERO,
            adopts,
            max_hold: None,
            ahead: Duration::ZERO,
            on_lost: None,
        };
        LockRequest::new(Arc::clone(&self.handle.shared), order)
    }

    /// Who holds a resource, as the nodes see it. Advice: it was true on its way here, and nothing
    /// may be decided by it that a lock should decide.
    pub fn query(&self, resource: impl AsRef<[u8]>) -> Pending<Result<Holder, Refusal>> {
        let slot = Arc::new(Slot::new());
        let resource: Box<[u8]> = Box::from(resource.as_ref());
        let shard = self.handle.shared.shard(core::iter::once(&resource[..]));
        let command = Command::Query { resource, slot: Arc::clone(&slot) };
        match self.handle.shared.push(shard, command) {
            Ok(()) => Pending::new(slot),
            Err(error) => Pending::ready(Err(match error {
                Refused::Closed => Refusal::Closed,
                Refused::Full => Refusal::Request(RequestError::TooManyQueries),
            })),
        }
    }

    /// Where every node stands, and what was counted there. The first thread answers for its own
    /// connections.
    pub fn nodes(&self) -> Pending<Result<Vec<NodeReport>, Closed>> {
        let slot = Arc::new(Slot::new());
        match self.handle.shared.push_always(0, Command::Nodes(Arc::clone(&slot))) {
            Ok(()) => Pending::new(slot),
            Err(Closed) => Pending::ready(Err(Closed)),
        }
    }

    /// Has `watch` called whenever the state of a node changes, on the thread of the engine: it
    /// must return at once. Changes that come together make one call. It is kept as long as the
    /// client lives, so it must not have a handle of it.
    ///
    /// # Errors
    ///
    /// [`Closed`] when the client was shut down.
    pub fn on_node(&self, watch: impl FnMut(&NodeReport) + Send + 'static) -> Result<(), Closed> {
        self.handle.shared.push_always(0, Command::Watch(Box::new(watch)))
    }

    /// Gives all locks back, ends all requests with [`LockError::Closed`], waits until the nodes
    /// have confirmed it or `timeout` is over, and ends the thread. Returns whether all is done.
    ///
    /// Everything that is asked for afterwards is refused. From the thread of the engine itself,
    /// which is to say from a callback, this does nothing and returns false.
    pub fn shutdown(&self, timeout: Duration) -> bool {
        self.handle.shared.shut_down(timeout)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("threads", &self.handle.shared.shards.len())
            .finish_non_exhaustive()
    }
}

impl Shared {
    /// Which thread is in charge: of a set, the one for its first resource by bytes, so that equal
    /// sets meet.
    fn shard<'a>(&self, resources: impl Iterator<Item = &'a [u8]>) -> usize {
        if self.shards.len() == 1 {
            return 0;
        }
        let mut hasher = DefaultHasher::new();
        resources.min().unwrap_or_default().hash(&mut hasher);
        (hasher.finish() % self.shards.len() as u64) as usize
    }

    fn shard_of(&self, ticket: &Ticket) -> usize {
        self.shard(ticket.order.resources.iter().map(|resource| &resource[..]))
    }

    fn push(&self, shard: usize, command: Command) -> Result<(), Refused> {
        let inlet = &self.shards[shard].inlet;
        inlet.woken(inlet.queue.push(command)?);
        Ok(())
    }

    /// Hands in a request for a lock. What cannot be right, with any prefix, does not get into the
    /// queue, whose bound is a number and not a size.
    pub(super) fn submit(&self, ticket: &Arc<Ticket>) -> Result<(), LockError> {
        let resources = &ticket.order.resources;
        let len = resources.iter().map(|resource| resource.len()).sum();
        if resources.len() > MAX_SET || resources.is_empty() {
            return Err(LockError::Request(RequestError::SetSize { len: resources.len() }));
        }
        if resources.len() == 1 && len > MAX_RESOURCE {
            return Err(LockError::Request(RequestError::ResourceTooLong { len }));
        }
        if len > MAX_SET_BYTES {
            return Err(LockError::Request(RequestError::SetTooLong { len }));
        }
        let command = Command::Acquire(Arc::clone(ticket));
        self.push(self.shard_of(ticket), command).map_err(|refused| match refused {
            Refused::Closed => LockError::Closed,
            Refused::Full => LockError::Request(RequestError::Full { max: self.max_locks }),
        })
    }

    /// Hands in what belongs to a lock and may be refused.
    pub(super) fn push_for(&self, ticket: &Ticket, command: Command) -> Result<(), KeepError> {
        self.push(self.shard_of(ticket), command).map_err(|refused| match refused {
            Refused::Closed => KeepError::Closed,
            Refused::Full => KeepError::Request(RequestError::Full { max: self.max_locks }),
        })
    }

    /// Hands in what belongs to a lock.
    pub(super) fn try_send(&self, ticket: &Ticket, command: Command) -> Result<(), Closed> {
        self.push_always(self.shard_of(ticket), command)
    }

    fn push_always(&self, shard: usize, command: Command) -> Result<(), Closed> {
        let inlet = &self.shards[shard].inlet;
        inlet.woken(inlet.queue.push_always(command).map_err(|_| Closed)?);
        Ok(())
    }

    /// The same, where it does not matter whether there is still somebody who does it.
    pub(super) fn send(&self, ticket: &Ticket, command: Command) {
        let _ = self.try_send(ticket, command);
    }

    fn is_on_own_thread(&self) -> bool {
        let here = thread::current().id();
        self.shards.iter().any(|shard| shard.thread == here)
    }

    fn shut_down(&self, timeout: Duration) -> bool {
        if self.is_on_own_thread() {
            return false;
        }
        // All at once, then one after another.
        let waits: SmallVec<[_; 1]> =
            self.shards.iter().map(|shard| shard.inlet.stop(timeout)).collect();
        let mut is_done = true;
        for (shard, wait) in self.shards.iter().zip(waits) {
            // A callback that hangs must not hang us as well.
            if wait.is_some_and(|wait| wait.wait_for(timeout + PATIENCE).is_none()) {
                return false;
            }
            // Who comes second waits here for the first, or for the thread.
            if let Some(thread) = lock(&shard.handle).take() {
                // One that panicked has said so.
                let _ = thread.join();
            }
            is_done &= shard.inlet.is_done.load(Ordering::Acquire);
        }
        is_done
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // Where guards or requests are left, more releases are to come, and the last of them ends
        // the threads.
        if Arc::strong_count(&self.shared) == 1 {
            self.shared.shut_down(GOODBYE);
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // The last may have been a guard in a task, or a clone in a callback: nobody can wait here.
        self.shards.iter().for_each(|shard| drop(shard.inlet.stop(LINGER)));
    }
}

impl Inlet {
    /// Tells the thread to stop; `None` if it has been told before, or has died.
    fn stop(&self, timeout: Duration) -> Option<Pending<bool>> {
        let slot = Arc::new(Slot::new());
        let command = Command::Shutdown { timeout, slot: Arc::clone(&slot) };
        self.woken(self.queue.push_always(command).ok()?);
        Some(Pending::new(slot))
    }

    fn woken(&self, added: Added) {
        if added == Added::Wake {
            self.waker.wake();
        }
    }
}

/// One node at one moment; `Display` makes a line of it for a log.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NodeReport {
    /// Which node.
    pub node: NodeId,
    /// Where it is.
    pub address: Address,
    /// Where it stands.
    pub state: NodeState,
    /// What was wrong last; `None` when nothing is.
    pub trouble: Option<Trouble>,
    /// Set while the node does not vote because it may have forgotten locks (S11).
    pub quarantine: Option<Quarantine>,
    /// How many requests it has not answered.
    pub in_flight: usize,
    /// How many tokens wait to be cleaned up on it (S6).
    pub cleanup: usize,
    /// Smoothed time from sending a request to its reply.
    pub round_trip: Duration,
    /// What was counted since the client was made.
    pub counters: NodeCounters,
    text: String,
}

impl NodeReport {
    pub(super) fn new((node, address, status): (NodeId, &Address, NodeStatus<'_>)) -> Self {
        Self {
            node,
            address: address.clone(),
            state: status.state,
            trouble: status.trouble,
            quarantine: status.quarantine,
            in_flight: status.in_flight,
            cleanup: status.cleanup,
            round_trip: status.round_trip,
            counters: status.counters,
            text: status.to_string(),
        }
    }
}

impl fmt::Display for NodeReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.address, self.text)
    }
}

// Clients, guards and what they wait for go from thread to thread.
const _: fn() = || {
    fn goes<T: Send + Sync>() {}
    goes::<Client>();
    goes::<super::Guard>();
    goes::<super::Signal>();
    goes::<super::Acquire>();
    goes::<Pending<Result<Holder, KeepError>>>();
};

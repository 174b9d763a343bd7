//! What a client, its guards and its requests share: the threads, and which of them is in charge.

use core::hash::{Hash, Hasher};
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::collections::hash_map::DefaultHasher;
use std::sync::Arc;
use std::thread::{self, JoinHandle, ThreadId};

use smallvec::SmallVec;

use super::error::{Closed, KeepError, LockError, Refusal};
use super::inlet::Inlet;
use super::queue::Refused;
use super::request::LockRequest;
use super::sync::{Mutex, lock};
use super::ticket::Ticket;
use super::worker::{Command, OnNode, Worker};
use crate::engine::{Config, Engine, EngineError};
use crate::net::Clock;
use crate::redlock::{ConfigError, MAX_RESOURCE, MAX_SET, MAX_SET_BYTES, RequestError};

/// How long the threads go on for the last releases when nobody waits for them any more.
const LINGER: Duration = Duration::from_secs(5);

/// How much longer than it was allowed the engine's thread may take to end.
const PATIENCE: Duration = Duration::from_secs(1);

/// The most threads of one client.
const MAX_THREADS: usize = 64;

/// The most callbacks that are told of the nodes.
pub(super) const MAX_WATCHERS: usize = 64;

pub(super) struct Shared {
    shards: Vec<Shard>,
    watchers: AtomicUsize,
    pub(super) default_ttl: Duration,
}

struct Shard {
    inlet: Arc<Inlet>,
    thread: ThreadId,
    /// Until somebody has joined it.
    handle: Mutex<Option<JoinHandle<()>>>,
}

impl Shared {
    pub(super) fn new(config: &Config, threads: usize) -> Result<Self, EngineError> {
        if !(1..=MAX_THREADS).contains(&threads) {
            let (what, value) = ("threads", threads);
            let (least, most) = (1, MAX_THREADS);
            return Err(ConfigError::Size { what, value, least, most }.into());
        }
        let default_ttl = LockRequest::DEFAULT_TTL.min(config.redlock.max_ttl);
        let mut shared = Self { shards: Vec::new(), watchers: AtomicUsize::new(0), default_ttl };
        for number in 0..threads {
            // Should one of them fail, those before it end as this is dropped.
            shared.shards.push(Shard::start(config.clone(), number)?);
        }
        Ok(shared)
    }

    pub(super) fn threads(&self) -> usize {
        self.shards.len()
    }

    /// Which thread is in charge: of a set, the one for its first resource by bytes, so that equal
    /// sets meet.
    fn inlet<'a>(&self, resources: impl Iterator<Item = &'a [u8]>) -> &Inlet {
        if let [shard] = &self.shards[..] {
            return &shard.inlet;
        }
        let mut hasher = DefaultHasher::new();
        resources.min().unwrap_or_default().hash(&mut hasher);
        &self.shards[(hasher.finish() % self.shards.len() as u64) as usize].inlet
    }

    fn inlet_of(&self, ticket: &Ticket) -> &Inlet {
        self.inlet(ticket.order.resources.iter().map(|resource| &resource[..]))
    }

    /// The one that answers for the nodes. There is always one.
    fn first(&self) -> &Inlet {
        &self.shards[0].inlet
    }

    /// Hands in a request for a lock. What cannot be right, with any prefix, does not get into the
    /// queue, whose bound is a number and not a size.
    pub(super) fn submit(&self, ticket: &Arc<Ticket>) -> Result<(), LockError> {
        let (resources, count) = (&ticket.order.resources, ticket.order.count);
        let len = resources.iter().map(|resource| resource.len()).sum();
        if count > MAX_SET || resources.is_empty() {
            return Err(LockError::Request(RequestError::SetSize { len: count }));
        }
        if resources.len() == 1 && len > MAX_RESOURCE {
            return Err(LockError::Request(RequestError::ResourceTooLong { len }));
        }
        if len > MAX_SET_BYTES {
            return Err(LockError::Request(RequestError::SetTooLong { len }));
        }
        Ok(self.inlet_of(ticket).push(Command::Acquire(Arc::clone(ticket)))?)
    }

    /// Hands in a question about a resource; as above, none that is too long.
    pub(super) fn ask(
        &self,
        resource: &[u8],
        question: impl FnOnce(Box<[u8]>) -> Command,
    ) -> Result<(), Refusal> {
        if resource.len() > MAX_RESOURCE {
            let len = resource.len();
            return Err(Refusal::Request(RequestError::ResourceTooLong { len }));
        }
        let inlet = self.inlet(core::iter::once(resource));
        Ok(inlet.push(question(Box::from(resource)))?)
    }

    /// Hands in a question about the nodes.
    pub(super) fn ask_first(&self, question: Command) -> Result<(), Refusal> {
        Ok(self.first().push(question)?)
    }

    /// Hands in somebody who is told of the nodes as long as the client lives.
    pub(super) fn watch(&self, watcher: OnNode) -> Result<(), Refusal> {
        if self.watchers.fetch_add(1, Ordering::Relaxed) >= MAX_WATCHERS {
            self.watchers.fetch_sub(1, Ordering::Relaxed);
            return Err(Refusal::TooManyWatchers { max: MAX_WATCHERS });
        }
        Ok(self.first().push(Command::Watch(watcher)).inspect_err(|_| {
            self.watchers.fetch_sub(1, Ordering::Relaxed);
        })?)
    }

    /// Hands in what belongs to a lock and may be refused.
    pub(super) fn push_for(&self, ticket: &Ticket, command: Command) -> Result<(), KeepError> {
        Ok(self.inlet_of(ticket).push(command)?)
    }

    /// Hands in the end of a lock.
    pub(super) fn try_send(&self, ticket: &Ticket, command: Command) -> Result<(), Closed> {
        // It is never full.
        self.inlet_of(ticket).push_always(command).map_err(|_: Refused| Closed)
    }

    /// The same, where it does not matter whether there is still somebody who does it.
    pub(super) fn send(&self, ticket: &Ticket, command: Command) {
        let _ = self.try_send(ticket, command);
    }

    /// What the system said to a thread that died of it.
    pub(super) fn failure(&self) -> Option<std::io::ErrorKind> {
        self.shards.iter().find_map(|shard| shard.inlet.failure.get().copied())
    }

    fn is_on_own_thread(&self) -> bool {
        let here = thread::current().id();
        self.shards.iter().any(|shard| shard.thread == here)
    }

    pub(super) fn shut_down(&self, timeout: Duration) -> bool {
        if self.is_on_own_thread() {
            return false;
        }
        // A callback that hangs must not hang us as well.
        let end = Clock::now() + timeout + PATIENCE;
        // All at once, then one after another.
        let waits: SmallVec<[_; 1]> =
            self.shards.iter().map(|shard| shard.inlet.stop(timeout)).collect();
        let mut is_done = true;
        for (shard, wait) in self.shards.iter().zip(waits) {
            if wait.is_some_and(|wait| wait.wait_for(end - Clock::now()).is_none()) {
                return false;
            }
            if let Some(thread) = lock(&shard.handle).take() {
                // It is at its end. One that panicked has said so.
                let _ = thread.join();
            }
            is_done &= shard.inlet.is_done();
        }
        is_done
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // The last may have been a guard in a task, or a clone in a callback: nobody can wait here.
        self.shards.iter().for_each(|shard| drop(shard.inlet.stop(LINGER)));
    }
}

impl Shard {
    fn start(config: Config, number: usize) -> Result<Self, EngineError> {
        let max = config.redlock.max_locks;
        let engine = Engine::new(config)?;
        let inlet = Arc::new(Inlet::new(max, engine.waker()));
        let worker = Worker::new(engine, Arc::clone(&inlet));
        let handle = thread::Builder::new()
            .name(format!("redbolt-{number}"))
            .spawn(move || worker.run())
            .map_err(EngineError::Io)?;
        Ok(Self { inlet, thread: handle.thread().id(), handle: Mutex::new(Some(handle)) })
    }
}

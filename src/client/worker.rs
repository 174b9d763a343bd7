//! The thread that owns an engine, and what it is told to do.
//!
//! One turn: take what the others have asked for, hand it to the engine, write, wake those whose
//! results are there, sleep until something happens. Results are handed out after the write, so
//! that the servers work while threads wake up.
//!
//! Here are the turn and what is asked for; [`events`] has what comes of it, [`farewell`] the end.

mod events;
mod farewell;

use core::task::Waker;
use core::time::Duration;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::Arc;

use super::error::{Closed, KeepError, LockError, Refusal};
use super::guard::Parts;
use super::inlet::Inlet;
use super::report::NodeReport;
use super::signal::Notice;
use super::slot::Slot;
use super::ticket::Ticket;
use crate::engine::Engine;
use crate::redlock::{Holder, LockId, QueryId, ReleaseOutcome, RequestError};
use crate::time::Instant;

/// How many times in a row the queue is looked at before the servers get their turn.
const LOOKS: usize = 4;

/// Who is told of the nodes.
pub(super) type OnNode = Box<dyn FnMut(&NodeReport) + Send>;

/// What the engine's thread is asked to do.
pub(super) enum Command {
    Acquire(Arc<Ticket>),
    /// Nobody wants the lock any more.
    Cancel(Arc<Ticket>),
    Extend {
        ticket: Arc<Ticket>,
        ttl: Duration,
        slot: Arc<Slot<Result<Instant, KeepError>>>,
    },
    Release {
        ticket: Arc<Ticket>,
        slot: Option<Arc<Slot<Result<ReleaseOutcome, Closed>>>>,
    },
    Disown {
        ticket: Arc<Ticket>,
        slot: Arc<Slot<Result<Parts, Refusal>>>,
    },
    Query {
        resource: Box<[u8]>,
        slot: Arc<Slot<Result<Holder, Refusal>>>,
    },
    Nodes(Arc<Slot<Result<Vec<NodeReport>, Refusal>>>),
    Watch(OnNode),
    /// Give everything back within this time, and end.
    Shutdown(Duration),
}

pub(super) struct Worker {
    engine: Engine,
    inlet: Arc<Inlet>,
    /// Taken and not yet obeyed.
    commands: VecDeque<Command>,
    /// Empty, for the queue to be swapped with.
    spare: Vec<Command>,
    entries: HashMap<LockId, Entry>,
    queries: HashMap<QueryId, Arc<Slot<Result<Holder, Refusal>>>>,
    watchers: Vec<OnNode>,
    /// Whom to wake at the end of the turn.
    wakers: VecDeque<Waker>,
    /// It is to end, and has so long to give everything back.
    end_within: Option<Duration>,
    is_stopping: bool,
}

/// A lock that is wanted, held or on its way out.
struct Entry {
    ticket: Arc<Ticket>,
    extension: Option<Arc<Slot<Result<Instant, KeepError>>>>,
    release: Option<Arc<Slot<Result<ReleaseOutcome, Closed>>>>,
}

impl Worker {
    pub(super) fn new(engine: Engine, inlet: Arc<Inlet>) -> Self {
        Self {
            engine,
            inlet,
            commands: VecDeque::new(),
            spare: Vec::new(),
            entries: HashMap::new(),
            queries: HashMap::new(),
            watchers: Vec::new(),
            wakers: VecDeque::new(),
            end_within: None,
            is_stopping: false,
        }
    }

    /// Works until it is told to stop, or the system fails it; then everybody who waits is told.
    pub(super) fn run(mut self) {
        while !self.is_stopping {
            if let Err(error) = self.turn() {
                // Nothing that a node can cause. Dropping the worker closes everything.
                let _ = self.inlet.failure.set(error.kind());
                return;
            }
        }
    }

    fn turn(&mut self) -> io::Result<()> {
        self.take_events();
        self.hand_out()?;
        let mut timeout = Some(Duration::ZERO);
        for _ in 0..LOOKS {
            self.inlet.queue.take(&mut self.spare);
            if self.spare.is_empty() {
                // Only who has found nothing may sleep.
                timeout = None;
                break;
            }
            self.commands.extend(self.spare.drain(..));
            self.obey_all();
            if self.end_within.is_some() {
                return self.shut_down();
            }
            self.hand_out()?;
        }
        self.engine.look(timeout)?;
        self.inlet.queue.woke_up();
        Ok(())
    }

    /// Lets the servers have what waits for them, then the threads.
    fn hand_out(&mut self) -> io::Result<()> {
        self.engine.flush()?;
        self.wake();
        Ok(())
    }

    /// One at a time out of the list: should anything panic, the rest is still there to be refused.
    fn wake(&mut self) {
        while let Some(waker) = self.wakers.pop_front() {
            waker.wake();
        }
    }

    fn obey_all(&mut self) {
        while let Some(command) = self.commands.pop_front() {
            self.obey(command);
            self.take_events();
        }
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Acquire(ticket) => self.acquire(ticket),
            Command::Cancel(ticket) => {
                if let Some(&id) = ticket.id.get() {
                    // A lock that was granted meanwhile has been given back.
                    let _ = self.engine.cancel(id);
                }
            }
            Command::Extend { ticket, ttl, slot } => self.extend(&ticket, ttl, slot),
            Command::Release { ticket, slot } => self.release(&ticket, slot),
            Command::Disown { ticket, slot } => self.disown(&ticket, &slot),
            Command::Query { resource, slot } => match self.engine.query(&resource) {
                Ok(query) => {
                    self.queries.insert(query, slot);
                }
                Err(error) => self.complete(&slot, Err(Refusal::Request(error))),
            },
            Command::Nodes(slot) => {
                let reports = self.engine.nodes().map(NodeReport::new).collect();
                self.complete(&slot, Ok(reports));
            }
            Command::Watch(watcher) => self.watchers.push(watcher),
            Command::Shutdown(timeout) => self.end_within = self.end_within.max(Some(timeout)),
        }
    }

    fn acquire(&mut self, ticket: Arc<Ticket>) {
        match self.begin(&ticket) {
            Ok(id) => {
                // Nobody else sets it.
                let _ = ticket.id.set(id);
                let entry = Entry { ticket, extension: None, release: None };
                self.entries.insert(id, entry);
            }
            Err(error) => self.complete(&ticket.outcome, Err(LockError::Request(error))),
        }
    }

    fn begin(&mut self, ticket: &Ticket) -> Result<LockId, RequestError> {
        let order = &ticket.order;
        let max = self.engine.config().max_hold;
        if let Some(hold) = order.max_hold.filter(|hold| *hold > max) {
            return Err(RequestError::HoldTooLong { hold, max });
        }
        match (&order.resources[..], order.adopts) {
            ([resource], None) => self.engine.acquire(resource, order.ttl, order.wait),
            (resources, None) => self.engine.acquire_all(resources, order.ttl, order.wait),
            (resources, Some(token)) => self.engine.adopt(resources, token, order.ttl, order.wait),
        }
    }

    fn extend(
        &mut self,
        ticket: &Ticket,
        ttl: Duration,
        slot: Arc<Slot<Result<Instant, KeepError>>>,
    ) {
        let id = ticket.id.get().copied();
        match id.ok_or(RequestError::NotHeld).and_then(|id| self.engine.extend(id, ttl)) {
            Ok(()) => {
                if let Some(entry) = id.and_then(|id| self.entry(id)) {
                    entry.extension = Some(slot);
                }
            }
            // Its guard knows it, and the engine no more: it was lost.
            Err(RequestError::UnknownLock) => {
                self.complete(&slot, Err(KeepError::Request(RequestError::NotHeld)));
            }
            Err(error) => self.complete(&slot, Err(KeepError::Request(error))),
        }
    }

    fn release(
        &mut self,
        ticket: &Ticket,
        slot: Option<Arc<Slot<Result<ReleaseOutcome, Closed>>>>,
    ) {
        self.wakers.extend(ticket.end(Notice::Released));
        let id = ticket.id.get().copied();
        match id.map(|id| (id, self.engine.release(id))) {
            Some((id, Ok(()))) => {
                if let Some(entry) = self.entry(id) {
                    entry.release = slot;
                }
            }
            // It was lost before, and what there was to release has been.
            _ => {
                if let Some(slot) = slot {
                    self.complete(&slot, Ok(ReleaseOutcome::default()));
                }
            }
        }
    }

    /// The token goes out only if nothing of this engine will touch its keys any more.
    fn disown(&mut self, ticket: &Ticket, slot: &Slot<Result<Parts, Refusal>>) {
        let valid_until = ticket.disowned_until();
        self.wakers.extend(ticket.end(Notice::Released));
        let id = ticket.id.get().copied();
        match id.ok_or(RequestError::NotHeld).and_then(|id| self.engine.disown(id)) {
            Ok(token) => {
                let resources = ticket.order.resources.iter().map(|name| name.to_vec()).collect();
                // Before callbacks run, which may panic.
                self.complete(slot, Ok(Parts { resources, token, valid_until }));
                // An extension under way has its event before the lock is forgotten.
                self.take_events();
                if let Some(id) = id {
                    self.take_entry(id);
                }
            }
            Err(_) => self.complete(slot, Err(Refusal::Request(RequestError::NotHeld))),
        }
    }

    fn entry(&mut self, id: LockId) -> Option<&mut Entry> {
        self.entries.get_mut(&id)
    }

    fn take_entry(&mut self, id: LockId) -> Option<Entry> {
        self.entries.remove(&id)
    }

    fn complete<T>(&mut self, slot: &Slot<T>, value: T) {
        if let Ok(waker) = slot.complete(value) {
            self.wakers.extend(waker);
        }
    }
}

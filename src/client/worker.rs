//! The thread that owns an engine, and what it is told to do.
//!
//! One turn: take what the others have asked for, hand it to the engine, write, wake those whose
//! results are there, sleep until something happens. Results are handed out after the write, so
//! that the servers work while threads wake up.

use core::mem;
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
use super::sync::lock;
use super::ticket::Ticket;
use crate::engine::Engine;
use crate::redlock::{
    Event, Holder, LockId, LostReason, NodeId, QueryId, ReleaseOutcome, RequestError,
};
use crate::time::Instant;

/// How many times in a row the queue is looked at before the servers get their turn.
const LOOKS: usize = 4;

/// How often those who wait are looked after while the client shuts down.
const NAP: Duration = Duration::from_millis(20);

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

    fn take_events(&mut self) {
        while let Some(event) = self.engine.next_event() {
            match event {
                Event::Acquired { lock, valid_until } => self.acquired(lock, valid_until),
                Event::AcquireFailed { lock, error } => {
                    let is_stopping = self.is_stopping;
                    let error =
                        if is_stopping { LockError::Closed } else { LockError::Acquire(error) };
                    if let Some(entry) = self.take_entry(lock) {
                        self.complete(&entry.ticket.outcome, Err(error));
                    }
                }
                Event::Extended { lock, valid_until } => {
                    let Some(entry) = self.entry(lock) else { continue };
                    entry.ticket.extend(valid_until);
                    if let Some(slot) = entry.extension.take() {
                        self.complete(&slot, Ok(valid_until));
                    }
                }
                Event::ExtendFailed { lock, error } => {
                    let slot = self.entry(lock).and_then(|entry| entry.extension.take());
                    if let Some(slot) = slot {
                        self.complete(&slot, Err(KeepError::Extend(error)));
                    }
                }
                Event::Released { lock, outcome } => {
                    let slot = self.take_entry(lock).and_then(|entry| entry.release);
                    if let Some(slot) = slot {
                        self.complete(&slot, Ok(outcome));
                    }
                }
                Event::Lost { lock, reason } => self.lost(lock, reason),
                Event::Expiring { lock, .. } => {
                    let wakers = self.entry(lock).map(|entry| entry.ticket.warn());
                    self.wakers.extend(wakers.unwrap_or_default());
                }
                Event::Queried { query, holder } => {
                    if let Some(slot) = self.queries.remove(&query) {
                        self.complete(&slot, Ok(holder));
                    }
                }
                Event::Node(node) => self.tell(node),
            }
        }
    }

    fn acquired(&mut self, id: LockId, valid_until: Instant) {
        let Some(entry) = self.entry(id) else { return };
        let ticket = Arc::clone(&entry.ticket);
        let order = &ticket.order;
        if let Some(token) = self.engine.token(id) {
            // Nobody else sets it.
            let _ = ticket.token.set(token);
        }
        ticket.hold(valid_until);
        match ticket.outcome.complete(Ok(())) {
            Ok(waker) => self.wakers.extend(waker),
            Err(_) => {
                // Whoever wanted it is gone.
                self.wakers.extend(ticket.end(Notice::Released));
                let _ = self.engine.release(id);
                return;
            }
        }
        // Both settings were checked, and a lock that has ended already says so in an event.
        if let Some(max_hold) = order.max_hold {
            let _ = self.engine.keep_alive(id, order.ttl, max_hold);
        }
        if !order.ahead.is_zero() {
            let _ = self.engine.warn(id, order.ahead);
        }
    }

    fn lost(&mut self, id: LockId, reason: LostReason) {
        let Some(entry) = self.take_entry(id) else { return };
        // There may be little time left: not at the end of the turn, and before the others.
        for waker in entry.ticket.end(Notice::Lost(reason)) {
            self.wakers.push_front(waker);
        }
        self.wake();
        let call = lock(&entry.ticket.order.on_lost).take();
        if let Some(call) = call {
            call(reason);
        }
    }

    fn tell(&mut self, node: NodeId) {
        if self.watchers.is_empty() {
            return;
        }
        let report = self.engine.nodes().find(|(id, ..)| *id == node).map(NodeReport::new);
        let Some(report) = report else { return };
        self.watchers.iter_mut().for_each(|watcher| watcher(&report));
    }

    /// Gives everything back, for at most as long as was asked for.
    fn shut_down(&mut self) -> io::Result<()> {
        // Nothing comes after these, which may ask for more time.
        self.commands.extend(self.inlet.queue.close());
        self.obey_all();
        self.is_stopping = true;
        let held: Vec<_> =
            self.entries.iter().map(|(id, entry)| (*id, Arc::clone(&entry.ticket))).collect();
        for (id, ticket) in held {
            self.wakers.extend(ticket.end(Notice::Closed));
            if self.engine.release(id) == Err(RequestError::NotHeld) {
                let _ = self.engine.cancel(id);
            }
            self.take_events();
        }
        let end = self.engine.now() + self.end_within.unwrap_or_default();
        loop {
            // Who has lost a lock, or waits for one, is told before the servers are waited for.
            self.hand_out()?;
            let left = end - self.engine.now();
            let is_done = self.engine.drain(left.min(NAP))?;
            self.inlet.done(is_done);
            self.take_events();
            if is_done || left.is_zero() {
                return Ok(());
            }
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

    /// Tells everybody who still waits that nobody will answer.
    fn close(&mut self) {
        let rest = self.inlet.queue.close();
        for command in mem::take(&mut self.commands).into_iter().chain(rest) {
            self.refuse(command);
        }
        for (_, entry) in mem::take(&mut self.entries) {
            self.wakers.extend(entry.ticket.end(Notice::Closed));
            self.complete(&entry.ticket.outcome, Err(LockError::Closed));
            if let Some(slot) = entry.extension {
                self.complete(&slot, Err(KeepError::Closed));
            }
            if let Some(slot) = entry.release {
                self.complete(&slot, Err(Closed));
            }
        }
        for (_, slot) in mem::take(&mut self.queries) {
            self.complete(&slot, Err(Refusal::Closed));
        }
        for slot in self.inlet.ended() {
            self.complete(&slot, self.inlet.is_done());
        }
        self.wake();
    }

    fn refuse(&mut self, command: Command) {
        match command {
            Command::Acquire(ticket) => self.complete(&ticket.outcome, Err(LockError::Closed)),
            Command::Extend { slot, .. } => self.complete(&slot, Err(KeepError::Closed)),
            Command::Release { slot: Some(slot), .. } => self.complete(&slot, Err(Closed)),
            Command::Query { slot, .. } => self.complete(&slot, Err(Refusal::Closed)),
            Command::Nodes(slot) => self.complete(&slot, Err(Refusal::Closed)),
            Command::Disown { slot, .. } => self.complete(&slot, Err(Refusal::Closed)),
            Command::Cancel(_)
            | Command::Watch(_)
            | Command::Shutdown(_)
            | Command::Release { slot: None, .. } => {}
        }
    }
}

/// However the thread ends, nobody waits for it in vain.
impl Drop for Worker {
    fn drop(&mut self) {
        self.close();
    }
}

//! The worker: the thread that owns an engine, takes commands, and hands out results.
//!
//! This file has what the worker owns. [`turn`] is the loop of the thread, [`commands`] carries out
//! the commands of callers, [`readiness`] answers the callers who wait for the nodes, [`events`]
//! passes on the events of the engine, [`callbacks`] calls the functions of callers, and
//! [`shutdown`] ends the thread.

mod callbacks;
mod commands;
mod events;
mod readiness;
mod shutdown;
mod turn;

use core::task::Waker;
use core::time::Duration;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::Arc;

use super::command::{Answer, Command, OnNode};
use super::lock_error::{ClientClosed, LockError};
use super::mailbox::Mailbox;
use super::oneshot::Oneshot;
use super::ready::{ReadyError, Wanted};
use super::release::ReleaseReport;
use super::thread_end::ThreadEnd;
use super::ticket::Ticket;
use crate::engine::{Changes, Engine, Settling};
use crate::net::{Address, callback};
use crate::redlock::{Fence, Histogram, Holder, LockId, QueryId, RequestError};
use crate::time::Instant;

pub(super) struct Worker {
    engine: Engine,
    /// The addresses of the nodes, for errors.
    addresses: Arc<[Address]>,
    mailbox: Arc<Mailbox>,
    end: Arc<ThreadEnd>,
    /// The commands that were taken from the mailbox and are not carried out yet.
    commands: VecDeque<Command>,
    /// An empty list, to be swapped with the list of the mailbox.
    spare: Vec<Command>,
    entries: HashMap<LockId, Entry>,
    /// How long the callers of granted locks have waited.
    wait: Histogram,
    queries: HashMap<QueryId, Question>,
    /// The callers who wait for a fencing number, by lock. Few locks have one.
    draws: HashMap<LockId, Answer<Result<Fence, LockError>>>,
    /// The callers who wait for the nodes.
    settling: Vec<Waiter>,
    watchers: Vec<OnNode>,
    /// What the watchers know of the nodes.
    changes: Changes,
    /// How many callbacks and wakers have panicked, the credentials not included.
    panics: u64,
    is_credential_panic_told: bool,
    /// The wakers to call at the end of the turn.
    wakers: VecDeque<Waker>,
    /// The time in which all locks must be released, once the thread is to end.
    end_within: Option<Duration>,
    is_stopping: bool,
}

/// A lock that is wanted, held or being released.
struct Entry {
    ticket: Arc<Ticket>,
    extension: Option<Answer<Result<Instant, LockError>>>,
    release: Option<Answer<Result<ReleaseReport, ClientClosed>>>,
}

/// A caller who waits for the nodes.
struct Waiter {
    wanted: Wanted,
    settling: Settling,
    answer: Answer<Result<(), ReadyError>>,
}

/// A question for the holder of a resource.
struct Question {
    resource: Box<[u8]>,
    answer: Answer<Result<Holder, LockError>>,
}

impl Worker {
    pub(super) fn new(engine: Engine, mailbox: Arc<Mailbox>, end: Arc<ThreadEnd>) -> Self {
        let addresses = engine.nodes().map(|(_, address, _)| address.clone()).collect();
        Self {
            engine,
            addresses,
            mailbox,
            end,
            commands: VecDeque::new(),
            spare: Vec::new(),
            entries: HashMap::new(),
            wait: Histogram::new(),
            queries: HashMap::new(),
            draws: HashMap::new(),
            settling: Vec::new(),
            watchers: Vec::new(),
            changes: Changes::default(),
            panics: 0,
            is_credential_panic_told: false,
            wakers: VecDeque::new(),
            end_within: None,
            is_stopping: false,
        }
    }

    fn entry(&mut self, id: LockId) -> Option<&mut Entry> {
        self.entries.get_mut(&id)
    }

    fn take_entry(&mut self, id: LockId) -> Option<Entry> {
        let entry = self.entries.remove(&id)?;
        if !self.draws.is_empty() {
            let error = entry.ticket.order.error(RequestError::NotHeld);
            self.drawn(id, Err(error));
        }
        Some(entry)
    }

    /// Answers a caller who waits for a fencing number of this lock, if there is one.
    fn drawn(&mut self, id: LockId, result: Result<Fence, LockError>) {
        if let Some(answer) = self.draws.remove(&id) {
            self.complete(&answer, result);
        }
    }

    /// Leaves an answer. The caller who waits for the answer is woken at the end of the turn.
    fn complete<T>(&mut self, answer: &Oneshot<T>, value: T) {
        if let Ok(waker) = answer.complete(value) {
            self.wakers.extend(waker);
        }
    }

    /// Writes the waiting bytes to the servers, then calls the wakers.
    fn hand_out(&mut self) -> io::Result<()> {
        self.engine.flush()?;
        self.wake();
        Ok(())
    }

    /// Calls the wakers. A waker is somebody else's code, as a callback is: a panic of one harms no
    /// lock and no other waker.
    fn wake(&mut self) {
        while let Some(waker) = self.wakers.pop_front() {
            if callback::call(|| waker.wake()).is_none() {
                self.panicked("waker");
            }
        }
    }
}

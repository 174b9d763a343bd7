//! The commands of callers, handed to the engine.

use core::time::Duration;
use std::sync::Arc;

use super::{Entry, Question, Waiter, Worker};
use crate::client::command::{Answer, Command};
use crate::client::counters::ClientCounters;
use crate::client::handover::Handover;
use crate::client::lock_error::{ClientClosed, LockError};
use crate::client::notice::LockNoticeKind;
use crate::client::oneshot::Oneshot;
use crate::client::release::ReleaseReport;
use crate::client::report::NodeReport;
use crate::client::ticket::{Order, Ticket};
use crate::engine::Settling;
use crate::redlock::{Fence, LockId, LostReason, RequestError};
use crate::time::Instant;

impl Worker {
    pub(super) fn run_commands(&mut self) {
        while let Some(command) = self.commands.pop_front() {
            self.run_command(command);
            self.take_events();
        }
    }

    fn run_command(&mut self, command: Command) {
        match command {
            Command::Acquire(ticket) => self.acquire(ticket),
            Command::Cancel(ticket) => {
                if let Some(&id) = ticket.id.get() {
                    // The request may have ended meanwhile: a lock that was granted has been given
                    // back.
                    let _ = self.engine.cancel(id);
                }
            }
            Command::Extend { ticket, ttl, answer } => self.extend(&ticket, ttl, answer),
            Command::DrawFence { ticket, answer } => self.draw_fence(&ticket, answer),
            Command::Release { ticket, answer } => self.release(&ticket, answer),
            Command::Disown { ticket, answer } => self.disown(&ticket, &answer),
            Command::Query { resource, answer } => match self.engine.query(&resource) {
                Ok(query) => {
                    self.queries.insert(query, Question { resource, answer });
                }
                Err(error) => self.complete(&answer, Err(LockError::new(error, &resource, 1))),
            },
            Command::Counters(survey) => {
                let panics = self.panics + self.engine.credential_panics();
                let (locks, wait) = (self.engine.counters(), self.wait.clone());
                let counters = ClientCounters { locks, panics, wait };
                if let Some(sum) = survey.add(counters) {
                    self.complete(&survey.answer, Ok(sum));
                }
            }
            Command::Nodes(survey) => {
                let reports = NodeReport::all(&self.engine, &self.addresses);
                if let Some(reports) = survey.add(reports) {
                    self.complete(&survey.answer, Ok(reports));
                }
            }
            Command::Ready { wanted, timeout, answer } => {
                let settling = Settling::new(self.engine.now(), timeout);
                self.settling.push(Waiter { wanted, settling, answer });
            }
            Command::Watch(watcher) => self.watch(watcher),
            Command::Shutdown(timeout) => self.end_within = self.end_within.max(Some(timeout)),
        }
    }

    fn acquire(&mut self, ticket: Arc<Ticket>) {
        match self.begin(&ticket) {
            Ok(id) => {
                // No other code sets the id.
                let _ = ticket.id.set(id);
                let entry = Entry { ticket, extension: None, release: None };
                self.entries.insert(id, entry);
            }
            Err(error) => self.complete(&ticket.outcome, Err(ticket.order.error(error))),
        }
    }

    fn begin(&mut self, ticket: &Ticket) -> Result<LockId, RequestError> {
        let order = &ticket.order;
        let max = self.engine.redlock_config().max_hold;
        if let Some(hold) = order.max_hold.filter(|hold| *hold > max) {
            return Err(RequestError::HoldTooLong { hold, max });
        }
        let Order { ttl, wait, .. } = *order;
        match (&order.resources[..], order.adopts, &order.options) {
            ([resource], None, None) => self.engine.acquire(resource, ttl, wait),
            (resources, None, None) => self.engine.acquire_all(resources, ttl, wait),
            (resources, Some(token), None) => self.engine.adopt(resources, token, ttl, wait),
            (resources, None, Some(options)) => {
                self.engine.acquire_with(resources, ttl, wait, options)
            }
            (resources, Some(token), Some(options)) => {
                self.engine.adopt_with(resources, token, ttl, wait, options)
            }
        }
    }

    fn extend(
        &mut self,
        ticket: &Ticket,
        ttl: Duration,
        answer: Answer<Result<Instant, LockError>>,
    ) {
        let id = ticket.id.get().copied();
        match id.ok_or(RequestError::NotHeld).and_then(|id| self.engine.extend(id, ttl)) {
            Ok(()) => {
                if let Some(entry) = id.and_then(|id| self.entry(id)) {
                    entry.extension = Some(answer);
                }
            }
            // The engine does not know the lock any more, although the guard does: the lock was
            // lost.
            Err(RequestError::UnknownLock) => {
                self.complete(&answer, Err(ticket.order.error(RequestError::NotHeld)));
            }
            Err(error) => self.complete(&answer, Err(ticket.order.error(error))),
        }
    }

    fn draw_fence(&mut self, ticket: &Ticket, answer: Answer<Result<Fence, LockError>>) {
        let id = ticket.id.get().copied();
        match id.ok_or(RequestError::NotHeld).and_then(|id| self.engine.draw_fence(id)) {
            Ok(()) => {
                // The events of this draw are taken behind this command.
                self.draws.extend(id.map(|id| (id, answer)));
            }
            // The lock was lost, and the guard does not know yet.
            Err(RequestError::UnknownLock) => {
                self.complete(&answer, Err(ticket.order.error(RequestError::NotHeld)));
            }
            Err(error) => self.complete(&answer, Err(ticket.order.error(error))),
        }
    }

    fn release(
        &mut self,
        ticket: &Ticket,
        answer: Option<Answer<Result<ReleaseReport, ClientClosed>>>,
    ) {
        self.wakers.extend(ticket.end(LockNoticeKind::Released));
        let id = ticket.id.get().copied();
        if let Some(id) = id.filter(|_| ticket.is_token_known()) {
            // Nobody else may have a lock with this token.
            let _ = self.engine.token(id);
        }
        match id.map(|id| (id, self.engine.release(id))) {
            Some((id, Ok(()))) => {
                if let Some(entry) = self.entry(id) {
                    entry.release = answer;
                }
            }
            // The lock was lost before. The engine releases its keys at the end of the validity.
            _ => {
                if let Some(answer) = answer {
                    // Every loss is an event, and the events before a command are taken before the
                    // command runs: the ticket has the reason. Without an event only the clock
                    // can have ended a lock.
                    let reason = ticket.lost().unwrap_or(LostReason::Expired);
                    let report = ReleaseReport::of_lost(reason, Arc::clone(&self.addresses));
                    self.complete(&answer, Ok(report));
                }
            }
        }
    }

    /// Gives the token away, but only if nothing in this engine will touch the keys of the lock any
    /// more.
    fn disown(&mut self, ticket: &Ticket, answer: &Oneshot<Result<Handover, LockError>>) {
        self.wakers.extend(ticket.end(LockNoticeKind::Released));
        let id = ticket.id.get().copied();
        match id.ok_or(RequestError::NotHeld).and_then(|id| self.engine.disown(id)) {
            Ok(token) => {
                // The answer comes before callbacks run, because a callback may panic.
                self.complete(answer, Ok(Handover::of(ticket, token)));
                // An extension under way has its event before the lock is forgotten.
                self.take_events();
                if let Some(id) = id {
                    self.take_entry(id);
                }
            }
            Err(_) => self.complete(answer, Err(ticket.order.error(RequestError::NotHeld))),
        }
    }
}

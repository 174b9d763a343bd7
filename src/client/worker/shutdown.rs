//! The end of the thread: all locks are released, and every waiting caller is answered.

use core::mem;
use core::time::Duration;
use std::io;
use std::sync::Arc;

use super::{Entry, Question, Waiter, Worker};
use crate::client::cause::LockErrorKind;
use crate::client::command::Command;
use crate::client::error::ClientError;
use crate::client::failure::ClientFailure;
use crate::client::lock_error::LockError;
use crate::client::notice::LockNoticeKind;
use crate::client::shutdown::ShutdownReport;
use crate::engine::Settling;
use crate::net::callback;

/// The time for which the engine drains at a stretch during a shutdown. After each stretch, the
/// callers whose results have come are woken.
const DRAIN_STEP: Duration = Duration::from_millis(20);

impl Worker {
    /// Releases all locks, and waits for the nodes for at most as long as the callers have asked
    /// for.
    pub(super) fn shut_down(&mut self) -> io::Result<()> {
        // These commands are the last ones. A shutdown among them may ask for more time.
        self.commands.extend(self.mailbox.close(None));
        self.run_commands();
        self.is_stopping = true;
        let held: Vec<_> =
            self.entries.iter().map(|(id, entry)| (*id, Arc::clone(&entry.ticket))).collect();
        // Whoever waits is told first. Else a lock that is released would be passed on to the next
        // in line, who would be told of a lock that ends at once.
        for (id, _) in &held {
            // A lock that is held is released below.
            let _ = self.engine.cancel(*id);
            self.take_events();
        }
        for (id, ticket) in held {
            self.wakers.extend(ticket.end(LockNoticeKind::Closed(None)));
            // An error means that the lock has ended already.
            let _ = self.engine.release(id);
            self.take_events();
        }
        let timeout = self.end_within.unwrap_or_default();
        let mut settling = Settling::new(self.engine.now(), timeout);
        loop {
            // Callers who have lost a lock, or who wait for one, are told before the wait for the
            // servers.
            self.hand_out()?;
            let is_over = self.engine.drain_for(&mut settling, timeout.min(DRAIN_STEP))?;
            let report = self.left_open();
            // A callback may panic yet.
            self.end.set_report(ShutdownReport { threads: 1, ..report.clone() });
            self.take_events();
            if is_over {
                self.end.set_report(report);
                return Ok(());
            }
        }
    }

    /// Returns what would be left open if the thread ended now.
    fn left_open(&self) -> ShutdownReport {
        ShutdownReport {
            is_quorum_free: self.engine.is_drained(),
            locks: self.engine.in_use(),
            cleanup: self.engine.cleanup(),
            nodes: self.engine.owing(),
            threads: 0,
            addresses: Some(Arc::clone(&self.addresses)),
        }
    }

    /// Tells every caller who still waits that the client is closed.
    fn close(&mut self) {
        let failure = self.end.failure();
        let rest = self.mailbox.close(failure);
        for command in mem::take(&mut self.commands).into_iter().chain(rest) {
            self.refuse(command, failure);
        }
        for (id, answer) in mem::take(&mut self.draws) {
            if let Some(Entry { ticket, .. }) = self.entries.get(&id) {
                let error = ticket.order.error(LockErrorKind::Closed(failure));
                self.complete(&answer, Err(error));
            }
        }
        for (_, entry) in mem::take(&mut self.entries) {
            self.wakers.extend(entry.ticket.end(LockNoticeKind::Closed(failure)));
            let order = &entry.ticket.order;
            self.complete(&entry.ticket.outcome, Err(order.error(LockErrorKind::Closed(failure))));
            if let Some(answer) = entry.extension {
                self.complete(&answer, Err(order.error(LockErrorKind::Closed(failure))));
            }
            if let Some(answer) = entry.release {
                self.complete(&answer, Err(order.closed(failure)));
            }
        }
        for (_, Question { resource, answer }) in mem::take(&mut self.queries) {
            self.complete(
                &answer,
                Err(LockError::new(LockErrorKind::Closed(failure), &resource, 1)),
            );
        }
        for Waiter { answer, .. } in mem::take(&mut self.settling) {
            self.complete(&answer, Err(ClientError::Closed(failure).into()));
        }
        // One at a time: the list itself would drop on after a panic, and end the process at the
        // second.
        mem::take(&mut self.watchers).into_iter().for_each(callback::discard);
        for answer in self.end.take_waiters() {
            self.complete(&answer, self.end.report());
        }
        // Here is the last chance to wake anybody. What is told of a waker that panics can panic
        // too, in a subscriber of `tracing`, and a second panic would end the process.
        while callback::call(|| self.wake()).is_none() {}
    }

    fn refuse(&mut self, command: Command, failure: Option<ClientFailure>) {
        match command {
            Command::Acquire(ticket) => {
                let error = ticket.order.error(LockErrorKind::Closed(failure));
                self.complete(&ticket.outcome, Err(error));
            }
            Command::Extend { ticket, answer, .. } => {
                self.complete(&answer, Err(ticket.order.error(LockErrorKind::Closed(failure))));
            }
            Command::DrawFence { ticket, answer } => {
                self.complete(&answer, Err(ticket.order.error(LockErrorKind::Closed(failure))));
            }
            Command::Release { ticket, answer: Some(answer) } => {
                self.complete(&answer, Err(ticket.order.closed(failure)));
            }
            Command::Disown { ticket, answer } => {
                self.complete(&answer, Err(ticket.order.error(LockErrorKind::Closed(failure))));
            }
            Command::Query { resource, answer } => {
                self.complete(
                    &answer,
                    Err(LockError::new(LockErrorKind::Closed(failure), &resource, 1)),
                );
            }
            Command::Ready { answer, .. } => {
                self.complete(&answer, Err(ClientError::Closed(failure).into()));
            }
            Command::Counters(survey) => {
                self.complete(&survey.answer, Err(ClientError::Closed(failure)));
            }
            Command::Nodes(survey) => {
                self.complete(&survey.answer, Err(ClientError::Closed(failure)));
            }
            Command::Watch(watcher) => callback::discard(watcher),
            Command::Cancel(_) | Command::Shutdown(_) | Command::Release { answer: None, .. } => {}
        }
    }
}

/// Answers every waiting caller, however the thread ends, a panic included.
impl Drop for Worker {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.end.set_failure(ClientFailure::Panic);
        }
        self.close();
    }
}

//! The state that a client, its guards and its requests share: the threads, and which thread is in
//! charge of a resource.

use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::Arc;

use super::command::{Command, OnNode};
use super::error::ClientError;
use super::failure::ClientFailure;
use super::gather::Gather;
use super::lock_error::LockError;
use super::mailbox::Mailbox;
use super::pending::PendingAnswer;
use super::queue::Refused;
use super::ready::{ReadyError, Wanted};
use super::shard::Shard;
use super::shutdown::ShutdownReport;
use super::survey::{Merge, Survey};
use super::ticket::Ticket;
use crate::engine::{Board, Config, Division, EngineError};
use crate::net::OtherProcess;
use crate::redlock::{MAX_RESOURCE, MAX_SET, MAX_SET_BYTES, RequestError};

/// The time for which the threads wait for the last releases when nobody waits for the threads any
/// more.
const BACKGROUND_DRAIN: Duration = Duration::from_secs(5);

/// The time by which the end of the engine's thread may exceed the timeout of a shutdown.
const JOIN_GRACE: Duration = Duration::from_secs(1);

/// The maximum number of callbacks for changes of nodes.
pub(super) const MAX_WATCHERS: usize = 64;

pub(super) struct Shared {
    shards: Vec<Shard>,
    /// Which of the threads is in charge of a resource.
    division: Division,
    watchers: AtomicUsize,
    pub(super) defaults: Defaults,
}

/// The settings of a request that names none of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Defaults {
    pub(super) ttl: Duration,
    pub(super) wait: Duration,
    /// The longest time for which a lock may be kept alive.
    pub(super) max_hold: Duration,
}

impl Shared {
    /// Starts the threads of a configuration that was checked.
    pub(super) fn new(config: &Config, defaults: Defaults) -> Result<Self, EngineError> {
        let (shards, division) = (Vec::new(), config.division());
        let mut shared = Self { shards, division, watchers: AtomicUsize::new(0), defaults };
        let board = Board::default();
        for number in 0..config.threads {
            // Should a thread fail to start, the threads before it end as `shared` is dropped.
            shared.shards.push(Shard::start(config.clone(), number, &board)?);
        }
        Ok(shared)
    }

    pub(super) fn threads(&self) -> usize {
        self.shards.len()
    }

    /// Returns the mailbox of the thread in charge, so that equal sets meet on one thread.
    fn mailbox<'a>(&self, resources: impl Iterator<Item = &'a [u8]>) -> &Mailbox {
        // A checked configuration has as many threads as its division has engines.
        &self.shards[self.division.of_all(resources)].mailbox
    }

    fn mailbox_of(&self, ticket: &Ticket) -> &Mailbox {
        self.mailbox(ticket.order.resources.iter().map(|resource| &resource[..]))
    }

    /// Returns the mailbox of the thread that answers for the nodes. There is always a first
    /// thread.
    fn first(&self) -> &Mailbox {
        &self.shards[0].mailbox
    }

    /// Hands in a request for a lock. A request that cannot be right, with any prefix, is refused
    /// here: the bound of the queue is a number of requests and not a size in bytes.
    pub(super) fn submit(&self, ticket: &Arc<Ticket>) -> Result<(), LockError> {
        let (resources, count) = (&ticket.order.resources, ticket.order.count);
        let len = resources.iter().map(|resource| resource.len()).sum();
        if count > MAX_SET || resources.is_empty() {
            return Err(ticket.order.error(RequestError::SetSize { len: count }));
        }
        if resources.len() == 1 && len > MAX_RESOURCE {
            return Err(ticket.order.error(RequestError::ResourceTooLong { len }));
        }
        if len > MAX_SET_BYTES {
            return Err(ticket.order.error(RequestError::SetTooLong { len }));
        }
        self.push_for(ticket, Command::Acquire(Arc::clone(ticket)))
    }

    /// Hands in a question about a resource. A resource that is too long is refused here, as in
    /// [`submit`](Self::submit).
    pub(super) fn ask(
        &self,
        resource: &[u8],
        question: impl FnOnce(Box<[u8]>) -> Command,
    ) -> Result<(), LockError> {
        if resource.len() > MAX_RESOURCE {
            let error = RequestError::ResourceTooLong { len: resource.len() };
            return Err(LockError::new(error, resource, 1));
        }
        let mailbox = self.mailbox(core::iter::once(resource));
        let pushed = mailbox.push(question(Box::from(resource)));
        pushed.map_err(|refused| LockError::new(refused, resource, 1))
    }

    /// Asks every thread, for one answer.
    pub(super) fn survey<T: Merge>(
        &self,
        question: impl Fn(Arc<Survey<T>>) -> Command,
    ) -> PendingAnswer<Result<T, ClientError>> {
        let survey = Arc::new(Survey::of(self.shards.len()));
        for shard in &self.shards {
            if let Err(refused) = shard.mailbox.push(question(Arc::clone(&survey))) {
                // Nobody waits yet. A sum of the other threads finds its place taken.
                let _ = survey.answer.complete(Err(refused.into()));
            }
        }
        PendingAnswer::new(Arc::clone(&survey.answer))
    }

    /// Hands in a callback for changes of nodes, which stays as long as the client lives.
    pub(super) fn watch(&self, watcher: OnNode) -> Result<(), ClientError> {
        if self.watchers.fetch_add(1, Ordering::Relaxed) >= MAX_WATCHERS {
            self.watchers.fetch_sub(1, Ordering::Relaxed);
            return Err(ClientError::TooManyWatchers { max: MAX_WATCHERS });
        }
        Ok(self.first().push(Command::Watch(watcher)).inspect_err(|_| {
            self.watchers.fetch_sub(1, Ordering::Relaxed);
        })?)
    }

    /// Hands in a command about a lock. The command may be refused.
    pub(super) fn push_for(&self, ticket: &Ticket, command: Command) -> Result<(), LockError> {
        self.mailbox_of(ticket).push(command).map_err(|refused| ticket.order.error(refused))
    }

    /// Hands in the end of a lock.
    pub(super) fn try_send(&self, ticket: &Ticket, command: Command) -> Result<(), Refused> {
        // The only reason to refuse this command is a closed queue.
        self.mailbox_of(ticket).push_always(command)
    }

    /// Hands in the end of a lock, and does not ask whether the thread still lives.
    pub(super) fn send(&self, ticket: &Ticket, command: Command) {
        let _ = self.try_send(ticket, command);
    }

    /// Returns `true` if a thread has ended, or is to end.
    pub(super) fn is_closed(&self) -> bool {
        self.shards.iter().any(|shard| shard.end.has_begun())
    }

    /// Returns why a thread has died, if one did.
    pub(super) fn failure(&self) -> Option<ClientFailure> {
        self.shards.iter().find_map(|shard| shard.end.failure())
    }

    /// Stops all threads at once. The reports come as the threads end.
    pub(super) fn shut_down(&self, timeout: Duration) -> Gather<ShutdownReport> {
        if self.is_own_thread() || !self.is_at_home() {
            return Gather::new([PendingAnswer::ready(ShutdownReport::NOT_ENDED)]);
        }
        Gather::new(self.shards.iter().map(|shard| {
            // A thread that has ended has left its report.
            shard.stop(timeout).unwrap_or_else(|| PendingAnswer::ready(shard.end.report()))
        }))
    }

    /// Stops all threads, and blocks until they have ended: not on one of these threads, and not
    /// for much longer than `timeout`.
    pub(super) fn shut_down_blocking(&self, timeout: Duration) -> ShutdownReport {
        // A callback that hangs must not hang this thread as well.
        let limit = timeout.saturating_add(JOIN_GRACE);
        let (reports, is_over) = self.shut_down(timeout).wait_for(limit);
        let mut report = ShutdownReport::sum(reports.iter().cloned());
        if is_over && !self.is_own_thread() && self.is_at_home() {
            self.shards.iter().for_each(Shard::join);
        } else if !is_over {
            report.threads += self.shards.len() - reports.len();
        }
        report
    }

    /// Returns whether this process has the threads of the client. Costs one system call.
    pub(super) fn is_at_home(&self) -> bool {
        // A client that could not be made has no thread.
        self.shards.first().is_none_or(|shard| shard.mailbox.is_at_home())
    }

    /// Fails in a child of `fork`, which has none of the threads.
    pub(super) fn check_process(&self) -> Result<(), OtherProcess> {
        self.first().check_process()
    }

    fn is_own_thread(&self) -> bool {
        self.shards.iter().any(Shard::is_here)
    }

    /// Asks every thread to say when its nodes are ready.
    pub(super) fn ready(
        &self,
        wanted: Wanted,
        timeout: Duration,
    ) -> Gather<Result<(), ReadyError>> {
        Gather::new(self.shards.iter().map(|shard| {
            PendingAnswer::ask(|answer| {
                let command = Command::Ready { wanted, timeout, answer };
                Ok(shard.mailbox.push(command).map_err(ClientError::from)?)
            })
        }))
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // The threads belong to the process that started them.
        if !self.is_at_home() {
            return;
        }
        // The last owner may be a guard in a task, or a clone in a callback, and neither can wait
        // here.
        self.shards.iter().for_each(|shard| drop(shard.stop(BACKGROUND_DRAIN)));
    }
}

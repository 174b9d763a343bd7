//! The mailbox of an engine's thread: the queue of commands from all other threads, and the waker
//! of this thread.

use super::command::Command;
use super::failure::ClientFailure;
use super::queue::{Added, Queue, Refused};
use crate::net::{OtherProcess, Process, Waker};

pub(super) struct Mailbox {
    queue: Queue<Command>,
    waker: Waker,
    home: Process,
}

impl Mailbox {
    /// Creates a mailbox in which at most `max` requests wait to be taken.
    pub(super) fn new(max: usize, waker: Waker) -> Self {
        Self { queue: Queue::new(max), waker, home: Process::current() }
    }

    /// Hands in a command that may be refused.
    pub(super) fn push(&self, command: Command) -> Result<(), Refused> {
        self.check_process().map_err(Refused::OtherProcess)?;
        self.wake_if(self.queue.push(command)?);
        Ok(())
    }

    /// Hands in a command that must not be refused while the thread lives.
    pub(super) fn push_always(&self, command: Command) -> Result<(), Refused> {
        self.check_process().map_err(Refused::OtherProcess)?;
        self.wake_if(self.queue.push_always(command)?);
        Ok(())
    }

    /// Takes all commands, in order, into an empty list. A thread that finds none may sleep: the
    /// next command wakes it.
    pub(super) fn take(&self, into: &mut Vec<Command>) {
        self.queue.take(into);
    }

    /// Says that the thread is awake, and needs no waking.
    pub(super) fn woke_up(&self) {
        self.queue.woke_up();
    }

    /// Refuses all commands from now on, and returns the commands that nobody has taken.
    pub(super) fn close(&self, failure: Option<ClientFailure>) -> Vec<Command> {
        self.queue.close(failure)
    }

    /// Fails in a child of `fork`, where no thread empties the queue, and where the mutex of the
    /// queue may be locked for ever.
    pub(super) fn check_process(&self) -> Result<(), OtherProcess> {
        self.home.check()
    }

    /// Returns whether this process has the thread that empties the queue.
    pub(super) fn is_at_home(&self) -> bool {
        self.home.is_current()
    }

    fn wake_if(&self, added: Added) {
        if added == Added::Wake {
            self.waker.wake();
        }
    }
}

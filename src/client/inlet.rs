//! The end of the engine's thread that the others have.

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::io;
use std::sync::{Arc, OnceLock};

use super::pending::Pending;
use super::queue::{Added, Queue, Refused};
use super::slot::Slot;
use super::sync::{Mutex, lock};
use super::worker::Command;
use crate::net::Waker;

pub(super) struct Inlet {
    pub(super) queue: Queue<Command>,
    waker: Waker,
    /// Who waits for the end of the thread; `None` once it has come.
    mourners: Mutex<Option<Vec<Arc<Slot<bool>>>>>,
    is_done: AtomicBool,
    /// What the system said, if the thread died of that.
    pub(super) failure: OnceLock<io::ErrorKind>,
}

impl Inlet {
    /// For at most so many requests that wait to be taken.
    pub(super) fn new(max: usize, waker: Waker) -> Self {
        Self {
            queue: Queue::new(max),
            waker,
            mourners: Mutex::new(Some(Vec::new())),
            is_done: AtomicBool::new(false),
            failure: OnceLock::new(),
        }
    }

    /// Hands in what may be refused.
    pub(super) fn push(&self, command: Command) -> Result<(), Refused> {
        self.wake_if(self.queue.push(command)?);
        Ok(())
    }

    /// Hands in what may not.
    pub(super) fn push_always(&self, command: Command) -> Result<(), Refused> {
        self.wake_if(self.queue.push_always(command)?);
        Ok(())
    }

    /// Tells the thread to stop, within a time that may be longer if others have asked for more.
    /// The answer comes when the thread ends, whatever it ends by; `None` if it has ended.
    pub(super) fn stop(&self, timeout: Duration) -> Option<Pending<bool>> {
        let slot = Arc::new(Slot::new());
        lock(&self.mourners).as_mut()?.push(Arc::clone(&slot));
        // One that is stopping already takes nothing more.
        let _ = self.push_always(Command::Shutdown(timeout));
        Some(Pending::new(slot))
    }

    /// The thread has ended: returns who waits for that.
    pub(super) fn ended(&self) -> Vec<Arc<Slot<bool>>> {
        lock(&self.mourners).take().unwrap_or_default()
    }

    /// Whether everything was given back, and the nodes have confirmed it.
    pub(super) fn is_done(&self) -> bool {
        self.is_done.load(Ordering::Acquire)
    }

    pub(super) fn done(&self, is_done: bool) {
        self.is_done.store(is_done, Ordering::Release);
    }

    fn wake_if(&self, added: Added) {
        if added == Added::Wake {
            self.waker.wake();
        }
    }
}

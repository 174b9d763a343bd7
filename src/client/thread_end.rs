//! The end of an engine's thread: the callers who wait for the end, and what the thread leaves
//! behind.

use core::sync::atomic::{AtomicBool, Ordering};
use std::io;
use std::sync::{Arc, OnceLock};

use super::oneshot::Oneshot;
use super::pending::Pending;
use super::sync::{Mutex, lock};

pub(super) struct ThreadEnd {
    /// The callers of a shutdown; `None` once the thread has ended.
    shutdown_waiters: Mutex<Option<Vec<Arc<Oneshot<bool>>>>>,
    is_done: AtomicBool,
    failure: OnceLock<io::ErrorKind>,
}

impl ThreadEnd {
    pub(super) fn new() -> Self {
        Self {
            shutdown_waiters: Mutex::new(Some(Vec::new())),
            is_done: AtomicBool::new(false),
            failure: OnceLock::new(),
        }
    }

    /// Returns a pending answer that comes when the thread ends, whatever ends the thread; `None`
    /// if the thread has ended already. The answer is the value of [`is_done`](Self::is_done).
    pub(super) fn wait(&self) -> Option<Pending<bool>> {
        let answer = Arc::new(Oneshot::new());
        lock(&self.shutdown_waiters).as_mut()?.push(Arc::clone(&answer));
        Some(Pending::new(answer))
    }

    /// Says that the thread has ended. Returns those who wait for the end.
    pub(super) fn take_waiters(&self) -> Vec<Arc<Oneshot<bool>>> {
        lock(&self.shutdown_waiters).take().unwrap_or_default()
    }

    /// Returns whether all locks were released, and the nodes have confirmed all releases.
    pub(super) fn is_done(&self) -> bool {
        self.is_done.load(Ordering::Acquire)
    }

    pub(super) fn set_done(&self, is_done: bool) {
        self.is_done.store(is_done, Ordering::Release);
    }

    /// Returns the error of the system that ended the thread, if there was one.
    pub(super) fn failure(&self) -> Option<io::ErrorKind> {
        self.failure.get().copied()
    }

    pub(super) fn set_failure(&self, kind: io::ErrorKind) {
        // The thread ends with its first error, so that there is no second one.
        let _ = self.failure.set(kind);
    }
}

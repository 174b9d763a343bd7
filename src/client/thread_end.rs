//! The end of an engine's thread: the callers who wait for it, and what the thread leaves behind.

use std::io;
use std::sync::{Arc, OnceLock};

use super::oneshot::Oneshot;
use super::pending::PendingAnswer;
use super::shutdown::ShutdownReport;
use super::sync::{Mutex, lock};

pub(super) struct ThreadEnd {
    /// The callers of a shutdown; `None` once the thread has ended.
    shutdown_waiters: Mutex<Option<Vec<Arc<Oneshot<ShutdownReport>>>>>,
    /// What is open. Before a shutdown, that the thread has not ended.
    report: Mutex<ShutdownReport>,
    failure: OnceLock<io::ErrorKind>,
}

impl ThreadEnd {
    pub(super) fn new() -> Self {
        Self {
            shutdown_waiters: Mutex::new(Some(Vec::new())),
            report: Mutex::new(ShutdownReport::NOT_ENDED),
            failure: OnceLock::new(),
        }
    }

    /// Waits for the end of the thread, for whatever reason the thread ends. Returns `None` if the
    /// thread has ended. The value is that of [`report`](Self::report).
    pub(super) fn wait(&self) -> Option<PendingAnswer<ShutdownReport>> {
        let answer = Arc::new(Oneshot::new());
        lock(&self.shutdown_waiters).as_mut()?.push(Arc::clone(&answer));
        Some(PendingAnswer::new(answer))
    }

    /// Marks the thread as ended. Returns the callers who wait for the end.
    pub(super) fn take_waiters(&self) -> Vec<Arc<Oneshot<ShutdownReport>>> {
        lock(&self.shutdown_waiters).take().unwrap_or_default()
    }

    /// Returns what the thread has left open. A thread that died has left itself.
    pub(super) fn report(&self) -> ShutdownReport {
        *lock(&self.report)
    }

    /// Notes what is open while a shutdown goes on.
    pub(super) fn set_report(&self, report: ShutdownReport) {
        *lock(&self.report) = report;
    }

    /// Returns the error of the system that ended the thread, if one did.
    pub(super) fn failure(&self) -> Option<io::ErrorKind> {
        self.failure.get().copied()
    }

    /// Notes the error of the system that ends the thread.
    pub(super) fn set_failure(&self, kind: io::ErrorKind) {
        // The thread ends with its first error, so that there is no second one.
        let _ = self.failure.set(kind);
    }
}

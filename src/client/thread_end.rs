//! The end of an engine's thread: the callers who wait for it, and what the thread leaves behind.

use core::time::Duration;
use std::sync::{Arc, OnceLock};

use super::failure::ClientFailure;
use super::oneshot::Oneshot;
use super::pending::PendingAnswer;
use super::shutdown::ShutdownReport;
use super::sync::{Mutex, lock};

pub(super) struct ThreadEnd {
    /// The shutdown; `None` once the thread has ended.
    shutdown: Mutex<Option<Asked>>,
    /// What is open. Before a shutdown, that the thread has not ended.
    report: Mutex<ShutdownReport>,
    failure: OnceLock<ClientFailure>,
}

/// What callers of a shutdown have asked for.
#[derive(Default)]
struct Asked {
    waiters: Vec<Arc<Oneshot<ShutdownReport>>>,
    /// The longest time that a caller gives; `None` before the first shutdown.
    within: Option<Duration>,
}

impl ThreadEnd {
    pub(super) fn new() -> Self {
        Self {
            shutdown: Mutex::new(Some(Asked::default())),
            report: Mutex::new(ShutdownReport::NOT_ENDED),
            failure: OnceLock::new(),
        }
    }

    /// Waits for the end of the thread, for whatever reason the thread ends. Returns `None` if the
    /// thread has ended. The value is that of [`report`](Self::report).
    ///
    /// Also returns whether the thread must be told that it is to end within `timeout`: not if it
    /// was given as much time before. So callers who ask again and again leave nothing behind.
    pub(super) fn wait(&self, timeout: Duration) -> Option<(PendingAnswer<ShutdownReport>, bool)> {
        let answer = Arc::new(Oneshot::new());
        let mut shutdown = lock(&self.shutdown);
        let asked = shutdown.as_mut()?;
        // A caller who has dropped the wait has left the only other reference.
        let waiters = core::mem::take(&mut asked.waiters).into_iter();
        let (waiting, gone): (Vec<_>, Vec<_>) =
            waiters.partition(|waiter| Arc::strong_count(waiter) > 1);
        asked.waiters = waiting;
        asked.waiters.push(Arc::clone(&answer));
        let is_longer = asked.within < Some(timeout);
        asked.within = asked.within.max(Some(timeout));
        // To drop a waker may drop a task, and that task may shut down this same client: the mutex
        // is unlocked first.
        drop(shutdown);
        drop(gone);
        Some((PendingAnswer::new(answer), is_longer))
    }

    /// Marks the thread as ended. Returns the callers who wait for the end.
    pub(super) fn take_waiters(&self) -> Vec<Arc<Oneshot<ShutdownReport>>> {
        lock(&self.shutdown).take().unwrap_or_default().waiters
    }

    /// Returns what the thread has left open. A thread that died has left itself.
    pub(super) fn report(&self) -> ShutdownReport {
        lock(&self.report).clone()
    }

    /// Notes what is open while a shutdown goes on.
    pub(super) fn set_report(&self, report: ShutdownReport) {
        *lock(&self.report) = report;
    }

    /// Returns `true` if the thread has ended, or is to end.
    pub(super) fn has_begun(&self) -> bool {
        lock(&self.shutdown).as_ref().is_none_or(|asked| asked.within.is_some())
    }

    /// Returns why the thread has died, if it did.
    pub(super) fn failure(&self) -> Option<ClientFailure> {
        self.failure.get().copied()
    }

    /// Notes why the thread dies.
    pub(super) fn set_failure(&self, failure: ClientFailure) {
        // A panic after an error of the system changes nothing.
        let _ = self.failure.set(failure);
    }
}

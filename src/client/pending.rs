//! [`PendingAnswer`], a request on its way: a future that a thread can block on as well.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::sync::Arc;

use super::oneshot::Oneshot;
use super::runtime;

/// A request on its way, for anything but a lock: a future for tasks, with
/// [`blocking_wait`](Self::blocking_wait) for threads.
///
/// Dropping a `PendingAnswer` does not cancel the request: the request is carried out all the same.
/// Once the result has been returned, polling stays pending for ever, and `blocking_wait` blocks
/// for ever.
#[must_use = "what became of the request is not known unless this is awaited or waited for"]
pub struct PendingAnswer<T> {
    answer: Arc<Oneshot<T>>,
}

impl<T> PendingAnswer<T> {
    pub(super) fn new(answer: Arc<Oneshot<T>>) -> Self {
        Self { answer }
    }

    /// Creates a request that is answered already.
    pub(super) fn ready(value: T) -> Self {
        let answer = Oneshot::new();
        // A new oneshot takes a value, and nobody waits yet.
        let _ = answer.complete(value);
        Self { answer: Arc::new(answer) }
    }

    /// Blocks until the answer is there, and returns the answer.
    #[track_caller]
    pub fn blocking_wait(self) -> T {
        runtime::wait(|context| self.answer.poll(context))
    }

    /// Takes the answer if it is there; else remembers the waker of `context`.
    pub(super) fn poll_once(&self, context: &Context<'_>) -> Poll<T> {
        self.answer.poll(context)
    }
}

impl<T, E> PendingAnswer<Result<T, E>> {
    /// Hands in a request together with the place for its answer.
    pub(super) fn ask(hand_in: impl FnOnce(Arc<Oneshot<Result<T, E>>>) -> Result<(), E>) -> Self {
        let answer = Arc::new(Oneshot::new());
        match hand_in(Arc::clone(&answer)) {
            Ok(()) => Self::new(answer),
            Err(error) => Self::ready(Err(error)),
        }
    }
}

impl<T> Future for PendingAnswer<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        self.answer.poll(context)
    }
}

impl<T> fmt::Debug for PendingAnswer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PendingAnswer")
    }
}

//! [`Pending`], a request on its way: a future that a thread can block on as well.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::Arc;

use super::oneshot::Oneshot;
use super::wait::{block_for, block_on};

/// A request on its way, for anything but a lock: a future, with a blocking [`wait`](Self::wait)
/// for threads.
///
/// Dropping a `Pending` does not cancel the request: the request is carried out all the same. Once
/// the result has been returned, polling stays pending for ever, and [`wait`](Self::wait) blocks
/// for ever.
#[must_use = "what became of the request is not known unless this is awaited or waited for"]
pub struct Pending<T> {
    answer: Arc<Oneshot<T>>,
}

impl<T> Pending<T> {
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
    pub fn wait(self) -> T {
        block_on(|context| self.answer.poll(context))
    }

    /// Blocks until the answer is there, for at most `limit`. Returns `None` when the time is up.
    pub(super) fn wait_for(self, limit: Duration) -> Option<T> {
        block_for(limit, |context| self.answer.poll(context))
    }
}

impl<T, E> Pending<Result<T, E>> {
    /// Hands in a request together with the place for its answer.
    pub(super) fn ask(hand_in: impl FnOnce(Arc<Oneshot<Result<T, E>>>) -> Result<(), E>) -> Self {
        let answer = Arc::new(Oneshot::new());
        match hand_in(Arc::clone(&answer)) {
            Ok(()) => Self::new(answer),
            Err(error) => Self::ready(Err(error)),
        }
    }
}

impl<T> Future for Pending<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        self.answer.poll(context)
    }
}

impl<T> fmt::Debug for Pending<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pending")
    }
}

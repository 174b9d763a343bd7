//! A queue that many threads fill and one thread empties. The queue knows whether that one thread
//! sleeps.
//!
//! The list and the flag for the sleep are behind one mutex, which both sides hold for a few
//! instructions. A thread that adds to the list therefore knows whether the sleeper must be woken,
//! and the sleeper has looked at the list before the sleep began.

use super::failure::ClientFailure;
use super::sync::{Mutex, lock};
use crate::net::OtherProcess;

pub(super) struct Queue<T> {
    inner: Mutex<Inner<T>>,
    /// The most items that may wait; see [`push`](Self::push).
    max: usize,
}

struct Inner<T> {
    waiting: Vec<T>,
    is_asleep: bool,
    /// Set once the queue is closed: why the thread has died, if it did.
    closed: Option<Option<ClientFailure>>,
}

/// The reason why an item was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refused {
    /// `max` items wait already.
    Full { max: usize },
    /// The thread has ended, or is to end; or has died, for this reason.
    Closed(Option<ClientFailure>),
    /// This process is a child of the one that the queue belongs to.
    OtherProcess(OtherProcess),
}

impl Refused {
    /// Returns why the thread has died, if it did.
    pub(super) const fn failure(self) -> Option<ClientFailure> {
        match self {
            Self::Closed(failure) => failure,
            Self::Full { .. } | Self::OtherProcess(_) => None,
        }
    }
}

/// What the caller must do after adding an item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub(super) enum Added {
    Wake,
    Nothing,
}

impl<T> Queue<T> {
    pub(super) fn new(max: usize) -> Self {
        let inner = Inner { waiting: Vec::new(), is_asleep: false, closed: None };
        Self { inner: Mutex::new(inner), max }
    }

    /// Adds a request that may be refused.
    pub(super) fn push(&self, item: T) -> Result<Added, Refused> {
        self.add(item, self.max)
    }

    /// Adds a request that must not be refused while the thread lives: the end of something that
    /// was accepted. The bound holds all the same: each lock has one release and one cancellation
    /// at most, and a caller who asks for the end of the thread waits for that end.
    pub(super) fn push_always(&self, item: T) -> Result<Added, Refused> {
        self.add(item, usize::MAX)
    }

    fn add(&self, item: T, max: usize) -> Result<Added, Refused> {
        let mut inner = lock(&self.inner);
        if let Some(failure) = inner.closed {
            return Err(Refused::Closed(failure));
        }
        if inner.waiting.len() >= max {
            return Err(Refused::Full { max });
        }
        inner.waiting.push(item);
        let was_asleep = core::mem::take(&mut inner.is_asleep);
        Ok(if was_asleep { Added::Wake } else { Added::Nothing })
    }

    /// Moves all items, in order, into an empty list. A thread that finds nothing counts as asleep
    /// until [`woke_up`](Self::woke_up) is called or the thread is woken.
    pub(super) fn take(&self, into: &mut Vec<T>) {
        let mut inner = lock(&self.inner);
        inner.is_asleep = inner.waiting.is_empty();
        core::mem::swap(&mut inner.waiting, into);
    }

    /// Says that the thread is awake, for whatever reason: the thread takes the list next, and
    /// needs no waking.
    pub(super) fn woke_up(&self) {
        lock(&self.inner).is_asleep = false;
    }

    /// Refuses all items from now on, and returns the items that are still in the queue. A thread
    /// that dies in its shutdown closes the queue a second time, with the reason.
    pub(super) fn close(&self, failure: Option<ClientFailure>) -> Vec<T> {
        let mut inner = lock(&self.inner);
        inner.closed = Some(failure);
        core::mem::take(&mut inner.waiting)
    }
}

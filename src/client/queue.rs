//! The way to the engine's thread: a list that many fill and one empties, and whether that one
//! sleeps.
//!
//! The list and the sleep are behind the same lock, which both sides hold for a few instructions:
//! whoever adds to the list of a sleeper knows that it must be woken, and the sleeper has looked at
//! the list before it lay down.

use super::sync::{Mutex, lock};

pub(super) struct Queue<T> {
    inner: Mutex<Inner<T>>,
    /// How many may wait; see [`push`](Self::push).
    max: usize,
}

struct Inner<T> {
    waiting: Vec<T>,
    is_asleep: bool,
    is_closed: bool,
}

/// Why something was not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refused {
    /// So many wait already.
    Full {
        max: usize,
    },
    Closed,
}

/// What is to be done after something was added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub(super) enum Added {
    Wake,
    Nothing,
}

impl<T> Queue<T> {
    pub(super) fn new(max: usize) -> Self {
        let inner = Inner { waiting: Vec::new(), is_asleep: false, is_closed: false };
        Self { inner: Mutex::new(inner), max }
    }

    /// Adds a request that may be refused.
    pub(super) fn push(&self, item: T) -> Result<Added, Refused> {
        self.add(item, self.max)
    }

    /// Adds what must not be refused while the thread lives: the end of something that was
    /// accepted. Each lock has one release and one cancellation at most, and who asks for the end
    /// of the thread waits for it.
    pub(super) fn push_always(&self, item: T) -> Result<Added, Refused> {
        self.add(item, usize::MAX)
    }

    fn add(&self, item: T, max: usize) -> Result<Added, Refused> {
        let mut inner = lock(&self.inner);
        if inner.is_closed {
            return Err(Refused::Closed);
        }
        if inner.waiting.len() >= max {
            return Err(Refused::Full { max });
        }
        inner.waiting.push(item);
        let was_asleep = core::mem::take(&mut inner.is_asleep);
        Ok(if was_asleep { Added::Wake } else { Added::Nothing })
    }

    /// Takes everything, in order, into an empty list. Finding nothing, the thread counts as asleep
    /// until it says otherwise or is woken.
    pub(super) fn take(&self, into: &mut Vec<T>) {
        let mut inner = lock(&self.inner);
        inner.is_asleep = inner.waiting.is_empty();
        core::mem::swap(&mut inner.waiting, into);
    }

    /// The thread is up, for whatever reason: it will look without being told.
    pub(super) fn woke_up(&self) {
        lock(&self.inner).is_asleep = false;
    }

    /// Takes nothing more; returns what is still there.
    pub(super) fn close(&self) -> Vec<T> {
        let mut inner = lock(&self.inner);
        inner.is_closed = true;
        core::mem::take(&mut inner.waiting)
    }
}

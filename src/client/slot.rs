//! Where one result is left for the one who waits for it, be it a blocked thread or a task.

use core::task::{Context, Poll, Waker};

use super::sync::{Mutex, lock};

/// A place for one value. One side [`complete`](Self::complete)s it, the other one polls it or
/// [`abandon`](Self::abandon)s it, and the value goes to exactly one of them.
pub(super) struct Slot<T> {
    state: Mutex<State<T>>,
}

enum State<T> {
    /// Nothing yet; whom to wake.
    Empty(Option<Waker>),
    Full(T),
    /// The value was taken, or nobody wants it.
    Closed,
}

impl<T> Slot<T> {
    pub(super) fn new() -> Self {
        Self { state: Mutex::new(State::Empty(None)) }
    }

    /// Leaves the value, and returns whom to wake. The waker is for the caller to call, who may
    /// have other things to do first.
    ///
    /// # Errors
    ///
    /// The value, when nobody waits for it any more.
    pub(super) fn complete(&self, value: T) -> Result<Option<Waker>, T> {
        let mut state = lock(&self.state);
        match &mut *state {
            State::Empty(waker) => {
                let waker = waker.take();
                *state = State::Full(value);
                Ok(waker)
            }
            State::Full(_) | State::Closed => Err(value),
        }
    }

    /// Takes the value if it is there, else remembers whom to wake.
    ///
    /// Pending for ever once the value was taken.
    pub(super) fn poll(&self, context: &Context<'_>) -> Poll<T> {
        let mut state = lock(&self.state);
        let next = match &*state {
            State::Empty(Some(waker)) if waker.will_wake(context.waker()) => return Poll::Pending,
            State::Empty(_) => State::Empty(Some(context.waker().clone())),
            State::Full(_) | State::Closed => State::Closed,
        };
        let last = core::mem::replace(&mut *state, next);
        // A waker that goes may take a task with it, and that task may have to do with this slot.
        drop(state);
        match last {
            State::Full(value) => Poll::Ready(value),
            State::Empty(_) | State::Closed => Poll::Pending,
        }
    }

    /// Nobody waits any more. Returns the value if it came before.
    pub(super) fn abandon(&self) -> Option<T> {
        // The lock is given back at the end of this statement, before a waker goes.
        let last = core::mem::replace(&mut *lock(&self.state), State::Closed);
        match last {
            State::Full(value) => Some(value),
            State::Empty(_) | State::Closed => None,
        }
    }
}

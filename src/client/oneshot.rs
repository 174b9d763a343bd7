//! The hand-over of one result from the engine's thread to the caller, which is a blocked thread or
//! a task.

use core::task::{Context, Poll, Waker};

use super::sync::{Mutex, lock};

/// A place for one value.
///
/// One side [`complete`](Self::complete)s the oneshot. The other side polls it or
/// [`abandon`](Self::abandon)s it. The value goes to exactly one of the two sides.
pub(super) struct Oneshot<T> {
    state: Mutex<State<T>>,
}

enum State<T> {
    /// No value yet; the waker is that of the waiting side.
    Empty(Option<Waker>),
    Full(T),
    /// The value was taken, or nobody wants it.
    Closed,
}

impl<T> Oneshot<T> {
    pub(super) fn new() -> Self {
        Self { state: Mutex::new(State::Empty(None)) }
    }

    /// Leaves the value, and returns the waker of the waiting side. The caller must wake that side,
    /// and may have other things to do first.
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

    /// Takes the value if there is one. Otherwise remembers the waker of `context`.
    ///
    /// Once the value has been taken, the oneshot stays pending for ever.
    pub(super) fn poll(&self, context: &Context<'_>) -> Poll<T> {
        let mut state = lock(&self.state);
        let next = match &*state {
            State::Empty(Some(waker)) if waker.will_wake(context.waker()) => return Poll::Pending,
            State::Empty(_) => State::Empty(Some(context.waker().clone())),
            State::Full(_) | State::Closed => State::Closed,
        };
        let last = core::mem::replace(&mut *state, next);
        // To drop a waker may drop a task, and that task may poll or abandon this same oneshot: the
        // mutex is unlocked first.
        drop(state);
        match last {
            State::Full(value) => Poll::Ready(value),
            State::Empty(_) | State::Closed => Poll::Pending,
        }
    }

    /// Says that nobody waits any more. Returns the value, if there is one already.
    pub(super) fn abandon(&self) -> Option<T> {
        // The mutex is unlocked at the end of this statement, before a waker is dropped.
        let last = core::mem::replace(&mut *lock(&self.state), State::Closed);
        match last {
            State::Full(value) => Some(value),
            State::Empty(_) | State::Closed => None,
        }
    }
}

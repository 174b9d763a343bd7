//! Blocking waits: a thread sleeps until its waker is called, as a task does.

use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::sync::Arc;
use std::task::Wake;
use std::thread::{self, Thread};

use crate::net::Clock;

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

thread_local! {
    /// The waker of this thread, made once so that waiting allocates nothing.
    static WAKER: Waker = Waker::from(Arc::new(Unpark(thread::current())));
}

/// Polls until there is a value, sleeps between the polls, and returns the value.
pub(super) fn block_on<T>(mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> T {
    loop {
        if let Some(value) = block_for(Duration::MAX, &mut poll) {
            return value;
        }
    }
}

/// Polls until there is a value, for at most `limit`. Returns `None` when the time is up.
pub(super) fn block_for<T>(
    limit: Duration,
    mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>,
) -> Option<T> {
    // A thread that is ending has destroyed its thread-local waker, and waits with a new one.
    let waker = WAKER.try_with(Waker::clone);
    let waker = waker.unwrap_or_else(|_| Waker::from(Arc::new(Unpark(thread::current()))));
    let mut context = Context::from_waker(&waker);
    let until = Clock::now() + limit;
    loop {
        if let Poll::Ready(value) = poll(&mut context) {
            return Some(value);
        }
        if limit == Duration::MAX {
            thread::park();
            continue;
        }
        let left = until - Clock::now();
        if left.is_zero() {
            return None;
        }
        thread::park_timeout(left);
    }
}

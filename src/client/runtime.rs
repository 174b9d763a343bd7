//! What a thread may do: a thread of a runtime must not block, because its tasks would wait, and
//! the thread of an engine must not, because its locks would.
//!
//! With the feature `tokio` the runtime itself is asked. Without it only the names of the threads
//! tell, so that the main thread of a runtime looks like any other.

use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::cell::Cell;
use std::thread;

use super::wait::{block_for, block_on};

thread_local! {
    /// Whether this thread belongs to an engine.
    static HAS_ENGINE: Cell<bool> = const { Cell::new(false) };
}

/// What a callback is told that would block the thread on which it runs.
const OWN_THREAD: &str = "a callback or a waker must not wait for a client here, because all locks \
     of this thread, which belongs to an engine, would wait: use another thread";

/// Marks this thread as one of an engine.
pub(super) fn belong_to_engine() {
    HAS_ENGINE.set(true);
}

/// Polls for the answer of a client until the answer is there, and blocks the thread meanwhile.
///
/// A callback runs on the thread of an engine, which would give the answer. So the call would wait
/// for ever, and panics instead, unless the answer is there already.
#[track_caller]
pub(super) fn wait<T>(mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> T {
    if !HAS_ENGINE.get() {
        return block(|| block_on(poll));
    }
    let Some(value) = look(&mut poll) else { panic!("{OWN_THREAD}") };
    value
}

/// As [`wait`], for at most `limit`. Returns `None` when the time is up.
#[track_caller]
pub(super) fn wait_for<T>(
    limit: Duration,
    mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>,
) -> Option<T> {
    if !HAS_ENGINE.get() {
        return block(|| block_for(limit, poll));
    }
    let value = look(&mut poll);
    assert!(value.is_some() || limit.is_zero(), "{OWN_THREAD}");
    value
}

/// Polls once, and waits for nothing.
fn look<T>(poll: &mut impl FnMut(&mut Context<'_>) -> Poll<T>) -> Option<T> {
    match poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

/// The names that tokio, smol and async-std give to their threads.
const WORKERS: [&str; 4] = ["tokio-rt-worker", "tokio-runtime-worker", "smol-", "async-std/"];

/// Returns `true` if the thread is known to belong to a runtime. A pool for blocking work counts as
/// well.
pub(super) fn is_here() -> bool {
    #[cfg(feature = "tokio")]
    if tokio::runtime::Handle::try_current().is_ok() {
        return true;
    }
    thread::current().name().is_some_and(is_worker)
}

fn is_worker(name: &str) -> bool {
    WORKERS.iter().any(|worker| name.starts_with(worker))
}

/// What a call is told that would block the only thread of a runtime.
#[cfg(feature = "tokio")]
const ONLY_THREAD: &str = "a task must not block here, because its runtime has no other thread for \
     the other tasks: `.await` the call that has no `blocking` in its name, or block in \
     `tokio::task::spawn_blocking`";

/// Runs something that blocks the thread.
///
/// With the feature `tokio`, the other tasks of a thread of a multi-thread runtime move to another
/// thread first. A current-thread runtime has no other thread, nor has a `LocalSet`: the task would
/// wait for ever for others that the runtime cannot run. tokio panics there, and so does this
/// function, with a text that names the way out. The panic names the line of the caller, so that
/// every public function on the way here has `track_caller` too.
#[cfg(feature = "tokio")]
#[track_caller]
pub(super) fn block<T>(wait: impl FnOnce() -> T) -> T {
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    let mut has_begun = false;
    // tokio prints its own panic first. No question avoids that: `Handle::try_current` and
    // `runtime_flavor` say "current thread" of this task, but also in `spawn_blocking` and behind
    // `Runtime::enter`, where blocking is right, and a `LocalSet` says "multi-thread". `wait` is
    // not looked at again after a panic, so that no broken state of it can be seen.
    let result = catch_unwind(AssertUnwindSafe(|| {
        tokio::task::block_in_place(|| {
            has_begun = true;
            wait()
        })
    }));
    match result {
        Ok(value) => value,
        Err(panic) if has_begun => resume_unwind(panic),
        Err(_) => panic!("{ONLY_THREAD}"),
    }
}

/// Runs something that blocks the thread.
#[cfg(not(feature = "tokio"))]
#[track_caller]
pub(super) fn block<T>(wait: impl FnOnce() -> T) -> T {
    wait()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threads_of_runtimes_are_known_by_their_names() {
        for (name, expected) in [
            ("tokio-rt-worker", true),
            ("tokio-runtime-worker", true),
            ("smol-1", true),
            ("async-std/runtime", true),
            ("main", false),
            ("tokio", false),
            ("redbolt-0", false),
        ] {
            assert_eq!(is_worker(name), expected, "{name}");
        }
    }

    #[test]
    fn a_worker_of_tokio_is_known_and_an_ordinary_thread_is_none() {
        assert!(!is_here());
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build();
        let runtime = runtime.expect("a runtime can be made");
        let known = runtime.block_on(async { tokio::spawn(async { is_here() }).await });
        assert!(known.expect("the task does not panic"));
    }

    /// Without the feature the thread of a current-thread runtime looks like any other.
    #[test]
    fn the_thread_of_a_current_thread_runtime_is_known_with_the_feature() {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime = runtime.expect("a runtime can be made");
        assert_eq!(runtime.block_on(async { is_here() }), cfg!(feature = "tokio"));
    }

    /// The task that is waited for is on the thread that waits.
    #[test]
    #[cfg(feature = "tokio")]
    fn blocking_in_a_task_leaves_the_other_tasks_a_thread() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build();
        let runtime = runtime.expect("a runtime can be made");
        let (tell, told) = std::sync::mpsc::channel();
        let waiting = runtime.spawn(async move {
            tokio::spawn(async move { tell.send(7) });
            block(|| told.recv())
        });
        assert_eq!(runtime.block_on(waiting).expect("the task does not panic"), Ok(7));
    }

    #[cfg(feature = "tokio")]
    fn current_thread() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().build().expect("a runtime can be made")
    }

    #[test]
    #[cfg(feature = "tokio")]
    #[should_panic(expected = "`.await` the call that has no `blocking` in its name")]
    fn blocking_in_a_task_that_has_the_only_thread_is_told() {
        current_thread().block_on(async { block(|| ()) });
    }

    /// A pool for blocking work belongs to the same runtime.
    #[test]
    #[cfg(feature = "tokio")]
    fn a_thread_that_may_block_blocks_and_keeps_its_own_panics() {
        let pool = || async {
            let value = tokio::task::spawn_blocking(|| block(|| 7)).await;
            let panic = tokio::task::spawn_blocking(|| block::<()>(|| panic!("its own"))).await;
            let panic = panic.expect_err("it panics").into_panic();
            (value.expect("no panic"), panic.downcast_ref::<&str>().copied())
        };
        assert_eq!(current_thread().block_on(pool()), (7, Some("its own")));
        assert_eq!(block(|| 8), 8);
    }
}

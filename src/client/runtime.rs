//! What a thread may do: a thread of a runtime must not block, because its tasks would wait.
//!
//! With the feature `tokio` the runtime itself is asked. Without it only the names of the threads
//! tell, so that the main thread of a runtime looks like any other.

use std::thread;

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

/// Runs something that blocks the thread.
///
/// With the feature `tokio`, the other tasks of a thread of a multi-thread runtime move to another
/// thread first. A current-thread runtime has no other thread, so that tokio panics there, and says
/// why: the task would wait for ever for others that the runtime cannot run. The panic names the
/// line of the caller, so that every public function on the way here has `track_caller` too.
#[track_caller]
pub(super) fn block<T>(wait: impl FnOnce() -> T) -> T {
    #[cfg(feature = "tokio")]
    return tokio::task::block_in_place(wait);
    #[cfg(not(feature = "tokio"))]
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

    #[test]
    #[cfg(feature = "tokio")]
    #[should_panic(expected = "can call blocking only when running on the multi-threaded runtime")]
    fn blocking_in_a_task_that_has_the_only_thread_is_told() {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime = runtime.expect("a runtime can be made");
        runtime.block_on(async { block(|| ()) });
    }
}

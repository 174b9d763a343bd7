//! The threads of an engine that is gone.
//!
//! A lookup has a thread of its own, which may live for a moment longer than the engine. What such
//! a thread has on its stack looks like a leak to the sanitizer, if the thread ends while the
//! sanitizer looks; and a thread that stays is one. Threads are counted and not told by their
//! names, because a thread has the name of another one until it runs.

use std::fs;
use std::thread::park_timeout;
use std::time::Duration;

/// For how many milliseconds a thread may live on, on a machine that is busy.
const TURNS: usize = 10_000;

/// Runs a script, and then waits until there are no more threads than before. In a test beside
/// others this would wait for them.
///
/// # Panics
///
/// Panics if a thread does not end.
pub(crate) fn with_threads_ended(script: impl FnOnce()) {
    let before = count();
    script();
    for _ in 0..TURNS {
        if count() <= before {
            return;
        }
        park_timeout(Duration::from_millis(1));
    }
    panic!("a thread of the engine does not end");
}

/// Returns how many threads there are; nothing where the system does not tell.
fn count() -> Option<usize> {
    fs::read_dir("/proc/self/task").map(Iterator::count).ok()
}

//! The threads of an engine that is gone.
//!
//! A lookup has a thread of its own, which may live for a moment longer than the engine. What such a
//! thread has on its stack looks like a leak to the sanitizer, if the thread ends while the sanitizer
//! looks; and a thread that stays is one.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

/// The name that the system shows, of which it keeps fifteen bytes.
const LOOKUP: &str = "redbolt-resolve";

/// For how many milliseconds a thread may live on, on a machine that is busy.
const TURNS: usize = 10_000;

/// Returns when no lookup is under way in this process any more.
///
/// # Panics
///
/// Panics if one does not end.
pub(super) fn end() {
    for _ in 0..TURNS {
        if !is_any() {
            return;
        }
        sleep(Duration::from_millis(1));
    }
    panic!("the thread of a lookup does not end");
}

/// Without the names of threads there is nothing to wait for.
fn is_any() -> bool {
    let Ok(threads) = fs::read_dir("/proc/self/task") else { return false };
    let names = threads.flatten().map(|thread| fs::read_to_string(thread.path().join("comm")));
    names.flatten().any(|name| name.trim_end() == LOOKUP)
}

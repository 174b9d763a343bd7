//! What threads share things by. The model checker `loom` has its own of these, which try every
//! order in which threads can run; `--cfg redbolt_loom` takes them.

#[cfg(all(test, redbolt_loom))]
pub(super) use loom::sync::{Mutex, MutexGuard};
#[cfg(not(all(test, redbolt_loom)))]
pub(super) use std::sync::{Mutex, MutexGuard};

/// Nothing in this folder panics while it holds a lock, and a panic of somebody's `Waker` must not
/// become one here.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

//! The mutex of this folder: that of the standard library, or that of the model checker `loom`.
//!
//! `loom` tries every order in which threads can run, and needs a mutex of its own for that;
//! `--cfg redbolt_loom` chooses it.

#[cfg(all(test, redbolt_loom))]
pub(super) use loom::sync::{Mutex, MutexGuard};
#[cfg(not(all(test, redbolt_loom)))]
pub(super) use std::sync::{Mutex, MutexGuard};

/// Locks the mutex, also after a panic of another thread.
///
/// Nothing in this folder panics while it holds a lock, and a panic in a caller's `Waker` must not
/// become a panic here.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

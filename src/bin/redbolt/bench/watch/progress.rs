//! What a load tells while it runs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// What one engine, or a client, has done so far.
#[derive(Default)]
pub(crate) struct Progress {
    cycles: AtomicU64,
    failed: AtomicU64,
    /// Addresses and states of the nodes that are not ready.
    absent: Mutex<Vec<String>>,
}

impl Progress {
    pub(crate) fn publish(&self, cycles: u64, failed: u64) {
        self.cycles.store(cycles, Ordering::Relaxed);
        self.failed.store(failed, Ordering::Relaxed);
    }

    pub(crate) fn publish_absent(&self, absent: Vec<String>) {
        *self.absent.lock().unwrap_or_else(PoisonError::into_inner) = absent;
    }

    pub(crate) fn cycles(&self) -> u64 {
        self.cycles.load(Ordering::Relaxed)
    }

    pub(crate) fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    pub(crate) fn absent(&self) -> Vec<String> {
        self.absent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

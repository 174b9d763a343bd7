//! What the thread of a server and those who hold its handle share: the master, and whether and
//! when the master answers.

use core::time::Duration;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::master::{Master, Memory};
use super::options::Options;
use crate::net::Clock;

/// The thread of the server serves all connections under this lock, turn by turn. A change under
/// the lock therefore falls between two turns, and when the change is made, no byte leaves by the
/// rules from before.
#[derive(Debug)]
pub(super) struct Shared(Mutex<State>);

#[derive(Debug)]
pub(super) struct State {
    pub(super) master: Master,
    /// Nothing is read, executed or written.
    pub(super) paused: bool,
    /// How long a reply waits before it leaves.
    pub(super) delay: Duration,
}

impl Shared {
    /// Creates an empty master, which answers at once.
    pub(super) fn new(options: Options) -> Self {
        let master = Master::new(seed(), options, Clock::now());
        Self(Mutex::new(State { master, paused: false, delay: Duration::ZERO }))
    }

    /// A panic of the server's thread is reported when the server is stopped; what the thread has
    /// left can be looked at all the same.
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the master another process, which answers at once.
    pub(super) fn restart(&self, memory: Memory) {
        let mut state = self.lock();
        state.master.restart(seed(), memory, Clock::now());
        state.paused = false;
        state.delay = Duration::ZERO;
    }
}

/// Returns a different number at every call, which is all that a run id needs.
fn seed() -> u64 {
    RandomState::new().hash_one(Clock::now())
}

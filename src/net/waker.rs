//! Waking the loop from another thread.

use std::fmt;
use std::sync::Arc;

/// Wakes the thread that sleeps in [`Engine::poll`](crate::Engine::poll).
///
/// Cheap to clone, and may be kept when the engine is gone. To wake a thread that does not sleep
/// makes its next poll return at once.
///
/// ```
/// use redbolt::{Config, Engine};
///
/// let mut engine = Engine::new(Config::new(["127.0.0.1:1"])?)?;
/// let waker = engine.waker();
/// let other = std::thread::spawn(move || waker.wake());
/// engine.poll(None)?;
/// # other.join().expect("waking does not panic");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Waker(Arc<mio::Waker>);

impl Waker {
    pub(super) fn new(waker: mio::Waker) -> Self {
        Self(Arc::new(waker))
    }

    /// Wakes the thread. Costs one system call.
    pub fn wake(&self) {
        // It writes to a counter of the kernel, which can only fail when that is full, and then the
        // thread is being woken already.
        let _ = self.0.wake();
    }
}

impl fmt::Debug for Waker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Waker")
    }
}

//! The handle that wakes the loop from another thread.

use std::fmt;
use std::sync::Arc;

/// A handle that wakes the thread which sleeps in [`Engine::poll`](crate::Engine::poll).
///
/// A waker is cheap to clone, and may outlive its engine. If the thread is not asleep, its next
/// poll returns at once.
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
        // The call adds to a counter in the kernel, and fails only if the counter is full. The
        // thread is being woken already then.
        let _ = self.0.wake();
    }
}

impl fmt::Debug for Waker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Waker")
    }
}

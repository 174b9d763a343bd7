//! `SIGINT` and `SIGTERM` end the run early, with the figures so far.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

pub(crate) struct Signals {
    caught: Arc<AtomicBool>,
}

impl Signals {
    /// Starts to catch signals. The first signal is kept. A second signal ends the process on the
    /// spot, for a user to whom the orderly end takes too long.
    pub(crate) fn listen() -> io::Result<Self> {
        let caught = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // Actions run in the order of registration: the first action sees only earlier signals.
            flag::register_conditional_default(signal, Arc::clone(&caught))?;
            flag::register(signal, Arc::clone(&caught))?;
        }
        Ok(Self { caught })
    }

    pub(crate) fn caught(&self) -> bool {
        self.caught.load(Ordering::Relaxed)
    }
}

//! `SIGINT` and `SIGTERM` end the run early, with the figures so far.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

pub(super) struct Signals {
    caught: Arc<AtomicBool>,
}

impl Signals {
    /// From now on the first signal is kept. A second one ends the process on the spot, for those
    /// to whom even the orderly end takes too long.
    pub(super) fn listen() -> io::Result<Self> {
        let caught = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // Actions run in the order of registration: the first one sees what was caught before.
            flag::register_conditional_default(signal, Arc::clone(&caught))?;
            flag::register(signal, Arc::clone(&caught))?;
        }
        Ok(Self { caught })
    }

    pub(super) fn caught(&self) -> bool {
        self.caught.load(Ordering::Relaxed)
    }
}

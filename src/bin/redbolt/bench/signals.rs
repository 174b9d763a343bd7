//! `SIGINT`, `SIGTERM` and `SIGHUP` end the run early, with the figures so far.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::ignored::Ignored;

pub(crate) struct Signals {
    caught: Arc<AtomicBool>,
}

impl Signals {
    /// Starts to catch signals, except a `SIGHUP` that is ignored since the start of this process,
    /// as `nohup` wants it. Scripts ignore `SIGINT` for what runs in the background, and still end
    /// a run by that signal. The first signal is kept. A second signal ends the process on the
    /// spot, for a user to whom the orderly end takes too long.
    pub(crate) fn listen() -> io::Result<Self> {
        let caught = Arc::new(AtomicBool::new(false));
        // A terminal that is closed sends this, and locks would be left until their ttl ends.
        let closed = Some(SIGHUP).filter(|signal| !Ignored::at_start().has(*signal));
        for signal in [SIGINT, SIGTERM].into_iter().chain(closed) {
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

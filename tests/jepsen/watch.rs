//! A watch over the machine: the times at which a process of the run did not run.
//!
//! A rule about how fast a client must be says nothing about a process that was stopped, or that
//! shares its processors with too many others. The watch is a thread of its own, which sleeps and
//! knows when to be awake again. Each client has one, and so has the process with the links,
//! through which every answer comes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::log::{Log, Record, What, nanos};

/// How long the watch sleeps at a time.
const NAP: Duration = Duration::from_millis(5);

/// The shortest delay that is worth a line, in nanoseconds. On a busy machine every nap is a little
/// late, and what counts are the times in which a process could do nothing at all.
const WORTH: u64 = 25_000_000;

/// The watch over this process. Dropped, it ends.
pub(crate) struct Watch {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Starts to write into the log when `process` did not run: the number of a client, or
    /// [`LINKS`](crate::log::LINKS).
    pub(crate) fn over(process: u32, log: Log) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let end = Arc::clone(&is_over);
        Self { is_over, thread: Some(thread::spawn(move || watch(&log, process, &end))) }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // A watch that has panicked has said so.
        _ = self.thread.take().map(JoinHandle::join);
    }
}

fn watch(log: &Log, client: u32, is_over: &AtomicBool) {
    let nap = u64::try_from(NAP.as_nanos()).expect("milliseconds");
    while !is_over.load(Ordering::Relaxed) {
        let since = nanos() + nap;
        thread::park_timeout(NAP);
        let at = nanos();
        if at > since + WORTH {
            log.write(&Record { at, client, request: 0, what: What::Late { since } });
        }
    }
}

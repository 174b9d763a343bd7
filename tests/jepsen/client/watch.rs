//! A watch over the machine: the times at which the process of a client did not run.
//!
//! A rule about how fast a client must be says nothing about a process that was stopped, or that
//! shares its processors with too many others. The watch is a thread of its own, which sleeps and
//! knows when to be awake again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::log::{Log, Record, What, nanos};
use crate::order::Order;

/// How long the watch sleeps at a time.
const NAP: Duration = Duration::from_millis(5);

/// The shortest delay that is worth a line, in nanoseconds. On a busy machine every nap is a little
/// late, and what counts are the times in which a process could do nothing at all.
const WORTH: u64 = 100_000_000;

/// Runs `life` under a watch.
pub(super) fn over(order: &Order, life: impl FnOnce()) {
    let is_over = AtomicBool::new(false);
    let log = order.open_log();
    thread::scope(|scope| {
        scope.spawn(|| watch(&log, order.client, &is_over));
        // A client that panics ends the process by its failure, once the watch has ended too.
        let end = End(&is_over);
        life();
        drop(end);
    });
}

/// Ends the watch, also in a panic.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
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

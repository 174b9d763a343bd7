//! One line a second at the terminal while the load runs.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use redbolt::time::Instant;
use redbolt::{Clock, NodeState};
use rustix::termios::tcgetwinsize;

use crate::bench::load::cycles::Load;
use crate::number::grouped;

const EVERY: Duration = Duration::from_secs(1);

/// Moves to the first column, and deletes the rest of the line.
const CLEAR: &str = "\r\x1b[K";

/// Writes a line over the last one. Without a terminal no line is ever due.
pub(crate) struct Live {
    due: Instant,
    start: Instant,
    /// The time of the last line, and the number of cycles at that time.
    last: (Instant, u64),
}

impl Live {
    pub(crate) fn new() -> Self {
        let now = Clock::now();
        let due = if io::stderr().is_terminal() { now + EVERY } else { Instant::FAR_FUTURE };
        Self { due, start: now, last: (now, 0) }
    }

    /// Writes nothing.
    pub(crate) fn silent() -> Self {
        let now = Clock::now();
        Self { due: Instant::FAR_FUTURE, start: now, last: (now, 0) }
    }

    /// The time of the next line.
    pub(crate) fn due(&self) -> Instant {
        self.due
    }

    /// Starts to count seconds and cycles from zero.
    pub(crate) fn forget(&mut self) {
        if self.due != Instant::FAR_FUTURE {
            *self = Self::new();
        }
    }

    pub(crate) fn show(&mut self, now: Instant, load: &Load) {
        let (then, before) = self.last;
        let cycles = load.tally().cycles;
        self.last = (now, cycles);
        self.due = now + EVERY;
        let rate = cycles.saturating_sub(before) as f64 / (now - then).as_secs_f64();
        let seconds = (now - self.start).as_secs();
        let failed = grouped(load.tally().failures.total());
        let mut line =
            format!("{seconds:3} s {:>11} cycles/s   failed {failed}", grouped(rate as u64));
        for (_, address, status) in load.engine().nodes() {
            if status.state != NodeState::Ready {
                line += &format!("   {address}: {}", status.state);
            }
        }
        // A line that is wider than the terminal could not be written over.
        let line: String = line.chars().take(columns() - 1).collect();
        write(&format!("{CLEAR}{line}"));
    }

    /// Deletes the line.
    pub(crate) fn clear(&self) {
        if self.due != Instant::FAR_FUTURE {
            write(CLEAR);
        }
    }
}

/// Returns the width of the terminal. A terminal that does not know its width says 0.
fn columns() -> usize {
    let columns = tcgetwinsize(io::stderr()).map_or(0, |size| usize::from(size.ws_col));
    if columns == 0 { 80 } else { columns }
}

/// Writes to the terminal. The terminal may have been closed, which is no reason to end the run.
fn write(text: &str) {
    let mut stderr = io::stderr();
    let _ = stderr.write_all(text.as_bytes());
    let _ = stderr.flush();
}

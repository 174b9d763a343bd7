//! One line a second at the terminal while the load runs.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use redbolt::Clock;
use redbolt::time::Instant;
use rustix::termios::tcgetwinsize;

use super::progress::Progress;
use crate::number::grouped;

const EVERY: Duration = Duration::from_secs(1);

/// Moves to the first column, and deletes the rest of the line.
const CLEAR: &str = "\r\x1b[K";

/// Writes a line over the last one. Without a terminal no line is ever due.
pub(crate) struct Live {
    due: Instant,
    begin: Instant,
    /// The time of the last line, and the number of cycles at that time.
    last: (Instant, u64),
}

impl Live {
    /// Counts seconds from the end of the warm-up.
    pub(crate) fn new(begin: Instant) -> Self {
        let now = Clock::now();
        let due = if can_overwrite() { now + EVERY } else { Instant::FAR_FUTURE };
        Self { due, begin, last: (now, 0) }
    }

    /// Writes the line if it is due.
    pub(crate) fn show(&mut self, now: Instant, progress: &[Progress]) {
        if now < self.due {
            return;
        }
        let (then, before) = self.last;
        let cycles = progress.iter().map(Progress::cycles).sum::<u64>();
        let failed = progress.iter().map(Progress::failed).sum::<u64>();
        self.last = (now, cycles);
        self.due = now + EVERY;
        let rate = cycles.saturating_sub(before) as f64 / (now - then).as_secs_f64();
        let seconds = (now - self.begin).as_secs();
        let (rate, failed) = (grouped(rate as u64), grouped(failed));
        let mut line = format!("{seconds:3} s {rate:>11} cycles/s   failed {failed}");
        // All engines see the same nodes, and the first may see one that another does not.
        let mut absent: Vec<_> = progress.iter().flat_map(Progress::absent).collect();
        absent.sort_unstable();
        absent.dedup();
        absent.iter().for_each(|node| line += &format!("   {node}"));
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

/// Whether there is a terminal that can delete a line; one that is called dumb cannot.
fn can_overwrite() -> bool {
    io::stderr().is_terminal() && env::var_os("TERM").is_none_or(|name| name != "dumb")
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

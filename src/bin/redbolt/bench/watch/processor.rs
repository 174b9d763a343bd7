//! What the client has cost: the processor time of a thread, and of the whole process.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The processor time of this thread so far. Embedded masters have threads of their own.
pub(crate) fn of_thread() -> Duration {
    so_far(ClockId::ThreadCPUTime)
}

/// The processor time of this process so far, embedded masters included.
pub(crate) fn of_process() -> Duration {
    so_far(ClockId::ProcessCPUTime)
}

#[expect(clippy::disallowed_methods, reason = "processor time is no time of a clock")]
fn so_far(clock: ClockId) -> Duration {
    // The kernel counts from the start of the thread or process, so the time is not negative.
    Duration::try_from(clock_gettime(clock)).unwrap_or_default()
}

//! The processor time of this process.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The processor time of this process so far, embedded masters included.
#[expect(clippy::disallowed_methods, reason = "processor time is no time of a clock")]
pub(super) fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    // The kernel counts from the start of the process, so the time is not negative.
    Duration::try_from(time).unwrap_or_default()
}

//! The only place that reads a clock.

use rustix::time::{ClockId, clock_gettime};

use crate::time::Instant;

/// `CLOCK_BOOTTIME` (S9): monotonic, never stepped, and it goes on while the machine is suspended.
/// A holder that sleeps through its validity finds on waking that it has ended.
#[derive(Clone, Copy, Debug)]
pub struct Clock;

impl Clock {
    /// Nanoseconds since boot. Costs some 40 ns and no system call where the kernel provides the
    /// clock through the vDSO, as it does on all common machines.
    #[inline]
    pub fn now() -> Instant {
        let time = clock_gettime(ClockId::Boottime);
        // The kernel keeps both fields at or above zero, and 2⁶⁴ ns are 584 years.
        Instant::from_nanos((time.tv_sec as u64) * 1_000_000_000 + time.tv_nsec as u64)
    }
}

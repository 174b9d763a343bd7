//! The clock. Others read the time through this file.
#![expect(clippy::disallowed_methods, reason = "all others are to read this clock")]

use core::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use super::system;
use crate::time::Instant;

/// The clock of the crate (S9): `CLOCK_BOOTTIME` on Linux, `CLOCK_MONOTONIC_RAW` on macOS.
///
/// This clock is monotonic, is never stepped, and keeps running while the machine is suspended. A
/// holder that sleeps through the end of its validity therefore notices the end after waking up.
#[derive(Clone, Copy, Debug)]
pub struct Clock;

impl Clock {
    /// Returns the time since boot.
    ///
    /// A call costs some 40 ns. No system call is needed where Linux provides the clock through the
    /// vDSO, as on all common machines.
    #[inline]
    pub fn now() -> Instant {
        system::since_boot()
    }

    /// Returns the time since 1970, by the wall clock. No lock depends on this time alone: it is
    /// compared with what another machine wrote, and the older of two ages never counts (S11).
    pub(crate) fn since_1970() -> Duration {
        let time = clock_gettime(ClockId::Realtime);
        // A clock that is set before 1970 gives no time.
        let secs = u64::try_from(time.tv_sec).unwrap_or(0);
        Duration::new(secs, u32::try_from(time.tv_nsec).unwrap_or(0))
    }
}

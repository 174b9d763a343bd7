//! Linux: `CLOCK_BOOTTIME`, `getrandom`, a timer descriptor, and all options of TCP.
#![expect(clippy::disallowed_methods, reason = "all others read net::Clock")]

use core::time::Duration;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};

use rustix::io::Errno;
use rustix::net::sockopt;
use rustix::rand::{GetRandomFlags, getrandom};
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};

use crate::time::Instant;

/// The time without an acknowledgement after which the kernel gives up.
const USER_TIMEOUT: Duration = Duration::from_secs(30);

/// Reads `CLOCK_BOOTTIME`, which the kernel provides through the vDSO on all common machines.
#[inline]
pub(in crate::net) fn since_boot() -> Instant {
    let time = clock_gettime(ClockId::Boottime);
    // The kernel keeps both fields at or above zero, and 2⁶⁴ ns are 584 years.
    Instant::from_nanos((time.tv_sec as u64) * 1_000_000_000 + time.tv_nsec as u64)
}

/// Fills `bytes` with random ones. Blocks only in the first seconds after a boot, until the kernel
/// has gathered enough entropy.
pub(in crate::net) fn fill(mut bytes: &mut [u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match getrandom(&mut *bytes, GetRandomFlags::empty()) {
            Ok(count) => bytes = &mut bytes[count..],
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// A timer descriptor on `CLOCK_BOOTTIME`. `epoll_wait` by itself counts in milliseconds, on a
/// clock that stops in suspend.
#[derive(Debug)]
pub struct Timer(OwnedFd);

impl Timer {
    /// Creates a timer that does not go off.
    pub fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        Ok(Self(timerfd_create(TimerfdClockId::Boottime, flags)?))
    }

    /// Sets the instant at which the timer goes off, in place of the one that was set before.
    pub fn set(&self, at: Instant) -> io::Result<()> {
        // A value of zero would disarm the timer. One nanosecond is in the past as well.
        let nanos = at.as_nanos().max(1);
        let value = Timespec {
            tv_sec: (nanos / 1_000_000_000) as i64,
            tv_nsec: (nanos % 1_000_000_000) as i64,
        };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: value };
        timerfd_settime(&self.0, TimerfdTimerFlags::ABSTIME, &once)?;
        Ok(())
    }

    /// Makes the timer ready to go off again.
    ///
    /// Nothing is to be done. The expiration count need not be read: epoll watches the timer
    /// edge-triggered, and setting the timer resets the count.
    pub fn went_off(&self) {}
}

impl AsRawFd for Timer {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// Has the kernel end a connection without acknowledgements.
pub(in crate::net) fn end_when_silent(stream: impl AsFd) -> io::Result<()> {
    Ok(sockopt::set_tcp_user_timeout(stream, USER_TIMEOUT.as_millis() as u32)?)
}

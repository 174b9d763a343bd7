//! A file descriptor that becomes readable at a point in time.
//!
//! The end of a lock is measured on `CLOCK_BOOTTIME`, which counts suspend. The timeout of
//! `epoll_wait` does not count suspend. A timer on `CLOCK_BOOTTIME` whose time came during a
//! suspend fires at once afterwards.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use redbolt::time::Instant;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

pub(super) struct Alarm(OwnedFd);

impl Alarm {
    pub(super) fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        Ok(Self(timerfd_create(TimerfdClockId::Boottime, flags)?))
    }

    /// Sets the time at which the alarm fires, in place of the time that was set before. An alarm
    /// in the past fires at once, an alarm at `FAR_FUTURE` never.
    pub(super) fn set(&self, at: Instant) -> io::Result<()> {
        // Zero would disarm the timer, so that an alarm at the origin fires at one nanosecond.
        let nanos = if at == Instant::FAR_FUTURE { 0 } else { at.as_nanos().max(1) };
        let value = Timespec {
            tv_sec: (nanos / 1_000_000_000) as i64,
            tv_nsec: (nanos % 1_000_000_000) as i64,
        };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: value };
        timerfd_settime(&self.0, TimerfdTimerFlags::ABSTIME, &once)?;
        Ok(())
    }
}

impl AsRawFd for Alarm {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

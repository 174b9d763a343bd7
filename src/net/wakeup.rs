//! A file descriptor that becomes readable at a deadline.
//!
//! `epoll_wait` counts in milliseconds and on a clock that stops in suspend. A timer descriptor on
//! `CLOCK_BOOTTIME` counts in nanoseconds, wakes at once after a suspend in which the deadline
//! passed, and makes the engine's one descriptor enough for a foreign loop.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

use crate::time::Instant;

pub(super) struct Wakeup {
    timer: OwnedFd,
    /// When the timer goes off; `FAR_FUTURE` when it is not armed.
    armed: Instant,
}

impl Wakeup {
    pub(super) fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Boottime, flags)?;
        Ok(Self { timer, armed: Instant::FAR_FUTURE })
    }

    pub(super) fn as_raw_fd(&self) -> RawFd {
        self.timer.as_raw_fd()
    }

    /// Makes sure that the timer goes off no later than `deadline`. Returns whether that took a
    /// system call: a deadline that moves back takes none, because one wake-up too early is
    /// cheaper than arming anew for every lock.
    pub(super) fn arm(&mut self, deadline: Instant) -> io::Result<bool> {
        if deadline >= self.armed {
            return Ok(false);
        }
        // Zero would disarm the timer; a deadline at the origin has passed just as well at one.
        let nanos = deadline.as_nanos().max(1);
        let value = Timespec {
            tv_sec: (nanos / 1_000_000_000) as i64,
            tv_nsec: (nanos % 1_000_000_000) as i64,
        };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: value };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &once)?;
        self.armed = deadline;
        Ok(true)
    }

    /// The timer went off. Its count need not be read: it is registered edge-triggered, and arming
    /// it again resets the count.
    pub(super) fn went_off(&mut self) {
        self.armed = Instant::FAR_FUTURE;
    }
}

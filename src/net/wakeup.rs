//! The timer: a file descriptor that becomes readable at a deadline.
//!
//! `epoll_wait` counts in milliseconds, on a clock that stops in suspend. A timer descriptor on
//! `CLOCK_BOOTTIME` counts in nanoseconds. If a deadline passes during a suspend, the descriptor
//! wakes the thread at once afterwards. And because epoll watches the timer too, the one descriptor
//! of the engine is all that another loop needs.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

use crate::time::Instant;

pub(super) struct Wakeup {
    timer: OwnedFd,
    /// The instant at which the timer goes off; `FAR_FUTURE` while the timer is not armed.
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

    /// Makes sure that the timer goes off no later than `deadline`. Returns `true` if a system call
    /// was needed.
    ///
    /// A deadline later than the armed one needs no call: one wake-up too early is cheaper than
    /// arming the timer again for every lock.
    pub(super) fn arm(&mut self, deadline: Instant) -> io::Result<bool> {
        if deadline >= self.armed {
            return Ok(false);
        }
        // A value of zero would disarm the timer. One nanosecond is in the past as well.
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

    /// Notes that the timer went off.
    ///
    /// The expiration count need not be read: epoll watches the timer edge-triggered, and arming
    /// the timer resets the count.
    pub(super) fn went_off(&mut self) {
        self.armed = Instant::FAR_FUTURE;
    }
}

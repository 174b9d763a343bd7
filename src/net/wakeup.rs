//! The timer: a file descriptor that becomes readable at a deadline.
//!
//! The timeout of a wait is no match for it: `epoll_wait` counts in milliseconds, and no system
//! counts the time in which the machine sleeps. If a deadline passes during a sleep, the descriptor
//! wakes the thread at once afterwards. And because the loop watches the timer too, the one
//! descriptor of the engine is all that another loop needs.

use std::io;
use std::os::fd::{AsRawFd, RawFd};

use super::system::Timer;
use crate::time::Instant;

pub(super) struct Wakeup {
    timer: Timer,
    /// The instant at which the timer goes off; `FAR_FUTURE` while the timer is not armed.
    armed: Instant,
}

impl Wakeup {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { timer: Timer::new()?, armed: Instant::FAR_FUTURE })
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
        self.timer.set(deadline)?;
        self.armed = deadline;
        Ok(true)
    }

    /// Notes that the timer went off.
    pub(super) fn went_off(&mut self) {
        self.armed = Instant::FAR_FUTURE;
        self.timer.went_off();
    }
}

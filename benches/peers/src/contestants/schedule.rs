//! When cycles start in an open loop.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::time::Duration;

use redbolt::Clock;
use redbolt::time::Instant;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

use crate::plan::Outcome;

/// Starts at a fixed rate. One that comes late does not move those after it, and its latency counts
/// from when it should have been: coordinated omission would hide it.
///
/// A timer descriptor becomes readable at every start, as a socket does with a request: whoever is
/// measured is woken up to begin, and nobody's loop has to count in whole milliseconds.
pub(crate) struct Schedule {
    timer: OwnedFd,
    origin: Instant,
    rate: u64,
    count: u64,
}

impl Schedule {
    pub(crate) fn new(rate: u32) -> Outcome<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Boottime, flags)?;
        let origin = Clock::now();
        let period = Duration::from_secs(1) / rate;
        let period = Timespec::try_from(period)?;
        let ticks = Itimerspec { it_interval: period, it_value: period };
        timerfd_settime(&timer, TimerfdTimerFlags::empty(), &ticks)?;
        Ok(Self { timer, origin, rate: rate.into(), count: 0 })
    }

    /// When the next cycle should start, or should have.
    pub(crate) fn next(&self) -> Instant {
        // Whole seconds apart, so that no rounding adds up.
        let seconds = Duration::from_secs(self.count / self.rate);
        let nanos = Duration::from_nanos(self.count % self.rate * 1_000_000_000 / self.rate);
        self.origin + seconds + nanos
    }

    /// It has started.
    pub(crate) fn advance(&mut self) {
        self.count += 1;
    }

    /// Takes note of the ticks so far. Without that there are no more.
    pub(crate) fn clear(&self) {
        let mut count = [0; 8];
        // That there is none to read is nothing to take note of.
        let _ = rustix::io::read(&self.timer, &mut count);
    }
}

impl AsFd for Schedule {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.timer.as_fd()
    }
}

impl AsRawFd for Schedule {
    fn as_raw_fd(&self) -> RawFd {
        self.timer.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_keep_to_the_rate() {
        let mut schedule = Schedule::new(3).expect("a timer");
        for nanos in [0, 333_333_333, 666_666_666, 1_000_000_000] {
            assert_eq!((schedule.next() - schedule.origin).as_nanos(), nanos);
            schedule.advance();
        }
    }
}

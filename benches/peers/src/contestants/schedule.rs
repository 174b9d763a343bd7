//! The times at which cycles start in an open loop.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::time::Duration;

use redbolt::Clock;
use redbolt::time::Instant;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

use crate::plan::Outcome;

/// Starts at a fixed rate. A late start does not move the following ones, and the latency of a late
/// start counts from the time at which the start was due: coordinated omission would hide the
/// delay.
///
/// A timer descriptor becomes readable at every start, as a socket does with a request. So the
/// descriptor wakes the contestant for each start, and no loop has to count in whole milliseconds.
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

    /// Returns the time at which the next cycle is or was due.
    pub(crate) fn next(&self) -> Instant {
        // The sum is made of whole seconds and a rest, so that rounding errors do not add up.
        let seconds = Duration::from_secs(self.count / self.rate);
        let nanos = Duration::from_nanos(self.count % self.rate * 1_000_000_000 / self.rate);
        self.origin + seconds + nanos
    }

    /// Takes the start that was due off the schedule.
    pub(crate) fn advance(&mut self) {
        self.count += 1;
    }

    /// Reads the ticks so far; unread ticks would keep the descriptor readable.
    pub(crate) fn clear(&self) {
        let mut count = [0; 8];
        // Without a tick the read fails, and there is nothing to do.
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

//! macOS: `CLOCK_MONOTONIC_RAW`, `/dev/urandom`, and a kqueue with a timer.

use core::time::Duration;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, RawFd};

use nix::libc;
use nix::sys::event::{EvFlags, EventFilter, FilterFlag, KEvent, Kqueue};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};
use rustix::io::{FdFlags, fcntl_setfd};

use crate::time::Instant;

/// `mach_continuous_time` in nanoseconds. Darwin's `CLOCK_MONOTONIC` counts sleep as well, but has
/// microseconds only: it is the wall clock less the time of the boot.
const CLOCK: ClockId = ClockId::from_raw(libc::CLOCK_MONOTONIC_RAW);

/// The longest time for which the timer is set. A loop that wakes up too early sets it again.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// Reads `CLOCK_MONOTONIC_RAW`, which needs no system call.
#[inline]
pub(in crate::net) fn since_boot() -> Instant {
    // The call fails only for a clock that the system does not have. macOS has this one since
    // 10.12, and Rust supports nothing older.
    let time = clock_gettime(CLOCK).expect("macOS has CLOCK_MONOTONIC_RAW");
    Instant::from_nanos((time.tv_sec() as u64) * 1_000_000_000 + time.tv_nsec() as u64)
}

/// Fills `bytes` with random ones. `/dev/urandom` never blocks on macOS.
pub(in crate::net) fn fill(bytes: &mut [u8]) -> io::Result<()> {
    File::open("/dev/urandom")?.read_exact(bytes)
}

/// A kqueue that holds one timer. A kqueue can be watched by another one, as any descriptor.
#[derive(Debug)]
pub struct Timer(Kqueue);

impl Timer {
    /// Creates a timer that does not go off.
    pub fn new() -> io::Result<Self> {
        let queue = Kqueue::new()?;
        fcntl_setfd(&queue, FdFlags::CLOEXEC)?;
        Ok(Self(queue))
    }

    /// Sets the instant at which the timer goes off, in place of the one that was set before.
    pub fn set(&self, at: Instant) -> io::Result<()> {
        let rest = (at - since_boot()).clamp(Duration::from_nanos(1), LONGEST);
        // Sleep counts, and the kernel does not put the timer off to save power.
        let how = libc::NOTE_NSECONDS | libc::NOTE_MACH_CONTINUOUS_TIME | libc::NOTE_CRITICAL;
        let timer = KEvent::new(
            0,
            EventFilter::EVFILT_TIMER,
            EvFlags::EV_ADD | EvFlags::EV_ONESHOT,
            FilterFlag::from_bits_retain(how),
            rest.as_nanos() as libc::intptr_t,
            0,
        );
        self.0.kevent(&[timer], &mut [], None)?;
        Ok(())
    }

    /// Makes the timer ready to go off again: takes the event out of the queue, which tells its
    /// watcher only of the first one.
    pub fn went_off(&self) {
        let mut events = [KEvent::new(
            0,
            EventFilter::EVFILT_TIMER,
            EvFlags::empty(),
            FilterFlag::empty(),
            0,
            0,
        )];
        // An event that stays is taken out at the next time.
        _ = self.0.kevent(&[], &mut events, Some(*TimeSpec::new(0, 0).as_ref()));
    }
}

impl AsRawFd for Timer {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_fd().as_raw_fd()
    }
}

/// Does nothing, for want of a safe call that sets `TCP_RXT_CONNDROPTIME`. The probes of keepalive
/// end an idle connection, and the core gives up a connection whose node owes an answer.
pub(in crate::net) fn end_when_silent(_stream: impl AsFd) -> io::Result<()> {
    Ok(())
}

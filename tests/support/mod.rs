//! Shared support of the integration tests: real server processes and hostile ones.
//!
//! A test says `mod support;` and takes what it needs:
//!
//! - [`servers`]: real masters on free ports, killed, stopped, restarted, never left behind;
//! - [`flavours`]: such masters of other versions and makers, where they were fetched;
//! - [`clocks`]: such masters with wall clocks that can be stepped;
//! - [`fake`]: servers that misbehave on purpose, and [`master`], the part of them that behaves;
//! - [`proxy`]: a link to a real server that harms what it carries;
//! - [`wire`]: a blocking client of a few lines.
//!
//! Nothing here may use the library: a test must not judge the code by the code. Nothing here
//! sleeps for a fixed time either: a test waits for the thing itself, with a deadline ([`until`]).
#![allow(dead_code, reason = "each test crate compiles all of it and uses its own part")]

pub(crate) mod clocks;
pub(crate) mod fake;
pub(crate) mod flavours;
pub(crate) mod master;
pub(crate) mod ports;
pub(crate) mod process;
pub(crate) mod program;
pub(crate) mod proxy;
pub(crate) mod servers;
pub(crate) mod wire;

use std::thread;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// How often [`until`] looks: often enough not to slow a test down, seldom enough to leave the
/// processor to the servers that the test waits for.
const POLL_EVERY: Duration = Duration::from_millis(1);

/// Waits until `condition` holds, for at most `limit`, and returns whether it came to hold.
///
/// Meant for states that nobody announces: a process that vanishes, a server that starts to answer.
/// The condition is looked at once more after the deadline, so that a test thread which was not
/// scheduled for a while does not fail a test that has long been fulfilled.
pub(crate) fn until(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let deadline = now() + limit;
    while now() < deadline {
        if condition() {
            return true;
        }
        thread::park_timeout(POLL_EVERY);
    }
    condition()
}

/// The time since boot, on the clock on which the library measures validity.
pub(crate) fn now() -> Duration {
    #[cfg(target_os = "linux")]
    let clock = ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    let clock = ClockId::Monotonic;
    Duration::try_from(clock_gettime(clock)).expect("the time since boot is not negative")
}

//! Shared support of the integration tests: real server processes and hostile ones.
//!
//! A test says `mod support;` and takes what it needs:
//!
//! - [`servers`]: real masters on free ports, to be killed, stopped and restarted, and never left
//!   behind;
//! - [`flavours`]: masters of other versions and makers, where they were fetched;
//! - [`clocks`]: masters with wall clocks that can be stepped;
//! - [`fake`]: servers that misbehave on purpose, and [`master`], their well-behaved part;
//! - [`far`]: links to real servers that take their time;
//! - [`postgres`]: a PostgreSQL server, where one is installed;
//! - [`proxy`]: links to real servers that harm what they carry;
//! - [`rights`]: the rights that a user of the servers needs;
//! - [`terminal`]: a terminal with a shell, to type at;
//! - [`watched`]: a program whose output is read while it runs;
//! - [`wire`]: a blocking client of a few lines.
//!
//! Nothing here may use the library: a test must not judge the code by the code. Nothing here
//! sleeps for a fixed time either: a test waits for the thing itself, with a deadline ([`until`]).
#![allow(dead_code, reason = "each test crate compiles all of it and uses its own part")]

pub(crate) mod clocks;
pub(crate) mod fake;
pub(crate) mod far;
pub(crate) mod flavours;
pub(crate) mod master;
pub(crate) mod ports;
pub(crate) mod postgres;
pub(crate) mod process;
pub(crate) mod program;
pub(crate) mod proxy;
pub(crate) mod rights;
pub(crate) mod servers;
#[cfg(target_os = "linux")]
pub(crate) mod terminal;
pub(crate) mod watched;
pub(crate) mod wire;

use std::thread;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// How often [`until`] checks: often enough not to slow a test down, seldom enough to leave the
/// processor to the servers that the test waits for.
const POLL_EVERY: Duration = Duration::from_millis(1);

/// Waits until `condition` holds, for at most `limit`. Returns whether the condition came to hold.
///
/// Meant for states that nothing announces: a process that vanishes, a server that starts to
/// answer. After the deadline the condition is checked once more, so that a test does not fail
/// because its thread was not scheduled for a while.
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

/// Returns the time since boot, on the clock with which the library measures validity.
#[expect(clippy::disallowed_methods, reason = "a test must not judge the code by the code")]
pub(crate) fn now() -> Duration {
    #[cfg(target_os = "linux")]
    let clock = ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    let clock = ClockId::Monotonic;
    Duration::try_from(clock_gettime(clock)).expect("the time since boot is not negative")
}

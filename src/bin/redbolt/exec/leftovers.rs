//! Waiting until nothing is left of a command that was killed.

use std::io;
use std::time::Duration;

use super::child::Child;
use super::watch::{News, Watch};

/// How long processes may take to die after `SIGKILL`.
const KILL_TIMEOUT: Duration = Duration::from_millis(100);

/// How often to check whether they are gone.
const CHECK_EVERY: Duration = Duration::from_millis(2);

/// Kills all that an ended command has left behind, and waits until nothing of it can act any more.
/// Returns false if that takes too long: a killed process may be in the middle of a system call,
/// for however long that call takes, and a process of another user may refuse to be killed.
pub(super) fn end(watch: &mut Watch, child: &mut Child) -> io::Result<bool> {
    let deadline = watch.engine.now() + KILL_TIMEOUT;
    loop {
        // Again each time, for those that were just being started.
        child.kill();
        if child.reap_all() {
            return Ok(true);
        }
        let now = watch.engine.now();
        if now >= deadline {
            return Ok(false);
        }
        // No other news changes what is done here.
        while !matches!(watch.next(now + CHECK_EVERY)?, News::Time) {}
    }
}

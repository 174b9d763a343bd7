//! Stopping as a job of a shell stops, together with the command.
//!
//! While this process is stopped, nobody renews the lock, and nobody ends the command when the lock
//! does. So all that the command has started is stopped before, and is continued only if the lock
//! is still held then.

use std::io;

use rustix::process::{Pid, Signal, getpid, kill_current_process_group, kill_process};

use super::child::Child;
use super::process::Process;
use super::system;
use super::watch::Watch;

/// What has come of a wish to stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    /// This process was stopped, and has been continued. The command is still stopped.
    Continued,
    /// No shell would continue this process. The system ignores `Ctrl-Z` in such a case.
    Orphaned,
    /// Something that the command has started cannot be stopped, and this process was not. All
    /// else is stopped.
    Unstoppable,
}

/// Who has been stopped by the terminal or by a signal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    /// This process, and perhaps its whole group.
    Ours,
    /// The command, which has the terminal.
    Command,
}

/// Stops what the command has started, and then this process, until somebody continues this
/// process.
pub(super) fn suspend(
    watch: &mut Watch,
    child: Option<&mut Child>,
    origin: Origin,
) -> io::Result<Outcome> {
    if is_orphaned() {
        return Ok(Outcome::Orphaned);
    }
    if let Some(child) = child {
        if !child.stop_all() {
            return Ok(Outcome::Unstoppable);
        }
        // Another redbolt may have lent the terminal to this one.
        child.suspend_loan();
    }
    if origin == Origin::Command {
        // The shell waits for all processes that it has started with this one, and has the
        // terminal again once they are stopped. This process has a handler for the signal.
        kill_current_process_group(Signal::TSTP)?;
    }
    // A signal to continue, which came while all this went on, is later than the one to stop.
    if !watch.take_continue() {
        kill_process(getpid(), Signal::STOP)?;
    }
    watch.forget_job_control();
    Ok(Outcome::Continued)
}

/// Whether no process of our session watches over our group. The system does not let the signals of
/// a terminal stop such a group, because nobody would continue it.
fn is_orphaned() -> bool {
    // The calls of the system have no answer for a group or a session of another container.
    let Some(us) = system::find(getpid()) else { return true };
    let watches = |parent: Option<Pid>| {
        let parent = parent.and_then(system::find);
        parent.is_some_and(|parent| parent.session == us.session && parent.group != us.group)
    };
    let is_watched = |process: &Process| {
        process.group == us.group && process.is_alive && watches(process.parent)
    };
    !watches(us.parent) && !system::list().visible.iter().any(is_watched)
}

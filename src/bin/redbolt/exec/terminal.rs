//! The terminal, lent to the command for as long as the command needs it.
//!
//! A terminal lets only its foreground process group read, and `Ctrl-C` reaches only that group.
//! The command has a group of its own, so that an interactive command needs the foreground.

use std::fs::File;
use std::io::{self, IsTerminal};

use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use rustix::io::Errno;
use rustix::process::{Pid, getpid, test_kill_process_group};
use rustix::termios::{tcgetpgrp, tcsetpgrp};

use super::system;

pub(super) struct Terminal {
    tty: File,
    /// The process group of this process, and of the processes that were started together with it.
    ours: Pid,
    borrower: Pid,
}

impl Terminal {
    /// Returns the terminal of this session, for a group that may borrow it; `None` without one.
    pub(super) fn of_session(borrower: Pid) -> Option<Self> {
        let tty = File::options().read(true).write(true).open("/dev/tty").ok()?;
        // The system has no id for a group of another container.
        let ours = system::find(getpid())?.group?;
        Some(Self { tty, ours, borrower })
    }

    /// Whether the command gets the foreground without asking. Where standard output
    /// is no terminal, another process of our group, such as a pager, is likely to need it.
    pub(super) fn is_interactive() -> bool {
        io::stdin().is_terminal() && io::stdout().is_terminal()
    }

    /// Puts the group of the command into the foreground, if our own group is there. Returns
    /// whether the group is in the foreground now.
    pub(super) fn lend(&self) -> bool {
        match tcgetpgrp(&self.tty) {
            Ok(group) if group == self.ours => self.give_to(self.borrower),
            Ok(group) => group == self.borrower,
            Err(_) => false,
        }
    }

    /// Returns whether the command has the foreground.
    pub(super) fn is_lent(&self) -> bool {
        tcgetpgrp(&self.tty).is_ok_and(|group| group == self.borrower)
    }

    /// Puts our own group back into the foreground. A third group that has got the foreground from
    /// the command, or from a shell, keeps it as long as one of its processes exists.
    pub(super) fn take_back(&self) {
        let Ok(group) = tcgetpgrp(&self.tty) else { return };
        if group == self.borrower || test_kill_process_group(group) == Err(Errno::SRCH) {
            self.give_to(self.ours);
        }
    }

    fn give_to(&self, group: Pid) -> bool {
        without_stop(|| tcsetpgrp(&self.tty, group)).is_ok()
    }
}

/// Calls a function that changes the terminal from its background, for which the system otherwise
/// stops the whole group.
fn without_stop<T>(change: impl FnOnce() -> T) -> T {
    let mut set = SigSet::empty();
    set.add(Signal::SIGTTOU);
    let before = set.thread_swap_mask(SigmaskHow::SIG_BLOCK);
    let result = change();
    if let Ok(before) = before {
        // The set is one that the system has returned.
        _ = before.thread_set_mask();
    }
    result
}

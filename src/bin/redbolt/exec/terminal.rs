//! The terminal, lent to the command for as long as the command runs.
//!
//! A terminal lets only its foreground process group read, and `Ctrl-C` reaches only that group.
//! The command has a group of its own, so that an interactive command needs the foreground.

use std::io::{self, IsTerminal};

use rustix::process::{Pid, Signal, getpgrp, kill_process_group, setpgid};
use rustix::termios::{tcgetpgrp, tcsetpgrp};

pub(super) struct Terminal {
    /// The process group of this process, and of the processes that were started together with it.
    ours: Pid,
    borrower: Pid,
}

impl Terminal {
    /// Puts the group `borrower` into the foreground; `None` where this process does not have the
    /// foreground itself, or standard output is not a terminal. In the latter case another process
    /// of this group, such as a pager, is likely to need the terminal.
    pub(super) fn lend(borrower: Pid) -> Option<Self> {
        let stdin = io::stdin();
        if !stdin.is_terminal() || !io::stdout().is_terminal() {
            return None;
        }
        let ours = getpgrp();
        if tcgetpgrp(&stdin).ok()? != ours {
            return None;
        }
        tcsetpgrp(&stdin, borrower).ok()?;
        // A command that has read from the terminal before it was in the foreground is stopped.
        _ = kill_process_group(borrower, Signal::CONT);
        Some(Self { ours, borrower })
    }

    /// Puts our own group back into the foreground. The group of the borrower must still exist.
    ///
    /// Only a process in the foreground may change the foreground group. Any other process is
    /// stopped by `SIGTTOU` with its whole group. So this process joins the group in the foreground
    /// for a moment. A session leader cannot join, and need not: its end, which comes next, takes
    /// the session from the terminal.
    pub(super) fn take_back(self) {
        let stdin = io::stdin();
        // The command may have given the foreground to a third group, which then keeps it.
        let is_lent = tcgetpgrp(&stdin).is_ok_and(|group| group == self.borrower);
        if is_lent && setpgid(None, Some(self.borrower)).is_ok() {
            _ = tcsetpgrp(&stdin, self.ours);
            _ = setpgid(None, Some(self.ours));
        }
    }
}

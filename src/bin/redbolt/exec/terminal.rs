//! The terminal, lent to the command for as long as it runs.
//!
//! A terminal lets only its foreground process group read, and `Ctrl-C` reaches only that group.
//! The command has a group of its own, so an interactive one needs the foreground.

use std::io::{self, IsTerminal};

use rustix::process::{Pid, Signal, getpgrp, kill_process_group, setpgid};
use rustix::termios::{tcgetpgrp, tcsetpgrp};

pub(super) struct Terminal {
    /// The process group of this process, and of those that were started together with it.
    ours: Pid,
    borrower: Pid,
}

impl Terminal {
    /// Puts the group `borrower` into the foreground; `None` where that is not ours to give. When
    /// standard output is not a terminal, somebody in our own group is likely to need it, such as
    /// a pager.
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
        // If the command has read from the terminal before it was in the foreground, it is stopped.
        _ = kill_process_group(borrower, Signal::CONT);
        Some(Self { ours, borrower })
    }

    /// Puts our own group back into the foreground. The group of the borrower must still exist.
    ///
    /// Only a process in the foreground may do that; any other is stopped by `SIGTTOU` with its
    /// whole group. So this process joins the group in the foreground for a moment. A session
    /// leader cannot, and need not: when it ends, which is next, the terminal has no session.
    pub(super) fn take_back(self) {
        let stdin = io::stdin();
        // The command may have given the foreground to a third group, and then so be it.
        let is_lent = tcgetpgrp(&stdin).is_ok_and(|group| group == self.borrower);
        if is_lent && setpgid(None, Some(self.borrower)).is_ok() {
            _ = tcsetpgrp(&stdin, self.ours);
            _ = setpgid(None, Some(self.ours));
        }
    }
}

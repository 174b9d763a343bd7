//! The command as a process, and the group that it leads.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{self, Command};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, waitid,
};

use super::failure::died_of;
use super::terminal::Terminal;

/// A started command.
///
/// It is waited for only at the very end: until then its id, which is the id of its group as well,
/// cannot belong to anybody else, and a signal to the group cannot hit a stranger. An error on the
/// way drops the child, and then nobody guards the lock any more: its whole group is killed.
pub(super) struct Child {
    process: process::Child,
    group: Pid,
    terminal: Option<Terminal>,
    has_ended: bool,
}

impl Child {
    /// Runs `program` with `arguments` in a process group of its own, with the standard streams
    /// of this process, and in the foreground where this process is.
    pub(super) fn start<'a>(
        program: &OsStr,
        arguments: &[impl AsRef<OsStr>],
        environment: impl IntoIterator<Item = (&'a str, &'a OsStr)>,
    ) -> io::Result<Self> {
        let mut command = Command::new(program);
        command.args(arguments).envs(environment).process_group(0);
        let process = command.spawn()?;
        let group = Pid::from_child(&process);
        let terminal = Terminal::lend(group);
        Ok(Self { process, group, terminal, has_ended: false })
    }

    /// The exit code once the command has ended. What it has started may go on.
    pub(super) fn exit_code(&mut self) -> io::Result<Option<u8>> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::STOPPED;
        let options = options | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let Some(status) = waitid(WaitId::Pid(self.group), options)? else { return Ok(None) };
        if status.stopped() {
            self.stopped(&status);
            return Ok(None);
        }
        self.has_ended = true;
        let code = status.exit_status().and_then(|code| u8::try_from(code).ok());
        let died = || died_of(status.terminating_signal().unwrap_or_default());
        Ok(Some(code.unwrap_or_else(died)))
    }

    /// Ctrl-Z stops the command but not this process, which is not in the foreground: the terminal
    /// would belong to nobody who reads it until the lock ends. So the command goes on.
    fn stopped(&self, status: &WaitIdStatus) {
        if self.terminal.is_some() && status.stopping_signal() == Some(Signal::TSTP.as_raw()) {
            self.signal(Signal::CONT);
        }
    }

    /// Sends a signal to the whole group.
    pub(super) fn signal(&self, signal: Signal) {
        // There is always somebody to receive it, the command itself if nobody else. A group that
        // has taken on other rights refuses it, and nothing can be done about that.
        _ = kill_process_group(self.group, signal);
    }

    /// `SIGTERM` to the whole group, also to those in it that are stopped.
    pub(super) fn terminate(&self) {
        self.signal(Signal::TERM);
        self.signal(Signal::CONT);
    }

    /// `SIGKILL` to the whole group.
    pub(super) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Kills what a command that has ended left of its group, which this yields. The command
    /// itself is in the group until it has been waited for, so it is.
    pub(super) fn end_group(self) -> Pid {
        self.kill();
        self.group
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.has_ended {
            self.kill();
        }
        // The group has to be there for this, so it comes before the wait.
        if let Some(terminal) = self.terminal.take() {
            terminal.take_back();
        }
        // Does not block: the command has ended, or is about to.
        _ = self.process.wait();
    }
}

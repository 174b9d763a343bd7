//! The command as a process, and the process group that it leads.

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
/// The process is waited for only at the very end. Until then its id, which is also the id of its
/// group, cannot belong to another process, and a signal to the group cannot hit a stranger. An
/// error on the way drops the child. Nobody guards the lock from then on, so that the drop kills
/// the whole group.
pub(super) struct Child {
    process: process::Child,
    group: Pid,
    terminal: Option<Terminal>,
    has_ended: bool,
}

impl Child {
    /// Starts `program` with `arguments` in a process group of its own, with the standard streams
    /// of this process, and in the foreground if this process is there.
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

    /// Returns the exit code once the command has ended. Processes of the command may go on.
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

    /// Continues a command that Ctrl-Z has stopped. Ctrl-Z does not stop this process, which is not
    /// in the foreground, and until the lock ends nobody would read from the terminal.
    fn stopped(&self, status: &WaitIdStatus) {
        if self.terminal.is_some() && status.stopping_signal() == Some(Signal::TSTP.as_raw()) {
            self.signal(Signal::CONT);
        }
    }

    /// Sends a signal to the whole group.
    pub(super) fn signal(&self, signal: Signal) {
        // There is always a process to receive the signal, at least the command itself. A group
        // with other rights may refuse the signal, and nothing can be done about that.
        _ = kill_process_group(self.group, signal);
    }

    /// Sends `SIGTERM` to the whole group, and continues stopped processes, so that they receive
    /// it.
    pub(super) fn terminate(&self) {
        self.signal(Signal::TERM);
        self.signal(Signal::CONT);
    }

    /// Sends `SIGKILL` to the whole group.
    pub(super) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Kills the processes that an ended command has left in its group, and waits for the command.
    /// Returns the group.
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
        // The group must still exist here, so this comes before the wait.
        if let Some(terminal) = self.terminal.take() {
            terminal.take_back();
        }
        // The wait does not block: the command has ended, or was killed.
        _ = self.process.wait();
    }
}

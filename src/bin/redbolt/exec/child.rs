//! The command as a process, and the process group that it leads.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process, kill_process_group, waitid,
};

use super::birth;
use super::descendants::Descendants;
use super::ending::Ending;
use super::system;
use super::terminal::Terminal;

/// A started command.
///
/// The process is waited for only at the very end. Until then its id, which is also the id of its
/// group, cannot belong to another process, and a signal to the group cannot hit a stranger. An
/// error on the way drops the child. Nobody guards the lock from then on, so that the drop kills
/// all that the command has started.
pub(super) struct Child {
    process: std::process::Child,
    group: Pid,
    descendants: Descendants,
    terminal: Option<Terminal>,
    ending: Option<Ending>,
    /// The command has been waited for: the id can belong to another process.
    is_waited_for: bool,
}

impl Child {
    /// Starts `program` with `arguments` in a process group of its own, with the standard streams
    /// of this process, and in the foreground if this process is there.
    pub(super) fn start<'a>(
        program: &OsStr,
        arguments: &[impl AsRef<OsStr>],
        environment: impl IntoIterator<Item = (&'a str, Option<&'a OsStr>)>,
    ) -> io::Result<Self> {
        let mut command = Command::new(program);
        command.args(arguments).process_group(0);
        for (name, value) in environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let descendants = Descendants::new()?;
        let process = birth::spawn(&mut command)?;
        let group = Pid::from_child(&process);
        let terminal = Terminal::of_session(group);
        let child =
            Self { process, group, descendants, terminal, ending: None, is_waited_for: false };
        child.lend_terminal();
        Ok(child)
    }

    /// The process id of the command.
    pub(super) fn pid(&self) -> i32 {
        self.group.as_raw_nonzero().get()
    }

    /// Returns how the command has ended, once it has. Its processes may go on.
    pub(super) fn ending(&mut self) -> io::Result<Option<Ending>> {
        if self.ending.is_some() {
            return Ok(self.ending);
        }
        // The dead command is left as it is, and keeps its id.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::Pid(self.group), options)?;
        self.ending = status.as_ref().map(Ending::of);
        Ok(self.ending)
    }

    /// Returns the signal that has stopped the command since the last call.
    pub(super) fn stopped_by(&self) -> io::Result<Option<Signal>> {
        let options = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG;
        match waitid(WaitId::Pid(self.group), options) {
            Ok(status) => {
                let signal = status.as_ref().and_then(WaitIdStatus::stopping_signal);
                Ok(signal.and_then(Signal::from_named_raw))
            }
            // The command has just ended, and cannot be stopped any more.
            Err(Errno::CHILD) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns whether a signal waits for the command, the leader of the group, to be continued.
    pub(super) fn awaits(&self, signal: Signal) -> bool {
        system::is_pending(self.group, signal)
    }

    /// Waits for the dead that the command has left to this process.
    pub(super) fn reap(&self) {
        self.descendants.reap(self.group);
    }

    /// Waits for the command, which has ended, and for the dead that it has left to this process.
    /// Returns whether nobody is left.
    pub(super) fn reap_all(&mut self) -> bool {
        // Orphans that nobody adopts are not found. Those in the group are: the dead command keeps
        // the id of the group.
        if !system::ADOPTS_ORPHANS {
            return false;
        }
        self.is_waited_for = true;
        self.descendants.reap_all()
    }

    /// Gives the terminal to a command that is likely to use it. A command that wanted to use it
    /// before is stopped, and is continued when that is noticed.
    pub(super) fn lend_terminal(&self) {
        if Terminal::is_interactive() {
            self.lend_on_demand();
        }
    }

    /// Gives the terminal to a command that was stopped for want of it. Returns whether the command
    /// has it now.
    pub(super) fn lend_on_demand(&self) -> bool {
        self.terminal.as_ref().is_some_and(Terminal::lend)
    }

    /// Takes the terminal back for as long as this process is stopped.
    pub(super) fn suspend_loan(&self) {
        if let Some(terminal) = &self.terminal {
            terminal.take_back();
        }
    }

    /// Takes the terminal back for good.
    pub(super) fn end_loan(&mut self) {
        if let Some(terminal) = self.terminal.take() {
            terminal.take_back();
        }
    }

    /// Returns whether the command has the terminal.
    pub(super) fn has_terminal(&self) -> bool {
        self.terminal.as_ref().is_some_and(Terminal::is_lent)
    }

    /// Returns whether all are stopped that the command has started in other groups, and there are
    /// some. Another redbolt stops them before it stops itself, and hardly anybody else does.
    /// `false` where the system does not tell.
    pub(super) fn has_stopped_its_job(&mut self) -> bool {
        self.descendants.are_stopped(self.group)
    }

    /// Sends a signal to the whole group. Once the id of the group may belong to another, the
    /// signal goes to each of those that are left.
    pub(super) fn signal(&mut self, signal: Signal) {
        if self.is_waited_for {
            return self.descendants.signal(signal, None);
        }
        // A group with other rights may refuse the signal, and nothing can be done about that.
        _ = kill_process_group(self.group, signal);
        // The command may have joined another group.
        if system::find(self.group).is_some_and(|command| command.group != Some(self.group)) {
            _ = kill_process(self.group, signal);
        }
    }

    /// Sends a signal to the whole group, and to those that have left it.
    pub(super) fn signal_all(&mut self, signal: Signal) {
        self.signal(signal);
        if !self.is_waited_for {
            self.descendants.signal(signal, Some(self.group));
        }
    }

    /// Sends `SIGTERM` to all that the command has started, and continues stopped processes, so
    /// that they receive it.
    pub(super) fn terminate(&mut self) {
        self.signal_all(Signal::TERM);
        self.signal_all(Signal::CONT);
    }

    /// Sends `SIGKILL` to all that the command has started.
    pub(super) fn kill(&mut self) {
        let command = (!self.is_waited_for).then_some(self.group);
        if command.is_some() {
            self.signal(Signal::KILL);
        }
        self.descendants.kill(command);
    }

    /// Stops all that the command has started. Returns `false` if that is not certain.
    pub(super) fn stop_all(&mut self) -> bool {
        // The whole group at once, where nobody can start another process in between.
        self.signal(Signal::STOP);
        self.descendants.stop(self.group)
    }

    /// Continues all that [`stop_all`](Self::stop_all) has stopped.
    pub(super) fn resume_all(&mut self) {
        self.signal(Signal::CONT);
        self.descendants.resume();
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.ending.is_none() {
            self.kill();
        }
        self.end_loan();
        // A command that refuses to be killed, or is in the middle of a system call, is left to the
        // system, which waits for it once this process has ended.
        _ = self.process.try_wait();
    }
}

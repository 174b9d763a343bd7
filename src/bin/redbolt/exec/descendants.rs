//! What a command has started, and what that has started in turn.
//!
//! A process leaves its group with `setsid`, and its parent by outliving it. But this process is
//! the subreaper of all of them: whoever loses its parent becomes a child of this process. So each
//! of them can be found from here, as long as its work is not done by a service that was there
//! before, such as `at`, `systemd-run` or a daemon of containers.

use std::io;

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process, pidfd_open,
    pidfd_send_signal, set_child_subreaper, wait, waitid,
};

use super::process::{self, Process, State};

pub(super) struct Descendants {
    /// The children from before the command, of whoever became this process by `exec`.
    strangers: Vec<Process>,
}

impl Descendants {
    /// Becomes the parent of all that the command will leave behind. The command must not run yet.
    pub(super) fn new() -> io::Result<Self> {
        set_child_subreaper(Some(getpid()))?;
        let has_children = || {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            !matches!(waitid(WaitId::All, options), Err(Errno::CHILD))
        };
        let all = if has_children() { process::all().unwrap_or_default() } else { Vec::new() };
        let is_child = |process: &Process| process.parent == Some(getpid());
        Ok(Self { strangers: all.into_iter().filter(is_child).collect() })
    }

    /// Returns those that live; `None` where the system hides the processes of other users.
    pub(super) fn living(&self) -> Option<Vec<Process>> {
        let mut found = descend(process::all()?, getpid(), &self.strangers);
        found.retain(Process::is_alive);
        Some(found)
    }

    /// Waits for the dead that nobody else waits for, the command among them. Returns whether
    /// nobody is left. From then on the ids of all of them may belong to others.
    pub(super) fn are_gone(&self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) | Err(Errno::INTR) => {}
                // Without a child there is no grandchild either.
                Err(_) => return true,
                Ok(None) => break,
            }
        }
        // A process that starts another and ends can be overlooked together with the other, but
        // not twice: the other is there from the beginning of the second look.
        (0..2).all(|_| self.living().is_some_and(|living| living.is_empty()))
    }

    /// Waits for the dead that have become children of this process, but not for the command, whose
    /// id is the id of its group.
    pub(super) fn reap(&self, command: Pid) {
        let is_ours = |process: &Process| {
            !process.is_alive() && process.parent == Some(getpid()) && process.pid != command
        };
        for process in process::all().unwrap_or_default().iter().filter(|process| is_ours(process))
        {
            _ = rustix::process::waitpid(Some(process.pid), WaitOptions::NOHANG);
        }
    }

    /// Sends a signal to all that are outside of a group, or to all.
    pub(super) fn signal(&self, signal: Signal, except: Option<Pid>) {
        let is_meant = |process: &&Process| except.is_none() || process.group != except;
        for process in self.living().unwrap_or_default().iter().filter(is_meant) {
            send(process, signal);
        }
    }

    /// Returns whether none of them is seen to run: all that live are stopped.
    pub(super) fn are_stopped(&self) -> bool {
        let living = self.living().unwrap_or_default();
        living.iter().all(|process| process.state == State::Stopped)
    }
}

/// Returns the descendants of `root`, without these children of it and their descendants.
fn descend(all: Vec<Process>, root: Pid, strangers: &[Process]) -> Vec<Process> {
    let is_stranger = |process: &Process| {
        strangers.iter().any(|one| (one.pid, one.started) == (process.pid, process.started))
    };
    let mut rest: Vec<_> = all.into_iter().filter(|process| !is_stranger(process)).collect();
    let (mut found, mut parents) = (Vec::new(), vec![root]);
    while let Some(parent) = parents.pop() {
        let is_child = |process: &Process| process.parent == Some(parent);
        let (children, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(is_child);
        rest = others;
        parents.extend(children.iter().map(|child| child.pid));
        found.extend(children);
    }
    found
}

/// Sends a signal to this process, and to no other that has got its id meanwhile. A process of
/// another user may refuse, and nothing can be done about that.
fn send(process: &Process, signal: Signal) {
    match pidfd_open(process.pid, PidfdFlags::empty()) {
        Ok(handle) => {
            let now = process::find(process.pid);
            if now.is_some_and(|now| now.started == process.started) {
                _ = pidfd_send_signal(handle, signal);
            }
        }
        // A kernel from before 5.3.
        Err(Errno::NOSYS) => _ = kill_process(process.pid, signal),
        Err(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descendants_are_found_through_all_generations_and_strangers_are_not() {
        let pid = |id| Pid::from_raw(id).expect("not zero");
        let process = |(id, parent, started)| Process {
            pid: pid(id),
            parent: Pid::from_raw(parent),
            group: None,
            session: None,
            state: State::Running,
            started,
        };
        let found = |rows: &[(i32, i32, u64)], strangers: &[(i32, i32, u64)]| {
            let [all, strangers] =
                [rows, strangers].map(|rows| rows.iter().copied().map(process).collect::<Vec<_>>());
            let mut found: Vec<_> = descend(all, pid(10), &strangers)
                .iter()
                .map(|process| process.pid.as_raw_nonzero().get())
                .collect();
            found.sort_unstable();
            found
        };
        let tree = [(1, 0, 0), (10, 1, 5), (11, 10, 6), (12, 11, 7), (13, 12, 8), (14, 1, 9)];
        assert_eq!(found(&tree, &[]), [11, 12, 13]);
        assert_eq!(found(&tree, &[(11, 10, 6)]), [0; 0]);
        // Another process has got the id of the stranger.
        assert_eq!(found(&tree, &[(11, 10, 4)]), [11, 12, 13]);
        assert_eq!(found(&[], &[]), [0; 0]);
    }
}

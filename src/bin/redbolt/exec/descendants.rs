//! The processes that a command has started, and their own descendants.
//!
//! A process leaves its group with `setsid`, and its parent by outliving it. But this process is
//! the subreaper of all of them: whoever loses its parent becomes a child of this process. So each
//! of them can be found from here, as long as its work is not done by a service that was there
//! before, such as `at`, `systemd-run` or a daemon of containers.

use std::io;

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process, wait, waitid, waitpid,
};

use super::process::{Listing, Process};
use super::system::{self, send};

/// How often to look for processes that were started while others were being stopped.
const STOP_ROUNDS: usize = 10;

/// How often to look for the newest processes before all are listed.
const KILL_ROUNDS: usize = 32;

/// How many ids back the newest processes are looked for: more than a chain can be ahead of a look.
const NEWEST: i32 = 32;

pub(super) struct Descendants {
    /// The descendants from before the command, of whoever became this process by `exec`, and what
    /// they have started since. This process is the subreaper of these as well.
    strangers: Vec<Process>,
    /// Those that this process has stopped, outside of the group of the command.
    stopped: Vec<Process>,
}

impl Descendants {
    /// Becomes the parent of all that the command will leave behind. The command must not run yet.
    pub(super) fn new() -> io::Result<Self> {
        system::adopt_orphans()?;
        let has_children = || {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            !matches!(waitid(WaitId::All, options), Err(Errno::CHILD))
        };
        let all = if has_children() { system::list().visible } else { Vec::new() };
        Ok(Self { strangers: descend(&all, &[getpid()]), stopped: Vec::new() })
    }

    /// Returns those that live.
    fn living(&mut self) -> Listing {
        let Listing { visible, is_complete } = system::list();
        if !self.strangers.is_empty() {
            self.strangers.retain(|stranger| visible.iter().any(|process| process.is(stranger)));
            let parents: Vec<_> = self.strangers.iter().map(|stranger| stranger.pid).collect();
            self.strangers.extend(descend(&visible, &parents));
        }
        let mut visible = descend(&visible, &[getpid()]);
        let is_stranger = |process: &Process| self.strangers.iter().any(|one| one.is(process));
        visible.retain(|process| process.is_alive && !is_stranger(process));
        Listing { visible, is_complete }
    }

    /// Waits for the dead that nobody else waits for, the command among them. Returns whether
    /// nobody is left. From then on the ids of all of them may belong to others.
    pub(super) fn reap_all(&mut self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) | Err(Errno::INTR) => {}
                // Without a child there is no grandchild either.
                Err(_) => return true,
                Ok(None) => break,
            }
        }
        // A child lives, and is none of the strangers if there are none.
        if self.strangers.is_empty() {
            return false;
        }
        // A process that starts another and ends can be overlooked together with the other, but
        // hardly twice: the other is there from the beginning of the second look.
        (0..2).all(|_| {
            let Listing { visible, is_complete } = self.living();
            is_complete && visible.is_empty()
        })
    }

    /// Waits for the dead that have become children of this process, but not for the command, whose
    /// id is the id of its group.
    pub(super) fn reap(&self, command: Pid) {
        // A command that has ended hides those behind it, who are waited for at the end.
        while let Some(pid) = system::dead_child().filter(|pid| *pid != command) {
            _ = waitpid(Some(pid), WaitOptions::NOHANG);
        }
    }

    /// Sends a signal to all that are outside of a group, or to all.
    pub(super) fn signal(&mut self, signal: Signal, except: Option<Pid>) {
        let is_meant = |process: &&Process| except.is_none() || process.group != except;
        for process in self.living().visible.iter().filter(is_meant) {
            // A process of another user may refuse, and nothing can be done about that.
            _ = send(process, signal);
        }
    }

    /// Kills all but the command, which has another way as long as nobody has waited for it.
    pub(super) fn kill(&mut self, command: Option<Pid>) {
        // A child of this process may be one of the strangers.
        if self.strangers.is_empty() {
            self.kill_newest(command);
        }
        self.signal(Signal::KILL, command);
    }

    /// Kills the newest, again and again, up to a bound.
    ///
    /// A chain of processes, each of which starts the next and ends, is ahead of every list of all
    /// processes: whoever is listed has ended before the signal. But the one that lives has one of
    /// the latest ids. And the oldest that is left of a chain, dead or alive, is always a child of
    /// this process.
    fn kill_newest(&mut self, command: Option<Pid>) {
        let us = Some(getpid());
        let is_meant = |process: &Process| process.parent == us && Some(process.pid) != command;
        for _ in 0..KILL_ROUNDS {
            // The dead would only make the next look take longer.
            match command {
                Some(command) => self.reap(command),
                None => _ = self.reap_all(),
            }
            let mut has_found = false;
            for child in system::newest(NEWEST).filter(is_meant) {
                has_found = true;
                // Nobody else waits for a child, so that its id cannot belong to another yet.
                _ = kill_process(child.pid, Signal::KILL);
            }
            if !has_found {
                return;
            }
        }
    }

    /// Stops all that are outside of a group. Returns `false` if a process refuses, or may be
    /// hidden, or if new ones come faster than they can be stopped. A process that has got the
    /// signal executes nothing of its own any more, even before the system shows it as stopped.
    pub(super) fn stop(&mut self, except: Pid) -> bool {
        self.stopped.clear();
        let mut seen: Vec<Process> = Vec::new();
        for _ in 0..STOP_ROUNDS {
            let Listing { mut visible, is_complete } = self.living();
            visible.retain(|process| !seen.iter().any(|one| one.is(process)));
            if visible.is_empty() {
                return is_complete;
            }
            for process in &visible {
                let is_outside = process.group != Some(except) && !process.is_stopped;
                if is_outside && send(process, Signal::STOP) == Err(Errno::PERM) {
                    return false;
                }
                self.stopped.extend(is_outside.then(|| process.clone()));
            }
            seen.extend(visible);
        }
        false
    }

    /// Returns whether there is somebody outside of a group, and all of them are stopped.
    pub(super) fn are_stopped(&mut self, except: Pid) -> bool {
        let Listing { mut visible, .. } = self.living();
        visible.retain(|process| process.group != Some(except));
        let is_stopped = |process: &Process| {
            // The system shows a process as stopped a little after the signal.
            process.is_stopped || system::is_pending(process.pid, Signal::STOP)
        };
        !visible.is_empty() && visible.iter().all(is_stopped)
    }

    /// Continues those that [`stop`](Self::stop) has stopped. Others had been stopped before, such
    /// as the jobs of a shell, and stay so.
    pub(super) fn resume(&mut self) {
        for process in self.stopped.drain(..) {
            _ = send(&process, Signal::CONT);
        }
    }
}

/// Returns the descendants of these processes.
fn descend(all: &[Process], of: &[Pid]) -> Vec<Process> {
    let mut rest: Vec<_> = all.iter().filter(|process| !of.contains(&process.pid)).collect();
    let (mut found, mut parents) = (Vec::new(), of.to_vec());
    while let Some(parent) = parents.pop() {
        let is_child = |process: &&Process| process.parent == Some(parent);
        let (children, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(is_child);
        rest = others;
        parents.extend(children.iter().map(|child| child.pid));
        found.extend(children.into_iter().cloned());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descendants_are_found_through_all_generations() {
        let pid = |id| Pid::from_raw(id).expect("not zero");
        let process = |(id, parent)| Process {
            pid: pid(id),
            parent: Pid::from_raw(parent),
            group: None,
            session: None,
            is_alive: true,
            is_stopped: false,
            started: 0,
        };
        let tree = [(1, 0), (10, 1), (11, 10), (12, 11), (13, 12), (14, 1), (15, 14)].map(process);
        let rows: [(&[i32], &[i32]); 5] = [
            (&[10], &[11, 12, 13]),
            (&[11, 14], &[12, 13, 15]),
            (&[10, 11], &[12, 13]),
            (&[13], &[]),
            (&[99], &[]),
        ];
        for (of, expected) in rows {
            let of: Vec<_> = of.iter().copied().map(pid).collect();
            let found = descend(&tree, &of);
            let mut found: Vec<_> =
                found.iter().map(|process| process.pid.as_raw_nonzero().get()).collect();
            found.sort_unstable();
            assert_eq!(found, expected, "{of:?}");
        }
    }
}

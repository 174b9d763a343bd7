//! The processes of this machine, as `/proc` shows them.

use std::fs;

use rustix::process::Pid;

/// A process at the time of the look.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Process {
    pub(super) pid: Pid,
    /// `None` for a process whose parent is outside of this container.
    pub(super) parent: Option<Pid>,
    pub(super) group: Option<Pid>,
    pub(super) session: Option<Pid>,
    pub(super) state: State,
    /// The time of the start. A process that has got the id of another has a later one.
    pub(super) started: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    Running,
    Stopped,
    /// The process has only not been waited for.
    Dead,
}

/// Returns every process of this machine, or of this container; `None` where the system hides those
/// of other users.
pub(super) fn all() -> Option<Vec<Process>> {
    // The first process belongs to root, or to whoever has made the container.
    fs::read("/proc/1/stat").ok()?;
    let entries = fs::read_dir("/proc").ok()?.flatten();
    let stat = |pid: Pid| fs::read(format!("/proc/{pid}/stat"));
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    // A process that cannot be read has vanished since.
    let found = pids.filter_map(Pid::from_raw).filter_map(|pid| {
        let stat = stat(pid).ok()?;
        Process::read(pid, &String::from_utf8_lossy(&stat))
    });
    Some(found.collect())
}

/// Returns a process, if there is one with this id.
pub(super) fn find(pid: Pid) -> Option<Process> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    Process::read(pid, &String::from_utf8_lossy(&stat))
}

impl Process {
    /// Reads a line of `/proc/<pid>/stat`.
    fn read(pid: Pid, stat: &str) -> Option<Self> {
        // The name is in parentheses and may itself contain any character.
        let (_, fields) = stat.rsplit_once(") ")?;
        let fields: Vec<_> = fields.split_ascii_whitespace().take(20).collect();
        let [state, parent, group, session, ..] = fields[..] else { return None };
        let (threads, started) = (fields.get(17)?, fields.get(19)?);
        let id = |text: &str| text.parse().ok().and_then(Pid::from_raw);
        let state = match state {
            // The first thread of a process may be dead while others are not.
            "Z" | "X" if matches!(*threads, "0" | "1") => State::Dead,
            "T" | "t" => State::Stopped,
            _ => State::Running,
        };
        Some(Self {
            pid,
            parent: id(parent),
            group: id(group),
            session: id(session),
            state,
            started: started.parse().ok()?,
        })
    }

    pub(super) fn is_alive(&self) -> bool {
        self.state != State::Dead
    }
}

#[cfg(test)]
mod tests {
    use rustix::process::{getpgrp, getpid, getppid};

    use super::*;

    #[test]
    fn a_line_of_the_system_is_read_whatever_the_name_of_the_process_is() {
        // From the state: parent, group, session, …, number of threads, …, start.
        let stat = |name: &str, state: &str, threads: &str| {
            format!("7 ({name}) {state} 1 42 5 0 -1 4228 0 0 0 0 0 0 0 0 20 0 {threads} 0 99 0 0")
        };
        let pid = |id| Pid::from_raw(id).expect("not zero");
        let read = |text: &str| Process::read(pid(7), text);
        let expected = Process {
            pid: pid(7),
            parent: Pid::from_raw(1),
            group: Pid::from_raw(42),
            session: Pid::from_raw(5),
            state: State::Running,
            started: 99,
        };
        assert_eq!(read(&stat("sh", "S", "1")), Some(expected.clone()));
        assert_eq!(read(&stat("a) Z (b c", "D", "1")), Some(expected));
        let state = |name, threads| read(&stat("sh", name, threads)).map(|process| process.state);
        assert_eq!(state("Z", "1"), Some(State::Dead));
        assert_eq!(state("X", "0"), Some(State::Dead));
        assert_eq!(state("Z", "3"), Some(State::Running), "other threads live");
        assert_eq!(state("T", "1"), Some(State::Stopped));
        for text in ["", "7 (sh) S 1 42", "7 sh S 1 42 5 0 -1 4228"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn this_process_is_among_all() {
        let ours = find(getpid()).expect("this process is there");
        assert_eq!((ours.parent, ours.group), (getppid(), Some(getpgrp())));
        let all = all().expect("the tests may see all processes");
        let found = all.iter().find(|process| process.pid == ours.pid).expect("this one too");
        assert_eq!((found.started, found.is_alive()), (ours.started, true));
    }
}

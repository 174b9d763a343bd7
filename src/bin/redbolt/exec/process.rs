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
    /// A dead process has only not been waited for.
    pub(super) is_alive: bool,
    /// The time of the start. A process that has got the id of another has a later one.
    pub(super) started: u64,
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
    /// Whether both are looks at one process, and not at two that have had the same id.
    pub(super) fn is(&self, other: &Self) -> bool {
        (self.pid, self.started) == (other.pid, other.started)
    }

    /// Reads a line of `/proc/<pid>/stat`.
    fn read(pid: Pid, stat: &str) -> Option<Self> {
        // The name is in parentheses and may itself contain any character.
        let (_, fields) = stat.rsplit_once(") ")?;
        let fields: Vec<_> = fields.split_ascii_whitespace().take(20).collect();
        let [state, parent, group, session, ..] = fields[..] else { return None };
        let (threads, started) = (fields.get(17)?, fields.get(19)?);
        let id = |text: &str| text.parse().ok().and_then(Pid::from_raw);
        // The first thread of a process may be dead while others are not.
        let is_dead = matches!(state, "Z" | "X") && matches!(*threads, "0" | "1");
        Some(Self {
            pid,
            parent: id(parent),
            group: id(group),
            session: id(session),
            is_alive: !is_dead,
            started: started.parse().ok()?,
        })
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
            is_alive: true,
            started: 99,
        };
        assert_eq!(read(&stat("sh", "S", "1")), Some(expected.clone()));
        assert_eq!(read(&stat("a) Z (b c", "D", "1")), Some(expected));
        let is_alive = |state, threads| read(&stat("sh", state, threads)).map(|one| one.is_alive);
        assert_eq!(is_alive("Z", "1"), Some(false));
        assert_eq!(is_alive("X", "0"), Some(false));
        assert_eq!(is_alive("Z", "3"), Some(true), "other threads live");
        assert_eq!(is_alive("T", "1"), Some(true));
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
        assert_eq!((found.started, found.is_alive), (ours.started, true));
    }
}

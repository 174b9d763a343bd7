//! The processes of this machine, as `/proc` shows them.

use std::fs;

use rustix::process::{Pid, Signal, getpid};

use crate::exec::process::{Listing, Process};

/// Lists the processes.
pub(in crate::exec) fn list() -> Listing {
    let is_ours = has_our_ids();
    let entries = fs::read_dir("/proc").ok().filter(|_| is_ours).into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    // A process that cannot be read has vanished since.
    let visible = pids.filter_map(Pid::from_raw).filter_map(find).collect();
    // The first process belongs to root, or to whoever has made the container. Where the system
    // hides the processes of others, that one is hidden as well.
    Listing { visible, is_complete: is_ours && fs::read("/proc/1/stat").is_ok() }
}

/// Returns the processes that have the latest `count` ids, the latest first. They are looked at one
/// by one, as the caller goes on. That takes a small part of the time that a list of all takes.
pub(in crate::exec) fn newest(count: i32) -> impl Iterator<Item = Process> {
    let load = fs::read_to_string("/proc/loadavg").ok().filter(|_| has_our_ids());
    // The last field is the latest id.
    let last = load.and_then(|load| load.split_whitespace().next_back()?.parse::<i32>().ok());
    let ids = last.into_iter().flat_map(move |last| (last.saturating_sub(count)..=last).rev());
    ids.take_while(|id| *id > 1).filter_map(Pid::from_raw).filter_map(find)
}

/// Whether the ids in `/proc` are those by which this process knows others. What belongs to another
/// container has other ids there.
fn has_our_ids() -> bool {
    fs::read_link("/proc/self")
        .is_ok_and(|link| link.to_str() == Some(getpid().to_string().as_str()))
}

/// Returns a process, if there is one with this id.
pub(in crate::exec) fn find(pid: Pid) -> Option<Process> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse(pid, &String::from_utf8_lossy(&stat))
}

/// Returns whether a signal to a process waits for the process to take it.
pub(in crate::exec) fn is_pending(pid: Pid, signal: Signal) -> bool {
    let status = fs::read(format!("/proc/{pid}/status")).unwrap_or_default();
    // The name of a process need not be UTF-8.
    has_pending(&String::from_utf8_lossy(&status), signal)
}

/// Reads `/proc/<pid>/status`, which has a mask of the signals to the first thread, and one of
/// those to the whole process.
fn has_pending(status: &str, signal: Signal) -> bool {
    let mask = |line: &str| {
        let mask = line.strip_prefix("SigPnd:").or_else(|| line.strip_prefix("ShdPnd:"))?;
        u64::from_str_radix(mask.trim(), 16).ok()
    };
    let pending = status.lines().filter_map(mask).fold(0, |all, mask| all | mask);
    pending >> (signal.as_raw() - 1) & 1 == 1
}

/// Reads a line of `/proc/<pid>/stat`.
fn parse(pid: Pid, stat: &str) -> Option<Process> {
    // The name is in parentheses and may itself contain any character.
    let (_, fields) = stat.rsplit_once(") ")?;
    let fields: Vec<_> = fields.split_ascii_whitespace().take(20).collect();
    let [state, parent, group, session, ..] = fields[..] else { return None };
    let (threads, started) = (fields.get(17)?, fields.get(19)?);
    // The group and the session of a process that is just vanishing are -1.
    let id = |text: &str| text.parse().ok().filter(|id| *id > 0).and_then(Pid::from_raw);
    // The first thread of a process may be dead while others are not.
    let is_dead = matches!(state, "Z" | "X") && matches!(*threads, "0" | "1");
    Some(Process {
        pid,
        parent: id(parent),
        group: id(group),
        session: id(session),
        is_alive: !is_dead,
        is_stopped: matches!(state, "T" | "t"),
        started: started.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use rustix::process::{getpgrp, getppid};

    use super::*;

    #[test]
    fn a_line_of_the_system_is_read_whatever_the_name_of_the_process_is() {
        // From the state: parent, group, session, …, number of threads, …, start.
        let stat = |name: &str, state: &str, threads: &str| {
            format!("7 ({name}) {state} 1 42 5 0 -1 4228 0 0 0 0 0 0 0 0 20 0 {threads} 0 99 0 0")
        };
        let pid = |id| Pid::from_raw(id).expect("not zero");
        let read = |text: &str| parse(pid(7), text);
        let expected = Process {
            pid: pid(7),
            parent: Pid::from_raw(1),
            group: Pid::from_raw(42),
            session: Pid::from_raw(5),
            is_alive: true,
            is_stopped: false,
            started: 99,
        };
        assert_eq!(read(&stat("sh", "S", "1")), Some(expected.clone()));
        assert_eq!(read(&stat("a) Z (b c", "D", "1")), Some(expected));
        let is_alive = |state, threads| read(&stat("sh", state, threads)).map(|one| one.is_alive);
        assert_eq!(is_alive("Z", "1"), Some(false));
        assert_eq!(is_alive("X", "0"), Some(false));
        assert_eq!(is_alive("Z", "3"), Some(true), "other threads live");
        assert_eq!(is_alive("T", "1"), Some(true));
        let is_stopped = |state| read(&stat("sh", state, "1")).map(|one| one.is_stopped);
        assert_eq!(["T", "t", "S"].map(is_stopped), [true, true, false].map(Some));
        let vanishing = read("7 (sh) X 0 -1 -1 0 -1 4228 0 0 0 0 0 0 0 0 20 0 0 0 99 0 0");
        let ids = vanishing.map(|one| (one.parent, one.group, one.session, one.is_alive));
        assert_eq!(ids, Some((None, None, None, false)));
        for text in ["", "7 (sh) S 1 42", "7 sh S 1 42 5 0 -1 4228"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn a_signal_is_pending_for_the_process_or_for_its_first_thread() {
        let status =
            |thread, process| format!("Name:\tsh\nSigPnd:\t{thread}\nShdPnd:\t{process}\n");
        let (none, stop) = ("0000000000000000", "0000000000080000");
        for (status, expected) in [
            (status(none, none), false),
            (status(none, stop), true),
            (status(stop, none), true),
            (status(none, "0000000000040000"), false),
            (String::new(), false),
        ] {
            assert_eq!(has_pending(&status, Signal::TSTP), expected, "{status}");
        }
    }

    #[test]
    fn the_newest_processes_are_those_with_the_latest_ids() {
        let mut cat = Command::new("cat").stdin(Stdio::piped()).spawn().expect("a program");
        let newest: Vec<_> = newest(4_096).collect();
        let is_descending = newest
            .windows(2)
            .all(|pair| pair[0].pid.as_raw_nonzero() > pair[1].pid.as_raw_nonzero());
        let child = newest.into_iter().find(|process| process.pid == Pid::from_child(&cat));
        // The end of its input ends the program.
        assert!(cat.wait().is_ok_and(|status| status.success()));
        assert!(is_descending && child.is_some_and(|child| child.parent == Some(getpid())));
    }

    #[test]
    fn this_process_is_among_all() {
        let ours = find(getpid()).expect("this process is there");
        assert_eq!((ours.parent, ours.group), (getppid(), Some(getpgrp())));
        let listing = list();
        assert!(listing.is_complete, "the tests may see all processes");
        let found =
            listing.visible.iter().find(|process| process.pid == ours.pid).expect("this one too");
        assert_eq!((found.started, found.is_alive), (ours.started, true));
    }
}

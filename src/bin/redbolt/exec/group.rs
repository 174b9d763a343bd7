//! Whether anything is left of a process group.

use std::fs;
use std::io;
use std::time::Duration;

use rustix::process::{Pid, test_kill_process_group};

use super::watch::{News, Watch};

/// How long a process may take to die after `SIGKILL`, and its parent to wait for it.
const KILL_TIMEOUT: Duration = Duration::from_millis(100);

/// How often to check whether the group is gone.
const CHECK_EVERY: Duration = Duration::from_millis(2);

/// Waits until nothing of a killed group can act any more. Returns false if that takes too long: a
/// killed process may be in the middle of a system call, for however long that call takes.
pub(super) fn is_gone(watch: &mut Watch, group: Pid) -> io::Result<bool> {
    let deadline = watch.engine.now() + KILL_TIMEOUT;
    loop {
        if test_kill_process_group(group).is_err() {
            return Ok(true);
        }
        let now = watch.engine.now();
        if now >= deadline {
            return Ok(is_dead(group));
        }
        // No other news changes what is done here.
        while !matches!(watch.next(now + CHECK_EVERY)?, News::Time) {}
    }
}

/// Whether every process that is left of a group is dead and has only not been waited for. The
/// parent may never wait for such a process, and the system counts the process as a member until
/// then.
fn is_dead(group: Pid) -> bool {
    let Ok(processes) = fs::read_dir("/proc") else { return false };
    let group = group.as_raw_nonzero().to_string();
    // An entry that cannot be read has vanished since, or is not a process.
    let stats = processes.flatten().filter_map(|entry| fs::read(entry.path().join("stat")).ok());
    stats.into_iter().all(|stat| !is_alive_in(&group, &String::from_utf8_lossy(&stat)))
}

/// Whether a line of `/proc/<pid>/stat` describes a living member of the group.
fn is_alive_in(group: &str, stat: &str) -> bool {
    // The name is in parentheses and may itself contain any character.
    let Some((_, fields)) = stat.rsplit_once(") ") else { return false };
    let mut fields = fields.split(' ');
    let state = fields.next();
    // After the state come the parent and the group, and fifteen fields later the number of
    // threads.
    let is_member = fields.nth(1) == Some(group);
    // The first thread of a process may be dead while others are not.
    let is_dead = matches!(state, Some("Z" | "X")) && matches!(fields.nth(14), Some("0" | "1"));
    is_member && !is_dead
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_living_members_of_a_group_are_told_from_the_dead_and_from_others() {
        // From the state: parent, group, …, number of threads, …
        let stat = |name: &str, state: &str, threads: &str| {
            format!("7 ({name}) {state} 1 42 5 0 -1 4228364 0 0 0 0 0 0 0 0 20 0 {threads} 0 99 0")
        };
        assert!(is_alive_in("42", &stat("sh", "S", "1")));
        assert!(is_alive_in("42", &stat("a) Z (b", "D", "1")));
        assert!(!is_alive_in("42", &stat("sh", "Z", "1")));
        assert!(!is_alive_in("42", &stat("sh", "X", "0")));
        assert!(is_alive_in("42", &stat("its other threads live", "Z", "3")));
        assert!(!is_alive_in("4", &stat("sh", "S", "1")));
        assert!(!is_alive_in("42", ""));
    }
}

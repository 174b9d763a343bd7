//! macOS: process groups.

use std::io;
use std::iter;

use rustix::io::Errno;
use rustix::process::{
    Pid, Resource, Rlimit, Signal, getpgid, getpid, getppid, getrlimit, getsid, kill_process,
    setrlimit,
};

use crate::exec::process::{Listing, Process};

/// Orphans become children of the first process, and are not found any more.
pub(in crate::exec) const ADOPTS_ORPHANS: bool = false;

/// Does nothing: no process can do that here.
pub(in crate::exec) fn adopt_orphans() -> io::Result<()> {
    Ok(())
}

/// Returns `None`: without orphans, nobody but the command has to be waited for.
pub(in crate::exec) fn dead_child() -> Option<Pid> {
    None
}

/// Returns an empty list that does not claim to be complete: no safe call lists processes here.
pub(in crate::exec) fn list() -> Listing {
    Listing { visible: Vec::new(), is_complete: false }
}

/// Returns nothing, as [`list`].
pub(in crate::exec) fn newest(_count: i32) -> impl Iterator<Item = Process> {
    iter::empty()
}

/// Returns a process, if there is one with this id: its group and its session. The parent is known
/// of this process only.
pub(in crate::exec) fn find(pid: Pid) -> Option<Process> {
    let group = getpgid(Some(pid)).ok()?;
    Some(Process {
        pid,
        parent: if pid == getpid() { getppid() } else { None },
        group: Some(group),
        session: getsid(Some(pid)).ok(),
        is_alive: true,
        is_stopped: false,
        started: 0,
    })
}

/// The system does not tell.
pub(in crate::exec) fn is_pending(_process: Pid, _signal: Signal) -> bool {
    false
}

/// Sends a signal to this process.
pub(in crate::exec) fn send(process: &Process, signal: Signal) -> Result<(), Errno> {
    kill_process(process.pid, signal)
}

/// Has this process leave no memory for a debugger when it dies.
pub(in crate::exec) fn leave_no_core() -> io::Result<()> {
    let limit = Rlimit { current: Some(0), ..getrlimit(Resource::Core) };
    Ok(setrlimit(Resource::Core, limit)?)
}

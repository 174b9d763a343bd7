//! Linux: a subreaper, handles of processes, and `/proc`.

mod proc;

use std::io;

use nix::sys::wait::{Id, WaitPidFlag, waitid};
use rustix::io::Errno;
use rustix::process::{
    DumpableBehavior, Pid, PidfdFlags, Signal, getpid, kill_process, pidfd_open, pidfd_send_signal,
    set_child_subreaper, set_dumpable_behavior,
};

pub(in crate::exec) use self::proc::{find, is_pending, list, newest};
use crate::exec::process::Process;

/// Orphans become children of this process, once [`adopt_orphans`] has been called.
pub(in crate::exec) const ADOPTS_ORPHANS: bool = true;

/// Becomes the subreaper of all that this process starts from now on.
pub(in crate::exec) fn adopt_orphans() -> io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// Returns a child that has ended and has not been waited for, and leaves it as it is.
pub(in crate::exec) fn dead_child() -> Option<Pid> {
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    waitid(Id::All, flags)
        .ok()
        .and_then(|status| status.pid())
        .and_then(|pid| Pid::from_raw(pid.as_raw()))
}

/// Sends a signal to this process, and to no other that has got its id meanwhile.
pub(in crate::exec) fn send(process: &Process, signal: Signal) -> Result<(), Errno> {
    match pidfd_open(process.pid, PidfdFlags::empty()) {
        Ok(handle) => {
            let now = find(process.pid);
            let is_same = now.is_some_and(|now| now.started == process.started);
            if is_same { pidfd_send_signal(handle, signal) } else { Ok(()) }
        }
        // A kernel from before 5.3.
        Err(Errno::NOSYS) => kill_process(process.pid, signal),
        Err(error) => Err(error),
    }
}

/// Has this process leave no memory for a debugger when it dies.
pub(in crate::exec) fn leave_no_core() -> io::Result<()> {
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}

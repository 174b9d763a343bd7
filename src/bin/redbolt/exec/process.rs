//! A process, and all that this one may see.

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
    pub(super) is_stopped: bool,
    /// The time of the start. A process that has got the id of another has a later one.
    pub(super) started: u64,
}

/// The processes that this one may see.
pub(super) struct Listing {
    pub(super) visible: Vec<Process>,
    /// There are no others, on this machine or in this container.
    pub(super) is_complete: bool,
}

impl Process {
    /// Whether both are looks at one process, and not at two that have had the same id.
    pub(super) fn is(&self, other: &Self) -> bool {
        (self.pid, self.started) == (other.pid, other.started)
    }
}

//! The process that owns the sockets.
//!
//! After `fork`, parent and child have the same sockets, the same epoll, and the same tokens to
//! come. (Only a kqueue stays with the parent.) A child that went on would send the commands of its
//! parent, take the replies away from it, and release its locks. So whoever owns sockets remembers
//! the process in which they were opened, and does nothing in another one.

use core::fmt;
use std::io;
use std::process;

use rustix::system::uname;

/// The process in which something was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Process {
    id: u32,
}

impl Process {
    /// Returns the process that calls.
    pub(crate) fn current() -> Self {
        Self { id: process::id() }
    }

    /// Returns the name of the machine and the number of the process that calls, with a space
    /// behind each.
    pub(crate) fn place() -> String {
        let system = uname();
        format!("{} {} ", system.nodename().to_string_lossy(), process::id())
    }

    /// Returns whether this is the process that calls. Costs one system call, `getpid`.
    pub(crate) fn is_current(self) -> bool {
        self == Self::current()
    }

    /// Fails in any other process.
    pub(crate) fn check(self) -> Result<(), OtherProcess> {
        if self.is_current() { Ok(()) } else { Err(OtherProcess { owner: self.id }) }
    }
}

/// The error of an engine or a client that finds itself in a process which has not made it, after
/// `fork`. Nothing was sent, nothing was read, and no lock was touched: all of them belong to the
/// process that made them.
///
/// Create engines and clients after `fork`, one in each process. [`Engine::poll`] returns this
/// error inside its [`io::Error`]:
///
/// ```
/// use redbolt::OtherProcess;
///
/// fn is_forked(error: &std::io::Error) -> bool {
///     error.get_ref().is_some_and(|error| error.is::<OtherProcess>())
/// }
/// # assert!(!is_forked(&std::io::Error::other("another")));
/// ```
///
/// [`Engine::poll`]: crate::Engine::poll
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct OtherProcess {
    /// The id of the process that made the engine or the client.
    pub owner: u32,
}

impl fmt::Display for OtherProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "made by process {}, and this is process {}: after fork, each process needs an engine \
             or a client of its own",
            self.owner,
            process::id()
        )
    }
}

impl core::error::Error for OtherProcess {}

impl From<OtherProcess> for io::Error {
    fn from(error: OtherProcess) -> Self {
        Self::other(error)
    }
}

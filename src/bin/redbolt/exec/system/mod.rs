//! What differs between operating systems. The rest of `exec` does not know which system this is.
//!
//! Each system has a file with the same items. Linux finds all that a command has started, wherever
//! it has gone. macOS does not tell: there, `redbolt exec` knows the process group of the command,
//! lists nothing else, and is never certain that nobody is left. A lock whose command was killed is
//! left to its ttl then, and `--wait-group` is refused. A redbolt as the command of another one
//! gets the terminal for its own command only where both have it from the beginning.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

#[cfg(target_os = "linux")]
pub(super) use self::linux::{
    ADOPTS_ORPHANS, adopt_orphans, dead_child, find, is_pending, leave_no_core, list, newest, send,
};
#[cfg(target_os = "macos")]
pub(super) use self::macos::{
    ADOPTS_ORPHANS, adopt_orphans, dead_child, find, is_pending, leave_no_core, list, newest, send,
};

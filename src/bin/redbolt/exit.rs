//! Exit codes, after BSD's `sysexits.h` where it has one.

/// The command line, or a value in it, cannot be used.
pub(crate) const USAGE: u8 = 64;

/// No quorum of nodes could be asked.
pub(crate) const NO_QUORUM: u8 = 69;

/// Something in this program or the system failed.
pub(crate) const SOFTWARE: u8 = 70;

/// Somebody else held the lock until the wait ended. `--conflict-exit-code` replaces it.
pub(crate) const HELD: u8 = 75;

/// The validity of the lock ended while the command ran.
pub(crate) const LOST: u8 = 76;

//! Exit codes: those of BSD's `sysexits.h`, where that file has one for the case.

/// All resources that `redbolt who` was asked about are free, as `fuser` and `pgrep` say that they
/// have found nothing.
pub(crate) const FREE: u8 = 1;

/// `redbolt bench` has found a figure worse than that of the baseline, as `diff` says that there is
/// a difference.
pub(crate) const WORSE: u8 = 1;

/// The command line cannot be used, or a value in it cannot.
pub(crate) const USAGE: u8 = 64;

/// No quorum of nodes could be asked.
pub(crate) const NO_QUORUM: u8 = 69;

/// Something in this program or the system failed.
pub(crate) const SOFTWARE: u8 = 70;

/// Somebody else held the lock until the wait ended, or another value stands where `redbolt unlock`
/// was to delete one. `--conflict-exit-code` replaces this code.
pub(crate) const HELD: u8 = 75;

/// The validity of the lock ended while the command ran.
pub(crate) const LOST: u8 = 76;

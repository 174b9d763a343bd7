//! Whether a run has measured anything.
//!
//! A run that a signal ended is what the person at the terminal wanted, whatever its figures are.

use crate::bench::load::tally::Failures;
use crate::bench::signals::Signals;
use crate::exit;

/// The end of a run whose figures were printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    Measured,
    /// No lock was granted, because nodes were missing.
    NoQuorum,
    /// No lock was granted, because others held the locks.
    NoLock,
}

impl Outcome {
    pub(crate) fn of(locks: u64, failures: &Failures, signals: &Signals) -> Self {
        match locks {
            _ if signals.caught() => Self::Measured,
            0 if failures.lacked_quorum() => Self::NoQuorum,
            0 => Self::NoLock,
            _ => Self::Measured,
        }
    }

    /// Returns the exit code, and what the figures do not say; `None` after a measurement.
    pub(crate) fn complaint(self) -> Option<(u8, &'static str)> {
        match self {
            Self::Measured => None,
            Self::NoQuorum => Some((exit::NO_QUORUM, "no lock was granted: no quorum of nodes")),
            Self::NoLock => Some((exit::HELD, "no lock was granted within the run")),
        }
    }
}

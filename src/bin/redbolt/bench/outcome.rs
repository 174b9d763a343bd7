//! Whether a run has measured anything.
//!
//! A run that a signal ended is what the person at the terminal wanted, whatever its figures are.

use super::figures::step::Measured;
use super::run::{Contender, Run, Step};
use super::signals::Signals;
use crate::exit;

/// The end of a run whose figures were printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    Measured,
    /// Something is worse than in the earlier run.
    Worse,
    /// No lock was granted, because nodes were missing.
    NoQuorum,
    /// No lock was granted, because others held the locks.
    NoLock,
}

impl Outcome {
    pub(crate) fn of(run: &Run, steps: &[Measured], signals: &Signals) -> Self {
        // Locks that are held for longer than the run lasts end no cycle in it, and are granted
        // before anything is counted. Whoever waits in vain has failed, or is left at the end.
        let waits = |step: &Step| step.failed > 0 || step.unfinished > 0;
        let is_granted = |step: &Step| step.cycles > 0 || step.acquire_us.is_some() || !waits(step);
        let mut own = run.steps.iter().filter(|step| step.contender == Contender::Redbolt);
        let has_locks = own.any(is_granted);
        let lacked_quorum = || steps.iter().any(|measured| measured.failures.lacked_quorum());
        let is_worse = run.baseline.as_ref().is_some_and(|baseline| baseline.is_worse);
        match has_locks && is_worse {
            true => Self::Worse,
            false => Self::of_locks(has_locks, lacked_quorum, signals),
        }
    }

    /// The end of a run in which locks were granted, or none.
    pub(crate) fn of_locks(
        has_locks: bool,
        lacked_quorum: impl FnOnce() -> bool,
        signals: &Signals,
    ) -> Self {
        match has_locks {
            true => Self::Measured,
            false if signals.caught() => Self::Measured,
            false if lacked_quorum() => Self::NoQuorum,
            false => Self::NoLock,
        }
    }

    /// Returns the exit code, and what the figures do not say; `None` after a measurement.
    pub(crate) fn complaint(self) -> Option<(u8, &'static str)> {
        match self {
            Self::Measured => None,
            Self::Worse => Some((exit::WORSE, "worse than the baseline")),
            Self::NoQuorum => Some((exit::NO_QUORUM, "no lock was granted: no quorum of nodes")),
            Self::NoLock => Some((exit::HELD, "no lock was granted within the run")),
        }
    }
}

//! What a client has done in one step.

use std::time::Duration;

use super::sums::Counted;
use crate::bench::watch::Seen;

/// What a client has done, and what was seen of it.
pub(crate) struct Crowd {
    pub(crate) seconds: Duration,
    /// The processor time of the whole process, embedded masters included.
    pub(crate) cpu: Duration,
    pub(crate) counted: Counted,
    /// Whether all releases were confirmed in time.
    pub(crate) is_clean: bool,
    /// The time that the last cycles and the last replies took after the end of the measurement.
    pub(crate) wound_down: Duration,
    /// How often nodes were asked to accept another fencing number.
    pub(crate) further_trips: u64,
    /// How often an attempt that had asked a majority asked the other nodes too.
    pub(crate) widened: u64,
    /// The locks that were held at the end, that were extended, and that were lost; `None` for
    /// cycles.
    pub(crate) kept: Option<Kept>,
    /// The states of the nodes that were not ready at the end of the measurement.
    pub(crate) absent: Vec<String>,
    pub(crate) seen: Seen,
}

/// Locks that were only kept alive.
pub(crate) struct Kept {
    pub(crate) held: u64,
    pub(crate) extended: u64,
    pub(crate) lost: u64,
}

//! Whether a node votes.

use core::time::Duration;

use crate::redlock::{NodeError, QuarantineReason};

/// Whether a node votes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum CheckState {
    /// The node votes.
    Ready,
    /// The node may have forgotten locks, and does not vote yet.
    Quarantined {
        /// The time left. Zero if that is not known.
        remaining: Duration,
        /// The reason.
        reason: QuarantineReason,
        /// Whether the time runs. Otherwise it begins when a client meets the node.
        is_running: bool,
    },
    /// The node cannot vote.
    Out(NodeError),
}

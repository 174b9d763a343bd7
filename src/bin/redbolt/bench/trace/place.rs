//! The place of a transaction in the table of a load.

use redbolt::LockId;
use redbolt::time::Instant;

/// One transaction.
#[derive(Default)]
pub(super) struct Place {
    /// The number of the transaction in the trace.
    pub(super) number: usize,
    /// The locks that are wanted or held, in the order in which they were asked for.
    pub(super) locks: Vec<LockId>,
    /// The locks of the engine that have not ended.
    pub(super) alive: usize,
    pub(super) since: Instant,
    /// While the locks are held: until when.
    pub(super) until: Instant,
    pub(super) phase: Phase,
    /// Whether the place is in the queue of those that want a lock.
    pub(super) is_asking: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Phase {
    /// Without a transaction.
    #[default]
    Free,
    Growing,
    Holding,
    Committing,
    Aborting,
}

//! Where a request has seen data that are no lock: there no owner can have a key.

use core::time::Duration;

use super::{Door, SAME_LOOKS};
use crate::redlock::node_set::{NodeId, NodeSet};
use crate::time::Instant;

/// For how long data that are no lock are believed to be where they were seen.
const DATA_LAST: Duration = Duration::from_secs(60);

impl Door {
    /// Takes note of data that are no lock. Returns whether they are news.
    pub(crate) fn saw_data(&mut self, now: Instant, node: NodeId) -> bool {
        let is_news = !self.with_data.contains(node);
        if is_news {
            self.with_data.insert(node);
            self.data_until = now + DATA_LAST;
        }
        is_news
    }

    /// Begins to count anew how often looks show the same: it was no lock.
    pub(crate) fn end_same(&mut self) {
        self.same = 0;
    }

    pub(crate) fn with_data(&self) -> NodeSet {
        self.with_data
    }

    /// Returns whether what the usual node shows may be no lock: another node has shown something
    /// else just now, or looks have shown the same for some time. With a node that `tells`, long
    /// looks come then.
    pub(crate) fn is_doubtful(&self, tells: bool) -> bool {
        let is_eighth = self.same.wrapping_add(1) % (2 * SAME_LOOKS) == 0;
        self.has_returned || (!tells && is_eighth)
    }

    /// Forgets data that were seen long ago: somebody may have removed them.
    pub(super) fn forget_data(&mut self, now: Instant) {
        if now >= self.data_until {
            self.with_data = NodeSet::EMPTY;
        }
    }
}

//! The knocks of a request, which asks one node for the lock before all others.

use core::mem;

use super::Door;
use crate::redlock::node_set::NodeSet;
use crate::time::Instant;

impl Door {
    /// The request is to knock when its pause is over.
    pub(crate) fn expect_knock(&mut self) {
        self.will_knock = true;
    }

    /// Returns whether the request knocks when its pause is over.
    pub(crate) fn will_knock(&self) -> bool {
        self.will_knock
    }

    /// Returns the same once: the pause is over.
    pub(crate) fn take_knock(&mut self) -> bool {
        mem::take(&mut self.will_knock)
    }

    /// The request knocks. These nodes have granted its last attempt, which began then.
    pub(crate) fn knock(&mut self, before: (NodeSet, Instant)) {
        (self.before_knock, self.has_knocked) = (before, true);
    }

    /// Returns whether the request has knocked since it looked.
    pub(crate) fn has_knocked(&self) -> bool {
        self.has_knocked
    }

    /// Returns the nodes that granted the last attempt before the last knock, and when that began.
    pub(crate) fn before_knock(&self) -> (NodeSet, Instant) {
        self.before_knock
    }
}

//! What a request knows of the tickets that lie behind the token of an owner.

use crate::redlock::node_set::NodeId;
use crate::time::Instant;

/// Whether a request goes first when the owner lets go.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Ticket {
    /// No node has told.
    #[default]
    Unknown,
    /// Nobody had the first ticket when the request asked for its end.
    Free,
    /// The request goes first, until the ticket ends. The ticket lies at this node.
    First { ends: Instant, at: NodeId },
    /// Somebody else goes first, and this request a little later, until then.
    Second { ends: Instant, at: NodeId },
    /// Others go first, until then at the latest.
    Gone { ends: Instant, at: NodeId },
    /// The node gives no tickets, and is not asked again before then.
    Refused { ends: Instant },
}

impl Ticket {
    pub(crate) fn is_known(self, now: Instant) -> bool {
        match self {
            Self::Unknown | Self::Free => false,
            Self::First { ends, .. }
            | Self::Second { ends, .. }
            | Self::Gone { ends, .. }
            | Self::Refused { ends } => now < ends,
        }
    }

    pub(crate) fn goes_first(self, now: Instant) -> bool {
        matches!(self, Self::First { .. }) && self.is_known(now)
    }

    /// Returns whether somebody else goes first, and this request a little later if it is told.
    pub(crate) fn goes_behind(self, now: Instant) -> bool {
        matches!(self, Self::Second { .. } | Self::Gone { .. }) && self.is_known(now)
    }

    /// Returns whether the request listens for the lock, and not to a ticket: so does one that has
    /// a ticket, and one that is given none.
    pub(crate) fn hears_of_lock(self, now: Instant) -> bool {
        !matches!(self, Self::Gone { .. }) && self.is_known(now)
    }

    /// Returns the node at which somebody has drawn the tickets.
    pub(crate) fn place(self, now: Instant) -> Option<NodeId> {
        match self {
            Self::First { ends, at } | Self::Second { ends, at } | Self::Gone { ends, at } => {
                (now < ends).then_some(at)
            }
            _ => None,
        }
    }

    /// Returns whether the request has one of the two tickets.
    pub(crate) fn is_drawn(self, now: Instant) -> bool {
        matches!(self, Self::First { .. } | Self::Second { .. }) && self.is_known(now)
    }
}

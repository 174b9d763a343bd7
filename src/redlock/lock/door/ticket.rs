//! What a request knows of the ticket that lies behind the token of an owner.

use crate::time::Instant;

/// Whether a request goes first when the owner lets go.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Ticket {
    /// No node has told.
    #[default]
    Unknown,
    /// The request goes first, until the ticket ends.
    Drawn { ends: Instant },
    /// Somebody else goes first, until then at the latest.
    Gone { ends: Instant },
}

impl Ticket {
    pub(crate) fn goes_first(self, now: Instant) -> bool {
        matches!(self, Self::Drawn { ends } if now < ends)
    }

    pub(crate) fn goes_behind(self, now: Instant) -> bool {
        matches!(self, Self::Gone { ends } if now < ends)
    }
}

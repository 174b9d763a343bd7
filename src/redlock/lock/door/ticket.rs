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
    /// Somebody else goes first.
    Gone,
}

impl Ticket {
    /// Takes note of what a node has said to a request that wanted the ticket until `ends`. A node
    /// refuses it to the one who has it already.
    pub(crate) fn answered(&mut self, now: Instant, is_drawn: bool, ends: Instant) {
        if is_drawn {
            *self = Self::Drawn { ends };
        } else if !self.goes_first(now) {
            *self = Self::Gone;
        }
    }

    pub(crate) fn goes_first(self, now: Instant) -> bool {
        matches!(self, Self::Drawn { ends } if now < ends)
    }
}

#[cfg(test)]
mod tests;

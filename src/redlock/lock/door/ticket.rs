//! What a request knows of the ticket that lies behind the token of an owner.

use core::time::Duration;

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
    /// Takes note of what a node has said at `now` to a request that has wanted the ticket since
    /// `asked`. A node refuses the ticket to the one who has it already.
    pub(crate) fn answered(
        &mut self,
        asked: Instant,
        now: Instant,
        is_drawn: bool,
        life: Duration,
    ) {
        if is_drawn {
            *self = Self::Drawn { ends: asked + life };
        } else if !self.goes_first(now) {
            *self = Self::Gone { ends: now + life };
        }
    }

    pub(crate) fn goes_first(self, now: Instant) -> bool {
        matches!(self, Self::Drawn { ends } if now < ends)
    }

    pub(crate) fn goes_behind(self, now: Instant) -> bool {
        matches!(self, Self::Gone { ends } if now < ends)
    }
}

#[cfg(test)]
mod tests;

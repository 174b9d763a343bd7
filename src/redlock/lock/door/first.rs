//! Whether a request goes first when a long owner lets go: what it does with a [`Ticket`].

use core::time::Duration;

use super::Door;
use super::ticket::Ticket;
use crate::time::Instant;

/// The shortest time until a request with a ticket goes first again: less than from one extension
/// of an owner to the next, and ten commands a second where a node lies.
const FIRST_REST: Duration = Duration::from_millis(500);

impl Door {
    /// Returns the number of the ticket behind the token that was seen last.
    pub(crate) fn ticket_number(&self) -> u64 {
        self.token
    }

    /// Returns whether the request listens behind a token of whose ticket it knows nothing.
    pub(crate) fn wants_ticket(&self, now: Instant) -> bool {
        let is_known = self.ticket.goes_first(now) || self.ticket.goes_behind(now);
        self.listens_for_long() && !is_known
    }

    /// Takes note of whether the request has drawn the ticket that it wants since its last look.
    pub(crate) fn ticket_answered(&mut self, now: Instant, is_drawn: bool, life: Duration) {
        if self.is_long {
            self.ticket = match is_drawn {
                true => Ticket::Drawn { ends: self.looked + life },
                false => Ticket::Gone { ends: now + life },
            };
        }
    }

    pub(crate) fn forget_ticket(&mut self) {
        self.ticket = Ticket::Unknown;
    }

    pub(crate) fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// Lets the request go first, if it has the ticket and has not gone first in vain just now: a
    /// node that tells all the time makes nobody ask all nodes all the time.
    pub(crate) fn go_first(&mut self, now: Instant) -> bool {
        let goes_first = self.ticket.goes_first(now) && now >= self.first_at;
        if goes_first {
            self.first_at = now + FIRST_REST;
        }
        goes_first
    }
}

#[cfg(test)]
mod tests;

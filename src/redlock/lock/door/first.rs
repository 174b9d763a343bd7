//! Whether a request goes first when a long owner lets go: what it does with a [`Ticket`].

use core::time::Duration;

use super::Door;
use super::ticket::Ticket;
use crate::time::Instant;

/// The shortest time until a request with a ticket goes first again: less than from one extension
/// of an owner to the next, and ten commands a second where a node lies.
const FIRST_REST: Duration = Duration::from_millis(500);

impl Door {
    /// Returns the number of the first ticket behind the token that was seen last.
    pub(crate) fn first_ticket(&self) -> u64 {
        self.token
    }

    /// Returns the number of the second one.
    pub(crate) fn second_ticket(&self) -> u64 {
        self.token.wrapping_add(1)
    }

    /// Returns when a ticket ends at the earliest that the request has drawn since its last look
    /// and that lives for so long.
    pub(crate) fn drawn_until(&self, life: Duration) -> Instant {
        self.looked + life
    }

    /// Takes note of the tickets behind the token that was seen last.
    pub(crate) fn learn_ticket(&mut self, ticket: Ticket) {
        self.ticket = ticket;
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

//! Whether a request goes first when a long owner lets go: what it does with a [`Ticket`].

use core::time::Duration;

use super::Door;
use super::ticket::Ticket;
use crate::time::Instant;

/// The shortest time until a request with a ticket goes first again: less than from one extension
/// of an owner to the next, and ten commands a second where a node lies.
const FIRST_REST: Duration = Duration::from_millis(500);

impl Door {
    /// Takes note of the tickets behind the token that was seen last.
    pub(crate) fn learn_ticket(&mut self, ticket: Ticket) {
        (self.ticket, self.ticket_token) = (ticket, self.token);
    }

    /// Returns what is known of the tickets behind the token that was seen last.
    pub(crate) fn ticket(&self) -> Ticket {
        if self.ticket_token == self.token { self.ticket } else { Ticket::Unknown }
    }

    /// Takes the ticket that the request has drawn, and the token behind which it lies.
    pub(crate) fn take_ticket(&mut self, now: Instant) -> Option<(u64, Ticket)> {
        let (token, ticket) = (self.ticket_token, self.ticket);
        if !ticket.is_drawn(now) {
            return None;
        }
        self.ticket = Ticket::Unknown;
        Some((token, ticket))
    }

    /// Takes the same if the usual node shows another token now.
    pub(crate) fn take_old_ticket(&mut self, now: Instant) -> Option<(u64, Ticket)> {
        let is_old = !self.is_elsewhere && self.ticket_token != self.token;
        if is_old { self.take_ticket(now) } else { None }
    }

    /// Lets the request go first, if it has the ticket and has not gone first in vain just now: a
    /// node that tells all the time makes nobody ask all nodes all the time.
    pub(crate) fn go_first(&mut self, now: Instant) -> bool {
        let goes_first = self.ticket().goes_first(now) && now >= self.first_at;
        if goes_first {
            self.first_at = now + FIRST_REST;
        }
        goes_first
    }
}

#[cfg(test)]
mod tests;

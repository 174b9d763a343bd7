//! Whether a request goes first when a long owner lets go: what it does with a [`Ticket`].

use core::mem;
use core::time::Duration;

use super::Door;
use super::ticket::Ticket;
use crate::redlock::node_set::NodeId;
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
        let is_drawn = self.ticket.is_drawn(now);
        is_drawn.then(|| (self.ticket_token, mem::take(&mut self.ticket)))
    }

    /// Takes what is known of the tickets that somebody has drawn: the token behind which they lie,
    /// and the node.
    pub(crate) fn take_first_ticket(&mut self, now: Instant) -> Option<(u64, NodeId)> {
        let at = self.ticket.place(now)?;
        self.ticket = Ticket::Unknown;
        Some((self.ticket_token, at))
    }

    /// Takes the same if the request has one of the two, and the usual node shows another token.
    pub(crate) fn take_old_ticket(&mut self, now: Instant) -> Option<(u64, NodeId)> {
        let is_old = !self.is_elsewhere && self.ticket_token != self.token;
        if is_old && self.ticket.is_drawn(now) { self.take_first_ticket(now) } else { None }
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

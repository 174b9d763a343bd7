//! Listening apart: who has no [ticket](super::ticket) listens to the first ticket, and not to the
//! lock.
//!
//! The node tells when the ticket is gone: its owner has had the lock since then, or gave up, or
//! the ticket has ended by itself. Then all who listen apart look at the door. So the release of a
//! lock wakes two of a hundred who wait, and the others are woken when the next owner has the lock.
//!
//! If those two are gone, nobody is told of the release. Whoever listens apart
//! [peeks](super::super::peek) meanwhile, as all do who listen, and looks at the door when a node
//! shows another token.

use core::time::Duration;

use super::ticket::{LEAST_LIFE, half, number};
use crate::redlock::lock::door::Door;
use crate::redlock::lock::door::ticket::Ticket;
use crate::redlock::lock::listeners::Listening;
use crate::redlock::machine::Redlock;
use crate::redlock::node::request::{Nth, Request, TicketRequest};
use crate::redlock::node_set::NodeId;
use crate::redlock::wire::{command, ticket, tracking};
use crate::time::Instant;

/// The ttl of a key that is not there.
const NOT_THERE: i64 = -2;

impl Redlock {
    /// Returns whether a request does not opt in for the lock with its next look behind a long
    /// owner: others have the tickets, or what it asks behind that look tells whether they do. One
    /// that cannot knock hears of the lock.
    pub(in super::super) fn waits_apart(&self, now: Instant, slot: u32) -> bool {
        let ticket = self.table.door(slot).map(Door::ticket).unwrap_or_default();
        if ticket.hears_of_lock(now) || !self.can_knock(slot) || self.life(now, slot) < LEAST_LIFE {
            return false;
        }
        let is_apart = ticket != Ticket::Free || self.draws_ticket(now, slot);
        is_apart && self.telling_door(now, slot).is_some()
    }

    /// Returns the node with the tickets, if it tells what happens to them.
    fn telling_door(&self, now: Instant, slot: u32) -> Option<NodeId> {
        self.ticket_node(now, slot).filter(|id| self.nodes[*id].tells())
    }

    /// Lets a request listen to the first ticket behind the token that it has seen. Where the node
    /// does not tell, the request listens for the lock.
    pub(super) fn listen_apart(&mut self, now: Instant, slot: u32) {
        let Some(door) = self.table.door(slot).filter(|door| door.listening().is_none()) else {
            return;
        };
        let token = door.token();
        let Some(id) = self.telling_door(now, slot) else {
            return self.listen_for_lock(now, slot);
        };
        let key = (slot, 0);
        self.send_about(now, id, key, Request::OptIn, |_, out, _, _| tracking::opt_in(out));
        let request = Request::TicketTtl(TicketRequest { slot, token: half(token) });
        self.send_about(now, id, key, request, |_, out, prefix, key| {
            command::pttl(out, &ticket::name(prefix, key, number(token, Nth::First)));
        });
        self.nodes[id].count_opt_in(self.config.max_locks);
        self.table[slot].owed += 1;
    }

    /// Handles the ttl of the first ticket, in milliseconds; negative if there is no such ticket
    /// any more, or if it has no end and is none.
    pub(in super::super) fn handle_ticket_ttl(
        &mut self,
        now: Instant,
        id: NodeId,
        request: TicketRequest,
        millis: i64,
    ) {
        let slot = request.slot;
        let is_awaited = self.table.door(slot).is_some_and(|door| door.listening().is_none());
        let pauses = self.is_of_use(request) && self.pauses_for_long(slot);
        if is_awaited && pauses && !self.has_drawn(now, slot) {
            match millis {
                NOT_THERE => self.find_no_ticket(now, id, slot),
                ..0 => self.go_without_ticket(now, slot),
                _ => self.pause_apart(now, id, slot, Duration::from_millis(millis.unsigned_abs())),
            }
        }
        self.ticket_settled(request);
    }

    /// Nobody has the first ticket. The request looks again after its usual pause, and draws one
    /// then. Where the same node has just told that the ticket is gone, it does not say what is
    /// true, or the owner of the ticket has given it back.
    fn find_no_ticket(&mut self, now: Instant, id: NodeId, slot: u32) {
        let door = self.table.door_mut(slot);
        match door.ticket().place(now) == Some(id) {
            true => self.go_without_ticket(now, slot),
            false => door.learn_ticket(Ticket::Free),
        }
    }

    /// Lets a request pause until the ticket has ended that lives for so long, if the node does not
    /// tell before. A ticket that ends soon is not worth that.
    fn pause_apart(&mut self, now: Instant, id: NodeId, slot: u32, life: Duration) {
        let ends = now + life.min(self.life(now, slot));
        self.table.door_mut(slot).learn_ticket(Ticket::Gone { ends, at: id });
        // The node may have said meanwhile that it does not tell.
        if life < LEAST_LIFE || !self.nodes[id].tells() {
            return;
        }
        let token = self.table.door(slot).map_or(0, Door::token);
        let key = self.table[slot].names().keys().next().unwrap_or_default();
        let name = ticket::name(&self.config.prefix, key, number(token, Nth::First));
        self.table.listen(slot, Listening::to_ticket(id, &name));
        let left = self.table[slot].wait_until - now;
        let until = (ends + self.late_by()).min(now + left / 4 * 3);
        self.begin_pause(now, slot, until);
    }

    /// Returns whether a request listens to a ticket, and not to the lock.
    pub(in super::super) fn listens_apart(&self, slot: u32) -> bool {
        let listening = self.table.door(slot).and_then(Door::listening);
        listening.is_some_and(|listening| !listening.is_lock)
    }
}

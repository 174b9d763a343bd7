//! Tickets: of all who wait for an owner that keeps the resource for long, one goes first.
//!
//! Tickets are keys behind the token of the owner, at the first voter of the order. Whoever can
//! write the first one has drawn that. When the node tells that the resource may be free, the
//! request with the first ticket asks all nodes at once, and has the lock two round trips after the
//! release. The one with the second ticket knocks a little later, for the case that the first is
//! gone. All others listen [apart](super::apart) meanwhile: a hundred who were told at one moment
//! would take the processors from the one who is served.
//!
//! A ticket ends after a while, and with the wait of its owner at the latest, so that another
//! request can draw one then. A ticket is a hint, and never a vote. Without the right to write one
//! all listen for the lock and knock at once. A node that says that all tickets are gone makes
//! those who wait find a free lock by their peeks, within three seconds.

use core::time::Duration;

use crate::redlock::lock::Phase;
use crate::redlock::lock::door::Door;
use crate::redlock::lock::door::ticket::Ticket;
use crate::redlock::machine::Redlock;
use crate::redlock::millis::Millis;
use crate::redlock::node::request::{Nth, Request, TicketRequest};
use crate::redlock::node_set::NodeId;
use crate::redlock::wire::server_error::ServerError;
use crate::redlock::wire::ticket;
use crate::time::Instant;

/// How long a ticket lives at most. All who wait draw anew when the tickets end.
const LIFE: Duration = Duration::from_secs(30);

/// A request draws no ticket that would live for less: it is gone before it would be of use.
pub(super) const LEAST_LIFE: Duration = Duration::from_millis(100);

/// How many round trips are left to the one who goes first: one, and one that takes longer.
const TRIPS: u32 = 2;

/// The time that is left at the least: a hundred processes on one machine take turns to hear.
const LEAST_LAG: Duration = Duration::from_millis(4);

impl Redlock {
    /// Goes on behind a long look that has shown the token of the owner: wants the first ticket
    /// behind that token if nothing is known of the tickets any more, or listens apart.
    pub(in super::super) fn want_ticket(&mut self, now: Instant, slot: u32) {
        let is_long = self.table.door(slot).is_some_and(Door::is_long);
        if !is_long || self.table[slot].last_try {
            return;
        }
        if self.draws_ticket(now, slot) {
            self.draw_ticket(now, slot, Nth::First);
        } else if self.waits_apart(now, slot) {
            self.listen_apart(now, slot);
        }
    }

    /// Returns whether a request draws a ticket behind its next long look. A request whose turn
    /// will not have come at the expected end of the owner leaves the ticket to others, if there
    /// are any.
    pub(super) fn draws_ticket(&self, now: Instant, slot: u32) -> bool {
        let Some(door) = self.table.door(slot).filter(|door| !door.ticket().is_known(now)) else {
            return false;
        };
        let may_draw = match door.ticket() {
            Ticket::Free => self.can_knock(slot),
            _ => self.may_knock(door.expected_end(now), slot),
        };
        may_draw && self.life(now, slot) >= LEAST_LIFE
    }

    /// Asks for a ticket. All who contend do so at one node, wherever they look.
    fn draw_ticket(&mut self, now: Instant, slot: u32, nth: Nth) {
        let (Some(id), life) = (self.ticket_node(now, slot), self.life(now, slot)) else { return };
        if life < LEAST_LIFE {
            return;
        }
        let token = self.table.door(slot).map_or(0, Door::token);
        let request = Request::Ticket(TicketRequest { slot, token: half(token) }, nth);
        self.send_about(now, id, (slot, 0), request, |_, out, prefix, key| {
            ticket::draw(out, &ticket::name(prefix, key, number(token, nth)), Millis::of(life));
        });
        self.table[slot].owed += 1;
    }

    /// Returns the node that gives the tickets: the first voter of the order, whatever room it has.
    /// All would go to another one for a moment otherwise, and find no ticket there.
    pub(super) fn ticket_node(&self, now: Instant, slot: u32) -> Option<NodeId> {
        let key = self.table[slot].names().keys().next()?;
        let is_voter = |id: &NodeId| self.nodes[*id].can_vote_with_room(now);
        self.order.at(key, self.nodes().into_iter().filter(is_voter).collect(), 0)
    }

    /// Handles what a node says of a ticket: that of the request, which was sent at that time, or
    /// `None` if somebody else has the ticket. A look can have left since then.
    pub(in super::super) fn handle_ticket(
        &mut self,
        now: Instant,
        id: NodeId,
        (request, nth): (TicketRequest, Nth),
        drawn: Option<Instant>,
    ) {
        let slot = request.slot;
        if let (true, Some(sent)) = (self.is_of_use(request), drawn) {
            // That of another node, while this one was late.
            self.give_ticket_back(now, slot);
            let ends = sent + self.life(now, slot);
            self.table.door_mut(slot).learn_ticket(match nth {
                Nth::First => Ticket::First { ends, at: id },
                Nth::Second => Ticket::Second { ends, at: id },
            });
            self.listen_for_lock(now, slot);
        } else if drawn.is_some() {
            // Behind a token that was seen still earlier, the ticket ends by itself.
            let seen = self.table.door(slot).map(Door::last_tokens).unwrap_or_default();
            if let Some(token) = seen.into_iter().find(|token| half(*token) == request.token) {
                self.take_away(now, slot, id, number(token, nth));
            }
        } else if self.is_of_use(request) && !self.knows_tickets(now, slot) {
            let ends = now + self.life(now, slot);
            self.table.door_mut(slot).learn_ticket(Ticket::Gone { ends, at: id });
            match nth {
                Nth::First => self.draw_ticket(now, slot, Nth::Second),
                Nth::Second => self.listen_apart(now, slot),
            }
        }
        self.ticket_settled(request);
    }

    /// Handles an error about a ticket. A node that gives no tickets, or does not tell of them, is
    /// not asked again for a while.
    pub(in super::super) fn ticket_failed(
        &mut self,
        now: Instant,
        request: TicketRequest,
        error: ServerError,
    ) {
        let slot = request.slot;
        if !error.is_passing() && self.is_of_use(request) && !self.knows_tickets(now, slot) {
            self.go_without_ticket(now, slot);
        }
        self.ticket_settled(request);
    }

    /// No answer to this request is awaited any more.
    pub(in super::super) fn ticket_settled(&mut self, TicketRequest { slot, .. }: TicketRequest) {
        self.table[slot].reply_settled();
        self.recycle(slot);
    }

    /// Returns whether the tickets are those behind the token that the request has seen last, and
    /// whether it still waits.
    pub(super) fn is_of_use(&self, TicketRequest { slot, token }: TicketRequest) -> bool {
        let phase = self.table[slot].phase;
        let waits = matches!(phase, Phase::Ready | Phase::Attempt | Phase::Backoff | Phase::AtDoor);
        waits && self.table.door(slot).is_some_and(|door| half(door.token()) == token)
    }

    /// Returns whether no refusal tells a request anything new: it can have asked two nodes, one of
    /// which was late.
    fn knows_tickets(&self, now: Instant, slot: u32) -> bool {
        self.has_drawn(now, slot) || self.listens_apart(slot)
    }

    /// Returns whether a request has one of the tickets behind the token that it has seen last.
    pub(super) fn has_drawn(&self, now: Instant, slot: u32) -> bool {
        self.table.door(slot).is_some_and(|door| door.ticket().is_drawn(now))
    }

    /// Lets a request listen for the lock that is given no ticket, and ask for none for a while.
    pub(super) fn go_without_ticket(&mut self, now: Instant, slot: u32) {
        let ends = now + self.life(now, slot);
        self.table.door_mut(slot).learn_ticket(Ticket::Refused { ends });
        self.listen_for_lock(now, slot);
    }

    /// Returns whether a request pauses behind a long look, with nothing since, and will look
    /// again.
    pub(super) fn pauses_for_long(&self, slot: u32) -> bool {
        let lock = &self.table[slot];
        let door = self.table.door(slot).filter(|door| door.is_long());
        let is_behind_look = door.is_some_and(|door| door.has_looked_since(lock.started));
        lock.phase == Phase::Backoff && !lock.last_try && is_behind_look
    }

    /// Lets a request look at once that has not opted in with its last look: it knows now that it
    /// listens for the lock itself. A late answer can find it listening to a ticket.
    pub(super) fn listen_for_lock(&mut self, now: Instant, slot: u32) {
        let listening = self.table.door(slot).and_then(Door::listening);
        let listens = listening.is_some_and(|listening| listening.is_lock);
        if !listens && self.pauses_for_long(slot) {
            self.table.end_listening(slot);
            self.table.door_mut(slot).look_again();
            self.begin_pause(now, slot, now);
        }
    }

    /// Gives the ticket of a request back whose wait has ended. The next in line keeps the ticket,
    /// if that one can go first.
    pub(in super::super) fn leave_ticket(&mut self, now: Instant, slot: u32) {
        let next = self.table.behind(slot);
        if !next.is_some_and(|next| self.can_knock(next) && !self.has_own_tries(next)) {
            self.give_ticket_back(now, slot);
        }
    }

    /// Gives the ticket of a request back that waits no more.
    pub(in super::super) fn give_ticket_back(&mut self, now: Instant, slot: u32) {
        if let Some((token, ticket)) = self.take_ticket(now, slot) {
            let nth = match ticket {
                Ticket::Second { .. } => Nth::Second,
                _ => Nth::First,
            };
            if let Some(id) = ticket.place(now) {
                self.take_away(now, slot, id, number(token, nth));
            }
        }
    }

    /// Takes the first ticket away, whoever has drawn it: the owner has let go, and the request has
    /// the lock. Those who listen apart are told.
    pub(in super::super) fn end_tickets(&mut self, now: Instant, slot: u32) {
        if self.table.door(slot).is_some() {
            let first = self.table.door_mut(slot).take_first_ticket(now);
            self.end_first(now, slot, first);
        }
    }

    /// The same if the request has one of the tickets, and the node at which all look shows another
    /// owner.
    pub(in super::super) fn end_old_tickets(&mut self, now: Instant, slot: u32) {
        let first = self.table.door_mut(slot).take_old_ticket(now);
        self.end_first(now, slot, first);
    }

    fn end_first(&mut self, now: Instant, slot: u32, first: Option<(u64, NodeId)>) {
        if let Some((token, id)) = first {
            self.take_away(now, slot, id, number(token, Nth::First));
        }
    }

    fn take_ticket(&mut self, now: Instant, slot: u32) -> Option<(u64, Ticket)> {
        self.table.door(slot)?;
        self.table.door_mut(slot).take_ticket(now)
    }

    /// Takes a ticket away at its node, which may have no vote at the moment. A node that does not
    /// know the script yet, or whose session has ended, keeps the ticket until that ends.
    fn take_away(&mut self, now: Instant, slot: u32, id: NodeId, number: u64) {
        if self.nodes[id].is_ready() {
            let request = Request::TicketBack;
            self.send_about(now, id, (slot, 0), request, |native, out, prefix, key| {
                ticket::give_back(out, native, &ticket::name(prefix, key, number));
            });
        }
    }

    /// Returns how long a ticket lives that is drawn now: it ends with the wait of its owner.
    pub(super) fn life(&self, now: Instant, slot: u32) -> Duration {
        LIFE.min(self.table[slot].wait_until - now)
    }

    /// Returns whether a request asks all nodes at once that was told, or for which the key at the
    /// door has ended by itself. True once in a while.
    pub(in super::super) fn takes_first(&mut self, now: Instant, slot: u32) -> bool {
        let Some(door) = self.table.door(slot) else { return false };
        let ends = door.listening().and_then(|heard| heard.ends);
        let may_be_free = door.will_knock() || ends.is_some_and(|ends| ends <= now);
        may_be_free && self.can_knock(slot) && self.table.door_mut(slot).go_first(now)
    }

    /// Returns whether a request has one of the tickets. One that cannot knock can have the ticket
    /// of a request before in its line, and looks.
    pub(in super::super) fn has_any_ticket(&self, now: Instant, slot: u32) -> bool {
        self.has_drawn(now, slot) && self.can_knock(slot)
    }

    /// Returns whether somebody else goes first.
    pub(in super::super) fn waits_behind(&self, now: Instant, slot: u32) -> bool {
        self.table.door(slot).is_some_and(|door| door.ticket().goes_behind(now))
    }

    /// Returns for how long a request leaves a resource that may be free to the one who goes first,
    /// if somebody does.
    pub(in super::super) fn lag(&mut self, now: Instant, slot: u32) -> Duration {
        if self.waits_behind(now, slot) { self.late_by() } else { Duration::ZERO }
    }

    /// Returns for how long a request comes later than the one who goes first. Not all come at the
    /// same time.
    pub(in super::super) fn late_by(&mut self) -> Duration {
        let least = self.least_lag();
        let nanos = u64::try_from(least.as_nanos()).unwrap_or(u64::MAX);
        least + Duration::from_nanos(self.rng.u64(..=nanos))
    }

    fn least_lag(&self) -> Duration {
        self.quorum_round_trip().saturating_mul(TRIPS).max(LEAST_LAG)
    }
}

/// Returns the number of a ticket behind the token with this hash.
pub(super) fn number(token: u64, nth: Nth) -> u64 {
    match nth {
        Nth::First => token,
        Nth::Second => token.wrapping_add(1),
    }
}

/// Returns a half of the hash of a token.
pub(super) fn half(token: u64) -> u32 {
    token as u32
}

//! Tickets: of all who wait for an owner that keeps the resource for long, one goes first.
//!
//! The ticket is a key behind the token of the owner, at the node where all look. One request can
//! draw it, and the key ends by itself before that request looks again, so that another one can
//! draw it then. When the node tells that the resource may be free, the request with the ticket
//! asks all nodes at once, and has the lock two round trips after the release. The others know that
//! somebody goes first. They knock a little later, for the case that nobody does any more: a
//! hundred who knocked at once would take the processors from the one who is served.
//!
//! A ticket is a hint, and never a vote. Without the right to write one, and at a node that says
//! nothing of it, all knock at once.

use core::time::Duration;

use super::Redlock;
use crate::redlock::lock::Phase;
use crate::redlock::lock::door::Door;
use crate::redlock::lock::door::ticket::Ticket;
use crate::redlock::millis::Millis;
use crate::redlock::node::request::{DoorRequest, Expected, Request};
use crate::redlock::wire::ticket;
use crate::time::Instant;

/// How long a ticket lives: not as long as a request listens at the least before it looks again.
const LIFE: Duration = Duration::from_secs(7);

/// How many round trips are left to the one who goes first: one, and one that takes longer.
const TRIPS: u32 = 2;

/// The time that is left at the least: a hundred processes on one machine take turns to hear.
const LEAST_LAG: Duration = Duration::from_millis(4);

impl Redlock {
    /// Wants to draw the ticket behind the token that was seen last, together with a look for long.
    /// All who contend do so at the first voter of the order, wherever they look.
    pub(in super::super) fn draw_ticket(&mut self, now: Instant, request: DoorRequest) {
        let DoorRequest { slot, .. } = request;
        let number = self.table.door(slot).and_then(Door::ticket_number);
        let Some(number) = number.filter(|_| self.may_knock(now, slot)) else { return };
        let voters = self.voters(now);
        let lock = &mut self.table[slot];
        let key = lock.names().keys().next().unwrap_or_default();
        let Some(node) = self.order.at(key, voters, 0) else { return };
        self.scratch.clear();
        ticket::draw(&mut self.scratch, &self.config.prefix, key, number, Millis::of(LIFE));
        let expected = Expected { request: Request::Ticket(request), sent: now };
        self.nodes[node].send(&self.scratch, expected);
        lock.owed += 1;
    }

    /// Handles what a node says of the ticket. `None` stands for an error, and for an answer that
    /// will never come.
    pub(in super::super) fn handle_ticket(
        &mut self,
        now: Instant,
        request: DoorRequest,
        is_drawn: Option<bool>,
    ) {
        let DoorRequest { slot, number } = request;
        let lock = &mut self.table[slot];
        lock.reply_settled();
        let waits = matches!(lock.phase, Phase::AtDoor | Phase::Backoff);
        let is_current = self.table.door(slot).is_some_and(|door| door.is_current(number));
        if let (true, Some(is_drawn)) = (waits && is_current, is_drawn) {
            self.table.door_mut(slot).ticket_answered(now, is_drawn, LIFE);
        }
        self.recycle(slot);
    }

    /// Returns whether a request that was told asks all nodes at once.
    pub(in super::super) fn goes_first(&mut self, now: Instant, slot: u32) -> bool {
        let is_told = self.table.door(slot).is_some_and(Door::will_knock);
        is_told && self.table.door_mut(slot).go_first(now, self.config.retry_max)
    }

    /// Forgets the ticket of a request that is told about when the key ends by itself: somebody
    /// knocks already.
    pub(in super::super) fn judge_ticket(&mut self, now: Instant, slot: u32) {
        let ends = self.table.door(slot).and_then(Door::listening).and_then(|heard| heard.ends);
        if ends.is_some_and(|ends| ends <= now + self.least_lag()) {
            self.table.door_mut(slot).forget_ticket();
        }
    }

    /// Returns for how long a request that was told leaves the resource to the one who goes first,
    /// if somebody does.
    pub(in super::super) fn lag(&mut self, slot: u32) -> Duration {
        if self.table.door(slot).map(Door::ticket) != Some(Ticket::Gone) {
            return Duration::ZERO;
        }
        let least = self.least_lag();
        let nanos = u64::try_from(least.as_nanos()).unwrap_or(u64::MAX);
        least + Duration::from_nanos(self.rng.u64(..=nanos))
    }

    fn least_lag(&self) -> Duration {
        self.quorum_round_trip().saturating_mul(TRIPS).max(LEAST_LAG)
    }
}

//! Tickets: of all who wait for an owner that keeps the resource for long, one goes first.
//!
//! The ticket is a key behind the token of the owner, at the first voter of the order. One request
//! can draw it. The key ends after a while, and with the wait of that request at the latest, so
//! that another one can draw a ticket then. When the node tells that the resource may be free, the
//! request with the ticket asks all nodes at once, and has the lock two round trips after the
//! release. The others know that somebody goes first. They knock a little later, for the case that
//! nobody does any more: a hundred who knocked at once would take the processors from the one who
//! is served.
//!
//! A ticket is a hint, and never a vote. Without the right to write one, and where a node has said
//! nothing of it for as long as a ticket lives, all knock at once.

use core::time::Duration;

use super::Redlock;
use crate::redlock::lock::Phase;
use crate::redlock::lock::door::Door;
use crate::redlock::machine::listen::LONGEST;
use crate::redlock::millis::Millis;
use crate::redlock::node::request::{DoorRequest, Request};
use crate::redlock::wire::ticket;
use crate::time::Instant;

/// How long a ticket lives at most: not as long as a request with time enough listens before it
/// looks again.
const LIFE: Duration = Duration::from_secs(7);
const _: () = assert!(LIFE.as_millis() < LONGEST.as_millis() / 4 * 3, "a ticket lives too long");

/// A request draws no ticket that would live for less: it is gone before it would be of use.
const LEAST_LIFE: Duration = Duration::from_millis(100);

/// How many round trips are left to the one who goes first: one, and one that takes longer.
const TRIPS: u32 = 2;

/// The time that is left at the least: a hundred processes on one machine take turns to hear.
const LEAST_LAG: Duration = Duration::from_millis(4);

impl Redlock {
    /// Wants to draw the ticket behind the token that a long look has just shown, if nothing is
    /// known of that ticket any more. All who contend do so at one node, wherever they look. A
    /// request draws none whose turn will not have come at the expected end of the owner: it will
    /// not knock behind this token.
    pub(in super::super) fn draw_ticket(&mut self, now: Instant, slot: u32) {
        let Some(door) = self.table.door(slot).filter(|door| door.wants_ticket(now)) else {
            return;
        };
        let request = DoorRequest { slot, number: door.number() };
        let (number, life) = (door.ticket_number(), self.life(now, slot));
        if life < LEAST_LIFE || !self.may_knock(door.expected_end(now), slot) {
            return;
        }
        let ttl = Millis::of(life);
        let is_sent =
            self.at_door(now, (slot, 0), 0, Request::Ticket(request), |_, out, prefix, key| {
                ticket::draw(out, prefix, key, number, ttl);
            });
        self.table[slot].owed += u32::from(is_sent);
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
            let life = self.life(now, slot);
            self.table.door_mut(slot).ticket_answered(now, is_drawn, life);
        }
        self.recycle(slot);
    }

    /// Returns how long a ticket lives that is drawn now: it ends with the wait of its owner.
    fn life(&self, now: Instant, slot: u32) -> Duration {
        LIFE.min(self.table[slot].wait_until - now)
    }

    /// Returns whether a request that was told asks all nodes at once. True once in a while.
    pub(in super::super) fn takes_first(&mut self, now: Instant, slot: u32) -> bool {
        let is_told = self.table.door(slot).is_some_and(Door::will_knock);
        is_told && self.table.door_mut(slot).go_first(now)
    }

    /// Returns whether a request goes first. One that cannot knock can have the ticket of a request
    /// before in its line, and looks.
    pub(in super::super) fn has_ticket(&self, now: Instant, slot: u32) -> bool {
        let has_ticket = self.table.door(slot).is_some_and(|door| door.ticket().goes_first(now));
        has_ticket && self.can_knock(slot)
    }

    /// Returns whether somebody else goes first.
    pub(in super::super) fn waits_behind(&self, now: Instant, slot: u32) -> bool {
        self.table.door(slot).is_some_and(|door| door.ticket().goes_behind(now))
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
    pub(in super::super) fn lag(&mut self, now: Instant, slot: u32) -> Duration {
        if !self.waits_behind(now, slot) {
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

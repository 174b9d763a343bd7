//! Knocks: who waits for an owner that keeps the resource for long asks the door alone, as soon as
//! the door tells that the resource may be free, or when the key there has ended by itself.
//!
//! Those who listen are told at the same moment. If they looked and then asked all nodes, they
//! would split the votes. So the attempt of each asks one node first, at which all would look.
//! Mostly that node grants one of the requests, which then asks the other nodes with the same
//! token, and refuses the rest, which cost one command each and listen again. The release, the news
//! of it, the knock and the other nodes take three round trips, however many wait.
//!
//! A knock is an attempt whose spare nodes are all but one: its grant is a vote like any other, its
//! validity begins with its first `SET`, and a door that does not answer is hedged against.
//!
//! Where few others contend each knows whose turn it is, and a [call](super::call) goes to that
//! one. Behind an owner that keeps the resource for long one of all has a [ticket], asks all nodes
//! as soon as the owner lets go, and has the lock two round trips after that. One more knocks a
//! little later, and all others are [not told](apart) of the release.

mod apart;
mod ticket;

use core::time::Duration;

use super::Redlock;
use super::line::Needs;
use crate::redlock::lock::Phase;
use crate::redlock::node::request::{Intent, SetRequest};
use crate::redlock::node_set::{NodeId, NodeSet};
use crate::redlock::wire::answer::Vote;
use crate::time::Instant;

/// How many round trips an attempt must have time for: two, and some that take longer than usual.
const TRIPS: u32 = 3;

/// For how long a door has time to answer, where its round trip says less: all who were told knock
/// at the same moment, and a hundred processes on one machine take turns to read the answers.
const LEAST_HEDGE: Duration = Duration::from_millis(10);

impl Redlock {
    /// Lets a request knock that was told that its resource may be free. Returns `false` for a
    /// request that looks instead.
    pub(super) fn knock_soon(&mut self, now: Instant, slot: u32) -> bool {
        let knocks = self.knocks_at(now, slot, now);
        if knocks {
            self.knock_next(now, slot);
        }
        knocks
    }

    /// Returns whether a request knocks at a resource that may be free from then on. A ticket is
    /// drawn for the expected end of the owner, who can let go earlier.
    pub(super) fn knocks_at(&self, now: Instant, slot: u32, at: Instant) -> bool {
        self.may_knock(at, slot) || self.has_any_ticket(now, slot)
    }

    /// Lets a request knock as soon as its rest is over.
    pub(super) fn knock_next(&mut self, now: Instant, slot: u32) {
        self.table.door_mut(slot).expect_knock();
        self.come_back(now, slot);
    }

    /// Returns whether a request knocks now that its pause is over: because somebody has told, or
    /// because the key at the door has ended by itself.
    pub(super) fn takes_knock(&mut self, now: Instant, slot: u32) -> bool {
        let has_door = self.table.door(slot).is_some();
        let is_told = has_door && self.table.door_mut(slot).take_knock();
        // A knock is a plain attempt, whatever was told.
        let Some(door) = self.table.door(slot).filter(|_| self.can_knock(slot)) else {
            return false;
        };
        // A look follows on a knock in vain.
        let ends = door.listening().filter(|_| !door.has_knocked()).and_then(|heard| heard.ends);
        is_told || (ends.is_some_and(|ends| ends <= now) && self.knocks_at(now, slot, now))
    }

    /// Returns whether the turn of a request has come at that time, so that it knocks.
    pub(super) fn may_knock(&self, now: Instant, slot: u32) -> bool {
        let Some(door) = self.table.door(slot) else { return false };
        let has_come = match self.turn(now, slot) {
            // The turns that were seen go round among others, and say nothing of this engine's.
            _ if door.is_new() => true,
            Some(turn) => door.asks_one() && turn.has_come(now),
            None => door.has_waited_for_a_round(now),
        };
        has_come && self.can_knock(slot)
    }

    /// Returns whether a request can ask one node before all others. A set has its steps instead,
    /// and a fencing number takes all nodes at once. Where an attempt has hardly time for one round
    /// trip, two would be too many.
    pub(super) fn can_knock(&self, slot: u32) -> bool {
        if self.quorum.need() == 1 || self.needs(slot) != Needs::Commands {
            return false;
        }
        let ttl = self.table[slot].ttl;
        let longest = self.longest_wait(slot, ttl).min(ttl.duration() / 2);
        self.quorum_round_trip().saturating_mul(TRIPS) <= longest
    }

    /// Starts an attempt at the door alone. Where too few nodes can be asked now, the attempt asks
    /// all of them when there are enough.
    pub(super) fn knock(&mut self, now: Instant, slot: u32) {
        let voters = self.voters(now);
        if voters.len() < self.quorum.need() {
            return self.go_in(slot);
        }
        let door = self.first_door(slot, voters);
        let before = self.last_attempt(slot);
        self.table.door_mut(slot).knock(before);
        self.table[slot].round.late = NodeSet::EMPTY;
        self.leave_spare(now, slot, voters, door);
        self.ask_voters(now, slot, door, Intent::Knock);
        // Half of the time of the attempt is left for the other nodes in any case.
        let half = (self.first_wait(now, slot, self.table[slot].ttl) - now) / 2;
        let hedge = now + LEAST_HEDGE.min(half);
        if self.table[slot].due < hedge {
            self.schedule(slot, hedge);
        }
    }

    /// Handles the answer of the door.
    pub(super) fn handle_knock(
        &mut self,
        now: Instant,
        id: NodeId,
        request: SetRequest,
        vote: Vote,
    ) {
        let SetRequest { slot, serial, .. } = request;
        self.handle_vote(now, id, request, vote);
        let lock = &self.table[slot];
        let is_current = lock.phase == Phase::Attempt && lock.serial == serial;
        if is_current && vote == Vote::Granted && self.is_knocking(slot) {
            self.widen_in_doubt(now, slot);
        }
    }

    /// Ends a knock that the door has refused. Returns `false` for any other attempt.
    pub(super) fn turned_away(&mut self, now: Instant, slot: u32) -> bool {
        let is_refused = self.is_knocking(slot) && !self.table[slot].votes.refused().is_empty();
        if is_refused {
            self.attempt_failed(now, slot);
        }
        is_refused
    }

    /// Returns whether an attempt has asked the door, and no other node yet.
    pub(super) fn is_knocking(&self, slot: u32) -> bool {
        self.table[slot].votes.asked().len() == 1 && self.quorum.need() > 1
    }
}

//! Calls: who is next asks for a resource as soon as a node tells that the resource may be free.
//!
//! Among few engines each knows about when its turn comes ([`Turn`]). A little before, it looks at
//! the door and asks to be told what happens to the key, as those who wait for long do
//! ([`listen`](super::listen)). When the node tells, the owner has mostly let go, and the request
//! asks all nodes without another look. The release, the news of it and the attempt take two round
//! trips. Where two are called at once and all of an odd number of nodes vote, one of the two wins.
//! That would always be the one that is told first, so those whose turn is not overdue give way now
//! and then.
//!
//! Among many nobody knows who is next, and many who go in at once would all lose. They look at the
//! door, whoever has waited for longest most often, or [knock](super::knock) when they are told. So
//! does an engine that has not had the lock lately, until it has seen all others twice: the few it
//! has seen can be few of many. And so does whoever is told behind a long owner. Now and then two
//! do not who know only each other, nor does one that is passed over.

use core::time::Duration;

use super::{Redlock, backoff};
use crate::redlock::lock::door::Door;
use crate::redlock::lock::door::turn::{MOST_SHORT, Turn};
use crate::time::Instant;

/// One of so many calls in time is a knock. With four, one that is told late waits longer in the
/// test of it (`tests/together/turns.rs`), and with two every second hand-over takes a round trip
/// more.
const CALLS_A_KNOCK: u8 = 3;

impl Redlock {
    /// Returns the turn of the engine whose request is in `slot`, if the engine can know it.
    pub(super) fn turn(&self, now: Instant, slot: u32) -> Option<Turn> {
        self.table.door(slot)?.turn_among_few(now)
    }

    /// Returns whether the engine is next.
    pub(super) fn is_next(&self, now: Instant, slot: u32) -> bool {
        self.turn(now, slot).is_some_and(|turn| turn.is_next(now))
    }

    /// Returns when a request looks that would look at `usual`. Before its turn, the look comes
    /// early enough to listen. Whoever listens waits for a turn to pass.
    pub(super) fn look_before_turn(&mut self, now: Instant, slot: u32, usual: Instant) -> Instant {
        let Some(turn) = self.turn(now, slot) else { return usual };
        if self.table.door(slot).and_then(Door::listening).is_some() {
            let left = self.table[slot].wait_until - now;
            return usual.max(now + turn.lasts().min(self.config.retry_max).min(left / 2));
        }
        // Without a word from the node, to come early would only mean to look more often.
        let tells = self.door_of(now, slot).is_some_and(|node| self.nodes[node].tells());
        if !tells {
            return usual;
        }
        let (from, until) = turn.look_between(now);
        let from = from.max(now + self.quorum_round_trip());
        let nanos = u64::try_from((until - from).as_nanos()).unwrap_or(u64::MAX);
        usual.min(from + Duration::from_nanos(self.rng.u64(..=nanos)))
    }

    /// Returns when a request comes back whose attempt others have refused, and that would come
    /// back at `usual`: in time to be told when its turn comes. Where turns are short, whoever is
    /// next keeps to the usual pauses, which spread over many round trips: those who split the
    /// votes would come back together, and split them again.
    pub(super) fn back_for_turn(&mut self, now: Instant, slot: u32, usual: Instant) -> Instant {
        if self.table[slot].last_try || self.table[slot].votes.refused().is_empty() {
            return usual;
        }
        let Some(turn) = self.turn(now, slot) else { return usual };
        let least = self.config.retry_max / MOST_SHORT;
        let is_short = turn.lasts() / 4 < backoff::first_range(self.quorum_round_trip()).max(least);
        if turn.is_next(now) && is_short {
            return usual;
        }
        self.look_before_turn(now, slot, usual)
    }

    /// Calls a request that was told that its resource may be free. Returns `false` if its turn has
    /// not come.
    pub(super) fn call(&mut self, now: Instant, slot: u32) -> bool {
        let can_knock = self.can_knock(slot);
        if can_knock && self.knocks_instead(now, slot) {
            return false;
        }
        let turn = self.turn(now, slot).filter(|turn| turn.has_come(now));
        let Some(turn) = turn else { return false };
        let usual = self.config.retry_max;
        let is_called = self.table.door_mut(slot).call(now, turn, usual);
        if is_called {
            // Whoever is refused now comes back soon, to be told of the next owner's end.
            self.table[slot].retries = 0;
            if can_knock && self.gives_way(now, turn) {
                self.knock_next(now, slot);
            } else {
                self.go_in(slot);
            }
        }
        is_called
    }

    /// Returns whether a called request knocks. Now and then one does whose turn is not overdue, so
    /// that an overdue one has all nodes to itself: told a little later than the others, that one
    /// would lose to each of them.
    fn gives_way(&mut self, now: Instant, turn: Turn) -> bool {
        !turn.is_overdue(now) && self.rng.u8(..CALLS_A_KNOCK) == 0
    }

    /// Returns whether a request that could be called knocks. Where one other is known to contend,
    /// every second time it does not, which saves a round trip: two who were always called would
    /// keep the lock from all who knock. Nor does, every second time, one that has no turn among
    /// few who take turns: a knock loses against their calls. Where one goes first by a
    /// [ticket](super::knock), nobody is called.
    fn knocks_instead(&mut self, now: Instant, slot: u32) -> bool {
        let Some(door) = self.table.door(slot) else { return false };
        let is_one_of_two = !door.is_new() && door.company() == 1;
        let goes_by_ticket = self.has_any_ticket(now, slot) || self.waits_behind(now, slot);
        let may_be_called = !goes_by_ticket && (is_one_of_two || door.is_passed_over());
        door.asks_one() && !(may_be_called && self.rng.bool())
    }
}

//! Listening: a request that waits for long is told when the resource may be free.
//!
//! A node that tells what happens to keys is asked to do so with a look at the [door](super::door).
//! Then the request makes a long pause, and the node ends it: whenever somebody writes or deletes
//! the key, the node pushes its name. Such a push is a hint and never a vote; a
//! [knock](super::knock) follows, a [call](super::call) to the turn of the request, or a look that
//! opts in anew. The node tells the ttl of the key too, because a key that ends by itself can be
//! there for a while before the server notices. When the ttl is over, the request knocks, and goes
//! on to listen meanwhile. Where many wait, two listen like this, and the others to the
//! [ticket](super::knock) of the one who goes first.
//!
//! Nothing depends on a push. A request [peeks](super::peek) at the other nodes meanwhile, and
//! looks again after the longest pause, every second time at another node, and after a knock in
//! vain; a node that has not told what the look shows is not listened to any more in this session.
//! A key that is written again and again makes nobody look again and again: looks behind pushes
//! rest, the longer the more of them have shown one token.

use core::time::Duration;

use super::Redlock;
use super::backoff::After;
use crate::redlock::lock::Phase;
use crate::redlock::lock::door::Door;
use crate::redlock::lock::door::ticket::Ticket;
use crate::redlock::lock::listeners::Listening;
use crate::redlock::millis::Millis;
use crate::redlock::node::request::DoorRequest;
use crate::redlock::node_set::NodeId;
use crate::redlock::wire::answer::Seen;
use crate::time::Instant;

/// The longest pause between two looks of a request that listens.
pub(super) const LONGEST: Duration = Duration::from_secs(10);

/// For how long the same owner has had the resource before a request listens, as a multiple of the
/// longest usual pause.
const LONG: u32 = 4;

/// The same as a multiple of the time that an attempt with the longest ttl waits for near nodes: a
/// token of an attempt in vain is no owner. The attempts are those of others, of whose own settings
/// nothing is known here.
const ATTEMPTS: u32 = 2;

/// The time by which clocks run apart, or a server is late, that is no liar.
const SLACK: Duration = Duration::from_secs(1);

/// The most round trips over which looks spread; more where the usual pauses are longer.
const ROOM: u32 = 16;

/// The time that is left to each of the others at the least, after the resource was touched: a
/// look, an attempt, and what the scheduler takes.
const LEAST_TURN: Duration = Duration::from_micros(500);

/// The most others to whom time is left.
const MOST_OTHERS: u32 = 64;

/// With what a request goes on whose pause is over.
#[derive(Clone, Copy)]
enum Next {
    Look,
    Knock,
}

impl Redlock {
    /// Returns whether a look at `node` asks to be told what happens to the key, and whether it is
    /// one behind a long owner. A lock that goes from one to the next is looked at as ever, except
    /// by [who is next](super::call): if all who wait for it were told, all would look at the same
    /// moment. Behind a long owner those listen who go first, by their [tickets](super::knock).
    pub(super) fn wants_to_hear(&self, now: Instant, slot: u32, node: NodeId) -> (bool, bool) {
        // For data that are no string nobody listens: they may stay for ever.
        let is_lock = self.table.door(slot).is_some_and(|door| !door.knows(&[]));
        if !is_lock || !self.nodes[node].tells() {
            return (false, false);
        }
        let is_long = self.is_long(now, slot);
        let opts_in = match is_long {
            true => !self.waits_apart(now, slot),
            false => self.is_next(now, slot),
        };
        (opts_in, is_long)
    }

    /// Returns whether the same owner has had the resource for long.
    pub(super) fn is_long(&self, now: Instant, slot: u32) -> bool {
        let attempt = Duration::from_nanos(self.config.least_wait(Millis::of(self.config.max_ttl)));
        let long = self.config.retry_max.saturating_mul(LONG).max(attempt * ATTEMPTS);
        self.table.door(slot).is_some_and(|door| door.unchanged(now) >= long)
    }

    /// Lets a request listen that has seen at `id` that somebody has the resource, if its look has
    /// opted in.
    pub(super) fn listen(&mut self, id: NodeId, slot: u32) {
        let opts_in = self.table.door(slot).is_some_and(Door::opts_in);
        if opts_in && self.nodes[id].tells() {
            let key = self.table[slot].names().keys().next().unwrap_or_default();
            let listening = Listening::new(id, key);
            self.table.listen(slot, listening);
        }
    }

    /// Returns when a request looks again that has seen somebody's token. Returns `None` at the end
    /// of its wait.
    pub(super) fn next_look(&mut self, now: Instant, slot: u32) -> Option<Instant> {
        // Sets `last_try` if the pause is the last.
        let others = self.table.door(slot).map_or(0, Door::company);
        let usual = self.pause_after(now, slot, After::Look { others })?;
        if self.table[slot].last_try {
            return Some(usual);
        }
        if !self.table.door(slot).is_some_and(Door::listens_for_long) {
            return Some(self.look_before_turn(now, slot, usual));
        }
        Some(self.long_pause(now, slot).max(usual))
    }

    /// Returns when a request looks again at the latest that listens for long.
    fn long_pause(&mut self, now: Instant, slot: u32) -> Instant {
        let left = self.table[slot].wait_until - now;
        let pause = LONGEST.min(left / 4 * 3);
        let nanos = u64::try_from(pause.as_nanos()).unwrap_or(u64::MAX);
        now + Duration::from_nanos(self.rng.u64(nanos / 4 * 3..=nanos))
    }

    /// Handles the ttl of the key at the door, in milliseconds: −1 if the key never ends, and so is
    /// no lock, and −2 if the key is gone, which a push says as well. `None` stands for an error,
    /// and for an answer that will never come.
    pub(super) fn handle_ttl(
        &mut self,
        now: Instant,
        id: NodeId,
        request: DoorRequest,
        millis: Option<i64>,
    ) {
        let DoorRequest { slot, number } = request;
        let lock = &mut self.table[slot];
        lock.reply_settled();
        let waits = lock.phase == Phase::Backoff;
        let is_current = self.table.door(slot).is_some_and(|door| door.is_current(number));
        let is_long = self.table.door(slot).is_some_and(Door::listens_for_long);
        match millis.filter(|_| waits && is_current) {
            Some(-1) => _ = self.look_past_data(now, id, slot),
            // The server cuts the rest of a millisecond off. Who is next does not wait for the end.
            Some(left @ 0..) if is_long => {
                let left = Duration::from_millis(left.unsigned_abs().saturating_add(1));
                self.ends_at(now, id, slot, now + left);
            }
            _ => {}
        }
        self.recycle(slot);
    }

    /// Takes note of when the key ends for which a request listens.
    fn ends_at(&mut self, now: Instant, id: NodeId, slot: u32, ends: Instant) {
        let door = self.table.door_mut(slot);
        let Some(listening) = door.listening_mut().filter(|heard| heard.is_lock) else { return };
        listening.ends = Some(ends);
        if ends < now + self.config.retry_max / 4 {
            // Whoever extends such a key writes it often.
            door.wake();
        }
        // Somebody has extended the key, and the node has not said so.
        let before = door.take_unheard().filter(|before| before.node == id);
        if before.and_then(|before| before.ends).is_some_and(|before| before + SLACK < ends) {
            return self.listen_no_more(now, id);
        }
        let next = if self.knocks_at(now, slot, ends) { Next::Knock } else { Next::Look };
        let at = ends + self.lag(now, slot);
        self.comes_at(now, slot, at, next);
    }

    /// Wakes the requests that listen at `id` for this key.
    pub(super) fn wake_listeners(&mut self, now: Instant, id: NodeId, key: &[u8]) {
        let mut is_called = false;
        for slot in self.table.listeners_of(id, key) {
            let is_apart = self.listens_apart(slot);
            if !self.wake(slot) {
                continue;
            }
            if is_apart {
                self.lost_ticket(now, slot);
                continue;
            }
            self.table.door_mut(slot).told(now);
            // The engine has one turn, and sets with the same first key are in each other's way.
            if !is_called && self.call(now, slot) {
                is_called = true;
            } else if !self.knock_soon(now, slot) {
                self.come_back(now, slot);
            }
        }
    }

    /// Lets a request look soon that was told that the ticket is gone. The next owner has just had
    /// the lock, or nobody has a ticket behind the same owner any more. Where the node does not
    /// tell any more, the tickets of another one count.
    fn lost_ticket(&mut self, now: Instant, slot: u32) {
        self.table.door_mut(slot).learn_ticket(Ticket::Unknown);
        self.table[slot].retries = 0;
        let at = now + self.late_by();
        self.comes_at(now, slot, at, Next::Look);
    }

    /// Wakes all requests that listen at `id`: the keys may be gone, or nobody tells any more.
    pub(super) fn wake_all(&mut self, now: Instant, id: NodeId) {
        for slot in self.table.listeners_at(id) {
            let is_apart = self.listens_apart(slot);
            match self.wake(slot) {
                true if is_apart => self.lost_ticket(now, slot),
                true => self.come_back(now, slot),
                false => {}
            }
        }
    }

    /// Ends that a request listens. Returns whether the request pauses.
    fn wake(&mut self, slot: u32) -> bool {
        let listened = self.table.end_listening(slot).is_some();
        let pauses = listened && self.table[slot].phase == Phase::Backoff;
        if pauses {
            self.table[slot].last_try = false;
            self.table.door_mut(slot).wake();
        }
        pauses
    }

    /// Lets a request look or knock soon.
    pub(super) fn come_back(&mut self, now: Instant, slot: u32) {
        // Whoever is refused now comes back soon: the resource has just been free.
        self.table[slot].retries = 0;
        let knocks = self.table.door(slot).is_some_and(Door::will_knock);
        let (next, lag) = match knocks {
            true => (Next::Knock, self.lag(now, slot)),
            false => (Next::Look, Duration::ZERO),
        };
        self.comes_at(now, slot, now + lag, next);
    }

    /// Lets a request look or knock soon after `at`, unless it does sooner anyway. The more others
    /// wait, the longer is the time over which their looks spread: who comes first finds the
    /// resource free, and has it when the next one looks.
    fn comes_at(&mut self, now: Instant, slot: u32, at: Instant, next: Next) {
        let Some(door) = self.table.door(slot) else { return };
        let round_trip = self.quorum_round_trip();
        let turn = round_trip.saturating_mul(2).max(LEAST_TURN);
        let spread = match (next, door.company()) {
            // The door puts those who knock in order.
            (Next::Knock, _) => Duration::ZERO,
            (Next::Look, 0 | 1) => round_trip / 2,
            (Next::Look, company) => turn.saturating_mul(company.min(MOST_OTHERS) - 1),
        };
        let usual = self.config.retry_max.max(round_trip.saturating_mul(ROOM));
        let nanos = u64::try_from(spread.min(usual).as_nanos()).unwrap_or(u64::MAX);
        let at = at.max(door.rests_until(self.config.retry_max / 4));
        let due = at + Duration::from_nanos(self.rng.u64(..=nanos));
        let until = due.min(door.peeks().pause_end());
        self.pause(now, slot, until);
    }

    /// Ends that a request listens, whose look has an answer of `id`. A node that should have told
    /// what the look shows is not listened to any more.
    pub(super) fn judge_silence(
        &mut self,
        now: Instant,
        id: NodeId,
        slot: u32,
        seen: Option<Seen<'_>>,
    ) {
        let unheard = self.table.end_listening(slot);
        self.table.door_mut(slot).heard_nothing(unheard);
        // Replies of one connection are in order, and a push would have come before.
        let unheard = unheard.filter(|unheard| unheard.node == id && unheard.is_lock);
        let Some(Listening { ends, .. }) = unheard else { return };
        let is_silent = match seen {
            Some(Seen::Value(token)) => {
                !self.table.door(slot).is_some_and(|door| door.knows(token))
            }
            // A server can be late to notice that a key has ended by itself.
            Some(Seen::Nothing) => ends.is_some_and(|ends| now + SLACK < ends),
            Some(Seen::Data) | None => false,
        };
        if is_silent {
            self.listen_no_more(now, id);
        }
    }

    /// Listens to a node no more, in this session.
    pub(in crate::redlock) fn listen_no_more(&mut self, now: Instant, id: NodeId) {
        self.nodes[id].tells_nothing();
        self.wake_all(now, id);
    }
}

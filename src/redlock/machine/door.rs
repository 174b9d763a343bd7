//! The door: whoever was refused looks at one node before it asks all nodes again.
//!
//! All who contend for a resource look at the same node, the first in the order of the resource.
//! Whoever had the vote of a node in an attempt in vain looks at others: the owner has the key
//! elsewhere. A look is a plain read. As long as the door shows somebody's token, nobody else
//! is asked: so a request that waits costs one command at one node, and splits no votes. An empty
//! door lets the request in, and then all nodes are asked as ever; so does a [call](super::call) to
//! one who is next. A look is a hint, and never a vote.
//!
//! The owner of the token at the door can have died with too few nodes, and others may have the
//! lock since then, or nobody. So after some looks that have shown the same token, one goes to
//! another node: to the next one, and to the one behind when two nodes show different tokens. A
//! door that does not answer keeps nobody out.
//!
//! Data that are no lock may stay at a node for ever, and leave no room for the key of an owner:
//! data that are no string, and a key without an end. Whoever finds such data looks at another node
//! at once, and at none with such data for a minute, as long as enough others have room. The end of
//! a key is asked for with a long look, when a token comes back behind another one, and when looks
//! have shown the same for some time. Where too few nodes have room, nobody can have the lock, and
//! looks go on; all nodes are asked now and then. A string that is empty looks like no key at all.

use core::time::Duration;

use bytes::BytesMut;

use super::Redlock;
use crate::redlock::error::AcquireError;
use crate::redlock::lock::Phase;
use crate::redlock::lock::door::Door;
use crate::redlock::node::batch::Flush;
use crate::redlock::node::request::{DoorRequest, Expected, Request};
use crate::redlock::node_set::{NodeId, NodeSet};
use crate::redlock::options::AcquireOptions;
use crate::redlock::sabotage::Saboteur;
use crate::redlock::wire::answer::Seen;
use crate::redlock::wire::command;
use crate::redlock::wire::tracking;
use crate::time::Instant;

/// The shortest time for which a look at the door waits. A near node answers sooner.
const LEAST_WAIT: Duration = Duration::from_millis(1);

/// The most round trips to a quorum for which a look waits, where an attempt over near nodes would
/// not wait for longer anyway.
const MOST_TRIPS: u32 = 4;

impl Redlock {
    /// Goes on with a request whose pause is over: with a look at the door, or with an attempt.
    pub(super) fn retry(&mut self, now: Instant, slot: u32) {
        self.table[slot].follows = true;
        if self.table[slot].is_set() && self.takes_steps(now, slot) {
            return self.begin_steps(now, slot);
        }
        let goes_first = self.takes_first(now, slot);
        let knocks = self.takes_knock(now, slot);
        let hashes = self.hashes(slot);
        // Each run tells that once, so all of them are asked.
        let is_back = hashes.into_iter().filter(|hash| self.runs.comes_back(*hash)).count() > 0;
        match self.door_in_time(now, slot) {
            Some(_) if goes_first => self.go_in(slot),
            Some(_) if knocks => self.knock(now, slot),
            Some((node, end)) => self.look_at_door(now, slot, node, end),
            None => {
                if is_back {
                    self.ask_for_lock(now, slot);
                }
                self.go_in(slot);
            }
        }
    }

    /// Goes on with an attempt.
    pub(super) fn go_in(&mut self, slot: u32) {
        self.table.end_listening(slot);
        self.enqueue(slot);
    }

    /// Returns the node at which a request looks now, and until when that waits for an answer.
    fn door_in_time(&self, now: Instant, slot: u32) -> Option<(NodeId, Instant)> {
        let node = self.door_of(now, slot)?;
        let end = self.look_end(now, slot, node);
        // No attempt begins after the wait, so a look must leave time for one.
        (end < self.table[slot].wait_until).then_some((node, end))
    }

    /// Returns the moment until which a look at `node`, which begins now, waits for its answer.
    fn look_end(&self, now: Instant, slot: u32, node: NodeId) -> Instant {
        let ttl = self.table[slot].ttl;
        let wait = Duration::from_nanos(self.nodes[node].patience()).max(LEAST_WAIT);
        // A door that is much farther away than a quorum is not worth the time.
        let far = self.quorum_round_trip().saturating_mul(MOST_TRIPS);
        let most = far.max(self.first_wait(now, slot, ttl) - now).min(self.longest_wait(slot, ttl));
        now + wait.min(most)
    }

    /// Returns the node at which a request looks before its next attempt. Returns `None` for a
    /// request that nobody has refused, for the last attempt, whose result is told, and for a
    /// request whose caller counts the attempts or chooses the pauses.
    pub(super) fn door_of(&self, now: Instant, slot: u32) -> Option<NodeId> {
        let lock = &self.table[slot];
        let is_forgotten = self.config.is_sabotaged(Saboteur::DoorForgotten);
        if !self.is_refused(slot)
            || lock.last_try
            || lock.is_adopted()
            || self.has_own_tries(slot)
            || is_forgotten
        {
            return None;
        }
        let voters = self.with_key(slot, self.voters(now));
        let door = self.table.door(slot);
        let listening = door.and_then(Door::listening);
        let heard = listening.map(|listening| listening.node).filter(|id| voters.contains(*id));
        let usual = match heard {
            Some(id) => [id].into_iter().collect(),
            None => self.in_order(slot, voters, 0),
        };
        let others = voters.without(usual);
        let elsewhere = door.and_then(|door| door.elsewhere(others.len()));
        let other = elsewhere.map_or(NodeSet::EMPTY, |place| self.in_order(slot, others, place));
        other.into_iter().chain(usual).next()
    }

    /// Returns whether the caller of a request counts the attempts or chooses the pauses.
    pub(super) fn has_own_tries(&self, slot: u32) -> bool {
        self.table.options(slot).is_some_and(AcquireOptions::has_own_tries)
    }

    /// Returns the one of the `nodes` that has this place in the order of the resource.
    pub(super) fn in_order(&self, slot: u32, nodes: NodeSet, place: usize) -> NodeSet {
        let key = self.table[slot].names().keys().next().unwrap_or_default();
        self.order.first(key, nodes, place + 1).without(self.order.first(key, nodes, place))
    }

    /// Returns the node at which all look who contend: the first of the order, of the `voters`.
    pub(super) fn first_door(&self, slot: u32, voters: NodeSet) -> NodeSet {
        self.in_order(slot, self.with_key(slot, voters), 0)
    }

    /// Returns those of the `voters` that can have the key of the owner, or all of them. Data that
    /// are no lock leave no room for one, and may stay for ever.
    fn with_key(&self, slot: u32, voters: NodeSet) -> NodeSet {
        let others = voters.without(self.with_data(slot));
        let voters = if others.len() >= self.quorum.need() { others } else { voters };
        let others = voters.without(self.keyless(slot));
        if others.is_empty() { voters } else { others }
    }

    /// Returns the nodes whose key is data that are no lock, as far as a request has seen.
    fn with_data(&self, slot: u32) -> NodeSet {
        self.table.door(slot).map_or(NodeSet::EMPTY, Door::with_data)
    }

    /// Returns the nodes that do not have the key of the owner. A node that granted the last
    /// attempt did not have the key of the owner who won. Where the others are no quorum nobody has
    /// won, and the attempt was late. The next owner can have a key at any node.
    fn keyless(&self, slot: u32) -> NodeSet {
        let (agreed, since) = self.last_attempt(slot);
        let is_over = self.table.door(slot).is_some_and(|door| door.has_changed_hands(since));
        if is_over || self.nodes().without(agreed).len() < self.quorum.need() {
            return NodeSet::EMPTY;
        }
        agreed
    }

    /// Returns the nodes that granted the last attempt, and when that began. A knock that the door
    /// has refused tells nothing of the others, so the attempt before counts.
    pub(super) fn last_attempt(&self, slot: u32) -> (NodeSet, Instant) {
        let lock = &self.table[slot];
        match self.table.door(slot).filter(|_| self.is_knocking(slot)) {
            Some(door) => door.before_knock(),
            None => (lock.votes.agreed(), lock.started),
        }
    }

    /// Returns whether others have kept a request from its resource, or are known to do so.
    pub(super) fn is_refused(&self, slot: u32) -> bool {
        let is_wary = self.table.door(slot).is_some_and(Door::is_wary);
        !self.table[slot].votes.refused().is_empty() || is_wary
    }

    /// Asks `node` until `end` whose token stands at the first key of a lock.
    fn look_at_door(&mut self, now: Instant, slot: u32, node: NodeId, end: Instant) {
        // The key of our own last attempt may wait there for its release.
        self.flush_batch(now, node, Flush::Now);
        self.counters.looked += 1;
        // The slot and these bits tell a look from all that can be under way.
        let number = self.counters.looked as u32;
        let (opts_in, is_long) = self.wants_to_hear(now, slot, node);
        // A key without an end is no lock.
        let tells = self.nodes[node].tells();
        // Who is next does not wait for the end of a key.
        let asks_ttl = is_long || self.table.door(slot).is_some_and(|door| door.is_doubtful(tells));
        let is_known =
            |door: &Door| door.listening().is_some_and(|known| known.node == node && known.is_lock);
        // One push answers all that was asked for one key.
        let is_counted = opts_in && !self.table.door(slot).is_some_and(is_known);
        self.table.door_mut(slot).look(now, number, opts_in, is_long);
        let request = DoorRequest { slot, number };
        let lock = &mut self.table[slot];
        lock.phase = Phase::AtDoor;
        let (node, scratch) = (&mut self.nodes[node], &mut self.scratch);
        let mut send = |request, encode: &dyn Fn(&mut BytesMut)| {
            scratch.clear();
            encode(scratch);
            node.send(scratch, Expected { request, sent: now });
        };
        let key = lock.names().keys().next().unwrap_or_default();
        if opts_in {
            send(Request::OptIn, &tracking::opt_in);
        }
        send(Request::Door(request), &|out| command::get_begin(out, key));
        if asks_ttl {
            send(Request::Ttl(request), &|out| command::pttl(out, key));
        }
        if is_counted {
            node.count_opt_in(self.config.max_locks);
        }
        lock.owed += 1 + u32::from(asks_ttl);
        self.schedule(slot, end);
    }

    /// Handles what a look at the door has shown. `None` stands for an answer that tells nothing,
    /// and for one that will never come.
    pub(super) fn handle_door(
        &mut self,
        now: Instant,
        id: NodeId,
        request: DoorRequest,
        seen: Option<Seen<'_>>,
    ) {
        let DoorRequest { slot, number } = request;
        let lock = &mut self.table[slot];
        lock.reply_settled();
        let is_at_door = lock.phase == Phase::AtDoor;
        if self.handle_peek(now, id, request, seen) {
            // No look was awaited.
        } else if is_at_door && self.table.door(slot).is_some_and(|door| door.is_current(number)) {
            self.judge_silence(now, id, slot, seen);
            match seen {
                Some(Seen::Value(token)) if !self.is_leftover(slot, token) => {
                    self.table.door_mut(slot).saw(now, token);
                    self.end_old_tickets(now, slot);
                    self.door_is_closed(now, id, slot);
                }
                Some(Seen::Data) => {
                    if !self.look_past_data(now, id, slot) {
                        self.data_are_in_the_way(now, id, slot);
                    }
                }
                Some(Seen::Value(_) | Seen::Nothing) | None => self.go_in(slot),
            }
        }
        self.recycle(slot);
    }

    /// Lets a request look at another node at once, if `id` turns out to have data that are no
    /// lock, and enough others can have the key of the owner. Returns `false` otherwise.
    pub(super) fn look_past_data(&mut self, now: Instant, id: NodeId, slot: u32) -> bool {
        if !self.table.door_mut(slot).saw_data(now, id) {
            return false;
        }
        self.table.door_mut(slot).end_same();
        let next = self.door_in_time(now, slot);
        let Some((node, end)) = next.filter(|(node, _)| !self.with_data(slot).contains(*node))
        else {
            return false;
        };
        self.table.end_listening(slot);
        // Whatever was told was about the data.
        self.table.door_mut(slot).take_knock();
        self.look_at_door(now, slot, node, end);
        true
    }

    /// Lets a request wait on that has found data at a node without which it can do nothing. They
    /// may stay for ever, so once in a while all nodes are asked.
    fn data_are_in_the_way(&mut self, now: Instant, id: NodeId, slot: u32) {
        self.table.door_mut(slot).saw(now, &[]);
        if self.table.door(slot).is_some_and(Door::is_long_the_same) {
            self.go_in(slot);
        } else {
            self.door_is_closed(now, id, slot);
        }
    }

    /// Returns whether a token is left from the last attempt of a request. Another token of this
    /// engine is that of a lock with other names, such as a set: nobody stands in line behind it.
    pub(super) fn is_leftover(&self, slot: u32, token: &[u8]) -> bool {
        token == self.table.token(slot, &self.nonce, self.table[slot].serial).as_ref()
    }

    /// Lets a request wait on that has seen the token of somebody else at the door.
    fn door_is_closed(&mut self, now: Instant, id: NodeId, slot: u32) {
        self.listen(id, slot);
        self.leave_mark(now, slot);
        match self.next_look(now, slot) {
            Some(retry_at) => {
                self.back_off(now, slot, retry_at);
                self.want_ticket(now, slot);
            }
            None => {
                let mut refused = self.table[slot].votes.refused();
                refused.insert(id);
                self.acquire_ended(now, slot, AcquireError::Held { refused });
            }
        }
    }

    /// Returns the longest pause between two looks: `retry_max`, or up to 16 times as long for a
    /// request whose engine has just had the lock while many others waited, and down to a twentieth
    /// for one whose turn it is. What is left of the wait has room for several pauses.
    pub(super) fn longest_pause(&self, now: Instant, slot: u32) -> Duration {
        let usual = self.config.retry_max;
        let Some(door) = self.table.door(slot) else { return usual };
        let longest = door.longest_pause(now, usual);
        let left = self.table[slot].wait_until - now;
        longest.min(usual.max(left / 8))
    }
}

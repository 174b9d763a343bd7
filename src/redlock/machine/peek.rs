//! Peeks: a request that listens for long reads the key at the other nodes too, one at a time.
//!
//! The node that tells can stand still, and the owner can have let go everywhere but there. Then
//! nobody is told, and the next [look](super::door) is far away. A peek is a plain read beside the
//! pause of the request: it ends nothing and asks for no news. Where the token of the owner is
//! there, nothing changes. Where it is not, all other nodes are read, one after the other, since an
//! owner can lack the key at a few nodes, and a token that stands at a few nodes is no owner's.
//! When so many lack the key that nobody can have a quorum, the request goes in, as after a look at
//! an empty door. Where too few nodes can be read to show that, the request waits on: it would need
//! the vote of the node at which it listens. Whoever listens to a [ticket](super::knock) is not
//! told what happens to the lock, and looks at the door when a node shows another token.

use core::time::Duration;

use super::Redlock;
use crate::redlock::lock::Phase;
use crate::redlock::node::batch::Flush;
use crate::redlock::node::request::{DoorRequest, Expected, Request};
use crate::redlock::node_set::NodeId;
use crate::redlock::wire::answer::Seen;
use crate::redlock::wire::command;
use crate::time::Instant;

/// The longest time between two peeks, and so the time for which a lock can be free that nobody is
/// told of. A hundred who wait read each of five nodes eight times a second, or forty times while
/// the owner lacks a key.
const LONGEST: Duration = Duration::from_secs(3);

impl Redlock {
    /// Lets a request pause that has done something else before. Many can begin to listen to a
    /// ticket at one moment, so the first peek comes at any time.
    pub(super) fn begin_pause(&mut self, now: Instant, slot: u32, until: Instant) {
        if self.table.door(slot).is_some() {
            self.table.door_mut(slot).peeks_mut().end_round();
        }
        self.pause_with(now, slot, until, Duration::ZERO);
    }

    /// Lets a request pause until then.
    pub(super) fn pause(&mut self, now: Instant, slot: u32, until: Instant) {
        self.pause_with(now, slot, until, LONGEST / 4 * 3);
    }

    /// Lets a request pause until then. Whoever listens for long peeks meanwhile, after `least`
    /// and the longest time between two peeks at the most.
    fn pause_with(&mut self, now: Instant, slot: u32, until: Instant, least: Duration) {
        let mut due = until;
        if self.table.door(slot).is_some() {
            let door = self.table.door_mut(slot);
            door.peeks_mut().pause_until(until);
            if door.listens_for_long() {
                let [least, most] =
                    [least, LONGEST].map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
                due = due.min(now + Duration::from_nanos(self.rng.u64(least..=most)));
            }
        }
        self.schedule(slot, due);
    }

    /// Begins to peek, if the request does so in its pause and the pause is not over. Returns
    /// `false` otherwise.
    pub(super) fn peek(&mut self, now: Instant, slot: u32) -> bool {
        let Some(door) = self.table.door(slot).filter(|door| door.listens_for_long()) else {
            return false;
        };
        let until = door.peeks().pause_end();
        if until <= now {
            return false;
        }
        self.table.door_mut(slot).peeks_mut().end_round();
        self.read_elsewhere(now, slot);
        self.pause(now, slot, until);
        true
    }

    /// Reads the key at the next node that was not read in this round, and does not tell this
    /// request of the lock.
    fn read_elsewhere(&mut self, now: Instant, slot: u32) {
        let Some(door) = self.table.door(slot) else { return };
        let ear = door.listening().filter(|listening| listening.is_lock);
        let ear = ear.map(|listening| listening.node).into_iter().collect();
        let others = self.voters(now).without(ear).without(door.peeks().read());
        let nodes = others.without(door.with_data());
        if nodes.is_empty() {
            return;
        }
        let next = self.in_order(slot, nodes, door.peeks().rounds() % nodes.len());
        self.counters.looked += 1;
        let number = self.counters.looked as u32;
        let request = Request::Door(DoorRequest { slot, number });
        for id in next {
            self.table.door_mut(slot).peeks_mut().leaves(number, id);
            // The key of our own last attempt may wait there for its release.
            self.flush_batch(now, id, Flush::Now);
            let lock = &mut self.table[slot];
            self.scratch.clear();
            let key = lock.names().keys().next().unwrap_or_default();
            command::get_begin(&mut self.scratch, key);
            self.nodes[id].send(&self.scratch, Expected { request, sent: now });
            lock.owed += 1;
        }
    }

    /// Handles the answer to a peek. Returns `false` for any other look.
    pub(super) fn handle_peek(
        &mut self,
        now: Instant,
        id: NodeId,
        request: DoorRequest,
        seen: Option<Seen<'_>>,
    ) -> bool {
        let DoorRequest { slot, number } = request;
        let pauses = self.table[slot].phase == Phase::Backoff;
        let door = self.table.door(slot).filter(|door| pauses && door.peeks().is_current(number));
        let Some(door) = door else { return false };
        if door.listening().is_none() {
            // The request was told meanwhile, and comes back soon.
            return true;
        }
        let is_leftover = matches!(seen, Some(Seen::Value(token)) if self.is_leftover(slot, token));
        let shows_owner = matches!(seen, Some(Seen::Value(token)) if door.knows(token));
        // A node that does not answer says nothing of the owner.
        let Some(seen) = seen else { return true };
        if shows_owner && door.peeks().lacking().is_empty() {
            return true;
        }
        let shows_another = matches!(seen, Seen::Value(_)) && !shows_owner && !is_leftover;
        if shows_another && self.listens_apart(slot) {
            self.table.end_listening(slot);
            self.come_back(now, slot);
            return true;
        }
        let door = self.table.door_mut(slot);
        if seen == Seen::Nothing || is_leftover {
            door.peeks_mut().lacks_key(id);
        } else if seen == Seen::Data {
            door.saw_data(now, id);
        }
        let lacking = door.peeks().lacking().union(door.with_data());
        if self.nodes().without(lacking).len() >= self.quorum.need() {
            self.read_elsewhere(now, slot);
        } else {
            // The pause was cut short, so the wait may have room for more tries.
            self.table[slot].last_try = false;
            self.go_in(slot);
        }
        true
    }

    /// Returns whether all requests pause, so that whatever leaves is a peek.
    #[cfg(test)]
    pub(crate) fn is_pausing(&self) -> bool {
        (0..self.table.slots()).all(|slot| self.table[slot].phase == Phase::Backoff)
    }
}

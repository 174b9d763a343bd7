//! Peeks: a request that listens for long reads the key at the other nodes too, one at a time.
//!
//! The node that tells can stand still, and the owner can have let go everywhere but there. Then
//! nobody is told, and the next [look](super::door) is far away. A peek is a plain read beside the
//! pause of the request: it ends nothing and asks for no news. Where the key is there, nothing
//! changes. Where it is not, the next node is read at once, since an owner can lack the key at a
//! few nodes. When so many lack it that nobody can have a quorum, the request goes in, as after a
//! look at an empty door.

use core::time::Duration;

use super::Redlock;
use crate::redlock::lock::Phase;
use crate::redlock::lock::door::Door;
use crate::redlock::node::batch::Flush;
use crate::redlock::node::request::{DoorRequest, Expected, Request};
use crate::redlock::wire::answer::Seen;
use crate::redlock::wire::command;
use crate::time::Instant;

/// The longest time between two peeks, and so the time for which a lock can be free that nobody is
/// told of. A hundred who wait read each of four other nodes ten times a second.
const LONGEST: Duration = Duration::from_secs(3);

impl Redlock {
    /// Lets a request pause until then. Whoever listens for long peeks meanwhile.
    pub(super) fn pause(&mut self, now: Instant, slot: u32, until: Instant) {
        let mut due = until;
        if self.table.door(slot).is_some_and(Door::listens_for_long) {
            self.table.door_mut(slot).peeks_mut().pause_until(until);
            let nanos = u64::try_from(LONGEST.as_nanos()).unwrap_or(u64::MAX);
            due = due.min(now + Duration::from_nanos(self.rng.u64(nanos / 4 * 3..=nanos)));
        }
        self.schedule(slot, due);
    }

    /// Returns the end of the pause of a request.
    pub(super) fn pause_end(&self, slot: u32) -> Instant {
        let due = self.table[slot].due;
        self.table.door(slot).map_or(due, |door| door.peeks().pause_end().max(due))
    }

    /// Peeks, if the pause of a request is not over. Returns `false` if it is.
    pub(super) fn peek(&mut self, now: Instant, slot: u32) -> bool {
        let Some(door) = self.table.door(slot) else { return false };
        let until = door.peeks().pause_end();
        if until <= now || door.listening().is_none() {
            return false;
        }
        self.table.door_mut(slot).peeks_mut().begin();
        self.read_elsewhere(now, slot);
        self.pause(now, slot, until);
        true
    }

    /// Returns whether all requests pause, so that whatever leaves is a peek.
    #[cfg(test)]
    pub(crate) fn is_pausing(&self) -> bool {
        (0..self.table.slots()).all(|slot| self.table[slot].phase == Phase::Backoff)
    }

    /// Reads the key at the next node that does not tell. Returns `false` after enough of them.
    fn read_elsewhere(&mut self, now: Instant, slot: u32) -> bool {
        let Some(door) = self.table.door(slot) else { return false };
        let ear = door.listening().map(|listening| listening.node).into_iter().collect();
        let (place, lacking) = (door.peeks().count(), door.peeks().lacking());
        let others = self.voters(now).without(ear);
        // More than these would leave an owner no quorum.
        let enough = others.len().min(self.nodes().len() - self.quorum.need() + 1);
        if lacking >= enough {
            return false;
        }
        self.counters.looked += 1;
        let number = self.counters.looked as u32;
        self.table.door_mut(slot).peeks_mut().leaves(number);
        let lock = &mut self.table[slot];
        let key = lock.names().keys().next().unwrap_or_default();
        self.scratch.clear();
        command::get(&mut self.scratch, key);
        let request = Request::Door(DoorRequest { slot, number });
        for id in self.in_order(slot, others, place % others.len()) {
            // The key of our own last attempt may wait there for its release.
            self.flush_batch(now, id, Flush::Now);
            self.nodes[id].send(&self.scratch, Expected { request, sent: now });
            self.table[slot].owed += 1;
        }
        true
    }

    /// Handles the answer to a peek. Returns `false` for any other look.
    pub(super) fn peeked(
        &mut self,
        now: Instant,
        request: DoorRequest,
        seen: Option<Seen<'_>>,
    ) -> bool {
        let DoorRequest { slot, number } = request;
        let waits = self.table[slot].phase == Phase::Backoff;
        let Some(door) =
            self.table.door(slot).filter(|door| waits && door.peeks().is_current(number))
        else {
            return false;
        };
        if door.listening().is_none() {
            // The request was told meanwhile, and comes back soon.
            return true;
        }
        let lacks_key = match seen {
            Some(Seen::Nothing) => true,
            // Our own token is left from an attempt that was given up.
            Some(Seen::Value(token)) => token.starts_with(&self.nonce),
            // A node that does not answer says nothing of the owner.
            Some(Seen::Data) | None => false,
        };
        if lacks_key {
            self.table.door_mut(slot).peeks_mut().found_nothing();
            if !self.read_elsewhere(now, slot) {
                self.go_in(slot);
            }
        }
        true
    }
}

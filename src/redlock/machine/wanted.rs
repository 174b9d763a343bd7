//! Those who wait for long are seen by those who need not wait.
//!
//! An engine that asks again at once for what it has just released is never refused: its `SET`
//! follows its release, and nobody comes in between. So the engine sees nobody at the
//! [door](super::door), and leaves the resource to nobody. Others can starve behind it.
//!
//! The tokens at the door tell those who wait: all tokens of one engine have the same nonce.
//! Whoever has seen one engine alone for an eighth of a tenure, with one token after the other,
//! leaves a *mark* at the door; whoever has seen others, too, after half of a tenure. The tokens of
//! those who lose against that engine stand at the door for a moment, and hardly count. An engine
//! that knows of nobody, and whose locks have followed one another for an eighth of a tenure, takes
//! the mark away; if there was one, the engine [leaves the resource to others](super::turns) as if
//! it had seen them. Both happen rarely: a request leaves marks at intervals that double, and an
//! engine asks eight times in a tenure.
//!
//! An engine with a line has one token for a whole tenure, asks as often when it passes the lock
//! on, and leaves the resource for a moment by itself. Those who get the lock then can be served
//! before the engine comes back, and again nobody is refused. So whoever has waited for half of a
//! tenure behind one token leaves a mark as soon as the lock is there, and the engine that comes
//! back asks for marks together with its `SET`. While a token stays, an engine that had turns
//! before leaves one mark behind it; whoever has not may as well wait for a single owner. A lock
//! without any such history costs no command.
//!
//! Each resource of a set counts by itself: an engine can have the resource by several sets in
//! turn, and by single locks.
//!
//! A mark is a hint. Without the right to write one, and at a node that lies, waiting takes longer.

use core::time::Duration;

use bytes::BytesMut;
use smallvec::SmallVec;

use super::Redlock;
use crate::redlock::lock::crowds::Crowd;
use crate::redlock::lock::door::Door;
use crate::redlock::lock::engines::Engines;
use crate::redlock::lock::runs::{Follow, ask_every};
use crate::redlock::lock::{Links, Lock, Phase};
use crate::redlock::millis::Millis;
use crate::redlock::node::request::{Expected, Request};
use crate::redlock::node_set::NodeId;
use crate::redlock::sabotage::Saboteur;
use crate::redlock::wire::answer::Compared;
use crate::redlock::wire::command::Native;
use crate::redlock::wire::mark;
use crate::time::Instant;

/// The longest life of a mark. Whoever has left it may have given up.
const LONGEST: Duration = Duration::from_secs(60);

impl Redlock {
    /// Leaves a mark for a request that [one engine](Door::is_kept_out) keeps out. A set looks at
    /// its first resource alone, and leaves a mark for each: any of them can be what keeps it
    /// waiting.
    pub(super) fn leave_mark(&mut self, now: Instant, slot: u32) {
        let (tenure, left) = (self.config.tenure, self.table[slot].wait_until - now);
        let Some(alone) = self.table.door_mut(slot).is_kept_out(now, tenure, left) else { return };
        self.send_mark(now, slot, alone.max(tenure).saturating_mul(2));
    }

    fn send_mark(&mut self, now: Instant, slot: u32, lives: Duration) {
        let ttl = Millis::of(lives.min(LONGEST));
        let place = self.table.door(slot).map_or(0, Door::mark_place);
        for index in 0..usize::from(self.table[slot].keys) {
            self.at_door(now, (slot, index), place, Request::Mark, |_, out, prefix, key| {
                mark::leave(out, prefix, key, ttl);
            });
        }
        self.counters.marked += 1;
    }

    /// Counts a lock that is released on the nodes now. Once in a while the engine asks whether
    /// somebody else wants the resource, and leaves the resource to others if somebody does.
    #[inline]
    pub(super) fn count_run(&mut self, now: Instant, slot: u32) {
        let Lock { started, links: Links { hash, .. }, .. } = self.table[slot];
        if self.table[slot].is_set() {
            return self.count_run_of_set(now, slot, started);
        }
        let follow = self.follow(now, slot, hash, started);
        if follow != Follow::Nothing {
            self.ask_or_leave(now, (slot, 0), hash, follow);
        }
    }

    /// The same for each resource of a set. Other sets can have some of them, and single locks.
    #[cold]
    fn count_run_of_set(&mut self, now: Instant, slot: u32, started: Instant) {
        for (index, hash) in self.hashes(slot).into_iter().enumerate() {
            let follow = self.follow(now, slot, hash, started);
            self.ask_or_leave(now, (slot, index), hash, follow);
        }
    }

    #[cold]
    fn ask_or_leave(&mut self, now: Instant, key: (u32, usize), hash: u32, follow: Follow) {
        match follow {
            Follow::Nothing => {}
            Follow::Ask { place } => {
                let next = self.table.behind(key.0);
                self.take_mark(now, key, place, Request::Wanted { hash, lock: next });
            }
            // The next in line follows at once. The tenure ends with those who stand there now.
            Follow::Leave if self.table.behind(key.0).is_some() => self.bound_tenure(now, key.0),
            Follow::Leave => self.leave_to_unseen(now, key.0, hash),
        }
    }

    /// Counts a lock that is passed on, and whose former owner had it since `started`. Once in a
    /// while a line of which nobody else is known asks, too, and ends its tenure when all have been
    /// served who stand in it.
    pub(super) fn count_pass(&mut self, now: Instant, slot: u32, started: Instant) {
        for (index, hash) in self.hashes(slot).into_iter().enumerate() {
            match self.follow(now, slot, hash, started) {
                Follow::Nothing => {}
                Follow::Ask { place } => {
                    let request = Request::Wanted { hash, lock: Some(slot) };
                    self.take_mark(now, (slot, index), place, request);
                }
                Follow::Leave => self.bound_tenure(now, slot),
            }
        }
    }

    /// Returns what follows from the end of an ownership that began at `started`. An engine that
    /// has seen others leaves the resource to them anyway, and has no use for marks.
    #[inline]
    fn follow(&mut self, now: Instant, slot: u32, hash: u32, started: Instant) -> Follow {
        let follow = self.runs.released(now, hash, started);
        if follow != Follow::Nothing && self.table.door(slot).is_some_and(Door::is_wary) {
            return Follow::Nothing;
        }
        follow
    }

    /// Asks whether others want what a request has that comes back for its line after a tenure.
    /// Others can have been served in the gap, and then nobody is refused.
    #[cold]
    pub(super) fn ask_for_lock(&mut self, now: Instant, slot: u32) {
        for (index, hash) in self.hashes(slot).into_iter().enumerate() {
            let request = Request::Wanted { hash, lock: Some(slot) };
            self.take_mark(now, (slot, index), 0, request);
        }
    }

    #[cold]
    fn take_mark(&mut self, now: Instant, key: (u32, usize), place: usize, request: Request) {
        self.at_door(now, key, place, request, |native, out, prefix, key| {
            mark::take(out, native, prefix, key);
        });
    }

    /// Returns the hash of each resource of a lock.
    pub(super) fn hashes(&self, slot: u32) -> SmallVec<[u32; 8]> {
        let lock = &self.table[slot];
        if !lock.is_set() {
            return SmallVec::from_elem(lock.links.hash, 1);
        }
        lock.names().keys().map(|key| self.table.hash(key)).collect()
    }

    /// Leaves a mark for an engine whose lock has kept this one out for half of a tenure, and that
    /// may come back when this one has had its turn.
    pub(super) fn leave_mark_behind(&mut self, now: Instant, slot: u32) {
        let patience = self.config.tenure / 2;
        if self.table.door(slot).is_some_and(|door| door.was_kept_out(patience)) {
            self.send_mark(now, slot, self.config.tenure);
        }
    }

    /// Lets the next request pause as one that has seen others, for long enough that those who wait
    /// look at the door meanwhile: they do so each `retry_max` at least.
    #[cold]
    fn leave_to_unseen(&mut self, now: Instant, slot: u32, hash: u32) {
        let seen = self.table.door(slot).map(|door| door.crowd(&mut self.rng)).unwrap_or_default();
        let others = seen.union(Engines::SOMEBODY);
        // The pause lasts for three eighths and more of the time for which the lock seems to have
        // been held.
        let held = ask_every(self.config.tenure).max(self.config.retry_max).saturating_mul(2);
        self.crowds.remember(Crowd { hash, others, released_at: now, held });
    }

    /// Handles the answer to the question whether somebody else wants the resource with this hash.
    /// The answer is for the `lock` that asked, or for its successor where that is gone.
    pub(super) fn handle_wanted(
        &mut self,
        now: Instant,
        hash: u32,
        lock: Option<u32>,
        answer: Compared,
    ) {
        if answer != Compared::Ours || self.config.is_sabotaged(Saboteur::MarkIgnored) {
            return;
        }
        match lock.filter(|slot| self.has_tenure_for(*slot, hash)) {
            Some(slot) => self.bound_tenure(now, slot),
            None => self.runs.wanted(hash),
        }
    }

    /// Returns whether a slot still has a lock, or a request that can be granted at any moment, on
    /// the resource with this hash.
    fn has_tenure_for(&self, slot: u32, hash: u32) -> bool {
        let lock = &self.table[slot];
        let is_on = matches!(lock.phase, Phase::Ready | Phase::Attempt | Phase::Held);
        is_on && self.hashes(slot).contains(&hash)
    }

    /// Bounds the tenure of a lock as if its request had seen others. What the request has seen
    /// says more.
    fn bound_tenure(&mut self, now: Instant, slot: u32) {
        if self.table.door(slot).is_some_and(Door::is_wary) {
            return;
        }
        self.table.door_mut(slot).await_turn(now, Engines::SOMEBODY, self.config.tenure);
        // A tenure that begins with the grant is bounded then.
        if self.table[slot].tenure > Instant::ZERO {
            self.begin_tenure(slot);
        }
    }

    /// Sends a request about the key of a lock with this index to the voter with this place in its
    /// order, if there is one.
    fn at_door(
        &mut self,
        now: Instant,
        (slot, index): (u32, usize),
        place: usize,
        request: Request,
        encode: impl Fn(Option<Native>, &mut BytesMut, &[u8], &[u8]),
    ) {
        let key = self.table[slot].names().keys().nth(index).unwrap_or_default();
        if let Some(id) = self.order.at(key, self.voters(now), place) {
            self.send_about(now, id, (slot, index), request, encode);
        }
    }

    /// Sends a request about the key of a lock with this index to a node.
    pub(super) fn send_about(
        &mut self,
        now: Instant,
        id: NodeId,
        (slot, index): (u32, usize),
        request: Request,
        encode: impl Fn(Option<Native>, &mut BytesMut, &[u8], &[u8]),
    ) {
        let key = self.table[slot].names().keys().nth(index).unwrap_or_default();
        let node = &mut self.nodes[id];
        self.scratch.clear();
        encode(node.native, &mut self.scratch, &self.config.prefix, key);
        node.send(&self.scratch, Expected { request, sent: now });
    }
}

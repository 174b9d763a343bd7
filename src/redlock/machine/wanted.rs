//! Those who wait for long are seen by those who need not wait.
//!
//! An engine that asks again at once for what it has just released is never refused: its `SET`
//! follows its release, and nobody comes in between. So the engine sees nobody at the
//! [door](super::door), and leaves the resource to nobody. Others can starve behind it.
//!
//! The tokens at the door tell those who wait: all tokens of one engine have the same nonce.
//! Whoever has seen one engine alone for an eighth of a tenure, with one token after the other,
//! leaves a *mark* at the door; whoever has seen others, too, after half of a tenure. An engine
//! whose locks have followed one another for an eighth of a tenure takes the mark away; if there
//! was one, the engine [leaves the resource to others](super::turns) as if it had seen them. Both
//! happen rarely: a request leaves marks at intervals that double, and an engine asks eight times
//! in a tenure.
//!
//! An engine with a line has one token for a whole tenure, and leaves the resource for a moment by
//! itself. Those who get the lock then can be served before the engine comes back, and again nobody
//! is refused. So whoever has waited for half of a tenure behind one token leaves a mark as soon as
//! the lock is there, and the engine that comes back asks for marks together with its `SET`. A lock
//! without any such history costs no command. An engine that had turns before leaves one mark
//! behind a token that stays, too, and a line that knows of nobody asks as often as an engine
//! without a line.
//!
//! A mark is a hint. Without the right to write one, and at a node that lies, waiting takes longer.

use core::time::Duration;

use bytes::BytesMut;

use super::Redlock;
use crate::redlock::lock::crowds::Crowd;
use crate::redlock::lock::door::Door;
use crate::redlock::lock::engines::Engines;
use crate::redlock::lock::runs::{Follow, patience};
use crate::redlock::lock::{Links, Lock, Phase};
use crate::redlock::millis::Millis;
use crate::redlock::node::request::{Expected, Request};
use crate::redlock::sabotage::Saboteur;
use crate::redlock::wire::answer::Compared;
use crate::redlock::wire::command::Native;
use crate::redlock::wire::mark;
use crate::time::Instant;

/// The longest life of a mark. Whoever has left it may have given up.
const LONGEST: Duration = Duration::from_secs(60);

impl Redlock {
    /// Leaves a mark for a request that has seen at the door that locks of one engine follow one
    /// another, for half of a tenure or a fourth of what is left of the wait; or for an eighth of a
    /// tenure if no other engine was ever seen. A set looks at its first resource alone, and leaves
    /// a mark for each: any of them can be what keeps it waiting.
    pub(super) fn leave_mark(&mut self, now: Instant, slot: u32) {
        let tenure = self.config.tenure;
        let is_one = self.table.door(slot).is_some_and(|door| door.company() == 1);
        let patience = if is_one { patience(tenure) } else { tenure / 2 };
        let patience = patience.min((self.table[slot].wait_until - now) / 4);
        let Some(alone) = self.table.door_mut(slot).is_impatient(now, patience) else { return };
        self.send_mark(now, slot, alone.max(tenure).saturating_mul(2));
    }

    fn send_mark(&mut self, now: Instant, slot: u32, lives: Duration) {
        let ttl = Millis::of(lives.min(LONGEST));
        self.at_each_door(now, slot, Request::Mark, |_, out, prefix, key| {
            mark::leave(out, prefix, key, ttl);
        });
        self.counters.marked += 1;
    }

    /// Counts a lock that is released on the nodes now. Once in a while the engine asks whether
    /// somebody else wants the resource, and leaves the resource to others if somebody does.
    #[inline]
    pub(super) fn count_run(&mut self, now: Instant, slot: u32) {
        let Lock { started, links: Links { hash, .. }, .. } = self.table[slot];
        match self.runs.released(now, hash, started) {
            Follow::Nothing => {}
            Follow::Ask => self.ask_who_wants(now, slot, hash),
            Follow::Leave => self.leave_unseen(now, slot, hash),
        }
    }

    /// Counts a lock that is passed on. Once in a while a line of which nobody else is known asks,
    /// too, and ends its tenure when it has been served.
    pub(super) fn count_pass(&mut self, now: Instant, slot: u32) {
        let Lock { tenure, links: Links { hash, .. }, .. } = self.table[slot];
        let knows_others = self.table.door(slot).is_some_and(Door::is_wary);
        match self.runs.released(now, hash, tenure) {
            Follow::Ask if !knows_others => self.ask_who_came(now, slot),
            Follow::Leave => self.others_came(now, hash, slot),
            Follow::Nothing | Follow::Ask => {}
        }
    }

    #[cold]
    fn ask_who_wants(&mut self, now: Instant, slot: u32, hash: u32) {
        if self.table.line_behind(slot) > 0 {
            // The line leaves the resource to others by itself.
            return;
        }
        self.take_marks(now, slot, Request::Wanted { hash, back: None });
    }

    /// Asks whether others wait for a lock with a line, or have had the resource meanwhile, for a
    /// request that comes back for its line after a tenure. Their turn can be shorter than the gap,
    /// and then nobody is refused.
    #[cold]
    pub(super) fn ask_who_came(&mut self, now: Instant, slot: u32) {
        let hash = self.table[slot].links.hash;
        self.take_marks(now, slot, Request::Wanted { hash, back: Some(slot) });
    }

    fn take_marks(&mut self, now: Instant, slot: u32, request: Request) {
        self.at_each_door(now, slot, request, |native, out, prefix, key| {
            mark::take(out, native, prefix, key);
        });
    }

    /// Leaves a mark for an engine whose lock has kept this one out for half of a tenure, and that
    /// may come back when this one has had its turn.
    pub(super) fn leave_mark_behind(&mut self, now: Instant, slot: u32) {
        let patience = self.config.tenure / 2;
        if self.table.door(slot).is_some_and(|door| door.was_kept_out(patience)) {
            self.send_mark(now, slot, self.config.tenure);
        }
    }

    /// Lets the next request pause as one that has seen others.
    #[cold]
    fn leave_unseen(&mut self, now: Instant, slot: u32, hash: u32) {
        let seen = self.table.door(slot).map(|door| door.crowd(&mut self.rng)).unwrap_or_default();
        let others = seen.union(Engines::SOMEBODY);
        // Those who wait look at the door meanwhile.
        let held = patience(self.config.tenure).saturating_mul(2);
        self.crowds.remember(Crowd { hash, others, released_at: now, held });
    }

    /// Handles the answer to the question whether somebody else wants a resource.
    pub(super) fn handle_wanted(
        &mut self,
        now: Instant,
        hash: u32,
        back: Option<u32>,
        answer: Compared,
    ) {
        if answer != Compared::Ours || self.config.is_sabotaged(Saboteur::MarkIgnored) {
            return;
        }
        match back {
            Some(slot) => self.others_came(now, hash, slot),
            None => self.runs.wanted(hash),
        }
    }

    /// Bounds the tenure of the lock with which the engine has come back, as if its request had
    /// seen others. The slot can belong to another resource by now.
    fn others_came(&mut self, now: Instant, hash: u32, slot: u32) {
        let lock = &self.table[slot];
        let is_back = matches!(lock.phase, Phase::Ready | Phase::Attempt | Phase::Held);
        if !is_back || lock.links.hash != hash {
            return;
        }
        let is_held = lock.phase == Phase::Held;
        if self.table.door(slot).is_some_and(Door::is_wary) {
            // What the request has seen meanwhile says more.
            return;
        }
        self.table.door_mut(slot).await_turn(now, Engines::SOMEBODY, self.config.tenure);
        if is_held {
            self.begin_tenure(slot);
        }
    }

    /// Sends a request about each key of a lock to the first node in the order of the key.
    fn at_each_door(
        &mut self,
        now: Instant,
        slot: u32,
        request: Request,
        encode: impl Fn(Option<Native>, &mut BytesMut, &[u8], &[u8]),
    ) {
        let voters = self.voters(now);
        for key in self.table[slot].names().keys() {
            let Some(id) = self.order.first(key, voters, 1).into_iter().next() else { return };
            let node = &mut self.nodes[id];
            self.scratch.clear();
            encode(node.native, &mut self.scratch, &self.config.prefix, key);
            node.send(&self.scratch, Expected { request, sent: now });
        }
    }
}

//! Sets that take their resources one by one.
//!
//! A set is granted whole or not at all, so all of its resources must be free at one moment. Where
//! others want single resources of the set all the time, that moment never comes. So a set that
//! others have kept waiting for a [`tenure`](crate::redlock::RedlockConfig::tenure) takes *steps*:
//! the engine requests an ordinary lock on each resource of the set, one after the other, and keeps
//! those that it has. With the last of them it releases all, and requests the whole set in the same
//! write. So no node sees a moment in between in which others could have one of the resources.
//!
//! All sets take their steps in the order of the names. So of several sets that wait for one
//! another there is always one that waits for nobody in the circle.
//!
//! As long as a set takes steps, it keeps others from resources that it cannot use yet. So steps
//! end after a while, and then the set takes none for as long. Each time both are twice as long.
//!
//! A set owns its steps, and their events reach nobody else.

use core::time::Duration;

use smallvec::SmallVec;

use super::Redlock;
use crate::redlock::error::AcquireError;
use crate::redlock::event::{Event, LockId};
use crate::redlock::lock::{Lock, Phase, Way};
use crate::redlock::options::AcquireOptions;
use crate::redlock::sabotage::Saboteur;
use crate::redlock::wire::keys;
use crate::time::Instant;

/// The shortest time for which a set waits before its first step.
const LEAST_PATIENCE: Duration = Duration::from_millis(100);

/// When a set that has all steps looks again whether its nodes have room.
const ROOM_PAUSE: Duration = Duration::from_millis(1);

impl Redlock {
    /// Returns whether it is time for a request, which others have refused, to take steps. No
    /// request does whose caller counts the attempts or chooses the pauses, and none that would
    /// leave less than half of the slots to others.
    #[cold]
    pub(super) fn takes_steps(&mut self, now: Instant, slot: u32) -> bool {
        let Lock { last_try, way, keys, .. } = self.table[slot];
        let has_own_way = self.table.options(slot).is_some_and(AcquireOptions::has_own_tries);
        let is_forgotten = self.config.is_sabotaged(Saboteur::StepsForgotten);
        if last_try || way == Way::Adopted || has_own_way || is_forgotten {
            return false;
        }
        if !self.is_refused(slot) {
            return false;
        }
        let set = self.table.id(slot);
        let patience = self.config.tenure.max(LEAST_PATIENCE);
        let has_room = 2 * (self.table.len() + usize::from(keys)) <= self.config.max_locks;
        self.sets.is_old(now, set, patience) && has_room
    }

    /// Begins to take the resources of a set one by one.
    #[cold]
    pub(super) fn begin_steps(&mut self, now: Instant, slot: u32) {
        self.table.end_listening(slot);
        self.table[slot].phase = Phase::Stepping;
        self.sets.begin(now, self.table.id(slot), self.table[slot].wait_until);
        self.counters.stepped += 1;
        self.take_step(now, slot);
    }

    /// Requests a lock on the next resource of a set.
    fn take_step(&mut self, now: Instant, slot: u32) {
        let set = self.table.id(slot);
        let Some((taken, until)) = self.sets.get(set).map(|set| (set.steps.len(), set.until))
        else {
            return;
        };
        let key = self.table[slot].names().keys().nth(taken);
        let key: Option<SmallVec<[u8; 64]>> = key.map(SmallVec::from_slice);
        let Some(key) = key.filter(|_| self.table.has_room() && !self.has_unread_events()) else {
            return self.give_up_steps(now, slot);
        };
        // What the step tells, also at once, is due earlier.
        self.schedule(slot, until);
        let wait = until - now;
        let step = self.claim_slot(now, self.table[slot].ttl, wait);
        keys::join(&mut self.table[step].resource, b"", &key);
        self.sets.add(set, self.table.id(step));
        self.find_place(now, step, wait);
    }

    /// Goes on with the steps of a set, of which one has something to tell, or which end now.
    pub(super) fn step(&mut self, now: Instant, slot: u32) {
        let Some(set) = self.sets.get(self.table.id(slot)) else { return };
        let (until, taken) = (set.until, set.steps.len());
        let held = set.steps.iter().filter(|step| self.is_held(now, **step)).count();
        let last = set.steps.last().copied();
        let is_last_alive = last.is_some_and(|last| self.table.find(last).is_some());
        if now >= until || held + 1 < taken || !is_last_alive {
            return self.give_up_steps(now, slot);
        }
        match last {
            Some(last) if held == taken => self.step_is_held(now, slot, last),
            _ => self.schedule(slot, until),
        }
    }

    /// Keeps the `last` step of a set, and goes on with the next, or with the set.
    fn step_is_held(&mut self, now: Instant, slot: u32, last: LockId) {
        let Lock { ttl, keys, .. } = self.table[slot];
        let Some(step) = self.table.find(last) else { return };
        if self.table[step].renewal.ttl.is_zero() {
            // Steps end by themselves long before.
            let kept = self.keep_alive(now, last, ttl.duration(), self.config.max_hold);
            if kept.is_err() {
                return self.give_up_steps(now, slot);
            }
        }
        let set = self.sets.get(self.table.id(slot));
        if set.is_some_and(|set| set.steps.len() < usize::from(keys)) {
            self.take_step(now, slot);
        } else {
            self.take_set(now, slot);
        }
    }

    /// Releases all steps of a set, and requests the set right behind them.
    fn take_set(&mut self, now: Instant, slot: u32) {
        let voters = self.voters(now);
        if self.able(slot, voters).len() < self.quorum.need() {
            return self.schedule(slot, now + ROOM_PAUSE);
        }
        let steps = self.sets.end(now, self.table.id(slot));
        let steps: SmallVec<[u32; 8]> =
            steps.into_iter().filter_map(|step| self.table.find(step)).collect();
        for step in &steps {
            self.begin_release(now, *step);
        }
        self.enqueue(slot);
        self.admit(now);
        for step in steps {
            // Only now: whoever stands in line behind a step comes behind the set.
            self.finish_release(now, step);
        }
    }

    /// Ends the steps of a set that takes too long, and lets it go on as before.
    fn give_up_steps(&mut self, now: Instant, slot: u32) {
        self.end_steps(now, slot);
        match self.next_retry(now, slot) {
            Some(retry_at) => self.back_off(slot, retry_at),
            None => {
                let error = self.acquire_error(now, slot);
                self.acquire_ended(now, slot, error);
            }
        }
    }

    /// Releases the steps of a set that are held, and cancels the others.
    #[cold]
    pub(super) fn end_steps(&mut self, now: Instant, slot: u32) {
        for step in self.sets.end(now, self.table.id(slot)) {
            let Some(step) = self.table.find(step) else { continue };
            match self.table[step].phase {
                Phase::Held => {
                    self.begin_release(now, step);
                    self.finish_release(now, step);
                }
                Phase::Releasing => {}
                _ => self.give_up(now, step, AcquireError::Cancelled),
            }
        }
    }

    /// Keeps an event of a step from the owner of the engine, and lets the set look at its steps.
    /// Returns `false` for an event of any other lock.
    #[cold]
    pub(super) fn is_of_step(&mut self, event: &Event) -> bool {
        let Some(step) = event.lock() else { return false };
        let Some(set) = self.sets.owner(step) else { return false };
        if event.ended().is_some() {
            self.sets.ended(step);
        }
        let slot = self.table.find(set);
        if let Some(slot) = slot.filter(|slot| self.table[*slot].phase == Phase::Stepping) {
            self.schedule(slot, Instant::ZERO);
        }
        true
    }
}

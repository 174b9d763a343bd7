//! Sets that take their resources one by one.
//!
//! A set is granted whole or not at all, so all of its resources must be free at one moment. Where
//! others want single resources of the set all the time, that moment never comes. So a set that
//! others have kept waiting for a [`tenure`](crate::redlock::RedlockConfig::tenure) takes *steps*:
//! the engine requests an ordinary lock on each resource of the set, one after the other, and keeps
//! those that it has. With the last step the engine releases all of them, and requests the whole
//! set in the same write. So no node that is asked for the set sees a moment in between in which
//! others could have one of the resources. With a majority asked first, the other nodes can see
//! such a moment, and a minority grants nothing.
//!
//! All sets take their steps in the order of the names. So of several sets that wait for one
//! another there is always one that waits for nobody in the circle.
//!
//! As long as a set takes steps, others are kept from resources that the set cannot use yet. So
//! steps end after a while; then the set takes none for as long as they were allowed to take. Each
//! time both are twice as long.
//!
//! A set owns its steps, and their events reach nobody else.

use core::time::Duration;

use smallvec::SmallVec;

use super::Redlock;
use super::backoff::After;
use super::line::Needs;
use crate::redlock::error::AcquireError;
use crate::redlock::event::LockId;
use crate::redlock::lock::engines::Engines;
use crate::redlock::lock::{Lock, Phase, Way};
use crate::redlock::millis::Millis;
use crate::redlock::options::AcquireOptions;
use crate::redlock::sabotage::Saboteur;
use crate::redlock::wire::keys;
use crate::time::Instant;

/// The shortest time for which a set waits before its first step.
const LEAST_PATIENCE: Duration = Duration::from_millis(100);

/// When a set that has all steps looks again whether enough nodes can grant it.
const PAUSE: Duration = Duration::from_millis(1);

/// The longest ttl of a step, its drift not counted. Nobody was granted anything yet, so a client
/// that dies must not leave keys for as long as a lock.
const LONGEST_TTL: Duration = Duration::from_secs(10);

impl Redlock {
    /// Returns whether it is time for a request to take steps, because others have refused it for
    /// long enough. The first call for a request begins this time. A request whose caller counts
    /// the attempts or chooses the pauses takes no steps. Nor does a request that would leave less
    /// than half of the slots free.
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
        let has_time = self.table[slot].wait_until - now >= 2 * LEAST_PATIENCE;
        self.sets.has_waited(now, set, patience) && has_room && has_time
    }

    /// Begins to take the resources of a set one by one.
    #[cold]
    pub(super) fn begin_steps(&mut self, now: Instant, slot: u32) {
        self.table.end_listening(slot);
        self.table[slot].phase = Phase::Stepping;
        // What is left then is for the last attempts.
        let wait_until = self.table[slot].wait_until;
        self.sets.begin(now, self.table.id(slot), wait_until - (wait_until - now) / 8);
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
        // Other sets may have begun to take steps meanwhile, and locks that have ended keep their
        // slots until the owner has taken their events.
        let has_room = self.table.has_room() && 2 * (self.table.len() + 1) <= self.config.max_locks;
        let Some(key) = key.filter(|_| has_room && !self.has_unread_events()) else {
            return self.give_up_steps(now, slot);
        };
        // Each event of the step, even one that comes at once, makes the set due earlier.
        self.schedule(slot, until);
        let wait = until - now;
        let step = self.claim_slot(now, self.ttl_of_step(slot), wait);
        keys::join(&mut self.table[step].resource, b"", &key);
        if let Some(options) = self.table.options(slot).map(AcquireOptions::for_step) {
            self.set_options(now, step, wait, options);
        }
        self.sets.add(set, self.table.id(step));
        self.begin(now, step, wait);
        // A step goes on with the wait of its set, whose turn is overdue.
        let since = now - self.config.tenure;
        self.table.door_mut(step).await_turn(since, Engines::SOMEBODY, Duration::ZERO);
    }

    fn ttl_of_step(&self, slot: u32) -> Millis {
        let longest = LONGEST_TTL + self.config.drift.of(LONGEST_TTL);
        let longest = longest.max(self.config.shortest_ttl());
        self.table[slot].ttl.min(Millis::of(longest))
    }

    /// Goes on with the steps of a set, of which one has something to tell, or which end now.
    pub(super) fn step(&mut self, now: Instant, slot: u32) {
        let Some(set) = self.sets.get(self.table.id(slot)) else { return };
        let until = set.until;
        let Some((&last, earlier)) = set.steps.split_last() else { return };
        let are_kept = earlier.iter().all(|step| self.is_held(now, *step));
        if now >= until || !are_kept || self.table.find(last).is_none() {
            self.give_up_steps(now, slot);
        } else if self.is_held(now, last) {
            self.step_is_held(now, slot, last);
        } else {
            self.schedule(slot, until);
        }
    }

    /// Keeps the `last` step of a set, and goes on with the next, or with the set.
    fn step_is_held(&mut self, now: Instant, slot: u32, last: LockId) {
        let (ttl, keys) = (self.ttl_of_step(slot), self.table[slot].keys);
        let Some(step) = self.table.find(last) else { return };
        if self.table[step].renewal.ttl.is_zero() {
            // The steps mostly end before `max_hold` does.
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

    /// Queues a set that has all its steps. The set keeps them until its turn.
    fn take_set(&mut self, now: Instant, slot: u32) {
        let voters = self.voters(now);
        let able = self.able(slot, voters);
        let able = match self.needs(slot) {
            Needs::Fences => self.fit_quorum(now, able),
            Needs::Commands | Needs::Scripts => able,
        };
        let need = self.quorum.need();
        if voters.len() >= need && able.len() < need {
            // The steps would be released for nothing.
            return self.schedule(slot, now + PAUSE);
        }
        self.enqueue(slot);
        self.admit(now);
    }

    /// Releases the steps of a set whose turn has come. The request for the set follows.
    #[cold]
    pub(super) fn begin_steps_release(&mut self, now: Instant, slot: u32) {
        for step in self.sets.end(now, self.table.id(slot)) {
            let step = self.table.find(step).filter(|step| self.table[*step].phase == Phase::Held);
            if let Some(step) = step {
                self.begin_release(now, step);
                self.sets.releasing.push(step);
            }
        }
    }

    /// Gives those their turn who stand in line behind these steps: only now, so that they come
    /// behind the set.
    #[cold]
    pub(super) fn finish_steps_release(&mut self, now: Instant) {
        for step in core::mem::take(&mut self.sets.releasing) {
            self.finish_release(now, step);
        }
    }

    /// Ends the steps of a set that takes too long, and lets the set go on as before.
    fn give_up_steps(&mut self, now: Instant, slot: u32) {
        self.end_steps(now, slot);
        match self.pause_after(now, slot, After::Attempt) {
            Some(retry_at) => self.back_off(now, slot, retry_at),
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
    // Without the event: a reference would make every caller write the event to memory twice.
    #[cold]
    pub(super) fn is_of_step(&mut self, lock: Option<LockId>, is_last: bool) -> bool {
        let Some(step) = lock else { return false };
        let Some(set) = self.sets.owner(step) else { return false };
        if is_last {
            self.sets.ended(step);
        }
        let slot = self.table.find(set);
        if let Some(slot) = slot.filter(|slot| self.table[*slot].phase == Phase::Stepping) {
            self.schedule(slot, Instant::ZERO);
        }
        true
    }
}

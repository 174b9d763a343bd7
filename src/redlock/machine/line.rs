//! The queues in which requests wait for an attempt: the line behind a lock of the same resource,
//! and the queue of all that are ready as soon as a quorum of nodes has room.

use core::time::Duration;

use super::Redlock;
use crate::redlock::error::AcquireError;
use crate::redlock::event::Event;
use crate::redlock::lock::{Links, Phase};
use crate::redlock::node_set::NodeSet;
use crate::time::Instant;

impl Redlock {
    /// Puts a new lock where it belongs: in the queue for an attempt, or in line behind the lock
    /// of this engine that has the resource. A lock that does not want to wait ends there.
    pub(super) fn find_place(&mut self, now: Instant, slot: u32, wait: Duration) {
        let hash = self.table.hash(&self.table[slot].resource);
        self.table[slot].links = Links { hash, ..Links::UNLINKED };
        let leaver = self.table.leaver(self.table[slot].names(), hash);
        self.table[slot].follows = leaver.is_some();
        let Some(first) = self.table.first_of(self.table[slot].names(), hash) else {
            self.table.lead(slot);
            if let Some(leaver) = leaver {
                return self.succeed(now, leaver, slot);
            }
            self.enqueue(slot);
            return;
        };
        if wait.is_zero() {
            return self.acquire_ended(now, slot, AcquireError::Held);
        }
        self.table[slot].phase = Phase::InLine;
        self.table.line_up(first, slot);
        self.schedule(slot, self.table[slot].deadline);
    }

    /// Queues a lock for its next attempt.
    fn enqueue(&mut self, slot: u32) {
        let lock = &mut self.table[slot];
        lock.phase = Phase::Ready;
        let deadline = lock.deadline;
        self.ready.push(&mut self.table, slot);
        self.schedule(slot, deadline);
    }

    /// Starts attempts, in the order of the queue, as long as a quorum of nodes has room.
    pub(super) fn admit(&mut self, now: Instant) {
        while let Some(slot) = self.ready.first() {
            let voters = self.voters(now);
            if voters.len() < self.quorum.need() {
                return;
            }
            self.ready.remove(&mut self.table, slot);
            if self.table[slot].is_adopted {
                self.begin_adoption(now, slot, voters);
            } else {
                self.begin_attempt(now, slot, voters);
            }
        }
    }

    /// The nodes that are worth asking. Whether one has stalled does not depend on who wants to
    /// ask: the first in the queue must not wait for less than those behind it would be content
    /// with.
    fn voters(&self, now: Instant) -> NodeSet {
        self.nodes().into_iter().filter(|id| self.nodes[*id].can_vote(now)).collect()
    }

    /// The pause is over.
    pub(super) fn retry(&mut self, slot: u32) {
        self.table[slot].follows = true;
        self.enqueue(slot);
    }

    /// The wait ended while the lock stood in a queue.
    pub(super) fn wait_ended(&mut self, now: Instant, slot: u32) {
        let error = match self.table[slot].phase {
            Phase::InLine if self.is_behind_holder(slot) => AcquireError::Held,
            Phase::InLine => AcquireError::TimedOut,
            _ => self.why_not(now, slot),
        };
        self.acquire_ended(now, slot, error);
    }

    fn is_behind_holder(&self, slot: u32) -> bool {
        let lock = &self.table[slot];
        let first = self.table.first_of(lock.names(), lock.links.hash);
        first.is_some_and(|first| self.table[first].phase == Phase::Held)
    }

    /// The request ends without a lock. What it may have taken has been relinquished.
    pub(super) fn acquire_ended(&mut self, now: Instant, slot: u32, error: AcquireError) {
        let lock = self.table.id(slot);
        self.emit(Event::AcquireFailed { lock, error });
        self.leave(now, slot);
    }

    /// The lock is out: the next in line gets its turn, and the slot drains.
    pub(super) fn leave(&mut self, now: Instant, slot: u32) {
        self.hand_over(now, slot);
        self.drain(slot);
        self.admit(now);
    }

    /// The next in line gets its turn. Its `SET` follows the release on every connection.
    pub(super) fn hand_over(&mut self, now: Instant, slot: u32) {
        if let Some(heir) = self.table.leave_line(slot) {
            self.table[heir].follows = true;
            self.succeed(now, slot, heir);
        }
    }

    /// One lock follows another of this engine for the same resource, which others may want as
    /// well: their attempts would be refused for as long as there is somebody to follow here. So
    /// once in a while the resource is left to whoever tries meanwhile.
    fn succeed(&mut self, now: Instant, leaver: u32, heir: u32) {
        let tenure = self.table[leaver].tenure;
        if now - self.table[leaver].round.started >= self.config.tenure_gap {
            // It was released so long ago that the others have had their moment.
            return self.enqueue(heir);
        }
        let has_wait = self.table[heir].wait_until > now + self.config.tenure_gap;
        let is_over = tenure > Instant::ZERO && now - tenure >= self.config.tenure;
        if !is_over || !has_wait {
            self.table[heir].tenure = tenure;
            return self.enqueue(heir);
        }
        let half = self.config.tenure_gap / 2;
        let spread = self.rng.u64(..=half.as_nanos() as u64);
        self.table[heir].phase = Phase::Backoff;
        self.schedule(heir, now + half + Duration::from_nanos(spread));
    }

    /// The caller has had the last event of this lock.
    pub(super) fn drain(&mut self, slot: u32) {
        let lock = &mut self.table[slot];
        lock.phase = Phase::Draining;
        lock.due = Instant::FAR_FUTURE;
        self.table.count_ended();
        self.ready.remove(&mut self.table, slot);
        self.recycle(slot);
    }
}

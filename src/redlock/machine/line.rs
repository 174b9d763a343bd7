//! The queues in which requests wait for an attempt.
//!
//! A lock waits in one of two places: in the line behind another lock of the same resource, or in
//! the queue of locks that are ready as soon as a quorum of nodes has room.

use core::time::Duration;

use super::Redlock;
use crate::redlock::error::AcquireError;
use crate::redlock::event::Event;
use crate::redlock::lock::votes::Votes;
use crate::redlock::lock::{Links, Phase, Way};
use crate::redlock::node_set::NodeSet;
use crate::time::Instant;

/// What a request needs of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Needs {
    /// Plain commands: `SET`, and a native compare-and-delete where no scripts run.
    Commands,
    /// Scripts: several resources, an adoption, an extension.
    Scripts,
    /// Scripts, and a part in fencing numbers.
    Fences,
}

impl Redlock {
    /// Puts a new lock in its place: into the queue for an attempt, or into the line behind the
    /// lock of this engine that has the resource. A lock with no time to wait in line fails at
    /// once.
    pub(super) fn find_place(&mut self, now: Instant, slot: u32, wait: Duration) {
        let hash = self.table.hash(&self.table[slot].resource);
        self.table[slot].links = Links { hash, ..Links::UNLINKED };
        let predecessor = self.table.predecessor(self.table[slot].names(), hash);
        self.table[slot].follows = predecessor.is_some();
        let Some(first) = self.table.first_of(self.table[slot].names(), hash) else {
            self.table.lead(slot);
            if let Some(predecessor) = predecessor {
                if !self.leave_to_others(now, slot) {
                    self.start_next(now, predecessor, slot);
                }
                return self.release_awaited(now, predecessor);
            }
            if !self.leave_to_others(now, slot) {
                self.enqueue(slot);
            }
            return;
        };
        let goes_first = self.table[slot].is_adopted();
        if goes_first && self.step_back(now, first) {
            self.table.overtake(first, slot);
            return self.enqueue(slot);
        }
        if wait.is_zero() {
            return self.acquire_ended(now, slot, AcquireError::HELD_HERE);
        }
        self.table[slot].phase = Phase::InLine;
        if goes_first {
            self.table.line_up_next(first, slot);
        } else {
            self.table.line_up(first, slot);
        }
        // No node is asked, so the wait is not stretched to a node timeout.
        self.schedule(slot, self.table[slot].wait_until);
    }

    /// Sends the first lock of a resource back into the line, because an adoption goes first: as
    /// long as the token of the adoption is on the nodes, nobody else gets the lock. Returns
    /// `false` for a lock that is held, for another adoption, and for a lock that is in its last
    /// attempt: such an attempt ends soon, and could not be made again.
    fn step_back(&mut self, now: Instant, first: u32) -> bool {
        let lock = &self.table[first];
        if lock.is_adopted() || lock.wait_until <= now {
            return false;
        }
        match lock.phase {
            Phase::Attempt => {
                // S1: a token of the caller is good for one attempt.
                let tried = lock.retries.saturating_add(1);
                let options = self.table.options(first);
                if lock.last_try || options.is_some_and(|options| options.is_over(tried)) {
                    return false;
                }
                self.table[first].retries = tried;
                self.send_releases(now, first);
                // Should the wait end in line, answers to a `SET` that was taken back say nothing.
                self.table[first].votes = Votes::default();
            }
            Phase::Ready => {
                self.ready.remove(&mut self.table, first);
                self.end_steps(now, first);
            }
            Phase::Backoff | Phase::AtDoor => {}
            Phase::Stepping => self.end_steps(now, first),
            _ => return false,
        }
        self.table.end_listening(first);
        self.give_ticket_back(now, first);
        // The news is old when the turn of the lock comes.
        self.table.forget_knock(first);
        self.release_awaited(now, first);
        // The pause before the last try was cut short, so the wait may have room for more tries.
        self.table[first].last_try = false;
        self.table[first].phase = Phase::InLine;
        self.schedule(first, self.table[first].wait_until);
        true
    }

    /// Queues a lock for its next attempt.
    pub(super) fn enqueue(&mut self, slot: u32) {
        let lock = &mut self.table[slot];
        lock.phase = Phase::Ready;
        let deadline = lock.deadline;
        self.ready.push(&mut self.table, slot);
        self.schedule(slot, deadline);
    }

    /// Starts attempts and adoptions, in the order of the queue, as long as a quorum of nodes has
    /// room. Each of these nodes has answered a look, so a quorum has told its longest ttl (S11).
    pub(super) fn admit(&mut self, now: Instant) {
        while let Some(slot) = self.ready.first() {
            let voters = self.voters(now);
            if voters.len() < self.quorum.need() {
                return;
            }
            self.ready.remove(&mut self.table, slot);
            let able = self.able(slot, voters);
            if self.sets.has_steps() {
                self.begin_steps_release(now, slot);
            }
            match self.table[slot].way {
                Way::Plain => self.begin_attempt(now, slot, able),
                Way::Fenced => self.begin_fenced(now, slot, able),
                Way::Adopted => self.begin_adoption(now, slot, able),
            }
            if self.sets.has_steps() {
                self.finish_steps_release(now);
            }
        }
    }

    /// Returns the nodes that are worth asking. The answer is the same for every lock. Otherwise
    /// the first lock in the queue could wait for nodes that the locks behind it do without.
    pub(super) fn voters(&self, now: Instant) -> NodeSet {
        self.nodes().into_iter().filter(|id| self.nodes[*id].can_vote(now)).collect()
    }

    /// Returns those of the `voters` that can do what the lock needs, and none if they are too few:
    /// then the attempt fails at once, and holds up no lock that needs less.
    pub(super) fn able(&self, slot: u32, voters: NodeSet) -> NodeSet {
        if self.needs(slot) == Needs::Commands {
            return voters;
        }
        let able: NodeSet =
            voters.into_iter().filter(|id| self.nodes[*id].runs_scripts()).collect();
        if able.len() < self.quorum.need() { NodeSet::EMPTY } else { able }
    }

    /// Returns what a lock needs of its nodes.
    pub(super) fn needs(&self, slot: u32) -> Needs {
        let lock = &self.table[slot];
        match lock.way {
            Way::Plain if !lock.is_set() => Needs::Commands,
            Way::Plain | Way::Adopted => Needs::Scripts,
            Way::Fenced => Needs::Fences,
        }
    }

    /// Ends a request whose wait ended in a queue.
    pub(super) fn wait_ended(&mut self, now: Instant, slot: u32) {
        if self.needs(slot) == Needs::Fences {
            // The error says what keeps nodes from drawing now, and not when somebody asked last.
            self.fit(now, NodeSet::EMPTY);
        }
        let error = match self.table[slot].phase {
            Phase::InLine => self.line_error(now, slot),
            _ => self.acquire_error(now, slot),
        };
        self.acquire_ended(now, slot, error);
    }

    /// Returns the reason why a request that stood in line was not acquired. Whoever is ahead can
    /// lack a quorum of nodes, and then so does everybody behind.
    fn line_error(&self, now: Instant, slot: u32) -> AcquireError {
        if self.is_behind_holder(slot) {
            return AcquireError::HELD_HERE;
        }
        if self.voters(now).len() >= self.quorum.need() {
            // Also for a request that had to step back from an attempt.
            return AcquireError::InLine;
        }
        match self.acquire_error(now, slot) {
            AcquireError::NoRoom => AcquireError::InLine,
            error => error,
        }
    }

    /// Returns `true` if the first lock of the same resource is held.
    fn is_behind_holder(&self, slot: u32) -> bool {
        let lock = &self.table[slot];
        let first = self.table.first_of(lock.names(), lock.links.hash);
        first.is_some_and(|first| self.table[first].phase == Phase::Held)
    }

    /// Ends a request without a lock. The caller has already released what the attempts may have
    /// taken.
    pub(super) fn acquire_ended(&mut self, now: Instant, slot: u32, error: AcquireError) {
        if self.sets.has_steps() {
            self.end_steps(now, slot);
        }
        self.leave_ticket(now, slot);
        let lock = self.table.id(slot);
        self.emit(Event::AcquireFailed { lock, error });
        self.leave(now, slot);
    }

    /// Takes a lock out of its line and gives up its slot: the next in line gets its turn.
    pub(super) fn leave(&mut self, now: Instant, slot: u32) {
        self.hand_over(now, slot);
        self.drain(slot);
        self.admit(now);
    }

    /// Gives the next in line its turn. On every connection its `SET` follows the release.
    ///
    /// Whoever has waited long enough by now gets no turn. The end of that wait is due, and gives
    /// the turn to the next: no command ends the request of another caller.
    pub(super) fn hand_over(&mut self, now: Instant, slot: u32) {
        let Some(next) = self.table.leave_line(slot) else { return };
        self.table[next].follows = true;
        self.expect_crowd(now, slot, next);
        if now < self.table[next].wait_until {
            self.start_next(now, slot, next);
        }
        self.release_awaited(now, slot);
    }

    /// Ends a lock whose last event is queued. The slot stays in use until no reply is owed to it.
    pub(super) fn drain(&mut self, slot: u32) {
        if self.table[slot].is_set() {
            self.sets.forget(self.table.id(slot));
        }
        let lock = &mut self.table[slot];
        lock.phase = Phase::Draining;
        lock.due = Instant::FAR_FUTURE;
        if lock.presence.is_awaiting() {
            let (started, ttl, asked) = (lock.started, lock.ttl, lock.votes.asked());
            let due = self.patience(started, ttl, asked);
            self.schedule(slot, due);
        }
        self.table.count_ended();
        self.ready.remove(&mut self.table, slot);
        self.recycle(slot);
    }

    /// Frees the slot of a lock that has ended, to which no reply is owed.
    // Out of line, because every reply asks whether it is time, and for one reply in ten it is.
    #[inline(never)]
    pub(super) fn vacate(&mut self, slot: u32) {
        self.timers.clear(slot);
        self.table.vacate(slot);
        if self.table.len() == 0 {
            // An engine without locks is not woken up for those that it had.
            self.timers.clear_all();
        }
    }
}

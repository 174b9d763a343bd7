//! For how long the sockets are left alone while many requests are on their way.
//!
//! A client that reads each reply as soon as it comes decides a few locks at a time. So a few
//! requests leave, and wake a server for a few commands. Both sides then spend most of their time
//! in system calls, and the servers answer less than they could. After a pause that is short beside
//! the time of an answer, replies of several nodes are there together, and the next requests leave
//! together.
//!
//! How long a pause is follows from an [`estimate`] of the time that requests spend in queues.

mod estimate;

use core::time::Duration;

use smallvec::SmallVec;

use self::estimate::{CROWD, Estimate, LONGEST, middle};
use crate::redlock::MAX_NODES;
use crate::time::Instant;

/// The number of unanswered requests from which on a pause follows a write. With fewer, each lock
/// counts for more than the system calls.
const MANY: usize = 256;

/// The number of unanswered requests from which on there are pauses after each look, also where the
/// look has made nothing leave. With fewer, such a look has seen replies that decide nothing, and
/// those that do are near: a pause would only be longer than their way.
const FLOOD: usize = 384;

/// By how much a deadline that no reply can change may be late in a crowd: half of the time by
/// which a loss is told ahead of the end, if nothing else is configured. The other half is for what
/// has to be read before.
const LATENESS: Duration = Duration::from_micros(500);

/// The pauses of one driver.
pub(super) struct Lull {
    estimate: Estimate,
    /// The time of the last look at the sockets.
    looked: Instant,
    /// How long after a look the last wait began.
    away: Duration,
}

/// What is known of a wait before it begins. The functions are called where their answers matter.
pub(super) struct Wait<L, D> {
    /// How many requests have no answer, at each node.
    pub(super) queues: SmallVec<[usize; MAX_NODES]>,
    /// Whether anything was written since the wait before that could have a pause.
    pub(super) has_written: bool,
    /// For how long pause and wait last together, at most.
    pub(super) most: Duration,
    /// How long an answer of this node takes that meets no queue.
    pub(super) round_trip: L,
    /// The first moment, up to the given one, at which something is due that no reply can change.
    pub(super) due_by: D,
}

impl Lull {
    pub(super) fn new(nodes: usize) -> Self {
        let (looked, away) = (Instant::ZERO, Duration::ZERO);
        Self { estimate: Estimate::new(nodes), looked, away }
    }

    /// Counts answers of a node.
    #[inline]
    pub(super) fn answered(&mut self, node: usize, count: u32) {
        self.estimate.answered(node, count);
    }

    /// Returns when the timer goes off for this deadline: in a crowd not too soon, or the timer
    /// would be armed again in each turn.
    #[inline]
    pub(super) fn round(&self, deadline: Instant, clock: impl FnOnce() -> Instant) -> Instant {
        if self.estimate.has_crowd() { deadline.max(clock() + LATENESS) } else { deadline }
    }

    /// Notes the time of a look at the sockets.
    #[inline]
    pub(super) fn looked(&mut self, now: Instant) {
        self.looked = now;
    }

    /// Returns whether so many requests were on their way before the last wait that there are
    /// pauses, and the caller was back from the look before within the longest pause.
    pub(super) fn is_brisk(&self) -> bool {
        let is_crowd = self.estimate.has_crowd() && self.estimate.unanswered() >= MANY;
        is_crowd && self.away < LONGEST
    }

    /// Forgets the crowd, and ends the pauses.
    pub(super) fn end(&mut self) {
        self.estimate.end();
    }

    /// Returns how long to leave the sockets alone before a wait. What the caller has done since
    /// the last look at the sockets is a part of the pause. A pause is shorter where something is
    /// due in between that needs no reply.
    #[inline]
    pub(super) fn pause(
        &mut self,
        wait: Wait<impl Fn(usize) -> Duration, impl FnOnce(Instant) -> Option<Instant>>,
        clock: impl FnOnce() -> Instant,
    ) -> Duration {
        let unanswered = middle(&mut wait.queues.clone()).saturating_mul(wait.queues.len());
        if wait.most < LATENESS {
            self.end();
            return Duration::ZERO;
        }
        if unanswered < CROWD && !self.estimate.has_crowd() {
            return Duration::ZERO;
        }
        let now = clock();
        self.away = now - self.looked;
        self.estimate.count(now, &wait.queues, wait.round_trip);
        // A pause must not outlive its crowd.
        let may_pause = unanswered >= if wait.has_written { MANY } else { FLOOD };
        let longest = if may_pause { self.estimate.pause() } else { Duration::ZERO };
        let mut end = self.looked + longest;
        if longest > LATENESS && end > now {
            let due = (wait.due_by)(end).unwrap_or(end);
            end = due.max(self.looked + LATENESS).min(end);
        }
        (end - now).min(wait.most)
    }
}

#[cfg(test)]
mod tests;

//! Which replies a connection still owes, first-in first-out.
//!
//! RESP has no request numbers: the only thing that ties a reply to its request is the order. The
//! queue is therefore as long as the requests on the way, an entry leaves only with its reply, and
//! the whole queue dies with its connection.

use core::time::Duration;
use std::collections::VecDeque;

use super::command::Form;
use super::config::Config;
use crate::time::Instant;

/// A request on its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Expected {
    pub(super) what: What,
    /// For a `SET` the slot of the lock; for a compare request how many locks it is about; for a
    /// question who holds a resource its place; for the handshake the number of the step.
    pub(super) slot: u32,
    /// For a `SET` the serial of the attempt; for a question its number.
    pub(super) serial: u64,
    pub(super) sent: Instant,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    /// An attempt.
    Set,
    /// An attempt for several resources.
    SetAll(Form),
    /// The key of a lock that is held, for a node that misses it. No vote comes of it.
    Fill,
    /// The same for several resources.
    FillAll(Form),
    Release(Form),
    Extend(Form),
    /// Who holds a resource.
    Holder,
    Handshake,
}

impl What {
    pub(super) const fn is_fill(self) -> bool {
        matches!(self, Self::Fill | Self::FillAll(_))
    }

    pub(super) const fn is_extend(self) -> bool {
        matches!(self, Self::Extend(_))
    }
}

/// The requests on the way to one node.
///
/// How many there can be follows from the bounds of the configuration. A `SET` is only added while
/// there are fewer than `max_pipeline`. Each `SET` is followed by at most one release, and when a
/// lock tries again on this node its last release counts towards the bound of the new `SET`, so
/// that releases beyond it are at most one per lock. Extensions keep to `max_pipeline + max_locks`.
pub(super) struct Pipeline {
    queue: VecDeque<Expected>,
    /// How many of the last requests the driver has not been handed: nobody can answer those.
    hidden: usize,
    /// When the last reply came, or when the oldest request was sent if that was later.
    silent_since: Instant,
    /// When to look whether the replies are late. It follows the oldest request only when it is
    /// reached: until then that one can only have become younger.
    look_at: Instant,
    /// Whether the last look found that the oldest request has waited for too long.
    is_late: bool,
    /// How long the oldest request may wait. In nanoseconds, because every `SET` asks for it and
    /// a `Duration` costs a multiplication.
    stall_timeout: u64,
    /// How long all of them may wait without a reply.
    close_timeout: Duration,
}

/// What a look at the oldest request found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Look {
    /// Nothing that is not known already.
    NoNews,
    /// The oldest request has waited for longer than a node timeout, and did not before.
    Late,
    /// Nothing was answered for as long as a connection is kept.
    Silent,
}

impl Pipeline {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            queue: VecDeque::new(),
            hidden: 0,
            silent_since: Instant::ZERO,
            look_at: Instant::ZERO,
            is_late: false,
            stall_timeout: (Instant::ZERO + config.stall_timeout()).as_nanos(),
            close_timeout: config.close_timeout,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    #[inline]
    pub(super) fn push(&mut self, expected: Expected) {
        if self.queue.is_empty() {
            self.silent_since = expected.sent;
            self.look_at = self.late_at(expected);
        }
        self.queue.push_back(expected);
        self.hidden += 1;
    }

    /// The driver is handed the bytes of all requests.
    #[inline]
    pub(super) fn show(&mut self) {
        self.hidden = 0;
    }

    /// The request that the next reply belongs to. A reply that is here before its request can have
    /// left belongs to none: one that came twice would else be a vote for the `SET` that the first
    /// of them set off.
    #[inline]
    pub(super) fn next(&self) -> Option<Expected> {
        if self.queue.len() <= self.hidden { None } else { self.queue.front().copied() }
    }

    /// The next reply came at `now`. True if the replies were late until this one.
    #[inline]
    pub(super) fn answered(&mut self, now: Instant) -> bool {
        self.queue.pop_front();
        self.silent_since = now;
        self.is_late && self.has_caught_up(now)
    }

    fn has_caught_up(&mut self, now: Instant) -> bool {
        self.is_late = self.is_stalled(now);
        if let Some(oldest) = self.queue.front().filter(|_| !self.is_late) {
            self.look_at = self.late_at(*oldest);
        }
        !self.is_late
    }

    /// When [`look`](Self::look) is due: never while nothing is owed.
    #[inline]
    pub(super) fn look_at(&self) -> Instant {
        if self.queue.is_empty() { Instant::FAR_FUTURE } else { self.look_at }
    }

    /// Looks whether the replies are late, and decides when to look again.
    ///
    /// `close_timeout` is not the shorter of the two, and counts from no earlier: whoever is silent
    /// has been late before.
    pub(super) fn look(&mut self, now: Instant) -> Look {
        let Some(oldest) = self.queue.front() else { return Look::NoNews };
        let was_late = self.is_late;
        self.look_at = self.late_at(*oldest);
        self.is_late = self.look_at <= now;
        if !self.is_late {
            return Look::NoNews;
        }
        self.look_at = self.silent_since + self.close_timeout;
        if self.look_at <= now {
            Look::Silent
        } else if was_late {
            Look::NoNews
        } else {
            Look::Late
        }
    }

    /// Whether the oldest request has waited for longer than a node timeout.
    #[inline]
    pub(super) fn is_stalled(&self, now: Instant) -> bool {
        self.queue.front().is_some_and(|oldest| self.late_at(*oldest) <= now)
    }

    #[inline]
    fn late_at(&self, request: Expected) -> Instant {
        Instant::from_nanos(request.sent.as_nanos().saturating_add(self.stall_timeout))
    }

    /// When the oldest request was sent; `None` when there is none.
    pub(super) fn oldest(&self) -> Option<Instant> {
        self.queue.front().map(|expected| expected.sent)
    }

    /// Takes out everything, in order: the connection is gone.
    pub(super) fn take(&mut self) -> VecDeque<Expected> {
        self.hidden = 0;
        self.is_late = false;
        core::mem::take(&mut self.queue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn at(millis: u32) -> Instant {
        Instant::ZERO + millis * MS
    }

    /// A pipeline with requests of these times, which is late after 10 ms and silent after 30.
    fn pipeline(sent: &[u32]) -> Pipeline {
        let config =
            Config { node_timeout: Some(10 * MS), close_timeout: 30 * MS, ..Config::default() };
        let mut pipeline = Pipeline::new(&config);
        for sent in sent {
            push(&mut pipeline, *sent);
        }
        pipeline
    }

    fn push(pipeline: &mut Pipeline, sent: u32) {
        pipeline.push(Expected { what: What::Set, slot: 0, serial: 0, sent: at(sent) });
    }

    #[test]
    fn the_oldest_request_ages_although_others_are_answered() {
        let mut pipeline = pipeline(&[10, 11]);
        assert_eq!((pipeline.oldest(), pipeline.look_at()), (Some(at(10)), at(20)));
        assert!(!pipeline.answered(at(14)));
        assert_eq!((pipeline.oldest(), pipeline.look_at()), (Some(at(11)), at(20)));
        assert_eq!(pipeline.look(at(20)), Look::NoNews);
        assert_eq!(pipeline.look_at(), at(21));
        assert_eq!(pipeline.look(at(21)), Look::Late);
        assert!(pipeline.answered(at(22)));
        assert_eq!((pipeline.oldest(), pipeline.look_at()), (None, Instant::FAR_FUTURE));
        assert_eq!(pipeline.look(at(60)), Look::NoNews, "nothing is owed");
    }

    #[test]
    fn replies_are_late_until_the_oldest_request_is_young_enough() {
        let mut pipeline = pipeline(&[10, 11, 19]);
        assert_eq!(pipeline.look(at(25)), Look::Late);
        assert_eq!(pipeline.look_at(), at(40));
        assert!(!pipeline.answered(at(26)), "the next one has waited for 15 ms");
        assert!(pipeline.answered(at(27)));
        assert_eq!(pipeline.look_at(), at(29), "the last one is looked at in time");
        assert_eq!(pipeline.look(at(29)), Look::Late);
    }

    #[test]
    fn silence_counts_from_the_last_reply() {
        let mut pipeline = pipeline(&[10, 11, 12]);
        assert_eq!(pipeline.look(at(20)), Look::Late);
        assert!(!pipeline.answered(at(35)));
        // 30 ms after the first request, but 5 ms after a reply.
        assert_eq!(pipeline.look(at(40)), Look::NoNews);
        assert_eq!(pipeline.look_at(), at(65));
        assert_eq!(pipeline.look(at(65)), Look::Silent);
        assert_eq!(pipeline.take().len(), 2);
        push(&mut pipeline, 70);
        assert_eq!(pipeline.look_at(), at(80), "a new connection is not late");
        assert_eq!(pipeline.look(at(80)), Look::Late, "that is news again");
    }

    #[test]
    fn silence_is_found_by_who_looks_late() {
        assert_eq!(pipeline(&[10]).look(at(40)), Look::Silent);
    }
}

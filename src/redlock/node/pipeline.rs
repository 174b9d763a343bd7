//! The replies that a connection still owes, first in, first out.
//!
//! RESP has no request numbers: only the order ties a reply to its request. So the queue has an
//! entry for every request on its way, an entry leaves only with its reply, and the whole queue
//! dies with the connection.

use core::time::Duration;
use std::collections::VecDeque;

use super::request::{Expected, Request, SetRequest};
use crate::redlock::config::RedlockConfig;
use crate::redlock::wire::command::SetForm;
use crate::time::Instant;

/// The requests on their way to one node.
///
/// The bounds of the configuration limit their number. A `SET` is added only while there are fewer
/// than `max_pipeline` requests. Each `SET` is followed by at most one release. When a lock tries
/// again on this node, the release of its last attempt counts towards the bound of the new `SET`.
/// So the releases beyond the bound are at most one per lock. Extensions keep to
/// `max_pipeline + max_locks`, and so do draws of fencing numbers for locks that are held. A node
/// that has drawn is asked to accept a number a few times at most. A mark can follow a look at the
/// door, and a question for a mark a release, for each key of the lock; both are rare. A look has
/// up to two more requests with it, which ask to be told and for the end of the key. Behind a look,
/// a request asks for a ticket or two, and then to be told of one and for the end of that one.
/// Later the request gives one ticket back.
pub(crate) struct Pipeline {
    queue: VecDeque<Expected>,
    /// The number of requests from which on no more `SET` is added. Less by one for each request
    /// that has room here, and is not added yet.
    max: usize,
    /// The number of youngest requests whose bytes the driver does not have yet. Nobody can answer
    /// them.
    not_handed_out: usize,
    /// How many replies have come.
    replies: u32,
    /// The time of the last reply, or the time at which the oldest request was sent if that was
    /// later.
    silent_since: Instant,
    /// The time of the next check whether the replies are late. Replies do not move this time: the
    /// oldest request can only have become younger, and the check allows for that.
    check_at: Instant,
    /// Whether the last check found that the oldest request has waited for too long.
    is_late: bool,
    /// How long the oldest request may wait. In nanoseconds, because every `SET` asks for this
    /// time, and a `Duration` costs a multiplication.
    stall_timeout: u64,
    /// How long all requests may wait without any reply.
    close_timeout: Duration,
}

/// The result of a check of the oldest request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lateness {
    /// Nothing new.
    NoNews,
    /// The oldest request has waited for too long, and had not at the last check.
    Late,
    /// No request was answered for the whole `close_timeout`.
    Silent,
}

impl Pipeline {
    pub(crate) fn new(config: &RedlockConfig) -> Self {
        Self {
            queue: VecDeque::new(),
            max: config.max_pipeline,
            not_handed_out: 0,
            replies: 0,
            silent_since: Instant::ZERO,
            check_at: Instant::ZERO,
            is_late: false,
            stall_timeout: (Instant::ZERO + config.stall_timeout()).as_nanos(),
            close_timeout: config.close_timeout,
        }
    }

    /// Sets how long the oldest request may wait, in nanoseconds.
    pub(crate) fn set_patience(&mut self, patience: u64) {
        let most = (Instant::ZERO + self.close_timeout).as_nanos();
        self.stall_timeout = patience.min(most);
    }

    pub(crate) fn len(&self) -> usize {
        self.queue.len()
    }

    /// Returns how many replies have come in all. The number wraps around.
    #[cfg(any(feature = "net", test))]
    pub(crate) const fn replies(&self) -> u32 {
        self.replies
    }

    /// Returns `true` if the driver does not have the bytes of all requests yet.
    #[cfg(feature = "net")]
    pub(crate) fn has_unwritten(&self) -> bool {
        self.not_handed_out > 0
    }

    /// Returns `true` if one more `SET` may be added.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        self.queue.len() < self.max
    }

    /// Keeps room for a request that will be added later.
    pub(crate) fn reserve(&mut self) {
        self.max -= 1;
    }

    /// Gives back the room that was kept for `count` requests.
    pub(crate) fn unreserve(&mut self, count: usize) {
        self.max += count;
    }

    /// Adds a request at the end.
    #[inline]
    pub(crate) fn push(&mut self, expected: Expected) {
        if self.queue.is_empty() {
            self.silent_since = expected.sent;
            self.check_at = self.late_at(expected);
        }
        self.queue.push_back(expected);
        self.not_handed_out += 1;
    }

    /// Counts all requests as handed to the driver.
    #[inline]
    pub(crate) fn hand_out(&mut self) {
        self.not_handed_out = 0;
    }

    /// Returns the request to which the next reply belongs. A reply that comes before its request
    /// can have left belongs to none: otherwise a repeated reply would be a vote for the `SET` that
    /// its first copy had triggered.
    #[inline]
    pub(crate) fn next_expected(&self) -> Option<Expected> {
        if self.queue.len() <= self.not_handed_out { None } else { self.queue.front().copied() }
    }

    /// Removes the oldest request, whose reply came at `now`. Returns `true` if the replies were
    /// late until this one.
    #[inline]
    pub(crate) fn answered(&mut self, now: Instant) -> bool {
        self.queue.pop_front();
        self.replies = self.replies.wrapping_add(1);
        self.silent_since = now;
        self.is_late && self.has_caught_up(now)
    }

    /// Returns `true` if the replies are late no more.
    fn has_caught_up(&mut self, now: Instant) -> bool {
        self.is_late = self.is_stalled(now);
        if let Some(oldest) = self.queue.front().filter(|_| !self.is_late) {
            self.check_at = self.late_at(*oldest);
        }
        !self.is_late
    }

    /// Returns the time of the next [`check`](Self::check): never while nothing is owed.
    #[inline]
    pub(crate) fn check_at(&self) -> Instant {
        if self.queue.is_empty() { Instant::FAR_FUTURE } else { self.check_at }
    }

    /// Checks whether the replies are late, and sets the time of the next check.
    ///
    /// `close_timeout` is not shorter than the patience, and counts from no earlier moment: a node
    /// that is silent has been late before.
    pub(crate) fn check(&mut self, now: Instant) -> Lateness {
        let Some(oldest) = self.queue.front() else { return Lateness::NoNews };
        let was_late = self.is_late;
        self.check_at = self.late_at(*oldest);
        self.is_late = self.check_at <= now;
        if !self.is_late {
            return Lateness::NoNews;
        }
        self.check_at = self.silent_since + self.close_timeout;
        if self.check_at <= now {
            Lateness::Silent
        } else if was_late {
            Lateness::NoNews
        } else {
            Lateness::Late
        }
    }

    /// Returns `true` if the oldest request has waited for too long.
    #[inline]
    pub(crate) fn is_stalled(&self, now: Instant) -> bool {
        self.queue.front().is_some_and(|oldest| self.late_at(*oldest) <= now)
    }

    /// Returns the time from which on a request has waited for too long.
    #[inline]
    fn late_at(&self, request: Expected) -> Instant {
        Instant::from_nanos(request.sent.as_nanos().saturating_add(self.stall_timeout))
    }

    /// Takes the votes from the requests on their way. No grant of theirs counts.
    pub(crate) fn doubt_votes(&mut self) {
        for expected in &mut self.queue {
            if let Request::Set(SetRequest { intent, .. }) = &mut expected.request {
                *intent = intent.doubted();
            }
        }
    }

    /// Returns the requests behind the first `skipped` that are in the same script call as the one
    /// before them.
    pub(crate) fn joined(&self, skipped: usize) -> impl Iterator<Item = SetRequest> {
        self.queue.iter().skip(skipped).map_while(|expected| match expected.request {
            Request::Set(request) if request.form == SetForm::Joined => Some(request),
            _ => None,
        })
    }

    /// Returns `true` if a request about a lock is on its way.
    pub(crate) fn has_lock_request(&self) -> bool {
        let is_about_lock = |request| matches!(request, Request::Set(_) | Request::Compare(_));
        self.queue.iter().any(|expected| is_about_lock(expected.request))
    }

    /// Returns the time at which the oldest request was sent, or `None` if there is none.
    pub(crate) fn oldest(&self) -> Option<Instant> {
        self.queue.front().map(|expected| expected.sent)
    }

    /// Removes and returns all requests in order, because the connection is gone.
    pub(crate) fn take(&mut self) -> VecDeque<Expected> {
        self.not_handed_out = 0;
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

    /// Returns a pipeline with requests sent at these times, late after 10 ms and silent after 30.
    fn pipeline(sent: &[u32]) -> Pipeline {
        let config = RedlockConfig {
            node_timeout: Some(10 * MS),
            close_timeout: 30 * MS,
            ..RedlockConfig::default()
        };
        let mut pipeline = Pipeline::new(&config);
        for sent in sent {
            push(&mut pipeline, *sent);
        }
        pipeline
    }

    fn push(pipeline: &mut Pipeline, sent: u32) {
        pipeline.push(Expected { request: Request::Handshake, sent: at(sent) });
    }

    #[test]
    fn the_oldest_request_ages_although_others_are_answered() {
        let mut pipeline = pipeline(&[10, 11]);
        assert_eq!((pipeline.oldest(), pipeline.check_at()), (Some(at(10)), at(20)));
        assert!(!pipeline.answered(at(14)));
        assert_eq!((pipeline.oldest(), pipeline.check_at()), (Some(at(11)), at(20)));
        assert_eq!(pipeline.check(at(20)), Lateness::NoNews);
        assert_eq!(pipeline.check_at(), at(21));
        assert_eq!(pipeline.check(at(21)), Lateness::Late);
        assert!(pipeline.answered(at(22)));
        assert_eq!((pipeline.oldest(), pipeline.check_at()), (None, Instant::FAR_FUTURE));
        assert_eq!(pipeline.check(at(60)), Lateness::NoNews, "nothing is owed");
    }

    #[test]
    fn replies_are_late_until_the_oldest_request_is_young_enough() {
        let mut pipeline = pipeline(&[10, 11, 19]);
        assert_eq!(pipeline.check(at(25)), Lateness::Late);
        assert_eq!(pipeline.check_at(), at(40));
        assert!(!pipeline.answered(at(26)), "the next one has waited for 15 ms");
        assert!(pipeline.answered(at(27)));
        assert_eq!(pipeline.check_at(), at(29), "the last one is checked in time");
        assert_eq!(pipeline.check(at(29)), Lateness::Late);
    }

    #[test]
    fn silence_counts_from_the_last_reply() {
        let mut pipeline = pipeline(&[10, 11, 12]);
        assert_eq!(pipeline.check(at(20)), Lateness::Late);
        assert!(!pipeline.answered(at(35)));
        // 30 ms after the first request, but 5 ms after a reply.
        assert_eq!(pipeline.check(at(40)), Lateness::NoNews);
        assert_eq!(pipeline.check_at(), at(65));
        assert_eq!(pipeline.check(at(65)), Lateness::Silent);
        assert_eq!(pipeline.take().len(), 2);
        push(&mut pipeline, 70);
        assert_eq!(pipeline.check_at(), at(80), "a new connection is not late");
        assert_eq!(pipeline.check(at(80)), Lateness::Late, "that is news again");
    }

    #[test]
    fn silence_is_found_by_a_check_that_comes_late() {
        assert_eq!(pipeline(&[10]).check(at(40)), Lateness::Silent);
    }
}

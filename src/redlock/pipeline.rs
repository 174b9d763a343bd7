//! Which replies a connection still owes, first-in first-out.
//!
//! RESP has no request numbers: the only thing that ties a reply to its request is the order. The
//! queue is therefore as long as the requests on the way, an entry leaves only with its reply, and
//! the whole queue dies with its connection.

use std::collections::VecDeque;

use super::command::Form;
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
#[derive(Default)]
pub(super) struct Pipeline {
    queue: VecDeque<Expected>,
    /// How many of the last requests the driver has not been handed: nobody can answer those.
    hidden: usize,
    /// When the last reply came, or when the oldest request was sent if that was later.
    silent_since: Instant,
}

impl Pipeline {
    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    #[inline]
    pub(super) fn push(&mut self, expected: Expected) {
        if self.queue.is_empty() {
            self.silent_since = expected.sent;
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

    /// The next reply came at `now`.
    #[inline]
    pub(super) fn answered(&mut self, now: Instant) {
        self.queue.pop_front();
        self.silent_since = now;
    }

    /// When the oldest request was sent; `None` when there is none.
    pub(super) fn oldest(&self) -> Option<Instant> {
        self.queue.front().map(|expected| expected.sent)
    }

    /// Since when nothing was answered although something is owed; `None` when nothing is.
    pub(super) fn silent_since(&self) -> Option<Instant> {
        (!self.queue.is_empty()).then_some(self.silent_since)
    }

    /// Takes out everything, in order: the connection is gone.
    pub(super) fn take(&mut self) -> VecDeque<Expected> {
        self.hidden = 0;
        core::mem::take(&mut self.queue)
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    #[test]
    fn the_oldest_request_ages_although_others_are_answered() {
        let mut pipeline = Pipeline::default();
        assert_eq!((pipeline.oldest(), pipeline.silent_since()), (None, None));
        for sent in [10, 11] {
            let what = What::Set;
            pipeline.push(Expected { what, slot: 0, serial: 0, sent: at(sent) });
        }
        assert_eq!((pipeline.oldest(), pipeline.silent_since()), (Some(at(10)), Some(at(10))));
        pipeline.answered(at(40));
        assert_eq!((pipeline.oldest(), pipeline.silent_since()), (Some(at(11)), Some(at(40))));
        pipeline.answered(at(41));
        assert_eq!((pipeline.oldest(), pipeline.silent_since()), (None, None));
    }
}

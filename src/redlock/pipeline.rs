//! Which replies a connection still owes, first-in first-out.
//!
//! RESP has no request numbers: the only thing that ties a reply to its request is the order. The
//! queue is therefore as long as the requests on the way, an entry leaves only with its reply, and
//! the whole queue dies with its connection.

use core::time::Duration;
use std::collections::VecDeque;

use super::command::Form;
use crate::time::Instant;

/// A request on its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Expected {
    pub(super) what: What,
    /// For a `SET` the slot of the lock; for a compare request how many keys it has; for the
    /// handshake the number of the step.
    pub(super) slot: u32,
    /// For a `SET` the serial of the token.
    pub(super) serial: u64,
    pub(super) sent: Instant,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    Set,
    Release(Form),
    Extend(Form),
    Handshake,
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
    /// Since when the oldest request is the one that the node must answer next.
    head_since: Instant,
}

impl Pipeline {
    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    #[inline]
    pub(super) fn push(&mut self, expected: Expected) {
        if self.queue.is_empty() {
            self.head_since = expected.sent;
        }
        self.queue.push_back(expected);
    }

    /// The request that the next reply belongs to.
    #[inline]
    pub(super) fn next(&self) -> Option<Expected> {
        self.queue.front().copied()
    }

    /// The next reply came at `now`.
    #[inline]
    pub(super) fn answered(&mut self, now: Instant) {
        self.queue.pop_front();
        self.head_since = now;
    }

    /// When the oldest request will have waited for `timeout`; `None` when there is none.
    ///
    /// It has waited since it was sent or since it became the oldest, whichever is later: behind a
    /// thousand others it waits for the work, and not because the node has stalled.
    pub(super) fn overdue_at(&self, timeout: Duration) -> Option<Instant> {
        (!self.queue.is_empty()).then(|| self.head_since + timeout)
    }

    /// Takes out everything, in order: the connection is gone.
    pub(super) fn take(&mut self) -> VecDeque<Expected> {
        core::mem::take(&mut self.queue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    #[test]
    fn a_request_waits_since_it_was_sent_or_since_it_became_the_oldest() {
        let timeout = Duration::from_millis(50);
        let mut pipeline = Pipeline::default();
        assert_eq!(pipeline.overdue_at(timeout), None);
        for sent in [10, 11] {
            let what = What::Set;
            pipeline.push(Expected { what, slot: 0, serial: 0, sent: at(sent) });
        }
        assert_eq!(pipeline.overdue_at(timeout), Some(at(60)));
        pipeline.answered(at(40));
        assert_eq!(pipeline.overdue_at(timeout), Some(at(90)));
        pipeline.answered(at(41));
        assert_eq!(pipeline.overdue_at(timeout), None);
    }
}

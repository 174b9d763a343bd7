//! Requests for a key and a fencing number that leave together, in one script call.
//!
//! A script call costs a server several times what a `SET` costs, so requests wait here until the
//! bytes for the node are collected. Each request has an entry of its own in the pipeline, and one
//! reply answers those of a call. So whatever happens to an entry happens to one lock: a doubt, a
//! connection that ends, a lock that is given up.

use smallvec::SmallVec;

use super::Node;
use super::request::{Expected, JOINED, Request, SetRequest};
use crate::redlock::wire::command::{Call, SetForm};
use crate::time::Instant;

/// The requests of one script call.
pub(crate) type Joined = SmallVec<[SetRequest; JOINED]>;

impl Node {
    /// Lets a request wait until the bytes for the node are collected.
    pub(crate) fn gather(&mut self, request: SetRequest) {
        self.pipeline.reserve();
        self.gathered.push_back(request);
    }

    /// Returns how many requests wait.
    pub(crate) fn gathered(&self) -> usize {
        self.gathered.len()
    }

    /// Removes and returns the requests of the next call. Those of a node whose keys may be gone do
    /// not count any more (S11).
    pub(crate) fn take_gathered(&mut self, now: Instant) -> Joined {
        let count = self.gathered.len().min(JOINED);
        self.pipeline.unreserve(count);
        let is_doubted = self.is_quarantined(now);
        let taken = self.gathered.drain(..count).map(|request| {
            let doubted = request.intent.doubted();
            SetRequest { intent: if is_doubted { doubted } else { request.intent }, ..request }
        });
        taken.collect()
    }

    /// Sends the call of these requests: queues its bytes, and an entry for each request (S4).
    pub(crate) fn send_joined(
        &mut self,
        bytes: &[u8],
        call: Call,
        requests: &[SetRequest],
        sent: Instant,
    ) {
        self.outbox.buffer().extend_from_slice(bytes);
        for (index, request) in requests.iter().enumerate() {
            let form = if index == 0 { SetForm::Fenced(call) } else { SetForm::Joined };
            let request = Request::Set(SetRequest { form, ..*request });
            self.pipeline.push(Expected { request, sent });
        }
    }

    /// Returns the requests behind the first `skipped` that are in the same call as the one before
    /// them.
    pub(crate) fn joined(&self, skipped: usize) -> impl Iterator<Item = SetRequest> {
        self.pipeline.joined(skipped)
    }

    /// Removes and returns the requests that wait. Nothing of them has left.
    pub(super) fn give_up_gathered(&mut self, now: Instant) -> impl Iterator<Item = Expected> {
        self.pipeline.unreserve(self.gathered.len());
        let gathered = core::mem::take(&mut self.gathered).into_iter();
        gathered.map(move |request| Expected { request: Request::Set(request), sent: now })
    }
}

//! One answer from several threads of a client.

use core::task::{Context, Poll};
use core::time::Duration;

use smallvec::SmallVec;

use super::pending::PendingAnswer;
use super::wait::block_for;

/// Waits for an answer of every thread.
pub(super) struct Gather<T> {
    waiting: SmallVec<[PendingAnswer<T>; 1]>,
    answers: SmallVec<[T; 1]>,
}

impl<T> Gather<T> {
    pub(super) fn new(waiting: impl IntoIterator<Item = PendingAnswer<T>>) -> Self {
        Self { waiting: waiting.into_iter().collect(), answers: SmallVec::new() }
    }

    /// Returns all answers once the last one is there. After that, the poll stays pending.
    pub(super) fn poll(&mut self, context: &Context<'_>) -> Poll<SmallVec<[T; 1]>> {
        let Self { waiting, answers } = self;
        if waiting.is_empty() {
            // All answers have been returned. There is always a first thread.
            return Poll::Pending;
        }
        waiting.retain(|pending| match pending.poll_once(context) {
            Poll::Ready(answer) => {
                answers.push(answer);
                false
            }
            Poll::Pending => true,
        });
        if waiting.is_empty() { Poll::Ready(core::mem::take(answers)) } else { Poll::Pending }
    }

    /// Blocks until the last answer is there, for at most `limit`. Returns the answers so far, and
    /// whether they are all.
    pub(super) fn wait_for(mut self, limit: Duration) -> (SmallVec<[T; 1]>, bool) {
        match block_for(limit, |context| self.poll(context)) {
            Some(answers) => (answers, true),
            None => (self.answers, false),
        }
    }
}

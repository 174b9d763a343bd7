//! The storage behind the lock, and how a holder uses it.
//!
//! The storage accepts a write if the number with it is no smaller than the largest so far, and
//! keeps the number in the same step. A holder writes for the first time before it reads ("mark
//! before you read"). Any client that was granted once writes as late as it likes.

use crate::state::{Phase, State};
use crate::step::Step;
use crate::variants::Broken;
use crate::world::World;

impl<const N: usize, const A: usize> World<N, A> {
    /// Lists what a holder, or one who was, can do to the storage.
    pub fn storage_steps(&self, state: &State<N, A>, attempt: usize, to: &mut Vec<Step>) {
        let client = &state.attempts[attempt];
        if !self.storage || !client.granted {
            return;
        }
        let is_accepted = client.fence >= state.stored || self.is(Broken::AnyWrite);
        // A second write that harms nobody changes nothing here.
        let is_news = !client.wrote || self.is_too_late(state, attempt);
        if is_accepted && is_news {
            to.push(Step::Write(attempt as u8));
        }
        let may_read = client.wrote || self.is(Broken::ReadBeforeMark);
        if may_read && !client.read && client.phase == Phase::Held {
            to.push(Step::Read(attempt as u8));
        }
    }

    /// Accepts a write.
    pub fn write(&self, state: &mut State<N, A>, attempt: usize) {
        if self.is_too_late(state, attempt) {
            state.wrong |= crate::properties::STORAGE;
        }
        state.stored = state.stored.max(state.attempts[attempt].fence);
        state.attempts[attempt].wrote = true;
    }

    /// Returns whether a newer holder has written or read.
    fn is_too_late(&self, state: &State<N, A>, attempt: usize) -> bool {
        state.attempts.iter().any(|newer| {
            newer.granted && newer.before & (1 << attempt) != 0 && (newer.wrote || newer.read)
        })
    }
}

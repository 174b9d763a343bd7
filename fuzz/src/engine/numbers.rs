//! Fencing numbers (S13): who has asked for one, and which servers have written them.

use arbitrary::{Result, Unstructured};
use redbolt::redlock::{AcquireOptions, Fence, LockId, RequestError};

use super::World;

/// What is known of the number of a lock.
#[derive(Clone, Copy, Default)]
pub(super) struct Number {
    is_wanted: bool,
    /// The number that the lock has, or brings to its adoption.
    fence: Option<Fence>,
    is_drawing: bool,
}

impl Number {
    /// The number of a lock that was asked for with one.
    pub(super) const FENCED: Self = Self { is_wanted: true, fence: None, is_drawing: false };

    /// Returns a number that an adoption brings, or none.
    pub(super) fn brings(script: &mut Unstructured<'_>) -> Result<Self> {
        let fence = Fence::new(script.arbitrary::<u64>()? >> 11);
        Ok(Self { fence, ..Self::default() })
    }

    pub(super) fn options(&self) -> AcquireOptions {
        let options = AcquireOptions::new();
        match self.fence {
            Some(fence) => options.with_fence(fence),
            None if self.is_wanted => options.fenced(),
            None => options,
        }
    }
}

impl World {
    /// Asks for a new number for a lock.
    pub(super) fn draw(&mut self, id: LockId) {
        let answer = self.engine.draw_fence(id);
        let number = &mut self.locks.get_mut(&id).expect("it is chosen from them").number;
        if number.is_drawing {
            assert!(answer.is_err(), "two draws at once");
        } else {
            assert_ne!(answer, Err(RequestError::DrawPending), "a draw has no event");
            number.is_drawing = answer.is_ok();
        }
    }

    /// Checks the number with which a lock was granted.
    pub(super) fn numbered(&mut self, id: LockId, fence: Option<Fence>) {
        let lock = self.locks.get_mut(&id).expect("a lock that lives");
        if lock.number.is_wanted {
            assert!(fence.is_some(), "{id:?} has no number");
            lock.number.fence = fence;
            self.check_number(id, fence);
        } else {
            assert_eq!(fence, lock.number.fence, "{id:?} has another number");
        }
    }

    /// Takes the answer to a draw.
    pub(super) fn drawn(&mut self, id: LockId, fence: Option<Fence>) {
        let number = &mut self.locks.get_mut(&id).expect("a lock that lives").number;
        assert!(number.is_drawing, "{id:?} has a number that nobody wanted");
        number.is_drawing = false;
        number.fence = fence.or(number.fence);
        self.check_number(id, fence);
    }

    /// Checks that a quorum of servers has written this number.
    fn check_number(&self, id: LockId, fence: Option<Fence>) {
        let (Some(token), Some(fence)) = (self.engine.peek_token(id), fence) else { return };
        assert_eq!(self.engine.fence(id), Some(fence), "{id:?} has another number");
        let all = self.peers.iter();
        let votes = all.filter(|peer| peer.accepted.contains(&(token, fence))).count();
        assert!(votes > self.peers.len() / 2, "{id:?} has {fence} with {votes} votes");
    }
}

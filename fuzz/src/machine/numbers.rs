//! What the caller knows of the numbers of its locks (S13): each was asked for, or was brought to
//! an adoption, and stays until a newer one is drawn.

use arbitrary::{Result, Unstructured};
use redbolt::redlock::{
    AcquireOptions, Event, Fence, FenceRefusal, LockId, MIN_TTL, Redlock, RequestError as Refusal,
    Token,
};
use redbolt::time::Instant;

use super::World;
use super::caller::{Caller, RESOURCES, STRANGER};
use super::lock::State;

/// How many trips a number takes at most: the first, and those in which nodes are to accept a
/// larger one.
pub(super) const TRIPS: u32 = 5;

/// What the caller knows of the number of a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Number {
    wish: Wish,
    fence: Option<Fence>,
    /// The time by which there is an answer to a draw.
    draw: Option<Instant>,
}

/// What the caller has asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Wish {
    /// A lock with a number.
    Fenced,
    /// A lock without a number, or an adoption that brings one.
    Brings(Option<Fence>),
}

impl Wish {
    /// Returns the number that a lock has which was handed on, or another one, or none.
    pub(super) fn choose(script: &mut Unstructured<'_>, handed: Option<Fence>) -> Result<Self> {
        Ok(Self::Brings(match script.int_in_range(0..=3)? {
            0 => None,
            1 => Fence::new(script.arbitrary::<u64>()? >> 11),
            _ => handed,
        }))
    }

    pub(super) fn options(self) -> AcquireOptions {
        match self {
            Self::Fenced => AcquireOptions::new().fenced(),
            Self::Brings(None) => AcquireOptions::new(),
            Self::Brings(Some(fence)) => AcquireOptions::new().with_fence(fence),
        }
    }
}

impl Number {
    pub(super) fn new(wish: Wish) -> Self {
        Self { wish, fence: None, draw: None }
    }

    pub(super) fn is_fenced(&self) -> bool {
        self.wish == Wish::Fenced
    }

    /// Returns the number of a lock that is held.
    pub(super) fn fence(&self) -> Option<Fence> {
        self.fence
    }

    /// Checks the number with which a lock was granted.
    pub(super) fn granted(&mut self, id: LockId, fence: Option<Fence>) {
        match self.wish {
            Wish::Fenced => assert!(fence.is_some(), "{id:?} has no number"),
            Wish::Brings(brought) => assert_eq!(fence, brought, "the number of {id:?}"),
        }
        self.fence = fence;
    }

    /// Gives a draw more time after a jump of the time.
    pub(super) fn late(&mut self, now: Instant, redlock: &Redlock) {
        if let Some(due) = &mut self.draw {
            *due = (*due).max(draw_due(now, redlock));
        }
    }

    pub(super) fn is_overdue(&self, now: Instant) -> bool {
        self.draw.is_some_and(|due| due < now)
    }
}

impl Caller {
    /// Asks for a new number for a lock.
    pub(super) fn draw(&mut self, now: Instant, redlock: &mut Redlock, id: LockId) {
        let lock = self.locks.get_mut(&id).expect("it is chosen from them");
        let answer = redlock.draw_fence(now, id);
        let expected = match lock.number.draw {
            _ if !lock.is_believed(now) => Err(Refusal::NotHeld),
            Some(_) => Err(Refusal::DrawPending),
            None => Ok(()),
        };
        assert_eq!(answer, expected, "{id:?}");
        if answer.is_ok() {
            lock.number.draw = Some(draw_due(now, redlock));
            self.draws = lock.token;
        }
    }

    /// Makes requests about numbers that no lock can have.
    pub(super) fn ask_wrongly(&self, now: Instant, redlock: &mut Redlock) {
        let brings = Wish::Brings(Fence::new(1 << 40)).options();
        let (wait, resource) = (MIN_TTL, [RESOURCES[0]]);
        let refused = redlock.acquire_with(now, &resource, MIN_TTL, wait, &brings);
        assert_eq!(refused, Err(Refusal::Fence(FenceRefusal::NewLock)));
        let fenced = Wish::Fenced.options();
        let refused = redlock.adopt_with(now, &resource, STRANGER, MIN_TTL, wait, &fenced);
        assert_eq!(refused, Err(Refusal::Fence(FenceRefusal::Adoption)));
    }

    /// Takes the answer to a draw.
    pub(super) fn drawn(&mut self, event: &Event) {
        let (id, fence) = match *event {
            Event::Fenced { lock, fence } => (lock, Some(fence)),
            Event::FenceFailed { lock, .. } => (lock, None),
            _ => return,
        };
        let number = &mut self.expect(id, State::Held).number;
        assert!(number.draw.take().is_some(), "{id:?} has a number that nobody wanted");
        // After a failure the lock keeps the number that it has.
        number.fence = fence.or(number.fence);
    }

    /// Returns the token of the lock that has just begun to draw.
    pub(super) fn begun_draw(&mut self) -> Option<Token> {
        self.draws.take()
    }
}

impl World {
    /// Checks a number that was told: a quorum of nodes has accepted exactly this number for this
    /// lock, and the number is in order.
    pub(super) fn check_number(&mut self, id: LockId, fence: Fence) {
        let need = self.need();
        let Some(token) = self.redlock.peek_token(id) else { return };
        assert_eq!(self.redlock.fence(id), Some(fence), "{id:?} was told another number");
        let (told, really) = self.network.accepted(&token, fence);
        assert!(told >= need, "{id:?} has {fence}, which {told} nodes have accepted");
        if really >= need {
            self.network.order.tell(&token, fence, self.caller.resources(id));
        }
    }
}

/// Returns the time by which there is an answer to a draw. A node that does not answer delays each
/// trip until its connection is closed.
fn draw_due(now: Instant, redlock: &Redlock) -> Instant {
    now + redlock.config().close_timeout * TRIPS
}

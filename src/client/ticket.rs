//! One request for a lock, and the lock that comes of it: what its owner and the engine's thread
//! share.

use core::sync::atomic::{AtomicU64, Ordering};
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::sync::OnceLock;

use smallvec::SmallVec;

use super::error::LockError;
use super::signal::Notice;
use super::slot::Slot;
use super::sync::{Mutex, lock};
use crate::net::Clock;
use crate::redlock::{LockId, LostReason, Token};
use crate::time::Instant;

/// What is called on the engine's thread when the lock is lost.
pub(super) type OnLost = Box<dyn FnOnce(LostReason) + Send>;

/// What was asked for.
pub(super) struct Order {
    pub(super) resources: SmallVec<[Box<[u8]>; 1]>,
    /// How many resources were named, which may be more than are here.
    pub(super) count: usize,
    pub(super) ttl: Duration,
    pub(super) wait: Duration,
    /// A token that was handed over by somebody else.
    pub(super) adopts: Option<Token>,
    /// For how long it is to be kept alive; `None` for not at all.
    pub(super) max_hold: Option<Duration>,
    /// How long before its end the owner is to be warned; zero for never.
    pub(super) ahead: Duration,
    pub(super) on_lost: Mutex<Option<OnLost>>,
}

pub(super) struct Ticket {
    pub(super) order: Order,
    pub(super) outcome: Slot<Result<(), LockError>>,
    /// Set by the engine's thread when it has the request.
    pub(super) id: OnceLock<LockId>,
    /// Set before the outcome.
    pub(super) token: OnceLock<Token>,
    /// In nanoseconds since boot; zero while the lock is not held, or not any more.
    valid_until: AtomicU64,
    disowned_until: AtomicU64,
    signals: Mutex<Signals>,
}

#[derive(Default)]
struct Signals {
    /// How it ended; nobody hears of it again.
    end: Option<Notice>,
    is_expiring: bool,
    /// By the numbers of those who wait.
    waiting: SmallVec<[(u64, Waker); 1]>,
    numbers: u64,
}

/// Whom to wake, once everything else is done.
pub(super) type Wakers = SmallVec<[Waker; 1]>;

/// What somebody waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Awaited {
    Loss,
    Warning,
}

impl Ticket {
    pub(super) fn new(order: Order) -> Self {
        Self {
            order,
            outcome: Slot::new(),
            id: OnceLock::new(),
            token: OnceLock::new(),
            valid_until: AtomicU64::new(0),
            disowned_until: AtomicU64::new(0),
            signals: Mutex::new(Signals::default()),
        }
    }

    /// The lock is being let go of: nobody here believes in it any more.
    pub(super) fn disown(&self) {
        let valid_until = self.valid_until.swap(0, Ordering::AcqRel);
        self.disowned_until.store(valid_until, Ordering::Release);
    }

    /// How long the lock would have been believed in that was let go of.
    pub(super) fn disowned_until(&self) -> Instant {
        Instant::from_nanos(self.disowned_until.load(Ordering::Acquire))
    }

    /// Nobody may believe in it after this.
    pub(super) fn valid_until(&self) -> Instant {
        Instant::from_nanos(self.valid_until.load(Ordering::Acquire))
    }

    /// When to look again whether it is lost; never for a lock that has ended, or is not held yet.
    pub(super) fn deadline(&self) -> Instant {
        match self.valid_until() {
            Instant::ZERO => Instant::FAR_FUTURE,
            valid_until => valid_until,
        }
    }

    /// S8: by the deadline and the clock, whatever the engine's thread is doing.
    pub(super) fn remaining(&self) -> Duration {
        self.valid_until() - Clock::now()
    }

    /// The lock is held until then.
    pub(super) fn hold(&self, valid_until: Instant) {
        self.valid_until.store(valid_until.as_nanos(), Ordering::Release);
    }

    /// The validity was extended: there may be another warning.
    pub(super) fn extend(&self, valid_until: Instant) {
        lock(&self.signals).is_expiring = false;
        self.hold(valid_until);
    }

    /// The lock ends, in whatever way was first. Returns whom to wake.
    pub(super) fn end(&self, end: Notice) -> Wakers {
        self.hold(Instant::ZERO);
        let mut signals = lock(&self.signals);
        signals.end.get_or_insert(end);
        signals.take_wakers()
    }

    /// Little is left. Returns whom to wake.
    pub(super) fn warn(&self) -> Wakers {
        let mut signals = lock(&self.signals);
        signals.is_expiring = true;
        signals.take_wakers()
    }

    /// Whether it has happened, or never will; else remembers whom to wake.
    ///
    /// `number` is that of the one who waits; zero for one who has none yet.
    pub(super) fn poll(
        &self,
        awaited: Awaited,
        number: &mut u64,
        context: &Context<'_>,
    ) -> Poll<Notice> {
        let valid_until = self.valid_until();
        if valid_until > Instant::ZERO && valid_until <= Clock::now() {
            // The engine's thread is late.
            return Poll::Ready(Notice::Lost(LostReason::Expired));
        }
        let mut signals = lock(&self.signals);
        if let Some(end) = signals.end {
            return Poll::Ready(end);
        }
        if awaited == Awaited::Warning && signals.is_expiring {
            return Poll::Ready(Notice::Expiring);
        }
        let last = signals.wait(number, context.waker());
        // A waker that goes may take a task with it, and that task may wait for this lock.
        drop(signals);
        drop(last);
        Poll::Pending
    }

    /// The one with this number waits no more.
    pub(super) fn give_up(&self, number: u64) {
        // As above: the waker goes after the lock has been given back.
        let last = lock(&self.signals).forget(number);
        drop(last);
    }
}

impl Signals {
    /// Remembers whom to wake. Returns whom it remembered before.
    fn wait(&mut self, number: &mut u64, waker: &Waker) -> Option<Waker> {
        if *number == 0 {
            self.numbers += 1;
            *number = self.numbers;
        }
        match self.waiting.iter_mut().find(|(other, _)| other == number) {
            Some((_, known)) if known.will_wake(waker) => None,
            Some((_, known)) => Some(core::mem::replace(known, waker.clone())),
            None => {
                self.waiting.push((*number, waker.clone()));
                None
            }
        }
    }

    fn forget(&mut self, number: u64) -> Option<Waker> {
        let place = self.waiting.iter().position(|(other, _)| *other == number)?;
        Some(self.waiting.swap_remove(place).1)
    }

    fn take_wakers(&mut self) -> Wakers {
        core::mem::take(&mut self.waiting).into_iter().map(|(_, waker)| waker).collect()
    }
}

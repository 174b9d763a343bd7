//! The ticket: one request for a lock, and then the lock itself, shared by the owner and the
//! engine's thread.

use core::panic::{RefUnwindSafe, UnwindSafe};
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::sync::OnceLock;

use smallvec::SmallVec;

use super::cause::LockErrorKind;
use super::failure::ClientFailure;
use super::lock_error::{ClientClosed, LockError};
use super::notice::{LockNotice, LockNoticeKind};
use super::oneshot::Oneshot;
use super::sync::{Mutex, lock};
use crate::net::{Clock, callback};
use crate::redlock::{AcquireOptions, Fence, LockId, LostReason, Token};
use crate::time::Instant;

/// The callback for a lock that is lost; the engine's thread calls it.
pub(super) type OnLost = Box<dyn FnOnce(LockNotice) + Send>;

/// The settings of a request.
pub(super) struct Order {
    pub(super) resources: SmallVec<[Box<[u8]>; 1]>,
    /// The number of resources that the caller has named, which may be more than `resources` has.
    pub(super) count: usize,
    pub(super) ttl: Duration,
    pub(super) wait: Duration,
    /// The token of a lock that another process has handed over; `None` for a new lock.
    pub(super) adopts: Option<Token>,
    /// What most requests do not ask for.
    pub(super) options: Option<Box<AcquireOptions>>,
    /// How long to keep the lock alive; `None` for not at all.
    pub(super) max_hold: Option<Duration>,
    /// How long before the end of the lock to warn the owner; zero for never.
    pub(super) ahead: Duration,
    pub(super) on_lost: Mutex<Option<OnLost>>,
}

/// One request for a lock, and then the lock itself.
pub(super) struct Ticket {
    pub(super) order: Order,
    /// When the caller has asked.
    pub(super) requested: Instant,
    pub(super) outcome: Oneshot<Result<(), LockError>>,
    /// The id of the lock, which the engine's thread sets when the engine has taken the request.
    pub(super) id: OnceLock<LockId>,
    /// The token of the lock, which is set before the outcome is.
    pub(super) token: OnceLock<Token>,
    /// Whether the owner has asked for the token.
    is_token_known: AtomicBool,
    /// The end of the validity in nanoseconds since boot; zero while the lock is not held yet, or
    /// not any more.
    valid_until: AtomicU64,
    /// Whether this end is that of `max_hold`.
    is_last: AtomicBool,
    /// The end of the validity that the lock had when it was handed over, in nanoseconds since
    /// boot.
    disowned_until: AtomicU64,
    /// The fencing number; zero for none.
    fence: AtomicU64,
    signals: Mutex<Signals>,
}

#[derive(Default)]
struct Signals {
    /// The end of the lock. No later end replaces the first.
    end: Option<LockNoticeKind>,
    /// The reason for which the lock will end soon, after a warning.
    expiring: Option<LostReason>,
    /// The wakers of the waiting signals, with the numbers of these signals.
    waiting: SmallVec<[(u64, Waker); 1]>,
    /// The number of the latest signal.
    last_number: u64,
}

/// The wakers to call once everything else is done.
pub(super) type Wakers = SmallVec<[Waker; 1]>;

/// The event for which a signal waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Awaited {
    Loss,
    Warning,
}

/// The last owner may be the engine's thread, which a callback that was never called must not end.
impl Drop for Order {
    fn drop(&mut self) {
        callback::discard(lock(&self.on_lost).take());
    }
}

// A guard can be used behind `catch_unwind`. All that changes in an order and its ticket is behind
// a mutex, an atomic or a cell for one value, each of which is whole after a panic. The function of
// `retry_delay` may leave something half done, but only the engine's thread calls it, and catches
// its panic there: nobody who holds the order can meet it.
impl UnwindSafe for Order {}
impl RefUnwindSafe for Order {}

impl Order {
    /// Returns the first resource.
    pub(super) fn resource(&self) -> &[u8] {
        self.resources.first().map_or(&[], |resource| resource)
    }

    /// Creates an error that names the resource.
    pub(super) fn error(&self, kind: impl Into<LockErrorKind>) -> LockError {
        LockError::new(kind, self.resource(), self.count)
    }

    /// Creates a notice that names the resource.
    pub(super) fn notice(&self, kind: LockNoticeKind) -> LockNotice {
        LockNotice::new(kind, self.resource(), self.count)
    }

    /// Creates the error of a release whose client is closed.
    pub(super) fn closed(&self, failure: Option<ClientFailure>) -> ClientClosed {
        ClientClosed::new(failure, self.resource(), self.count)
    }
}

impl Ticket {
    pub(super) fn new(order: Order) -> Self {
        Self {
            order,
            requested: Clock::now(),
            outcome: Oneshot::new(),
            id: OnceLock::new(),
            token: OnceLock::new(),
            is_token_known: AtomicBool::new(false),
            valid_until: AtomicU64::new(0),
            is_last: AtomicBool::new(false),
            disowned_until: AtomicU64::new(0),
            fence: AtomicU64::new(0),
            signals: Mutex::new(Signals::default()),
        }
    }

    /// Says which fencing number the lock has.
    pub(super) fn set_fence(&self, fence: Fence) {
        self.fence.store(fence.get(), Ordering::Release);
    }

    /// Returns the fencing number of the lock, if there is one.
    pub(super) fn fence(&self) -> Option<Fence> {
        Fence::new(self.fence.load(Ordering::Acquire))
    }

    /// Returns the token for the owner, who may give it away.
    pub(super) fn told_token(&self) -> Token {
        self.is_token_known.store(true, Ordering::Release);
        // The token is set before any guard is made.
        self.token.get().copied().unwrap_or(Token::NONE)
    }

    /// Returns whether the owner has asked for the token.
    pub(super) fn is_token_known(&self) -> bool {
        self.is_token_known.load(Ordering::Acquire)
    }

    /// Gives the lock up for another process to adopt: the lock is not held here from now on.
    pub(super) fn disown(&self) {
        let valid_until = self.valid_until.swap(0, Ordering::AcqRel);
        self.disowned_until.store(valid_until, Ordering::Release);
    }

    /// Returns the end of the validity that the lock had when [`disown`](Self::disown) gave it up.
    pub(super) fn disowned_until(&self) -> Instant {
        Instant::from_nanos(self.disowned_until.load(Ordering::Acquire))
    }

    /// Returns the end of the validity; [`Instant::ZERO`] for a lock that is not held.
    pub(super) fn valid_until(&self) -> Instant {
        Instant::from_nanos(self.valid_until.load(Ordering::Acquire))
    }

    /// Returns the time at which a waiting thread must look at the lock again; never, for a lock
    /// that has ended or is not held yet.
    pub(super) fn deadline(&self) -> Instant {
        match self.valid_until() {
            Instant::ZERO => Instant::FAR_FUTURE,
            valid_until => valid_until,
        }
    }

    /// Returns the validity that is left, by the deadline and the clock (S8), whatever the engine's
    /// thread is doing.
    pub(super) fn remaining(&self) -> Duration {
        self.valid_until() - Clock::now()
    }

    /// Says that the lock is held until `valid_until`.
    pub(super) fn hold(&self, valid_until: Instant) {
        self.valid_until.store(valid_until.as_nanos(), Ordering::Release);
    }

    /// Says whether the validity reaches as far as the renewals can.
    pub(super) fn set_last(&self, is_last: bool) {
        self.is_last.store(is_last, Ordering::Release);
    }

    /// Says that the validity was extended; from now on there may be another warning.
    pub(super) fn extend(&self, valid_until: Instant) {
        lock(&self.signals).expiring = None;
        self.hold(valid_until);
    }

    /// Says that the validity ends earlier than was said before. Returns the wakers to call: a
    /// thread that waits sleeps until the end that it knows.
    pub(super) fn shorten(&self, valid_until: Instant) -> Wakers {
        self.hold(valid_until);
        lock(&self.signals).take_wakers()
    }

    /// Ends the lock. If the lock has ended before, the first end stands. Returns the wakers to
    /// call.
    pub(super) fn end(&self, end: LockNoticeKind) -> Wakers {
        self.hold(Instant::ZERO);
        let mut signals = lock(&self.signals);
        signals.end.get_or_insert(end);
        signals.take_wakers()
    }

    /// Returns why the lock was lost, if it was.
    pub(super) fn lost(&self) -> Option<LostReason> {
        match lock(&self.signals).end {
            Some(LockNoticeKind::Lost(reason)) => Some(reason),
            _ => None,
        }
    }

    /// Says that little is left of the validity, and for which reason the lock will end then.
    /// Returns the wakers to call.
    pub(super) fn warn(&self, reason: LostReason) -> Wakers {
        let mut signals = lock(&self.signals);
        signals.expiring = Some(reason);
        signals.take_wakers()
    }

    /// Returns the reason to fire for a signal that waits for `awaited`, if there is one. Otherwise
    /// remembers the waker of `context`.
    ///
    /// `number` is the number of the signal that waits; zero for a signal that has none yet.
    pub(super) fn poll(
        &self,
        awaited: Awaited,
        number: &mut u64,
        context: &Context<'_>,
    ) -> Poll<LockNoticeKind> {
        let valid_until = self.valid_until();
        if valid_until > Instant::ZERO && valid_until <= Clock::now() {
            // The deadline has passed, and the engine's thread has not said so yet.
            let is_last = self.is_last.load(Ordering::Acquire);
            let reason = if is_last { LostReason::MaxHold } else { LostReason::Expired };
            return Poll::Ready(LockNoticeKind::Lost(reason));
        }
        let mut signals = lock(&self.signals);
        if let Some(end) = signals.end {
            return Poll::Ready(end);
        }
        if let (Awaited::Warning, Some(reason)) = (awaited, signals.expiring) {
            return Poll::Ready(LockNoticeKind::Expiring(reason));
        }
        let last = signals.wait(number, context.waker());
        // To drop a waker may drop a task, and that task may wait for this same lock: the mutex is
        // unlocked first.
        drop(signals);
        drop(last);
        Poll::Pending
    }

    /// Forgets the signal with this number, which does not wait any more.
    pub(super) fn give_up(&self, number: u64) {
        // As in `poll`, the mutex is unlocked before the waker is dropped.
        let last = lock(&self.signals).forget(number);
        drop(last);
    }
}

impl Signals {
    /// Remembers a waker. Returns the waker that it replaces.
    fn wait(&mut self, number: &mut u64, waker: &Waker) -> Option<Waker> {
        if *number == 0 {
            self.last_number += 1;
            *number = self.last_number;
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

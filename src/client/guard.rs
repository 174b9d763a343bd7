//! [`Guard`], a lock that is held until the guard is dropped.

use core::fmt;
use core::time::Duration;
use std::sync::Arc;

use super::command::Command;
use super::handover::Handover;
use super::lock_error::{ClientClosed, LockError};
use super::pending::PendingAnswer;
use super::release::ReleaseReport;
use super::shared::Shared;
use super::signal::LockSignal;
use super::ticket::{Awaited, Ticket};
use crate::engine::Resources;
use crate::redlock::{Fence, LockId, Token};
use crate::time::Instant;

/// A lock that is held. Dropping the guard releases the lock.
///
/// Dropping a guard costs one push into a queue and never blocks on the network. The release is not
/// lost as long as the client's thread lives. If that thread has ended, by a
/// [`shutdown`](super::Client::shutdown) that ran out of time, by an error of the system or by a
/// panic ([`failure`](super::Client::failure)), the ttl ends the lock.
///
/// Give the guard a name, `_guard` where nothing else is done with it: `let _ = …` releases the
/// lock at once, and so does a statement without `let`.
///
/// A lock can end while the work that the guard protects is still going on. Check
/// [`is_held`](Self::is_held) before each step: `is_held` reads the clock at every call.
///
/// ```no_run
/// # fn steps() -> Vec<fn()> { Vec::new() }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let client = redbolt::Client::new(redbolt::Config::new(["127.0.0.1:7001"])?)?;
/// let guard = client.lock("orders/42").blocking_acquire()?;
/// for step in steps() {
///     if !guard.is_held() {
///         return Err("the lock has run out".into());
///     }
///     step();
/// }
/// let report = guard.release().blocking_wait()?;
/// println!("{report}");
/// # Ok(())
/// # }
/// ```
#[must_use = "to drop a guard releases the lock: name it `_guard`, `let _ =` drops it"]
pub struct Guard {
    shared: Arc<Shared>,
    ticket: Arc<Ticket>,
    /// Whether the lock was released or handed over.
    is_spent: bool,
}

impl Guard {
    pub(super) fn new(shared: Arc<Shared>, ticket: Arc<Ticket>) -> Self {
        Self { shared, ticket, is_spent: false }
    }

    /// Returns the locked resource; of several resources, the first in the request.
    #[must_use]
    pub fn resource(&self) -> &[u8] {
        self.ticket.order.resource()
    }

    /// Returns all locked resources, in the order of the request.
    pub fn resources(&self) -> impl Iterator<Item = &[u8]> {
        self.ticket.order.resources.iter().map(|resource| &resource[..])
    }

    /// Returns the id of the lock, by which the log lines and events of the engine name the lock.
    ///
    /// Each thread of a client has ids of its own: with several threads, two locks on different
    /// threads can have the same id.
    #[must_use]
    pub fn id(&self) -> LockId {
        // The id is set before any guard is made.
        self.ticket.id.get().copied().unwrap_or(LockId::NONE)
    }

    /// Returns the token, which is the value under which the lock is stored on the nodes.
    ///
    /// From now on the token belongs to this guard alone: the lock will not be
    /// [passed on](crate::ReleaseOutcome::is_passed_on) to the next in line of the client, but
    /// released on the nodes. A child of `fork` gets a token that no lock has.
    #[must_use]
    pub fn token(&self) -> Token {
        if self.shared.is_at_home() { self.ticket.told_token() } else { Token::NONE }
    }

    /// Returns the fencing number (S13), if there is one: of a request that was
    /// [`fenced`](crate::LockRequest::fenced), of an adoption that
    /// [brought one](crate::LockRequest::with_fence), or [drawn](Self::draw_fence) since.
    ///
    /// The number goes with every write to the storage, which refuses a write whose number is
    /// smaller than the largest that it has seen. [`Fence`] says how, and [FENCING.md] with which
    /// statements.
    ///
    /// [FENCING.md]: https://docs.rs/crate/redbolt/latest/source/FENCING.md
    #[must_use]
    pub fn fence(&self) -> Option<Fence> {
        self.ticket.fence()
    }

    /// Returns the validity that is left; zero once the lock is lost, and in a child of `fork`:
    /// the lock is that of the parent. Costs one reading of the clock, and one call of `getpid`.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        if self.shared.is_at_home() { self.ticket.remaining() } else { Duration::ZERO }
    }

    /// Returns whether the lock is held now, by its deadline and the clock (S8).
    #[must_use]
    pub fn is_held(&self) -> bool {
        !self.remaining().is_zero()
    }

    /// Returns the end of the validity, in time since boot; [`Instant::ZERO`] once the lock is
    /// lost, and in a child of `fork`.
    ///
    /// The [`Instant`] is the one of [`redbolt::time`](crate::time), because the clock of
    /// `std::time::Instant` stops while the machine is suspended. [`Clock::now`](crate::Clock::now)
    /// reads the clock that goes on:
    ///
    /// ```no_run
    /// # fn left(guard: &redbolt::Guard) -> std::time::Duration {
    /// use redbolt::Clock;
    ///
    /// guard.valid_until() - Clock::now() // as `guard.remaining()`: zero when it is over
    /// # }
    /// ```
    #[must_use]
    pub fn valid_until(&self) -> Instant {
        if self.shared.is_at_home() { self.ticket.valid_until() } else { Instant::ZERO }
    }

    /// Asks the nodes to keep the lock for another `ttl` from now.
    ///
    /// The result is the new end of the validity. After an error the old validity stands, unless
    /// the lock was lost. See [`Redlock::extend`](crate::redlock::Redlock::extend).
    pub fn extend(&self, ttl: Duration) -> PendingAnswer<Result<Instant, LockError>> {
        PendingAnswer::ask(|answer| {
            let ticket = Arc::clone(&self.ticket);
            self.shared.push_for(&self.ticket, Command::Extend { ticket, ttl, answer })
        })
    }

    /// Draws a new fencing number (S13), which [`fence`](Self::fence) returns from then on: larger
    /// than all numbers that anybody has got before for the resource. A lock that was requested
    /// without a number gets one. The former owner of a lock that was
    /// [adopted](crate::Client::adopt) is shut out as soon as this number is in the storage.
    ///
    /// After an error the lock keeps the number that it has. See
    /// [`Redlock::draw_fence`](crate::redlock::Redlock::draw_fence).
    pub fn draw_fence(&self) -> PendingAnswer<Result<Fence, LockError>> {
        PendingAnswer::ask(|answer| {
            let ticket = Arc::clone(&self.ticket);
            self.shared.push_for(&self.ticket, Command::DrawFence { ticket, answer })
        })
    }

    /// Releases the lock.
    ///
    /// The result comes as soon as a quorum of the nodes has confirmed, so that others can take the
    /// lock ([`ReleaseReport::is_complete`]), and after the `release_timeout` at the latest. Nodes
    /// that answer later release the lock in the background.
    ///
    /// A lock that was lost before is no error. Its keys are released without this call, and the
    /// result, which comes at once, does not wait for that: [`ReleaseReport`] says what is still
    /// going on.
    ///
    /// From this call on the lock is not held, whether or not anybody waits for the result.
    pub fn release(self) -> PendingAnswer<Result<ReleaseReport, ClientClosed>> {
        let (shared, ticket) = self.take_apart();
        ticket.hold(Instant::ZERO);
        PendingAnswer::ask(|answer| {
            let command = Command::Release { ticket: Arc::clone(&ticket), answer: Some(answer) };
            shared
                .try_send(&ticket, command)
                .map_err(|refused| ticket.order.closed(refused.failure()))
        })
    }

    /// Returns a signal that fires when the lock is lost.
    ///
    /// The signal fires as soon as a majority of the nodes is known not to have the lock, and at
    /// the deadline at the latest. If the engine's thread is in time, the signal fires a little
    /// before the deadline.
    ///
    /// The clock wakes a waiting thread. The engine's thread wakes a waiting task, and wakes the
    /// task late where something holds up the engine's thread. [`is_held`](Self::is_held) is never
    /// late.
    pub fn lost(&self) -> LockSignal {
        LockSignal::new(Arc::clone(&self.ticket), Awaited::Loss)
    }

    /// Returns a signal that fires when little is left of the validity, and when the lock ends.
    /// [`LockRequest::warn_before`](super::LockRequest::warn_before) sets how little.
    ///
    /// After the warning, a new signal fires at once, until an extension has succeeded. A loop that
    /// only waits for the warning would therefore spin.
    pub fn expiring(&self) -> LockSignal {
        LockSignal::new(Arc::clone(&self.ticket), Awaited::Warning)
    }

    /// Leaves the lock to its ttl: from now on, nothing releases the lock and nothing keeps it
    /// alive.
    pub fn leak(self) {
        drop(self.hand_over());
    }

    /// Gives the lock up without releasing it, so that another process can
    /// [`adopt`](super::Client::adopt) it. From this call on, the lock is not held here.
    ///
    /// The result is the data that the other process needs. The result comes only once nothing on
    /// this side can release the lock any more. A token that was passed on earlier could be
    /// released while the new owner holds the lock. Dropping the result leaves the lock to its ttl.
    /// [`Handover::to_text`] is the form in which the result goes to the other process.
    pub fn hand_over(self) -> PendingAnswer<Result<Handover, LockError>> {
        let (shared, ticket) = self.take_apart();
        ticket.disown();
        PendingAnswer::ask(|answer| {
            let command = Command::Disown { ticket: Arc::clone(&ticket), answer };
            shared.try_send(&ticket, command).map_err(|refused| ticket.order.error(refused))
        })
    }

    /// Returns the fields of the guard, so that its drop has nothing to do any more.
    fn take_apart(mut self) -> (Arc<Shared>, Arc<Ticket>) {
        self.is_spent = true;
        (Arc::clone(&self.shared), Arc::clone(&self.ticket))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // In a child of `fork` the lock is that of the parent.
        if self.is_spent || !self.shared.is_at_home() {
            return;
        }
        self.ticket.hold(Instant::ZERO);
        let ticket = Arc::clone(&self.ticket);
        self.shared.send(&self.ticket, Command::Release { ticket, answer: None });
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let resource = Resources { first: self.resource(), count: self.ticket.order.count };
        f.debug_struct("Guard")
            .field("resource", &format_args!("{resource}"))
            .field("id", &self.id())
            .field("remaining", &self.remaining())
            .finish_non_exhaustive()
    }
}

//! [`Guard`], a lock that is held until the guard is dropped.

use core::fmt;
use core::time::Duration;
use std::sync::Arc;

use super::command::Command;
use super::error::{Closed, KeepError, Refusal};
use super::handover::Parts;
use super::pending::Pending;
use super::shared::Shared;
use super::signal::Signal;
use super::ticket::{Awaited, Ticket};
use crate::redlock::{ReleaseOutcome, Token};
use crate::time::Instant;

/// A lock that is held. Dropping the guard releases the lock.
///
/// The drop costs one push into a queue and never blocks on the network. The release is not lost as
/// long as the client's thread lives. Where the thread has ended, by a
/// [`shutdown`](super::Client::shutdown) that ran out of time or by a panic in a callback, the ttl
/// ends the lock.
///
/// A lock has an end, and the work that the guard protects can go on for longer than the lock.
/// [`is_held`](Self::is_held) asks the clock at every call.
///
/// ```no_run
/// # fn steps() -> Vec<fn()> { Vec::new() }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let client = redbolt::Client::new(redbolt::Config::new(["127.0.0.1:7001"])?)?;
/// let guard = client.lock("orders/42").acquire()?;
/// for step in steps() {
///     if !guard.is_held() {
///         return Err("the lock has run out".into());
///     }
///     step();
/// }
/// let outcome = guard.release().wait()?;
/// println!("{outcome:?}");
/// # Ok(())
/// # }
/// ```
#[must_use = "to drop a guard releases the lock"]
pub struct Guard {
    shared: Arc<Shared>,
    ticket: Arc<Ticket>,
    /// The lock was released or handed over.
    is_spent: bool,
}

impl Guard {
    pub(super) fn new(shared: Arc<Shared>, ticket: Arc<Ticket>) -> Self {
        Self { shared, ticket, is_spent: false }
    }

    /// The locked resource; of several resources, the first that was named.
    #[must_use]
    pub fn resource(&self) -> &[u8] {
        self.ticket.order.resources.first().map_or(&[], |resource| resource)
    }

    /// All locked resources, in the order in which they were named.
    pub fn resources(&self) -> impl Iterator<Item = &[u8]> {
        self.ticket.order.resources.iter().map(|resource| &resource[..])
    }

    /// The value under which the lock is stored on the nodes.
    #[must_use]
    pub fn token(&self) -> Token {
        // The token is set before any guard is made.
        self.ticket.token.get().copied().unwrap_or(Token::NONE)
    }

    /// The validity that is left; zero once the lock is lost. Costs one reading of the clock.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        self.ticket.remaining()
    }

    /// Whether the lock is held now, by its deadline and the clock (S8).
    #[must_use]
    pub fn is_held(&self) -> bool {
        !self.remaining().is_zero()
    }

    /// The end of the validity, in time since boot; [`Instant::ZERO`] once the lock is lost.
    #[must_use]
    pub fn valid_until(&self) -> Instant {
        self.ticket.valid_until()
    }

    /// Asks the nodes to keep the lock for another `ttl` from now. The result is the new end of the
    /// validity. See [`Redlock::extend`](crate::redlock::Redlock::extend).
    pub fn extend(&self, ttl: Duration) -> Pending<Result<Instant, KeepError>> {
        Pending::ask(|answer| {
            let ticket = Arc::clone(&self.ticket);
            self.shared.push_for(&self.ticket, Command::Extend { ticket, ttl, answer })
        })
    }

    /// Releases the lock. The result is what the nodes said. For a lock that was lost before, the
    /// result is an empty outcome and not an error.
    ///
    /// The lock is not held from this call on, whether or not anybody waits for the result.
    pub fn release(self) -> Pending<Result<ReleaseOutcome, Closed>> {
        let (shared, ticket) = self.take_apart();
        ticket.hold(Instant::ZERO);
        Pending::ask(|answer| {
            let command = Command::Release { ticket: Arc::clone(&ticket), answer: Some(answer) };
            shared.try_send(&ticket, command)
        })
    }

    /// Returns a signal that fires when the lock is lost: as soon as a majority of the nodes is
    /// known not to have the lock, and at the deadline at the latest, or a little before the
    /// deadline if the thread of the engine is in time.
    ///
    /// A waiting thread is woken by the clock. A waiting task is woken by the thread of the engine,
    /// and so is late where something holds up that thread. [`is_held`](Self::is_held) is never
    /// late.
    pub fn lost(&self) -> Signal {
        Signal::new(Arc::clone(&self.ticket), Awaited::Loss)
    }

    /// Returns a signal that fires when little is left of the validity, as
    /// [`LockRequest::warn`](super::LockRequest::warn) asked for, and when the lock ends.
    ///
    /// After the warning, new signals fire at once until an extension has succeeded: a loop that
    /// only waits for the warning would spin.
    pub fn expiring(&self) -> Signal {
        Signal::new(Arc::clone(&self.ticket), Awaited::Warning)
    }

    /// Leaves the lock to its ttl: nothing releases the lock any more, and nothing keeps it alive.
    pub fn leak(self) {
        drop(self.into_parts());
    }

    /// Gives the lock up without releasing it, for another process to
    /// [`adopt`](super::Client::adopt). The lock is not held here from this call on.
    ///
    /// The result is what the other process needs. The result comes only once nothing on this side
    /// can release the lock any more: a token that was passed on earlier could be released while
    /// the new owner holds the lock. Dropping the result leaves the lock to its ttl.
    pub fn into_parts(self) -> Pending<Result<Parts, Refusal>> {
        let (shared, ticket) = self.take_apart();
        ticket.disown();
        Pending::ask(|answer| {
            let command = Command::Disown { ticket: Arc::clone(&ticket), answer };
            shared.try_send(&ticket, command).map_err(|Closed| Refusal::Closed)
        })
    }

    /// The fields of the guard, whose drop has nothing to do any more.
    fn take_apart(mut self) -> (Arc<Shared>, Arc<Ticket>) {
        self.is_spent = true;
        (Arc::clone(&self.shared), Arc::clone(&self.ticket))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.is_spent {
            return;
        }
        self.ticket.hold(Instant::ZERO);
        let ticket = Arc::clone(&self.ticket);
        self.shared.send(&self.ticket, Command::Release { ticket, answer: None });
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard")
            .field("resource", &String::from_utf8_lossy(self.resource()))
            .field("remaining", &self.remaining())
            .finish_non_exhaustive()
    }
}

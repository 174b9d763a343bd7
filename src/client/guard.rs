//! A lock that is held, until its guard is dropped.

use core::fmt;
use core::time::Duration;
use std::sync::Arc;

use super::error::{Closed, KeepError, Refusal};
use super::pending::Pending;
use super::shared::Shared;
use super::signal::Signal;
use super::ticket::{Awaited, Ticket};
use super::worker::Command;
use crate::redlock::{ReleaseOutcome, Token};
use crate::time::Instant;

/// A lock that is held. To drop it releases the lock: that costs one push into a queue, never
/// blocks on the network, and is not lost as long as the client's thread lives. Where that has
/// ended, by a [`shutdown`](super::Client::shutdown) that ran out of time or by a panic in a
/// callback, the ttl ends the lock.
///
/// What a guard protects can go on for longer than the lock, because the lock has an end:
/// [`is_held`](Self::is_held) asks the clock, at every call.
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

/// What another process needs to go on with a lock: [`Client::adopt`](super::Client::adopt).
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parts {
    /// The resources, without the configured prefix.
    pub resources: Vec<Vec<u8>>,
    /// The value under which the lock stands on the nodes: a right to it, to be kept from others.
    pub token: Token,
    /// Until when the lock lasts, in time since the boot of this machine.
    pub valid_until: Instant,
}

impl Guard {
    pub(super) fn new(shared: Arc<Shared>, ticket: Arc<Ticket>) -> Self {
        Self { shared, ticket, is_spent: false }
    }

    /// What is locked; for several resources the first that was named.
    #[must_use]
    pub fn resource(&self) -> &[u8] {
        self.ticket.order.resources.first().map_or(&[], |resource| resource)
    }

    /// All that is locked, as it was named.
    pub fn resources(&self) -> impl Iterator<Item = &[u8]> {
        self.ticket.order.resources.iter().map(|resource| &resource[..])
    }

    /// The value under which the lock stands on the nodes.
    #[must_use]
    pub fn token(&self) -> Token {
        // Set before any guard is made.
        self.ticket.token.get().copied().unwrap_or(Token::NONE)
    }

    /// How long the lock may still be believed; zero once it is lost. Costs a look at the clock.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        self.ticket.remaining()
    }

    /// Whether the lock is held now, by its deadline and the clock (S8).
    #[must_use]
    pub fn is_held(&self) -> bool {
        !self.remaining().is_zero()
    }

    /// Until when it may be believed, in time since boot; [`Instant::ZERO`] once it is lost.
    #[must_use]
    pub fn valid_until(&self) -> Instant {
        self.ticket.valid_until()
    }

    /// Asks the nodes to keep the lock for another `ttl` from now; the value is the new end. See
    /// [`Redlock::extend`](crate::redlock::Redlock::extend).
    pub fn extend(&self, ttl: Duration) -> Pending<Result<Instant, KeepError>> {
        Pending::ask(|slot| {
            let ticket = Arc::clone(&self.ticket);
            self.shared.push_for(&self.ticket, Command::Extend { ticket, ttl, slot })
        })
    }

    /// Gives the lock back; the value is what the nodes said. A lock that was lost before is given
    /// back with nothing to say: that is no error.
    ///
    /// The lock is not held from this call on, whether or not anybody waits for the value.
    pub fn release(self) -> Pending<Result<ReleaseOutcome, Closed>> {
        let (shared, ticket) = self.take_apart();
        ticket.hold(Instant::ZERO);
        Pending::ask(|slot| {
            let command = Command::Release { ticket: Arc::clone(&ticket), slot: Some(slot) };
            shared.try_send(&ticket, command)
        })
    }

    /// Fires when the lock is lost: at its deadline, a little before it if the thread of the engine
    /// gets to it in time, or as soon as a majority of the nodes is known not to have it. A thread
    /// that waits for it is woken by the clock; a task is woken by the thread of the engine, and
    /// later if that is held up: [`is_held`](Self::is_held) is not.
    pub fn lost(&self) -> Signal {
        Signal::new(Arc::clone(&self.ticket), Awaited::Loss)
    }

    /// Fires when little is left, as [`LockRequest::warn`](super::LockRequest::warn) asked for, and
    /// when the lock ends. It stays so until an extension succeeds, which arms it anew: to wait in
    /// a loop before that returns at once.
    pub fn expiring(&self) -> Signal {
        Signal::new(Arc::clone(&self.ticket), Awaited::Warning)
    }

    /// Leaves the lock to its ttl: nothing releases it any more, and nothing keeps it alive.
    pub fn leak(self) {
        drop(self.into_parts());
    }

    /// Lets go of the lock without releasing it, for another process to
    /// [`adopt`](super::Client::adopt). It is not held from this call on.
    ///
    /// The value is what the other process needs. It is there only once nothing on this side can
    /// release the lock any more: a token that was passed on before could be released in the hands
    /// of its new owner. To drop the value leaves the lock to its ttl.
    pub fn into_parts(self) -> Pending<Result<Parts, Refusal>> {
        let (shared, ticket) = self.take_apart();
        ticket.disown();
        Pending::ask(|slot| {
            let command = Command::Disown { ticket: Arc::clone(&ticket), slot };
            shared.try_send(&ticket, command).map_err(|Closed| Refusal::Closed)
        })
    }

    /// The parts, of a guard whose end has nothing to do any more.
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
        self.shared.send(&self.ticket, Command::Release { ticket, slot: None });
    }
}

/// Whoever has the token has the lock: it does not belong into a log.
impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parts")
            .field("resources", &self.resources.len())
            .field("valid_until", &self.valid_until)
            .finish_non_exhaustive()
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

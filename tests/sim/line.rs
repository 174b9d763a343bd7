//! What the requests of one client owe each other: the order of their arrival, and few commands.

use core::time::Duration;

use redbolt::redlock::LockId;
use redbolt::time::Instant;

use crate::book::{Lock, State};
use crate::client::Client;
use crate::manner::Manner;
use crate::net::Net;
use crate::thrift::Pauses;

impl Client {
    /// Checks that a lock was granted in its turn: nobody of this client has waited for the same
    /// resources for longer, and still waits. An adoption goes first.
    ///
    /// Of different sets that overlap, the nodes decide which is first, and between clients too.
    pub(crate) fn check_order(&self, net: &mut Net, id: LockId, now: Instant) {
        // Requests stand in the book in the order of their arrival.
        let Some(place) = self.locks.iter().position(|lock| lock.id == id) else { return };
        let granted = &self.locks[place];
        let waits = |other: &&Lock| {
            other.resources == granted.resources
                && other.state == State::Wanted
                && !other.is_adopted
                && other.wait_until > now
        };
        let first = self.locks[..place].iter().find(waits).filter(|_| !granted.is_adopted);
        if let Some(first) = first {
            let (name, first) = (self.name, first.id);
            net.fail(format_args!("order: client {name} had {first:?} wait, and gave {id:?}"));
        }
    }

    /// Returns the shortest pauses between the attempts of a request.
    pub(crate) fn pauses(&self, manner: &Manner, timeout: Duration, wait: Duration) -> Pauses {
        if wait.is_zero() {
            return Pauses::one_try();
        }
        let timeout = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        let usual = Pauses::of(self.redlock.config(), self.least_round_trip.min(timeout));
        manner.pauses.unwrap_or(usual)
    }

    /// Accounts for the attempts of a request that has ended, or whose client is about to.
    pub(crate) fn account_for(&self, net: &mut Net, id: LockId, now: Instant) {
        let Some(lock) = self.lock(id) else { return };
        if !lock.is_adopted {
            let time = now - lock.asked_at;
            net.checks.thrift.ended(self.name, lock.resources, lock.pauses, time);
        }
    }

    pub(crate) fn lock(&self, id: LockId) -> Option<&Lock> {
        self.locks.iter().find(|lock| lock.id == id)
    }
}

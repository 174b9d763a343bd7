//! The ttl that was asked for last, and what follows from it.

use core::time::Duration;

use super::hedge;
use crate::redlock::config::RedlockConfig;
use crate::redlock::millis::Millis;
use crate::redlock::validity::Drift;
use crate::time::Instant;

/// The last ttl that was checked, for callers that ask for the same again, as nearly all do.
/// Settings never change, so nothing here has to be forgotten. Checking a ttl and computing its
/// validity for every lock cost 170 instructions of a cycle.
#[derive(Clone, Copy)]
pub(super) struct LastTtl {
    /// As the caller gave it.
    given: Duration,
    ttl: Millis,
    /// The ttl less its drift, in nanoseconds.
    validity: u64,
    /// The latest hedge of an attempt with this ttl, in nanoseconds.
    latest_hedge: u64,
}

impl LastTtl {
    /// Takes note of a ttl that was checked.
    pub(super) fn new(given: Duration, ttl: Millis, config: &RedlockConfig) -> Self {
        let validity = config.drift.valid_until(Instant::ZERO, ttl.duration()).as_nanos();
        let latest_hedge = hedge::latest(config.longest_node_timeout(ttl.duration()), validity);
        Self { given, ttl, validity, latest_hedge }
    }

    /// Returns the latest hedge of an attempt with this ttl and validity, as [`hedge::latest`]
    /// does, if both are known here. The request must have no node timeout of its own.
    #[inline]
    pub(super) fn latest_hedge(self, ttl: Millis, validity: u64) -> Option<u64> {
        // The validity of an attempt can have been shortened since.
        (self.ttl == ttl && self.validity == validity).then_some(self.latest_hedge)
    }

    /// Returns the ttl in whole milliseconds, if `given` is the one that was checked.
    #[inline]
    pub(super) fn checked(self, given: Duration) -> Option<Millis> {
        (self.given == given).then_some(self.ttl)
    }

    /// Returns the end of the validity of a lock with this ttl that is requested at `start`, as
    /// [`Drift::valid_until`] does.
    #[inline]
    pub(super) fn valid_until(
        last: Option<Self>,
        drift: Drift,
        start: Instant,
        ttl: Millis,
    ) -> Instant {
        match last {
            Some(last) if last.ttl == ttl => {
                Instant::from_nanos(start.as_nanos().saturating_add(last.validity))
            }
            _ => drift.valid_until(start, ttl.duration()),
        }
    }
}

#[cfg(test)]
mod tests;

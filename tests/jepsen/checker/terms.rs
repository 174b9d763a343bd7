//! The terms of a run, and how long a lock may be believed under them: `SAFETY.md` once more, in
//! whole nanoseconds, without a line of the library.

use std::collections::BTreeMap;

use crate::log::Vote;

const NANOS_PER_MS: u64 = 1_000_000;
const MILLION: u64 = 1_000_000;

/// The precision of a server's expiry, at both ends.
const PRECISION: u64 = 2 * NANOS_PER_MS;

/// What all clients of a run agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    /// How many nodes make a lock.
    pub(crate) quorum: usize,
    /// ρ: how far the rate of a clock may be off, in millionths.
    pub(crate) rate: u64,
    /// ε: how far the clock of a node may be stepped, in nanoseconds.
    pub(crate) step: u64,
}

impl Terms {
    /// Returns for how many nanoseconds a lock with this ttl in milliseconds may be believed.
    pub(crate) fn validity(&self, ttl: u64) -> u64 {
        let nanos = ttl * NANOS_PER_MS;
        let drift = (2 * self.rate * nanos).div_ceil(MILLION) + self.step + PRECISION;
        nanos.saturating_sub(drift)
    }
}

/// The votes for one token: for each node the time until which its votes let a client believe.
#[derive(Debug, Default)]
pub(super) struct Votes(BTreeMap<usize, u64>);

impl Votes {
    pub(super) fn count(&mut self, vote: &Vote, terms: &Terms) {
        let until = vote.asked + terms.validity(vote.ttl);
        let known = self.0.entry(vote.node).or_default();
        *known = until.max(*known);
    }

    /// Returns the time until which a quorum lets a client believe; 0 without a quorum.
    pub(super) fn until(&self, terms: &Terms) -> u64 {
        let mut untils: Vec<_> = self.0.values().copied().collect();
        untils.sort_unstable_by(|a, b| b.cmp(a));
        terms.quorum.checked_sub(1).and_then(|last| untils.get(last)).copied().unwrap_or(0)
    }
}

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
    pub(crate) nodes: usize,
    /// How many nodes make a lock.
    pub(crate) quorum: usize,
    /// ρ: how far the rate of a clock may be off, in millionths.
    pub(crate) rate: u64,
    /// ε: how far the clock of a node may be stepped, in nanoseconds.
    pub(crate) step: u64,
    /// The longest pause between two attempts where all nodes are near, in nanoseconds.
    pub(crate) retry_max: u64,
    /// How long a node must have been well until every client has a connection to the node and owes
    /// nothing there, in nanoseconds.
    pub(crate) settles: u64,
    /// How long a client may take to shut down that has nothing, while a quorum is well, in
    /// nanoseconds.
    pub(crate) shuts_down: u64,
}

impl Terms {
    /// Returns for how many nanoseconds a lock with this ttl in milliseconds may be believed.
    pub(crate) fn validity(&self, ttl: u64) -> u64 {
        let nanos = ttl * NANOS_PER_MS;
        let drift = (2 * self.rate * nanos).div_ceil(MILLION) + self.step + PRECISION;
        nanos.saturating_sub(drift)
    }

    /// Returns by how many nanoseconds a request with this ttl and this wait in milliseconds may
    /// end before its wait, if nobody ends it.
    ///
    /// A pause that would outlast the wait is cut short for one last try, after half of what is
    /// left, or at once behind an adoption that went first. No pause is longer than 16 round trips,
    /// and no round trip counts for more than the longest node timeout, a quarter of the ttl, at
    /// most 1 s, whatever the nodes have done before.
    /// Whoever has less time left than a round trip gives up.
    pub(crate) fn left_over(&self, ttl: u64, wait: u64, is_overtaken: bool) -> u64 {
        let near = (ttl * NANOS_PER_MS / 20).clamp(5 * NANOS_PER_MS, 50 * NANOS_PER_MS);
        let round_trip = near.max((ttl * NANOS_PER_MS / 4).min(1_000 * NANOS_PER_MS));
        let pause = self.retry_max.max(16 * round_trip);
        let left = pause.min(wait * NANOS_PER_MS);
        round_trip.max(if is_overtaken { left } else { left / 2 })
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

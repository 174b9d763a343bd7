//! The counts of a run of transactions.

use crate::bench::load::latencies::Latencies;
use crate::bench::load::tally::Failures;

pub(super) struct Tally {
    /// The transactions that have had all their locks, and have released them.
    pub(super) transactions: u64,
    /// The locks of those.
    pub(super) locks: u64,
    /// The transactions that have given up, by the reason of the first lock that was not granted.
    pub(super) aborts: Failures,
    /// The transactions that still waited for locks when the run was over.
    pub(super) unfinished: u64,
    /// From the start of a transaction until all its locks are held.
    pub(super) acquire: Latencies,
}

impl Tally {
    pub(super) fn new() -> Self {
        Self {
            transactions: 0,
            locks: 0,
            aborts: Failures::default(),
            unfinished: 0,
            acquire: Latencies::new(),
        }
    }
}

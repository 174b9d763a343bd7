//! What is counted, of the whole engine and of each node. Everything counts from when the engine
//! was made and never goes back.

use super::error::{AcquireError, LostReason};
use super::event::Event;
use super::histogram::Histogram;

/// What became of requests, as the events said.
///
/// ```no_run
/// # let engine: redbolt::Engine = unimplemented!();
/// let counters = engine.counters();
/// println!("{} of {} requests were granted", counters.acquired, counters.requested);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Counters {
    /// Locks that were asked for, those included that are still waited for.
    pub requested: u64,
    /// Attempts, each of them one `SET` for every node that could be asked.
    pub attempts: u64,
    /// Locks that were granted.
    pub acquired: u64,
    /// Requests that ended because somebody else held the lock.
    pub held: u64,
    /// Requests that ended for want of a quorum of nodes, quarantined ones included.
    pub no_quorum: u64,
    /// Requests whose wait ended in a queue of the engine.
    pub timed_out: u64,
    /// Requests that were cancelled.
    pub cancelled: u64,
    /// Adoptions of a token that a majority did not have.
    pub gone: u64,
    /// Extensions that were granted, renewals included.
    pub extended: u64,
    /// Extensions that failed, renewals not included: those are repeated.
    pub not_extended: u64,
    /// Locks that were released.
    pub released: u64,
    /// Locks whose validity ended.
    pub expired: u64,
    /// Locks that a majority of the nodes was known not to have.
    pub lost: u64,
}

impl Counters {
    pub(super) fn count(&mut self, event: &Event) {
        let counter = match event {
            Event::Acquired { .. } => &mut self.acquired,
            Event::AcquireFailed { error, .. } => match error {
                AcquireError::Held => &mut self.held,
                AcquireError::NoQuorum(_) | AcquireError::Unavailable { .. } => &mut self.no_quorum,
                AcquireError::TimedOut => &mut self.timed_out,
                AcquireError::Gone => &mut self.gone,
                AcquireError::Cancelled => &mut self.cancelled,
            },
            Event::Extended { .. } => &mut self.extended,
            Event::ExtendFailed { .. } => &mut self.not_extended,
            Event::Released { .. } => &mut self.released,
            Event::Lost { reason: LostReason::Expired, .. } => &mut self.expired,
            Event::Lost { reason: LostReason::Majority, .. } => &mut self.lost,
            Event::Expiring { .. } | Event::Queried { .. } | Event::Node(_) => return,
        };
        *counter += 1;
    }
}

/// How long one node took for requests of each kind, from the write to the reply.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct NodeLatencies {
    /// `SET`s: attempts, and what was filled in.
    pub set: Histogram,
    /// Releases and cleanups, one or a group at a time.
    pub release: Histogram,
    /// Extensions, one or a group at a time.
    pub extend: Histogram,
}

/// What was counted of one node.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct NodeCounters {
    /// Connections that came up.
    pub connects: u64,
    /// Sessions that ended, and connection attempts that failed.
    pub failures: u64,
    /// `SET`s sent.
    pub asked: u64,
    /// `+OK` to a `SET`, counted as a vote or too late for it.
    pub granted: u64,
    /// Nil to a `SET`.
    pub refused: u64,
    /// `SET`s sent for locks that are held and whose key the node missed.
    pub repaired: u64,
    /// Releases and extensions sent.
    pub scripts: u64,
    /// Error replies, the handshake's included.
    pub errors: u64,
    /// Tokens left to their ttl because the cleanup list was full.
    pub cleanup_dropped: u64,
}

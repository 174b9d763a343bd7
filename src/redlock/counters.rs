//! The counters of the whole engine and of each node. A counter starts at zero when the engine is
//! created, and never goes back.

use core::ops::AddAssign;

use super::error::{AcquireError, LostReason};
use super::event::Event;
use super::histogram::Histogram;

/// The counters of an engine: requests, and the results that its events report.
///
/// Some of these counters stand for several reasons, and say so. A [`Client`](crate::Client) counts
/// each reason by itself ([`ClientCounters`](crate::ClientCounters)). The locks that are held now
/// are [`held_now`](Self::held_now).
///
/// ```no_run
/// # let engine: redbolt::Engine = unimplemented!();
/// let counters = engine.counters();
/// println!("{} of {} requests were granted", counters.acquired, counters.requested);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Counters {
    /// Locks that were requested, requests that still wait included.
    pub requested: u64,
    /// Attempts. An attempt sends one `SET` to every node that can be asked.
    pub attempts: u64,
    /// Locks that were granted.
    pub acquired: u64,
    /// Requests that **failed** because somebody else held the lock, or was ahead in the line for
    /// the lock: [`AcquireError::Held`] and [`AcquireError::InLine`] together.
    pub held: u64,
    /// Requests that failed because a quorum of nodes was missing. A quarantined node counts as
    /// missing: [`AcquireError::NoQuorum`] and [`AcquireError::Quarantined`] together.
    pub no_quorum: u64,
    /// Requests whose wait ended before the pipelines of a quorum had room.
    pub no_room: u64,
    /// Requests that were cancelled.
    pub cancelled: u64,
    /// Adoptions that failed because a majority of the nodes did not have the token.
    pub gone: u64,
    /// Extensions that were granted, renewals included.
    pub extended: u64,
    /// Extensions that failed. Failed renewals are not included, because the engine repeats them.
    pub not_extended: u64,
    /// Locks that were released.
    pub released: u64,
    /// Locks that were lost because their validity ended.
    pub expired: u64,
    /// Locks that were kept alive until their `max_hold` was over.
    pub max_hold: u64,
    /// Locks that were lost because a majority of the nodes was known not to have them
    /// ([`LostReason::Majority`]). Each of the other reasons has a counter of its own.
    pub lost: u64,
    /// Locks that were lost because the clock of this machine had fallen behind those of the nodes.
    pub clock_behind: u64,
    /// Validities that were shortened for the same reason, without the loss of the lock.
    pub shortened: u64,
    /// Locks that were given up without a release, for another process to adopt.
    pub disowned: u64,
}

impl Counters {
    /// Returns the number of locks that are held now. A lock counts until its release is confirmed
    /// or its loss is reported.
    #[must_use]
    pub const fn held_now(&self) -> u64 {
        let lost = self.expired + self.max_hold + self.lost + self.clock_behind;
        let ended = self.released + lost + self.disowned;
        self.acquired.saturating_sub(ended)
    }

    /// Returns the number of requests for a lock that wait now.
    #[must_use]
    pub const fn waiting_now(&self) -> u64 {
        let failed = self.held + self.no_quorum + self.no_room + self.cancelled + self.gone;
        self.requested.saturating_sub(self.acquired + failed)
    }

    pub(super) fn count(&mut self, event: &Event) {
        let counter = match event {
            Event::Acquired { .. } => &mut self.acquired,
            Event::AcquireFailed { error, .. } => match error {
                AcquireError::Held { .. } | AcquireError::InLine => &mut self.held,
                AcquireError::NoQuorum(_) | AcquireError::Quarantined { .. } => &mut self.no_quorum,
                AcquireError::NoRoom => &mut self.no_room,
                AcquireError::Gone => &mut self.gone,
                AcquireError::Cancelled => &mut self.cancelled,
            },
            Event::Extended { .. } => &mut self.extended,
            Event::ExtendFailed { .. } => &mut self.not_extended,
            Event::Shortened { .. } => &mut self.shortened,
            Event::Released { .. } => &mut self.released,
            Event::Lost { reason: LostReason::Expired, .. } => &mut self.expired,
            Event::Lost { reason: LostReason::MaxHold, .. } => &mut self.max_hold,
            Event::Lost { reason: LostReason::Majority, .. } => &mut self.lost,
            Event::Lost { reason: LostReason::ClockBehind, .. } => &mut self.clock_behind,
            Event::Expiring { .. } | Event::Queried { .. } | Event::Node(_) => return,
        };
        *counter += 1;
    }
}

/// Adds the counters of another engine.
impl AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        // A counter that is new must be named here.
        let Self {
            requested,
            attempts,
            acquired,
            held,
            no_quorum,
            no_room,
            cancelled,
            gone,
            extended,
            not_extended,
            released,
            expired,
            max_hold,
            lost,
            clock_behind,
            shortened,
            disowned,
        } = other;
        self.requested += requested;
        self.attempts += attempts;
        self.acquired += acquired;
        self.held += held;
        self.no_quorum += no_quorum;
        self.no_room += no_room;
        self.cancelled += cancelled;
        self.gone += gone;
        self.extended += extended;
        self.not_extended += not_extended;
        self.released += released;
        self.expired += expired;
        self.max_hold += max_hold;
        self.lost += lost;
        self.clock_behind += clock_behind;
        self.shortened += shortened;
        self.disowned += disowned;
    }
}

/// The latencies of the requests to one node, by kind of request, from the write to the reply.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct NodeLatencies {
    /// `SET` requests, of attempts and of repairs.
    pub set: Histogram,
    /// Releases and cleanups. A request counts once, whether for one key or for a group.
    pub release: Histogram,
    /// Extensions. A request counts once, whether for one key or for a group.
    pub extend: Histogram,
}

/// The counters of one node.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct NodeCounters {
    /// Connections that came up.
    pub connects: u64,
    /// Sessions that ended, and connection attempts that failed.
    pub failures: u64,
    /// `SET` requests sent for attempts.
    pub asked: u64,
    /// `+OK` replies to these `SET` requests, whether counted as a vote or too late for one.
    pub granted: u64,
    /// Nil replies to these `SET` requests.
    pub refused: u64,
    /// `SET` requests sent for repairs: for a held lock whose key the node lacks.
    pub repaired: u64,
    /// Requests sent for releases, cleanups and extensions, each for one key or for a group.
    pub scripts: u64,
    /// Error replies, those to the handshake included.
    pub errors: u64,
    /// Tokens that were left to their ttl because the cleanup list was full.
    pub cleanup_dropped: u64,
}

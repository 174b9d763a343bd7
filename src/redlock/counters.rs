//! The counters of the whole engine and of each node. A counter starts at zero when the engine is
//! created, and never goes back.

use core::ops::AddAssign;

use super::error::{AcquireError, LostReason};
use super::event::Event;
use super::histogram::Histogram;

/// The counters of an engine: requests, and the results that its events report.
///
/// The fields have the names of the [metrics](crate#metrics), without `redbolt_` and `_total`. The
/// values of the label `reason` are fields too: `redbolt_lost_total{reason="majority"}` is
/// `lost.majority`.
///
/// ```
/// # use redbolt::Engine;
/// fn report(engine: &Engine) {
///     let counters = engine.counters();
///     let [held, waiting] = [counters.held_now(), counters.waiting_now()];
///     println!("{held} locks are held, {waiting} requests wait");
///     println!("{} requests found too few nodes", counters.acquire_failed.no_quorum);
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Counters {
    /// Locks that were requested, requests that still wait included.
    pub requested: u64,
    /// Attempts. An attempt sends one `SET` to every node that can be asked, or to a quorum of them
    /// first ([`Ask`](super::Ask)), or to one node first, when a request is told that an owner who
    /// has kept the resource for long may be gone.
    pub attempts: u64,
    /// Looks at the door, and at other nodes by those who listen there: reads of one key at one
    /// node, by requests that somebody else keeps waiting.
    pub looked: u64,
    /// Marks at the door, left by requests that have seen locks of one engine follow one another,
    /// or a lock of an engine with which theirs takes turns; and with a grant behind one lock that
    /// was seen for half of a `tenure`.
    pub marked: u64,
    /// Sets that began to take their resources one by one, because others kept them waiting.
    pub stepped: u64,
    /// Attempts that asked a majority first, and then the other nodes as well.
    pub widened: u64,
    /// Fenced attempts whose nodes were asked to accept another number than they had drawn: second
    /// trips, and those behind them.
    pub raised: u64,
    /// Locks that were acquired.
    pub acquired: u64,
    /// Requests for a lock that failed, by reason.
    pub acquire_failed: FailedCounters,
    /// Extensions that were granted, renewals included.
    pub extended: u64,
    /// Extensions that failed. Failed renewals are not included, because the engine repeats them.
    pub extend_failed: u64,
    /// Validities that were shortened, because the clock of this machine had fallen behind those of
    /// the nodes, without the loss of the lock.
    pub shortened: u64,
    /// Locks that were released.
    pub released: u64,
    /// Locks that were passed on to the next in line, of those that were released.
    pub passed_on: u64,
    /// Locks that were given up without a release: handed over, or left to their ttl.
    pub handed_over: u64,
    /// Locks that were lost, by reason.
    pub lost: LostCounters,
    /// Warnings that a lock is about to end, by reason.
    pub expiring: ExpiringCounters,
    /// Fencing numbers that were drawn for locks that were held already.
    pub fenced: u64,
    /// Draws of such numbers that failed.
    pub fence_failed: u64,
    /// Queries that were answered.
    pub queried: u64,
}

/// The requests for a lock that failed, by the reason, which is an [`AcquireError`].
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct FailedCounters {
    /// Somebody else held the lock.
    pub held: u64,
    /// Another request of the same engine was ahead in the line for the lock.
    pub in_line: u64,
    /// Too few nodes could answer.
    pub no_quorum: u64,
    /// A quorum of nodes was too far away for the ttl.
    pub too_far: u64,
    /// Too few nodes could vote, because nodes may have forgotten locks.
    pub quarantined: u64,
    /// The wait ended before the pipelines of a quorum had room.
    pub no_room: u64,
    /// A majority of the nodes did not have the token that was to be adopted.
    pub gone: u64,
    /// The caller has taken the request back.
    pub cancelled: u64,
}

/// The locks that were lost, by the reason, which is a [`LostReason`].
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct LostCounters {
    /// The validity ended.
    pub expired: u64,
    /// The lock was kept alive until its `max_hold` was over: a planned end.
    pub max_hold: u64,
    /// A majority of the nodes was known not to have the lock.
    pub majority: u64,
    /// The clock of this machine had fallen behind those of the nodes.
    pub clock_behind: u64,
}

/// The warnings that a lock is about to end, by the reason for which the lock would be lost.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct ExpiringCounters {
    /// The validity would end.
    pub expired: u64,
    /// The `max_hold` would be over: a planned end.
    pub max_hold: u64,
}

impl Counters {
    /// Returns the number of locks that are held now. A lock counts until its release is confirmed
    /// or its loss is reported.
    #[must_use]
    pub const fn held_now(&self) -> u64 {
        let ended = self.released + self.lost.total() + self.handed_over;
        self.acquired.saturating_sub(ended)
    }

    /// Returns the number of requests for a lock that wait now.
    #[must_use]
    pub const fn waiting_now(&self) -> u64 {
        self.requested.saturating_sub(self.acquired + self.acquire_failed.total())
    }

    pub(super) fn count(&mut self, event: &Event) {
        let counter = match event {
            Event::Acquired { .. } => &mut self.acquired,
            Event::AcquireFailed { error, .. } => self.acquire_failed.of(error),
            Event::Extended { .. } => &mut self.extended,
            Event::ExtendFailed { .. } => &mut self.extend_failed,
            Event::Shortened { .. } => &mut self.shortened,
            Event::Released { .. } => &mut self.released,
            Event::Lost { reason, .. } => self.lost.of(*reason),
            Event::Expiring { reason, .. } => self.expiring.of(*reason),
            Event::Queried { .. } => &mut self.queried,
            Event::Fenced { .. } => &mut self.fenced,
            Event::FenceFailed { .. } => &mut self.fence_failed,
            Event::Node(_) => return,
        };
        *counter += 1;
    }
}

impl FailedCounters {
    /// Returns the sum over all reasons.
    #[must_use]
    pub const fn total(&self) -> u64 {
        let Self { held, in_line, no_quorum, too_far, quarantined, no_room, gone, cancelled } =
            self;
        let nodes = *no_quorum + *too_far + *quarantined;
        *held + *in_line + nodes + *no_room + *gone + *cancelled
    }

    fn of(&mut self, error: &AcquireError) -> &mut u64 {
        match error {
            AcquireError::Held { .. } => &mut self.held,
            AcquireError::InLine => &mut self.in_line,
            AcquireError::NoQuorum(_) => &mut self.no_quorum,
            AcquireError::TooFar { .. } => &mut self.too_far,
            AcquireError::Quarantined { .. } => &mut self.quarantined,
            AcquireError::NoRoom => &mut self.no_room,
            AcquireError::Gone => &mut self.gone,
            AcquireError::Cancelled => &mut self.cancelled,
        }
    }
}

impl LostCounters {
    /// Returns the sum over all reasons.
    #[must_use]
    pub const fn total(&self) -> u64 {
        let Self { expired, max_hold, majority, clock_behind } = self;
        *expired + *max_hold + *majority + *clock_behind
    }

    fn of(&mut self, reason: LostReason) -> &mut u64 {
        match reason {
            LostReason::Expired => &mut self.expired,
            LostReason::MaxHold => &mut self.max_hold,
            LostReason::Majority => &mut self.majority,
            LostReason::ClockBehind => &mut self.clock_behind,
        }
    }
}

impl ExpiringCounters {
    /// Returns the sum over all reasons.
    #[must_use]
    pub const fn total(&self) -> u64 {
        let Self { expired, max_hold } = self;
        *expired + *max_hold
    }

    fn of(&mut self, reason: LostReason) -> &mut u64 {
        match reason {
            LostReason::MaxHold => &mut self.max_hold,
            // A warning is about the end of the validity, whatever else may end the lock.
            LostReason::Expired | LostReason::Majority | LostReason::ClockBehind => {
                &mut self.expired
            }
        }
    }
}

/// Adds the counters of another engine.
impl AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        // A counter that is new must be named here, and so in those below.
        let Self {
            requested,
            attempts,
            looked,
            marked,
            stepped,
            widened,
            raised,
            acquired,
            acquire_failed,
            extended,
            extend_failed,
            shortened,
            released,
            passed_on,
            handed_over,
            lost,
            expiring,
            fenced,
            fence_failed,
            queried,
        } = other;
        self.requested += requested;
        self.attempts += attempts;
        self.looked += looked;
        self.marked += marked;
        self.stepped += stepped;
        self.widened += widened;
        self.raised += raised;
        self.acquired += acquired;
        self.acquire_failed.add(acquire_failed);
        self.extended += extended;
        self.extend_failed += extend_failed;
        self.shortened += shortened;
        self.released += released;
        self.passed_on += passed_on;
        self.handed_over += handed_over;
        self.lost.add(lost);
        self.expiring.add(expiring);
        self.fenced += fenced;
        self.fence_failed += fence_failed;
        self.queried += queried;
    }
}

impl FailedCounters {
    fn add(&mut self, other: Self) {
        let Self { held, in_line, no_quorum, too_far, quarantined, no_room, gone, cancelled } =
            other;
        self.held += held;
        self.in_line += in_line;
        self.no_quorum += no_quorum;
        self.too_far += too_far;
        self.quarantined += quarantined;
        self.no_room += no_room;
        self.gone += gone;
        self.cancelled += cancelled;
    }
}

impl LostCounters {
    fn add(&mut self, other: Self) {
        let Self { expired, max_hold, majority, clock_behind } = other;
        self.expired += expired;
        self.max_hold += max_hold;
        self.majority += majority;
        self.clock_behind += clock_behind;
    }
}

impl ExpiringCounters {
    fn add(&mut self, other: Self) {
        let Self { expired, max_hold } = other;
        self.expired += expired;
        self.max_hold += max_hold;
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

impl NodeLatencies {
    /// Adds the latencies of another engine.
    pub fn merge(&mut self, other: &Self) {
        let Self { set, release, extend } = other;
        self.set.merge(set);
        self.release.merge(release);
        self.extend.merge(extend);
    }
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

/// Adds the counters of another engine for the same node.
impl AddAssign for NodeCounters {
    fn add_assign(&mut self, other: Self) {
        // A counter that is new must be named here.
        let Self {
            connects,
            failures,
            asked,
            granted,
            refused,
            repaired,
            scripts,
            errors,
            cleanup_dropped,
        } = other;
        self.connects += connects;
        self.failures += failures;
        self.asked += asked;
        self.granted += granted;
        self.refused += refused;
        self.repaired += repaired;
        self.scripts += scripts;
        self.errors += errors;
        self.cleanup_dropped += cleanup_dropped;
    }
}

//! [`ClientCounters`], what a client has done: the sum over its threads.

use std::sync::Arc;

use super::error::ClientError;
use super::oneshot::Oneshot;
use super::sync::{Mutex, lock};
use crate::redlock::{AcquireError, Counters, Histogram, LostReason};

/// What a client has done since it was created, all its threads together.
///
/// The fields have the names of the [metrics](crate#metrics), without `redbolt_` and `_total`. The
/// values of the label `reason` are fields too: `redbolt_lost_total{reason="majority"}` is
/// `lost.majority`.
///
/// ```no_run
/// # async fn show(client: redbolt::Client) -> Result<(), redbolt::ClientError> {
/// let counters = client.counters().await?;
/// println!("{} locks are held, {} requests wait", counters.held_now, counters.waiting_now);
/// println!("{} requests found too few nodes", counters.acquire_failed.no_quorum);
/// println!("99 % of all locks were there after {:?}", counters.wait.quantile(0.99));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ClientCounters {
    /// Locks that were requested, requests that still wait included.
    pub requested: u64,
    /// Attempts. An attempt sends one `SET` to every node that can be asked.
    pub attempts: u64,
    /// Locks that were acquired.
    pub acquired: u64,
    /// Requests for a lock that failed, by reason.
    pub acquire_failed: FailedCounters,
    /// Extensions that were granted, renewals included.
    pub extended: u64,
    /// Extensions that failed. Failed renewals are not included, because they are repeated.
    pub extend_failed: u64,
    /// Validities that were shortened, because the clock of this machine had fallen behind those of
    /// the nodes, without the loss of the lock.
    pub shortened: u64,
    /// Locks that were released.
    pub released: u64,
    /// Locks that were handed over, or left to their ttl.
    pub handed_over: u64,
    /// Locks that were lost, by reason.
    pub lost: LostCounters,
    /// Warnings that a lock is about to end, by reason.
    pub expiring: ExpiringCounters,
    /// Queries that were answered.
    pub queried: u64,
    /// How many callbacks have panicked, of `on_lost`, [`on_node`](super::Client::on_node) and
    /// [`Credentials`](crate::Credentials), and how many wakers of tasks. The log has a line for
    /// each, and the thread lives on.
    pub panics: u64,
    /// How many locks are held now. A lock counts until its release is confirmed or its loss is
    /// reported.
    pub held_now: u64,
    /// How many requests for a lock wait now, those in the queues of the threads not included.
    pub waiting_now: u64,
    /// How long the locks that were granted had been waited for: from the request to the grant.
    pub wait: Histogram,
}

/// The requests for a lock that failed, by the reason, which is an [`AcquireError`].
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct FailedCounters {
    /// Somebody else held the lock.
    pub held: u64,
    /// Another request of the client was ahead in the line for the lock.
    pub in_line: u64,
    /// Too few nodes could answer.
    pub no_quorum: u64,
    /// Too few nodes could vote, because nodes may have forgotten locks.
    pub quarantined: u64,
    /// The wait ended before the pipelines of a quorum had room.
    pub no_room: u64,
    /// A majority of the nodes did not have the token that was to be adopted.
    pub gone: u64,
    /// The caller has taken the request back: its future was dropped, or the client was shut down.
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

impl FailedCounters {
    /// Returns the sum over all reasons.
    #[must_use]
    pub const fn total(&self) -> u64 {
        let Self { held, in_line, no_quorum, quarantined, no_room, gone, cancelled } = self;
        *held + *in_line + *no_quorum + *quarantined + *no_room + *gone + *cancelled
    }
}

impl LostCounters {
    /// Returns the sum over all reasons.
    #[must_use]
    pub const fn total(&self) -> u64 {
        let Self { expired, max_hold, majority, clock_behind } = self;
        *expired + *max_hold + *majority + *clock_behind
    }
}

impl ExpiringCounters {
    /// Returns the sum over all reasons.
    #[must_use]
    pub const fn total(&self) -> u64 {
        let Self { expired, max_hold } = self;
        *expired + *max_hold
    }
}

/// What a thread counts beyond the [`Counters`] of its engine.
#[derive(Clone, Copy, Default)]
pub(super) struct Tally {
    in_line: u64,
    quarantined: u64,
    expiring: ExpiringCounters,
    pub(super) queried: u64,
}

impl Tally {
    pub(super) fn failed(&mut self, error: &AcquireError) {
        match error {
            AcquireError::InLine => self.in_line += 1,
            AcquireError::Quarantined { .. } => self.quarantined += 1,
            // The engine has a counter for each of these.
            AcquireError::Held { .. }
            | AcquireError::NoQuorum(_)
            | AcquireError::NoRoom
            | AcquireError::Gone
            | AcquireError::Cancelled => {}
        }
    }

    pub(super) fn expiring(&mut self, reason: LostReason) {
        match reason {
            LostReason::MaxHold => self.expiring.max_hold += 1,
            // The engine warns of the end of the validity, whatever else may end the lock.
            LostReason::Expired | LostReason::Majority | LostReason::ClockBehind => {
                self.expiring.expired += 1;
            }
        }
    }
}

impl ClientCounters {
    /// Creates the counters of one thread.
    pub(super) fn of_thread(
        engine: &Counters,
        tally: &Tally,
        panics: u64,
        wait: &Histogram,
    ) -> Self {
        Self {
            requested: engine.requested,
            attempts: engine.attempts,
            acquired: engine.acquired,
            acquire_failed: FailedCounters {
                // The engine counts these two together, and the next two.
                held: engine.held.saturating_sub(tally.in_line),
                in_line: tally.in_line,
                no_quorum: engine.no_quorum.saturating_sub(tally.quarantined),
                quarantined: tally.quarantined,
                no_room: engine.no_room,
                gone: engine.gone,
                cancelled: engine.cancelled,
            },
            extended: engine.extended,
            extend_failed: engine.not_extended,
            shortened: engine.shortened,
            released: engine.released,
            handed_over: engine.disowned,
            lost: LostCounters {
                expired: engine.expired,
                max_hold: engine.max_hold,
                majority: engine.lost,
                clock_behind: engine.clock_behind,
            },
            expiring: tally.expiring,
            queried: tally.queried,
            panics,
            held_now: engine.held_now(),
            waiting_now: engine.waiting_now(),
            wait: wait.clone(),
        }
    }

    fn add(&mut self, other: &Self) {
        self.requested += other.requested;
        self.attempts += other.attempts;
        self.acquired += other.acquired;
        self.acquire_failed.add(other.acquire_failed);
        self.extended += other.extended;
        self.extend_failed += other.extend_failed;
        self.shortened += other.shortened;
        self.released += other.released;
        self.handed_over += other.handed_over;
        self.lost.add(other.lost);
        self.expiring.add(other.expiring);
        self.queried += other.queried;
        self.panics += other.panics;
        self.held_now += other.held_now;
        self.waiting_now += other.waiting_now;
        self.wait.merge(&other.wait);
    }
}

impl FailedCounters {
    fn add(&mut self, other: Self) {
        self.held += other.held;
        self.in_line += other.in_line;
        self.no_quorum += other.no_quorum;
        self.quarantined += other.quarantined;
        self.no_room += other.no_room;
        self.gone += other.gone;
        self.cancelled += other.cancelled;
    }
}

impl LostCounters {
    fn add(&mut self, other: Self) {
        self.expired += other.expired;
        self.max_hold += other.max_hold;
        self.majority += other.majority;
        self.clock_behind += other.clock_behind;
    }
}

impl ExpiringCounters {
    fn add(&mut self, other: Self) {
        self.expired += other.expired;
        self.max_hold += other.max_hold;
    }
}

/// A question to all threads, with one answer: the last thread leaves the sum.
pub(super) struct Survey {
    pub(super) answer: Arc<Oneshot<Result<ClientCounters, ClientError>>>,
    sum: Mutex<Sum>,
}

struct Sum {
    missing: usize,
    counters: ClientCounters,
}

impl Survey {
    pub(super) fn of(threads: usize) -> Self {
        let sum = Sum { missing: threads, counters: ClientCounters::default() };
        Self { answer: Arc::new(Oneshot::new()), sum: Mutex::new(sum) }
    }

    /// Adds the counters of one thread. Returns the sum if no other thread is missing.
    pub(super) fn add(&self, counters: &ClientCounters) -> Option<ClientCounters> {
        let mut sum = lock(&self.sum);
        sum.counters.add(counters);
        sum.missing -= 1;
        (sum.missing == 0).then(|| core::mem::take(&mut sum.counters))
    }
}

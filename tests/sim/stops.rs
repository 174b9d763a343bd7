//! Stops of a client's machine that stop its clock too, and what the nodes have told of them.
//!
//! A hypervisor can do that. The client then believes in its locks for too long, and nothing on its
//! machine tells. What SAFETY.md promises: once a majority of the nodes has told by their clocks,
//! no validity from before the stop is too long any more. Until then such a lock is excused.

use std::time::Duration;

use redbolt::redlock::{Drift, LockId};
use redbolt::time::Instant;

use crate::book::{Lock, State};
use crate::client::Client;
use crate::net::Net;

/// The stops of one client's machine.
#[derive(Default)]
pub(crate) struct Stops {
    stops: Vec<Stop>,
    /// The last look at each node whose answer has come.
    last: Vec<Option<Look>>,
}

/// A stop of the machine and its clock, in true time.
struct Stop {
    from: u64,
    to: u64,
    /// What the clock of the client shows at the end.
    at: Instant,
    /// The nodes whose clocks have told, one bit each.
    told: u32,
    is_noticed: bool,
}

/// A look, as the master has seen it.
#[derive(Clone, Copy)]
pub(crate) struct Look {
    /// The true time.
    pub(crate) at: u64,
    /// What the clock of the master showed.
    pub(crate) time: Instant,
    pub(crate) process: u64,
    /// The time at which the look could have been sent, by the clock of the client.
    pub(crate) offered_at: Instant,
}

impl Client {
    /// Returns the locks in which the client believes, and is right to.
    pub(crate) fn believed(&self, now: Instant) -> impl Iterator<Item = &Lock> {
        let locks = self.locks.iter().filter(move |lock| lock.valid_until > now);
        locks.filter(|lock| !self.is_excused(lock.since))
    }

    /// Returns whether no later look will find a stop: all are noticed, or were so long ago that
    /// each node was looked at since. Each node is looked at within a `max_ttl`.
    pub(crate) fn knows_its_stops(&self, true_now: u64, max_ttl: Duration) -> bool {
        let now = self.clock(true_now);
        self.is_awake()
            && self.stops.stops.iter().all(|stop| stop.is_noticed || now > stop.at + max_ttl)
    }

    /// Enters into the book that a lock ends earlier.
    pub(crate) fn shortened(
        &mut self,
        net: &mut Net,
        id: LockId,
        now: Instant,
        valid_until: Instant,
    ) {
        net.trace.add(&[valid_until.as_nanos()]);
        let Some(lock) = self.known(net, id, State::Held) else { return };
        let before = core::mem::replace(&mut lock.valid_until, valid_until);
        if valid_until >= before || valid_until <= now {
            net.fail(format_args!("{id:?} is shortened from {before:?} to {valid_until:?}"));
        }
    }
}

impl Stops {
    /// Records a stop that has ended, and what the clock of the client shows.
    pub(crate) fn ended(&mut self, from: u64, to: u64, at: Instant) {
        self.stops.push(Stop { from, to, at, told: 0, is_noticed: false });
    }

    /// Returns whether the clock has ever stood still.
    pub(crate) fn has_any(&self) -> bool {
        !self.stops.is_empty()
    }

    /// Returns whether a validity that began at `since` may be too long.
    pub(crate) fn excuse(&self, since: Instant) -> bool {
        self.stops.iter().any(|stop| !stop.is_noticed && since <= stop.at)
    }

    /// Records that the answer of a node to a look has come. Returns whether a stop is noticed.
    pub(crate) fn looked(
        &mut self,
        slot: usize,
        nodes: usize,
        look: Look,
        answered: Instant,
        drift: Drift,
    ) -> bool {
        self.last.resize(nodes, None);
        let Some(last) = self.last[slot].replace(look) else { return false };
        if last.process != look.process {
            return false;
        }
        let passed = look.time - last.time;
        // What SAFETY.md says, written once more: the drift of what has passed at the node is not
        // enough to explain what has passed here.
        let slack = passed * drift.rate_ppm / 500_000 + drift.step + Duration::from_millis(2);
        let is_told = passed.saturating_sub(slack) > answered - last.offered_at;
        // Of two stops between two looks, nobody can tell which took how long.
        let between = |stop: &&mut Stop| stop.from < look.at && stop.to > last.at;
        let mut between = self.stops.iter_mut().filter(between);
        let (Some(stop), None) = (between.next(), between.next()) else { return false };
        let is_whole = last.at <= stop.from && stop.to <= look.at;
        if !is_told || !is_whole || stop.is_noticed {
            return false;
        }
        stop.told |= 1 << slot;
        stop.is_noticed = 2 * stop.told.count_ones() as usize > nodes;
        stop.is_noticed
    }
}

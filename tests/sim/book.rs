//! The caller's knowledge of a client's locks: what was asked for, what the events said, and the
//! deadlines of the events to come.

mod events;
mod requests;

use std::time::Duration;

use redbolt::redlock::{LockId, Token};
use redbolt::time::Instant;

use crate::client::Client;
use crate::clock::MS;
use crate::names::Resources;
use crate::net::Net;
use crate::numbers::Number;
use crate::thrift::Pauses;

/// A lock, from the request to its last event.
pub(crate) struct Lock {
    pub(crate) id: LockId,
    pub(crate) resources: Resources,
    pub(crate) state: State,
    /// The end of the validity that the caller believes in; the beginning of time without one.
    pub(crate) valid_until: Instant,
    /// The time at which that validity began.
    pub(crate) since: Instant,
    pub(crate) token: Token,
    /// The caller has asked for the token, and may have given it away.
    pub(crate) is_token_known: bool,
    /// The validity at the time of the release.
    pub(crate) released_until: Instant,
    ttl: Duration,
    /// No extension reaches beyond this (S12).
    hold_until: Instant,
    /// The deadline of the next event, in true time.
    due: u64,
    extension: Option<Extension>,
    /// The ttl and the end of a lock that is kept alive.
    keep: Option<(Duration, Instant)>,
    /// The node timeout of its own, if it has one.
    node_timeout: Option<Duration>,
    /// The time of the request.
    pub(crate) asked_at: Instant,
    /// The time at which the wait ends.
    pub(crate) wait_until: Instant,
    /// The lock was handed over.
    pub(crate) is_adopted: bool,
    pub(crate) number: Number,
    pub(crate) pauses: Pauses,
}

/// A lock that its holder has let go of, for any client to adopt.
#[derive(Clone, Copy)]
pub(crate) struct Orphan {
    pub(crate) resources: Resources,
    pub(crate) token: Token,
}

/// An extension that was asked for.
#[derive(Clone, Copy)]
struct Extension {
    due: u64,
    started: Instant,
    ttl: Duration,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    Wanted,
    Held,
    Releasing,
}

pub(crate) const NOBODYS: Token = Token::from_bytes([0; Token::LEN]);

impl Client {
    /// Finds the lock of an event. The lock must be in this state.
    pub(crate) fn known(&mut self, net: &mut Net, id: LockId, state: State) -> Option<&mut Lock> {
        let lock = self.locks.iter_mut().find(|lock| lock.id == id);
        let found = lock.as_ref().map(|lock| lock.state);
        if found != Some(state) {
            net.fail(format_args!("{id:?} has an event that it cannot have now: {found:?}"));
        }
        lock
    }

    /// Checks that every request has its event by its deadline, and that the core knows of each
    /// lock what its events have said (S8).
    pub(crate) fn check_book(&self, net: &mut Net) {
        let (now, late) = (self.clock(net.now), net.now.saturating_sub(net.weather.turn));
        if self.queries.iter().any(|(_, due)| late > *due) && self.is_punctual() {
            net.fail(format_args!("a question has no answer"));
        }
        for lock in &self.locks {
            let extension_due = lock.extension.map_or(u64::MAX, |extension| extension.due);
            if late > lock.due.min(extension_due).min(lock.number.due()) && self.is_punctual() {
                net.fail(format_args!("{:?} is {:?} and has no event", lock.id, lock.state));
            }
            if self.redlock.is_held(now, lock.id) != (lock.valid_until > now) {
                let Lock { id, valid_until, .. } = lock;
                net.fail(format_args!("S8: {id:?} is valid until {valid_until:?}, not at {now:?}"));
            }
        }
    }

    /// Gives a client that was asleep the time of one more request, and the time for which its
    /// clock has stood still.
    pub(crate) fn excuse(&mut self, now: u64, stopped: u64) {
        let config = self.redlock.config();
        let timeout = config.longest_node_timeout(config.max_ttl);
        let due = now + allowed(2 * timeout);
        for (_, query_due) in &mut self.queries {
            *query_due = due.max(*query_due + stopped);
        }
        for lock in &mut self.locks {
            lock.due = lock.due.saturating_add(stopped).max(due);
            if let Some(extension) = &mut lock.extension {
                extension.due = (extension.due + stopped).max(due);
            }
            lock.number.excuse(stopped, due);
        }
    }

    /// Returns the first lock in this state.
    pub(crate) fn first_in(&self, state: State) -> Option<LockId> {
        self.locks_in(state).next()
    }

    /// Returns the locks in this state.
    pub(crate) fn locks_in(&self, state: State) -> impl Iterator<Item = LockId> + '_ {
        self.locks.iter().filter(move |lock| lock.state == state).map(|lock| lock.id)
    }
}

/// Returns how long something that takes `time` may take by a slow clock.
pub(crate) fn allowed(time: Duration) -> u64 {
    let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    nanos + nanos / 8 + 2 * MS
}

//! What a caller asks for, with the deadline of the answer.

use std::time::Duration;

use redbolt::redlock::{LockId, RequestError};
use redbolt::time::Instant;

use super::{Extension, Lock, NOBODYS, Orphan, State, allowed};
use crate::client::Client;
use crate::manner::Manner;
use crate::names::Resources;
use crate::net::Net;
use crate::numbers::{Number, TRIPS};

impl Client {
    /// Asks for a lock on some resources.
    pub(crate) fn acquire(
        &mut self,
        net: &mut Net,
        resources: Resources,
        manner: &Manner,
        ttl: u64,
        wait: u64,
    ) {
        let (ttl, wait) = (Duration::from_millis(ttl), Duration::from_millis(wait));
        let now = self.clock(net.now);
        let Manner { orphan, node_timeout, .. } = *manner;
        let config = self.redlock.config();
        let least = node_timeout.unwrap_or_else(|| config.node_timeout(ttl));
        let timeout = node_timeout.unwrap_or_else(|| config.longest_node_timeout(ttl));
        let pauses = self.pauses(manner, least, wait);
        // What is refused has nothing to wait for.
        let Ok(id) = self.ask(net, resources, manner, ttl, wait) else { return };
        // Each second trip takes a node timeout more.
        let more = if manner.is_fenced { timeout * (TRIPS - 1) } else { Duration::ZERO };
        let due = net.now + allowed((wait + timeout).max(2 * timeout) + more);
        net.trace.add(&[net.now, id.index() as u64, due]);
        let name = self.name;
        net.trace
            .say(net.now, format_args!("client {name} wants {id:?}: {resources:?} for {ttl:?}"));
        if manner.is_fenced {
            net.trace.say(net.now, format_args!("client {name} wants {id:?} with a number"));
        }
        if self.locks.iter().any(|lock| lock.id == id) {
            net.fail(format_args!("client {name} was given {id:?} twice"));
        }
        self.locks.push(Lock {
            id,
            resources,
            state: State::Wanted,
            valid_until: Instant::ZERO,
            since: Instant::ZERO,
            token: NOBODYS,
            is_token_known: false,
            released_until: Instant::ZERO,
            ttl,
            hold_until: Instant::ZERO,
            due,
            extension: None,
            keep: None,
            node_timeout,
            asked_at: now,
            wait_until: now + wait,
            is_adopted: orphan.is_some(),
            number: Number::new(manner.is_fenced),
            pauses,
        });
        if let Some(orphan) = orphan {
            net.checks.adopts(self.name, &orphan.token, pauses.within(wait));
        }
    }

    /// Has a lock kept alive.
    pub(crate) fn keep_alive(&mut self, net: &mut Net, id: LockId, ttl: u64, hold: Duration) {
        let (now, ttl) = (self.clock(net.now), Duration::from_millis(ttl));
        if self.redlock.keep_alive(now, id, ttl, hold).is_ok() {
            let (name, max) = (self.name, self.redlock.config().max_hold);
            net.trace.say(net.now, format_args!("client {name} keeps {id:?} by {ttl:?}, {hold:?}"));
            if let Some(lock) = self.known(net, id, State::Held) {
                // A renewal that asked for more may be under way.
                let before = lock.keep.map_or(Duration::ZERO, |(ttl, _)| ttl);
                lock.keep = Some((ttl.max(before), lock.hold_until - max + hold));
            }
        }
    }

    /// Asks for a warning ahead of the end of a lock.
    pub(crate) fn warn(&mut self, net: &Net, id: LockId, ahead: u64) {
        // A lock that has just ended reports that anyway.
        let _ = self.redlock.warn(self.clock(net.now), id, Duration::from_millis(ahead));
    }

    /// Lets go of a lock without releasing the lock.
    pub(crate) fn disown(&mut self, net: &mut Net, id: LockId) -> Option<Orphan> {
        let token = self.redlock.disown(self.clock(net.now), id).ok()?;
        let name = self.name;
        net.trace.say(net.now, format_args!("client {name} lets go of {id:?}"));
        let lock = self.known(net, id, State::Held)?;
        lock.valid_until = Instant::ZERO;
        let (resources, expected) = (lock.resources, lock.token);
        if token != expected {
            let (token, expected) = (token.to_hex(), expected.to_hex());
            net.fail(format_args!("{id:?} was let go of as {token}, and was {expected}"));
        }
        // The extension under way ends with the lock.
        self.settle(net);
        self.locks.retain(|lock| lock.id != id);
        Some(Orphan { resources, token })
    }

    /// Asks for an extension. Returns false if the lock may not be extended that far.
    pub(crate) fn extend(&mut self, net: &mut Net, id: LockId, ttl: u64) -> bool {
        let (now, ttl) = (self.clock(net.now), Duration::from_millis(ttl));
        let usual = self.redlock.config().longest_node_timeout(ttl);
        let lock = self.locks.iter().find(|lock| lock.id == id);
        let timeout = lock.and_then(|lock| lock.node_timeout).unwrap_or(usual);
        let due = net.now + allowed(timeout);
        let extended = self.redlock.extend(now, id, ttl);
        if extended.is_ok() {
            let name = self.name;
            net.trace.say(net.now, format_args!("client {name} extends {id:?} by {ttl:?}"));
            if let Some(lock) = self.known(net, id, State::Held) {
                lock.extension = Some(Extension { due, started: now, ttl });
                let token = lock.token;
                net.checks.extends(self.name, &token, 1);
            }
        }
        !matches!(extended, Err(RequestError::HoldTooLong { .. }))
    }

    pub(crate) fn release(&mut self, net: &mut Net, id: LockId) {
        let due = net.now + allowed(self.redlock.config().release_timeout);
        let released = self.redlock.release(self.clock(net.now), id);
        if let Err(error) = released {
            net.fail(format_args!("{id:?} is held and cannot be released: {error}"));
        }
        if let Some(lock) = self.known(net, id, State::Held) {
            lock.released_until = core::mem::replace(&mut lock.valid_until, Instant::ZERO);
            (lock.state, lock.due) = (State::Releasing, due);
        }
    }

    pub(crate) fn cancel(&mut self, net: &mut Net, id: LockId) {
        if let Err(error) = self.redlock.cancel(self.clock(net.now), id) {
            net.fail(format_args!("{id:?} is wanted and cannot be cancelled: {error}"));
        }
    }
}

//! What the caller of a client knows of its locks: what it asked for, what it was told, and by
//! when it must hear of the rest.

use std::time::Duration;

use redbolt::redlock::{Event, LockId, RequestError, Token};
use redbolt::time::Instant;

use crate::client::Client;
use crate::clock::MS;
use crate::net::Net;

/// Names of all lengths, one of them longer than a lock has room for without an allocation.
pub(crate) const RESOURCES: [&[u8]; 32] = {
    const NAME: &[u8] = &[b'x'; 60];
    let mut names = [NAME; 32];
    let mut length = 1;
    while length < names.len() {
        names[length] = NAME.split_at(length).0;
        length += 1;
    }
    names
};

/// A lock, from the request to its last event.
pub(crate) struct Lock {
    pub(crate) id: LockId,
    pub(crate) resource: usize,
    pub(crate) state: State,
    /// Until when it is believed; the beginning of time when it is not.
    pub(crate) valid_until: Instant,
    pub(crate) token: Token,
    /// Beyond this no extension reaches (S12).
    hold_until: Instant,
    /// The event that is open has to come by then, in true time.
    due: u64,
    extension: Option<Extension>,
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

const NOBODYS: Token = Token::from_bytes([0; Token::LEN]);

impl Client {
    pub(crate) fn acquire(&mut self, net: &mut Net, resource: usize, ttl: u64, wait: u64) {
        let (ttl, wait) = (Duration::from_millis(ttl), Duration::from_millis(wait));
        let now = self.clock(net.now);
        let timeout = self.redlock.config().node_timeout(ttl);
        // Refused when the engine is full, and then there is nothing to wait for.
        let Ok(id) = self.redlock.acquire(now, RESOURCES[resource], ttl, wait) else { return };
        let due = net.now + allowed((wait + timeout).max(2 * timeout));
        net.trace.add(&[net.now, id.index() as u64, due]);
        let name = self.name;
        net.trace.say(net.now, format_args!("client {name} wants {id:?}: {resource} for {ttl:?}"));
        if self.locks.iter().any(|lock| lock.id == id) {
            net.fail(format_args!("client {name} was given {id:?} twice"));
        }
        self.locks.push(Lock {
            id,
            resource,
            state: State::Wanted,
            valid_until: Instant::ZERO,
            token: NOBODYS,
            hold_until: Instant::ZERO,
            due,
            extension: None,
        });
    }

    /// False where it may not be extended.
    pub(crate) fn extend(&mut self, net: &mut Net, id: LockId, ttl: u64) -> bool {
        let (now, ttl) = (self.clock(net.now), Duration::from_millis(ttl));
        let due = net.now + allowed(self.redlock.config().node_timeout(ttl));
        let extended = self.redlock.extend(now, id, ttl);
        if extended.is_ok() {
            let name = self.name;
            net.trace.say(net.now, format_args!("client {name} extends {id:?} by {ttl:?}"));
            if let Some(lock) = self.known(net, id, State::Held) {
                lock.extension = Some(Extension { due, started: now, ttl });
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
            (lock.state, lock.due, lock.valid_until) = (State::Releasing, due, Instant::ZERO);
        }
    }

    pub(crate) fn cancel(&mut self, net: &mut Net, id: LockId) {
        if let Err(error) = self.redlock.cancel(self.clock(net.now), id) {
            net.fail(format_args!("{id:?} is wanted and cannot be cancelled: {error}"));
        }
    }

    /// Takes an event into the book.
    pub(crate) fn heed(&mut self, net: &mut Net, event: Event) {
        let (name, now) = (self.name, self.clock(net.now));
        let (kind, id) = match event {
            Event::Acquired { lock, .. } => (1, lock),
            Event::AcquireFailed { lock, .. } => (2, lock),
            Event::Extended { lock, .. } => (3, lock),
            Event::ExtendFailed { lock, .. } => (4, lock),
            Event::Released { lock, .. } => (5, lock),
            Event::Lost { lock, .. } => (6, lock),
            _ => return,
        };
        net.trace.add(&[net.now, name as u64, kind, id.index() as u64]);
        net.trace.say(net.now, format_args!("client {name}: {event:?}"));
        match event {
            Event::Acquired { valid_until, .. } => self.acquired(net, id, now, valid_until),
            Event::Extended { valid_until, .. } => self.extended(net, id, now, valid_until),
            Event::ExtendFailed { .. } => {
                // That of a lock that is being released fails with it.
                let lock = self.locks.iter_mut().find(|lock| lock.id == id);
                if lock.and_then(|lock| lock.extension.take()).is_none() {
                    net.fail(format_args!("an extension of {id:?} failed that nobody wanted"));
                }
            }
            Event::AcquireFailed { .. } => self.ended(net, id, State::Wanted),
            Event::Released { .. } => self.ended(net, id, State::Releasing),
            _ => self.ended(net, id, State::Held),
        }
    }

    fn acquired(&mut self, net: &mut Net, id: LockId, now: Instant, valid_until: Instant) {
        let token = self.redlock.token(id).unwrap_or(NOBODYS);
        net.trace.add(&[valid_until.as_nanos()]);
        if valid_until <= now {
            net.fail(format_args!("S3: {id:?} was granted after its validity"));
        }
        let hold_until = net.checks.granted(net.now, token, valid_until);
        let Some(lock) = self.known(net, id, State::Wanted) else { return };
        (lock.state, lock.token, lock.due) = (State::Held, token, u64::MAX);
        (lock.valid_until, lock.hold_until) = (valid_until, hold_until);
        self.grants += 1;
    }

    fn extended(&mut self, net: &mut Net, id: LockId, now: Instant, valid_until: Instant) {
        net.trace.add(&[valid_until.as_nanos()]);
        let Some(lock) = self.known(net, id, State::Held) else { return };
        let (token, before) = (lock.token, lock.valid_until);
        lock.valid_until = valid_until;
        if let Some(Extension { started, ttl, .. }) = lock.extension.take() {
            if valid_until > lock.hold_until {
                net.fail(format_args!("S12: {id:?} is held for longer than max_hold"));
            }
            net.checks.extended(net.now, token, started);
            if valid_until > before {
                net.checks.lasts(net.now, token, valid_until, started, ttl);
            }
        } else {
            net.fail(format_args!("an extension of {id:?} that nobody wanted"));
        }
        if before <= now {
            net.fail(format_args!("S7: {id:?} was extended after its validity"));
        }
        if valid_until < before {
            net.fail(format_args!("S7: an extension shortened {id:?}"));
        }
        self.extensions += 1;
    }

    /// The lock that an event is about, which must be in this state.
    fn known(&mut self, net: &mut Net, id: LockId, state: State) -> Option<&mut Lock> {
        let lock = self.locks.iter_mut().find(|lock| lock.id == id);
        let found = lock.as_ref().map(|lock| lock.state);
        if found != Some(state) {
            net.fail(format_args!("{id:?} has an event that it cannot have now: {found:?}"));
        }
        lock
    }

    fn ended(&mut self, net: &mut Net, id: LockId, state: State) {
        if self.known(net, id, state).is_some_and(|lock| lock.extension.is_some()) {
            net.fail(format_args!("{id:?} has ended and its extension has no event"));
        }
        self.locks.retain(|lock| lock.id != id);
    }

    /// Every request has its event by its deadline, and what the core says of a lock is what it
    /// has told (S8).
    pub(crate) fn check_book(&self, net: &mut Net) {
        let (now, late) = (self.clock(net.now), net.now.saturating_sub(net.weather.turn));
        for lock in &self.locks {
            let extension_due = lock.extension.map_or(u64::MAX, |extension| extension.due);
            if late > lock.due.min(extension_due) && self.is_punctual() {
                net.fail(format_args!("{:?} is {:?} and has no event", lock.id, lock.state));
            }
            if self.redlock.is_held(now, lock.id) != (lock.valid_until > now) {
                let Lock { id, valid_until, .. } = lock;
                net.fail(format_args!("S8: {id:?} is valid until {valid_until:?}, not at {now:?}"));
            }
        }
    }

    /// Who was asleep has the time once more that a request may take.
    pub(crate) fn excuse(&mut self, now: u64) {
        let timeout = self.redlock.config().node_timeout(self.redlock.config().max_ttl);
        let due = now + allowed(2 * timeout);
        for lock in &mut self.locks {
            lock.due = lock.due.max(due);
            if let Some(extension) = &mut lock.extension {
                extension.due = extension.due.max(due);
            }
        }
    }

    /// The first lock in this state.
    pub(crate) fn first_in(&self, state: State) -> Option<LockId> {
        self.locks_in(state).next()
    }

    /// The locks in this state.
    pub(crate) fn locks_in(&self, state: State) -> impl Iterator<Item = LockId> + '_ {
        self.locks.iter().filter(move |lock| lock.state == state).map(|lock| lock.id)
    }
}

/// How long what takes `time` may take by a clock that is slow.
fn allowed(time: Duration) -> u64 {
    let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    nanos + nanos / 8 + 2 * MS
}

//! The caller's knowledge of a client's locks: what was asked for, what the events said, and the
//! deadlines of the events to come.

use std::time::Duration;

use redbolt::redlock::{Event, LockId, RequestError, Token};
use redbolt::time::Instant;

use crate::client::Client;
use crate::clock::MS;
use crate::manner::Manner;
use crate::names::Resources;
use crate::net::Net;
use crate::numbers::{Number, TRIPS};
use crate::passing::{Passed, received};
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

    fn warned(&mut self, net: &mut Net, id: LockId, now: Instant) {
        let Some(lock) = self.known(net, id, State::Held) else { return };
        if lock.valid_until <= now {
            net.fail(format_args!("{id:?} has a warning after its end"));
        }
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

    /// Enters an event into the book.
    pub(crate) fn heed(&mut self, net: &mut Net, event: Event) {
        let (name, now) = (self.name, self.clock(net.now));
        let (kind, id) = match event {
            Event::Acquired { lock, .. } => (1, lock),
            Event::AcquireFailed { lock, .. } => (2, lock),
            Event::Extended { lock, .. } => (3, lock),
            Event::ExtendFailed { lock, .. } => (4, lock),
            Event::Shortened { lock, .. } => (8, lock),
            Event::Released { lock, .. } => (5, lock),
            Event::Lost { lock, .. } => (6, lock),
            Event::Expiring { lock, .. } => (7, lock),
            Event::Fenced { lock, .. } => (9, lock),
            Event::FenceFailed { lock, .. } => (10, lock),
            Event::Queried { query, holder, .. } => return self.queried(net, query, *holder),
            _ => return,
        };
        net.trace.add(&[net.now, name as u64, kind, id.index() as u64]);
        net.trace.say(net.now, format_args!("client {name}: {event:?}"));
        let passed = self.passed.take();
        match event {
            Event::Acquired { valid_until, fence, .. } => {
                self.acquired(net, id, now, valid_until, passed);
                self.numbered(net, id, fence);
            }
            Event::Fenced { .. } | Event::FenceFailed { .. } => self.drawn(net, &event),
            Event::Extended { valid_until, .. } => self.extended(net, id, now, valid_until),
            Event::Shortened { valid_until, .. } => self.shortened(net, id, now, valid_until),
            Event::Expiring { .. } => self.warned(net, id, now),
            Event::ExtendFailed { .. } => {
                // A release makes the extension of its lock fail.
                let lock = self.locks.iter_mut().find(|lock| lock.id == id);
                if lock.and_then(|lock| lock.extension.take()).is_none() {
                    net.fail(format_args!("an extension of {id:?} failed that nobody wanted"));
                }
            }
            Event::AcquireFailed { .. } => {
                self.account_for(net, id, now);
                self.ended(net, id, State::Wanted);
            }
            Event::Released { outcome, .. } => {
                if outcome.is_passed_on {
                    self.passed_on(net, id);
                }
                self.ended(net, id, State::Releasing);
            }
            _ => self.ended(net, id, State::Held),
        }
    }

    fn acquired(
        &mut self,
        net: &mut Net,
        id: LockId,
        now: Instant,
        valid_until: Instant,
        passed: Option<Passed>,
    ) {
        let client = self.name;
        let token = self.redlock.peek_token(id);
        net.trace.add(&[valid_until.as_nanos()]);
        // Clocks that are wronger than configured look as if one had stood still.
        let may_run_behind = self.stops.has_any() || !net.checks.rules.excludes;
        if token.is_none() && may_run_behind {
            // One read has brought the votes, and the news that they are worth nothing any more.
            self.account_for(net, id, now);
            if let Some(lock) = self.known(net, id, State::Wanted) {
                (lock.state, lock.due) = (State::Held, u64::MAX);
            }
            return;
        }
        let token = token.unwrap_or(NOBODYS);
        if valid_until <= now {
            net.fail(format_args!("S3: {id:?} was granted after its validity"));
        }
        let max_hold = self.redlock.config().max_hold;
        self.check_order(net, id, now);
        self.account_for(net, id, now);
        let Some(lock) = self.known(net, id, State::Wanted) else { return };
        let (since, hold_until) = match lock.is_adopted.then_some(lock.asked_at) {
            None if passed.is_some() => {
                let since = received(net, lock, passed, token, valid_until);
                (since, now + max_hold)
            }
            None => {
                let sent_at = net.checks.granted(net.now, token, valid_until);
                // Whatever was known of the clock may have taken some of the validity away.
                if 2 * (valid_until - now) < valid_until - sent_at && !may_run_behind {
                    net.fail(format_args!("{id:?} was granted when most of it was over"));
                }
                (sent_at, sent_at + max_hold)
            }
            Some(asked_at) => {
                let sent_at = net.checks.extended(net.now, client, token, asked_at);
                net.checks.lasts(net.now, token, valid_until, sent_at, lock.ttl);
                (sent_at, now + max_hold)
            }
        };
        (lock.state, lock.token, lock.due) = (State::Held, token, u64::MAX);
        (lock.valid_until, lock.since, lock.hold_until) = (valid_until, since, hold_until);
        self.grants += 1;
        if id.index() % 4 == 3 {
            let _ = self.redlock.token(id);
            if let Some(lock) = self.known(net, id, State::Held) {
                lock.is_token_known = true;
            }
        }
    }

    fn extended(&mut self, net: &mut Net, id: LockId, now: Instant, valid_until: Instant) {
        let client = self.name;
        net.trace.add(&[valid_until.as_nanos()]);
        let Some(lock) = self.known(net, id, State::Held) else { return };
        let (token, before, was_since) = (lock.token, lock.valid_until, lock.since);
        lock.valid_until = valid_until;
        let mut since = was_since;
        let (keep, hold_until) = (lock.keep, lock.hold_until);
        if let Some(Extension { started, ttl, .. }) = lock.extension.take() {
            if valid_until > hold_until {
                net.fail(format_args!("S12: {id:?} is held for longer than max_hold"));
            }
            net.checks.extended(net.now, client, token, started);
            if valid_until > before {
                since = started;
                net.checks.lasts(net.now, token, valid_until, started, ttl);
            }
        } else if let Some((ttl, until)) = keep {
            // A `hold` that brings the end forward takes no validity back.
            if valid_until > until.max(before) {
                net.fail(format_args!("S12: {id:?} is kept for longer than it was to be"));
            }
            // The start of the renewal is not known, but it was not before this.
            let sent_at = net.checks.extended(net.now, client, token, valid_until - ttl);
            if valid_until > before {
                since = sent_at;
                net.checks.lasts(net.now, token, valid_until, sent_at, ttl);
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
        if let Some(lock) = self.known(net, id, State::Held) {
            lock.since = since;
        }
        self.extensions += 1;
    }

    /// Finds the lock of an event. The lock must be in this state.
    pub(crate) fn known(&mut self, net: &mut Net, id: LockId, state: State) -> Option<&mut Lock> {
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

//! What the events say, and whether they may say so.

use redbolt::redlock::{Event, LockId};
use redbolt::time::Instant;

use super::{Extension, NOBODYS, State};
use crate::client::Client;
use crate::net::Net;
use crate::passing::{Passed, received};

impl Client {
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
        let passed = passed.filter(|passed| !self.is_with_a_step(passed, id));
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

    fn warned(&mut self, net: &mut Net, id: LockId, now: Instant) {
        let Some(lock) = self.known(net, id, State::Held) else { return };
        if lock.valid_until <= now {
            net.fail(format_args!("{id:?} has a warning after its end"));
        }
    }

    fn ended(&mut self, net: &mut Net, id: LockId, state: State) {
        if self.known(net, id, state).is_some_and(|lock| lock.extension.is_some()) {
            net.fail(format_args!("{id:?} has ended and its extension has no event"));
        }
        self.locks.retain(|lock| lock.id != id);
    }
}

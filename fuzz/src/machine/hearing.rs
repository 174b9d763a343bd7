//! What the caller hears of its locks and queries, and by when.

use std::time::Duration;

use redbolt::redlock::{Event, LockId, LostReason, Redlock};
use redbolt::time::Instant;

use super::caller::Caller;
use super::lock::{Lock, State};

impl Caller {
    /// Checks that an event is one that its lock can have now.
    pub(super) fn hear(&mut self, now: Instant, redlock: &Redlock, event: Event) {
        self.passed = None;
        match event {
            Event::Acquired { lock: id, valid_until, fence } => {
                let lock = self.expect(id, State::Wanted);
                lock.number.granted(id, fence);
                assert!(valid_until > now, "granted after its validity");
                (lock.state, lock.acquired) = (State::Held, now);
                lock.token = redlock.peek_token(id);
                lock.valid_until = valid_until;
                lock.due = Instant::FAR_FUTURE;
            }
            Event::Extended { lock, valid_until } => {
                self.extended(now, redlock, lock, valid_until);
            }
            Event::Fenced { .. } | Event::FenceFailed { .. } => self.drawn(&event),
            Event::Shortened { lock, valid_until } => {
                let lock = self.expect(lock, State::Held);
                assert!(valid_until < lock.valid_until, "not shorter than before");
                lock.valid_until = valid_until;
            }
            Event::ExtendFailed { lock: id, .. } => {
                let lock = self.locks.get_mut(&id).expect("a lock that lives");
                assert!(lock.extension.take().is_some(), "no extension was asked for");
                if lock.state == State::HandedOn {
                    self.ended(id, State::HandedOn);
                }
            }
            Event::Expiring { lock, valid_until, reason } => {
                let lock = self.expect(lock, State::Held);
                assert!(reason != LostReason::MaxHold || lock.keep.is_some(), "it has no max_hold");
                assert!(!lock.is_warned && valid_until == lock.valid_until);
                assert!(now + lock.ahead >= valid_until, "warned too early");
                lock.is_warned = true;
            }
            Event::AcquireFailed { lock, .. } => self.ended(lock, State::Wanted),
            Event::Released { lock: id, outcome } => {
                if outcome.is_passed_on {
                    let lock = self.expect(id, State::Releasing);
                    assert_eq!(lock.number.fence(), None, "{id:?} has a number, and was passed on");
                    self.passed = lock.token.map(|token| (token, lock.valid_until));
                }
                self.ended(id, State::Releasing);
            }
            Event::Lost { lock: id, reason } => {
                let lock = self.expect(id, State::Held);
                let is_early = now + redlock.config().lost_lead < lock.valid_until;
                let is_known = matches!(reason, LostReason::Majority | LostReason::ClockBehind);
                assert!(!is_early || is_known, "{id:?} has not expired");
                self.ended(id, State::Held);
            }
            Event::Queried { query, holder, .. } => {
                let place = self.queries.iter().position(|(open, _)| *open == query);
                self.queries.swap_remove(place.expect("it was asked, and has no answer"));
                let sets = [holder.holding, holder.others, holder.free, holder.unknown];
                let all: usize = sets.iter().map(|set| set.len()).sum();
                assert_eq!(all, redlock.nodes().len(), "a node is in two sets, or in none");
            }
            _ => {}
        }
    }

    fn extended(&mut self, now: Instant, redlock: &Redlock, id: LockId, valid_until: Instant) {
        let drift = redlock.config().drift;
        let lock = self.expect(id, State::Held);
        let most = match (lock.extension.take(), lock.keep) {
            (Some(extension), _) => drift.valid_until(extension.start, extension.ttl),
            (None, Some(keep)) => drift.valid_until(now, keep.longest_ttl).min(keep.latest_end),
            (None, None) => panic!("{id:?} is extended, and nobody asked for it"),
        };
        assert!(valid_until >= lock.valid_until && valid_until <= most.max(lock.valid_until));
        assert!(now < lock.valid_until, "extended after its validity");
        lock.valid_until = valid_until;
        lock.is_warned = false;
    }

    pub(super) fn expect(&mut self, id: LockId, state: State) -> &mut Lock {
        let lock = self.locks.get_mut(&id).expect("a lock that lives");
        assert_eq!(lock.state, state, "{id:?}");
        lock
    }

    fn ended(&mut self, id: LockId, state: State) {
        let lock = self.expect(id, state);
        assert_eq!(lock.extension, None, "an extension has no event");
        let token = lock.token;
        self.ended = Some((id, lock.valid_until));
        self.just_ended.extend(token);
        self.locks.remove(&id);
    }

    /// Moves deadlines after a jump of the time to `now`. Events that are due already come as soon
    /// as the core learns the time, and an attempt that begins only now has its own time.
    pub(super) fn late(&mut self, now: Instant, redlock: &Redlock) {
        for lock in self.locks.values_mut() {
            let is_wanted = lock.state == State::Wanted;
            let more = if is_wanted { lock.patience(redlock) } else { Duration::ZERO };
            lock.due = lock.due.max(now + more);
            lock.number.late(now, redlock);
            if let Some(extension) = &mut lock.extension {
                extension.due = extension.due.max(now);
            }
        }
        self.queries.iter_mut().for_each(|(_, due)| *due = (*due).max(now));
    }

    /// Checks that held locks are valid and held once, and that due events have come.
    pub(super) fn check(&self, now: Instant, redlock: &Redlock) {
        let mut held = Vec::new();
        for (id, lock) in &self.locks {
            if redlock.is_held(now, *id) {
                assert_eq!(lock.state, State::Held, "{id:?} is held");
                assert!(now < lock.valid_until, "{id:?} is believed after its validity");
                // Only the servers decide between sets that overlap, and these servers lie.
                assert!(!held.contains(&&lock.resources), "{id:?} is held twice");
                held.push(&lock.resources);
            }
            let fence = lock.number.fence().filter(|_| lock.state == State::Held);
            assert_eq!(redlock.fence(*id), fence, "{id:?} has another number");
        }
        // The core has not been told the time yet.
        if redlock.poll_timeout().is_some_and(|(at, _)| at <= now) {
            return;
        }
        for (id, lock) in &self.locks {
            assert!(now <= lock.due, "{id:?} is overdue: {:?}", lock.state);
            let is_over = lock.state == State::Held && now >= lock.valid_until;
            assert!(!is_over, "the loss of {id:?} is not told");
            let extension = lock.extension.is_some_and(|extension| extension.due < now);
            assert!(!extension, "the extension of {id:?} is overdue");
            assert!(!lock.number.is_overdue(now), "the number of {id:?} is overdue");
            let is_near = lock.state == State::Held && now + lock.ahead >= lock.valid_until;
            let is_silent = is_near && !lock.ahead.is_zero() && !lock.is_warned;
            assert!(!is_silent, "no warning ahead of the end of {id:?}");
        }
        for (query, due) in &self.queries {
            assert!(now <= *due, "{query:?} is overdue");
        }
    }
}

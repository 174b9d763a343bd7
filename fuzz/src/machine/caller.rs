//! Who asks for locks, and keeps book of what was promised.

use std::collections::BTreeMap;
use std::time::Duration;

use arbitrary::{Result, Unstructured};
use redbolt::redlock::{Event, LockId, Redlock};
use redbolt::time::Instant;

const RESOURCES: [&[u8]; 4] = [b"a", b"b", b"with\r\nline end", &[0; 100]];

#[derive(Default)]
pub(super) struct Caller {
    locks: BTreeMap<LockId, Lock>,
    /// Counts requests and replies, to tell which was first.
    steps: u64,
}

struct Lock {
    state: State,
    asked: Instant,
    ttl: Duration,
    valid_until: Instant,
    extending: Option<(Instant, Duration)>,
    /// When the event that is open must have come, if the core is told the time then.
    due: Instant,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Wanted,
    Held,
    Releasing,
}

impl Caller {
    /// Makes one request, which the core may refuse.
    pub(super) fn request(
        &mut self,
        now: Instant,
        redlock: &mut Redlock,
        script: &mut Unstructured<'_>,
    ) -> Result<()> {
        self.steps += 1;
        let any = script.int_in_range(0..=self.locks.len().saturating_sub(1))?;
        let lock = self.locks.keys().nth(any).copied();
        let ttl = Duration::from_millis(script.int_in_range(0..=2_100)?);
        match (script.int_in_range(0..=5)?, lock) {
            (3, Some(lock)) => self.extend(now, redlock, lock, ttl),
            (4, Some(lock)) => self.release(now, redlock, lock),
            (5, Some(lock)) => {
                let cancelled = redlock.cancel(now, lock).is_ok();
                assert_eq!(cancelled, self.locks[&lock].state == State::Wanted);
            }
            _ => {
                let resource = *script.choose(&RESOURCES)?;
                let wait = Duration::from_millis(u64::from(script.arbitrary::<u16>()?) / 16);
                self.acquire(now, redlock, resource, ttl, wait);
            }
        }
        Ok(())
    }

    fn acquire(
        &mut self,
        now: Instant,
        redlock: &mut Redlock,
        resource: &[u8],
        ttl: Duration,
        wait: Duration,
    ) {
        let Ok(lock) = redlock.acquire(now, resource, ttl, wait) else { return };
        let timeout = redlock.config().node_timeout(ttl);
        let due = now + (wait + timeout).max(2 * timeout);
        let state = State::Wanted;
        let (asked, valid_until) = (now, Instant::ZERO);
        let entry = Lock { state, asked, ttl, valid_until, extending: None, due };
        assert!(self.locks.insert(lock, entry).is_none(), "{lock:?} is given out twice");
    }

    fn extend(&mut self, now: Instant, redlock: &mut Redlock, id: LockId, ttl: Duration) {
        let lock = self.locks.get_mut(&id).expect("it is chosen from them");
        if redlock.extend(now, id, ttl).is_ok() {
            assert_eq!((lock.state, lock.extending), (State::Held, None));
            lock.extending = Some((now, ttl));
        }
    }

    fn release(&mut self, now: Instant, redlock: &mut Redlock, id: LockId) {
        let lock = self.locks.get_mut(&id).expect("it is chosen from them");
        let released = redlock.release(now, id).is_ok();
        assert_eq!(released, lock.state == State::Held);
        if released {
            lock.state = State::Releasing;
            lock.due = now + redlock.config().release_timeout;
        }
    }

    /// Releases what is held and cancels what is wanted.
    pub(super) fn give_back(&mut self, now: Instant, redlock: &mut Redlock) {
        let all: Vec<_> = self.locks.iter().map(|(id, lock)| (*id, lock.state)).collect();
        for (id, state) in all {
            match state {
                State::Wanted => redlock.cancel(now, id).expect("it is wanted"),
                State::Held => self.release(now, redlock, id),
                State::Releasing => {}
            }
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.locks.is_empty()
    }

    pub(super) fn asked_at(&self, lock: LockId) -> Instant {
        self.locks.get(&lock).expect("a lock that lives").asked
    }

    /// Each event must be the one that its lock can have now.
    pub(super) fn hear(&mut self, now: Instant, redlock: &Redlock, event: Event) {
        let drift = redlock.config().drift;
        match event {
            Event::Acquired { lock, valid_until } => {
                let lock = self.expect(lock, State::Wanted);
                assert!(valid_until > now, "granted after its validity");
                let most = drift.valid_until(now, lock.ttl);
                assert!(valid_until <= most, "valid for longer than its ttl");
                (lock.state, lock.valid_until) = (State::Held, valid_until);
                lock.due = Instant::FAR_FUTURE;
            }
            Event::Extended { lock, valid_until } => {
                let lock = self.expect(lock, State::Held);
                let (start, ttl) = lock.extending.take().expect("an extension was asked for");
                let most = drift.valid_until(start, ttl).max(lock.valid_until);
                assert!(valid_until >= lock.valid_until && valid_until <= most);
                assert!(now < lock.valid_until, "extended after its validity");
                lock.valid_until = valid_until;
            }
            Event::ExtendFailed { lock, .. } => {
                let lock = self.locks.get_mut(&lock).expect("a lock that lives");
                assert!(lock.extending.take().is_some(), "no extension was asked for");
            }
            Event::AcquireFailed { lock, .. } => self.ended(lock, State::Wanted),
            Event::Released { lock, .. } => self.ended(lock, State::Releasing),
            Event::Lost { lock, .. } => self.ended(lock, State::Held),
            _ => {}
        }
    }

    fn expect(&mut self, id: LockId, state: State) -> &mut Lock {
        let lock = self.locks.get_mut(&id).expect("a lock that lives");
        assert_eq!(lock.state, state, "{id:?}");
        lock
    }

    fn ended(&mut self, id: LockId, state: State) {
        assert_eq!(self.expect(id, state).extending, None, "an extension has no event");
        self.locks.remove(&id);
    }

    /// What is held is valid, and what is due has come. Time that jumps makes a request late by
    /// the jump, and one whose turn comes only then has its own time from there.
    pub(super) fn check(&self, now: Instant, redlock: &Redlock) {
        for (id, lock) in &self.locks {
            if redlock.is_held(now, *id) {
                assert_eq!(lock.state, State::Held, "{id:?} is held");
                assert!(now < lock.valid_until, "{id:?} is believed after its validity");
            }
            let is_open = lock.state == State::Releasing;
            assert!(!is_open || now <= lock.due || is_due(now, redlock), "{id:?} is overdue");
        }
    }
}

/// Whether the core has not been told the time yet for something that is due.
fn is_due(now: Instant, redlock: &Redlock) -> bool {
    redlock.poll_timeout().is_some_and(|(at, _)| at <= now)
}

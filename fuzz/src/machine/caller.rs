//! Who asks for locks, and keeps book of what was promised.

use std::collections::BTreeMap;
use std::time::Duration;

use arbitrary::{Result, Unstructured};
use redbolt::redlock::{Event, LockId, MAX_RESOURCE, MIN_TTL, Redlock, RequestError as Refusal};
use redbolt::time::Instant;

pub(super) const RESOURCES: [&[u8]; 4] = [b"a", b"b", b"with\r\nline end", &[0; 100]];

/// Resources that are refused.
const WRONG_RESOURCES: [&[u8]; 2] = [b"", &[b'x'; MAX_RESOURCE + 1]];

#[derive(Default)]
pub(super) struct Caller {
    locks: BTreeMap<LockId, Lock>,
    /// The one that ended last: its id must be good for nothing.
    ended: Option<LockId>,
}

struct Lock {
    resource: &'static [u8],
    ttl: Duration,
    state: State,
    /// When it was heard of, which is later than it was acquired.
    acquired: Instant,
    valid_until: Instant,
    extension: Option<Extension>,
    /// When the event that is open comes at the latest, if the core is told the time.
    due: Instant,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Wanted,
    Held,
    Releasing,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Extension {
    start: Instant,
    ttl: Duration,
    due: Instant,
}

impl Caller {
    /// Makes one request, which the core may refuse.
    pub(super) fn request(
        &mut self,
        now: Instant,
        redlock: &mut Redlock,
        script: &mut Unstructured<'_>,
    ) -> Result<()> {
        let any = script.int_in_range(0..=self.locks.len().saturating_sub(1))?;
        let lock = self.locks.keys().nth(any).copied();
        let ttl = Duration::from_millis(script.int_in_range(0..=2_100)?);
        match (script.int_in_range(0..=7)?, lock) {
            (3, Some(lock)) => self.extend(now, redlock, lock, ttl),
            (4, Some(lock)) => self.release(now, redlock, lock),
            (5, Some(lock)) => {
                let is_cancelled = redlock.cancel(now, lock).is_ok();
                assert_eq!(is_cancelled, self.locks[&lock].state == State::Wanted);
            }
            (6, _) => self.ask_for_ended(now, redlock, ttl),
            (7, _) => {
                let resource = *script.choose(&WRONG_RESOURCES)?;
                assert!(redlock.acquire(now, resource, MIN_TTL, ttl).is_err());
            }
            _ => {
                let resource = *script.choose(&RESOURCES)?;
                let wait = match script.arbitrary::<u16>()? {
                    u16::MAX => Duration::MAX,
                    wait => Duration::from_millis(u64::from(wait) / 16),
                };
                self.acquire(now, redlock, resource, ttl, wait);
            }
        }
        Ok(())
    }

    fn acquire(
        &mut self,
        now: Instant,
        redlock: &mut Redlock,
        resource: &'static [u8],
        ttl: Duration,
        wait: Duration,
    ) {
        let lock = match redlock.acquire(now, resource, ttl, wait) {
            Ok(lock) => lock,
            Err(refusal) => return check_refusal(refusal, redlock, ttl),
        };
        let timeout = redlock.config().node_timeout(ttl);
        let due = (now + wait + timeout).max(now + 2 * timeout);
        let (acquired, valid_until, extension) = (Instant::ZERO, Instant::ZERO, None);
        let state = State::Wanted;
        let entry = Lock { resource, ttl, state, acquired, valid_until, extension, due };
        assert!(self.locks.insert(lock, entry).is_none(), "{lock:?} is given out twice");
    }

    fn extend(&mut self, now: Instant, redlock: &mut Redlock, id: LockId, ttl: Duration) {
        let lock = self.locks.get_mut(&id).expect("it is chosen from them");
        if redlock.extend(now, id, ttl).is_ok() {
            assert_eq!((lock.state, lock.extension), (State::Held, None));
            let end = lock.acquired + redlock.config().max_hold;
            assert!(now + ttl <= end, "{id:?} is extended for ever");
            let due = (now + redlock.config().node_timeout(ttl)).min(lock.valid_until);
            lock.extension = Some(Extension { start: now, ttl, due });
        }
    }

    fn release(&mut self, now: Instant, redlock: &mut Redlock, id: LockId) {
        let lock = self.locks.get_mut(&id).expect("it is chosen from them");
        let is_released = redlock.release(now, id).is_ok();
        assert_eq!(is_released, lock.state == State::Held);
        if is_released {
            lock.state = State::Releasing;
            lock.due = now + redlock.config().release_timeout;
        }
    }

    fn ask_for_ended(&self, now: Instant, redlock: &mut Redlock, ttl: Duration) {
        if let Some(lock) = self.ended {
            assert_eq!(redlock.extend(now, lock, ttl), Err(Refusal::UnknownLock));
            assert_eq!(redlock.release(now, lock), Err(Refusal::UnknownLock));
            assert_eq!(redlock.cancel(now, lock), Err(Refusal::UnknownLock));
            assert!(!redlock.is_held(now, lock) && redlock.token(lock).is_none());
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

    pub(super) fn ttl(&self, lock: LockId) -> Duration {
        self.locks.get(&lock).expect("a lock that lives").ttl
    }

    pub(super) fn extension_start(&self, lock: LockId) -> Instant {
        let extension = self.locks.get(&lock).expect("a lock that lives").extension;
        extension.expect("an extension was asked for").start
    }

    /// Each event must be the one that its lock can have now.
    pub(super) fn hear(&mut self, now: Instant, redlock: &Redlock, event: Event) {
        match event {
            Event::Acquired { lock, valid_until } => {
                let lock = self.expect(lock, State::Wanted);
                assert!(valid_until > now, "granted after its validity");
                (lock.state, lock.acquired) = (State::Held, now);
                lock.valid_until = valid_until;
                lock.due = Instant::FAR_FUTURE;
            }
            Event::Extended { lock, valid_until } => {
                let lock = self.expect(lock, State::Held);
                let Extension { start, ttl, .. } =
                    lock.extension.take().expect("an extension was asked for");
                let most = redlock.config().drift.valid_until(start, ttl).max(lock.valid_until);
                assert!(valid_until >= lock.valid_until && valid_until <= most);
                assert!(now < lock.valid_until, "extended after its validity");
                lock.valid_until = valid_until;
            }
            Event::ExtendFailed { lock, .. } => {
                let lock = self.locks.get_mut(&lock).expect("a lock that lives");
                assert!(lock.extension.take().is_some(), "no extension was asked for");
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
        assert_eq!(self.expect(id, state).extension, None, "an extension has no event");
        self.locks.remove(&id);
        self.ended = Some(id);
    }

    /// The time is `now` all of a sudden. What is due already comes as soon as the core hears of
    /// it, and an attempt that begins only now has its own time.
    pub(super) fn late(&mut self, now: Instant, redlock: &Redlock) {
        for lock in self.locks.values_mut() {
            let timeout = redlock.config().node_timeout(lock.ttl);
            let more = if lock.state == State::Wanted { timeout } else { Duration::ZERO };
            lock.due = lock.due.max(now + more);
            if let Some(extension) = &mut lock.extension {
                extension.due = extension.due.max(now);
            }
        }
    }

    /// What is held is valid and held once, and what is due has come.
    pub(super) fn check(&self, now: Instant, redlock: &Redlock) {
        let mut held = Vec::new();
        for (id, lock) in &self.locks {
            if redlock.is_held(now, *id) {
                assert_eq!(lock.state, State::Held, "{id:?} is held");
                assert!(now < lock.valid_until, "{id:?} is believed after its validity");
                assert!(!held.contains(&lock.resource), "{id:?} is held twice");
                held.push(lock.resource);
            }
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
        }
    }
}

/// A request is refused only for a reason.
fn check_refusal(refusal: Refusal, redlock: &Redlock, ttl: Duration) {
    let config = redlock.config();
    let is_true = match refusal {
        Refusal::TtlTooShort { .. } => ttl < MIN_TTL,
        Refusal::TtlTooLong { .. } => ttl > config.max_ttl,
        Refusal::Full { .. } => redlock.in_use() == config.max_locks,
        _ => false,
    };
    assert!(is_true, "refused for no reason: {refusal}");
}

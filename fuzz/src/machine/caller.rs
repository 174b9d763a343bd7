//! The caller that asks for locks and keeps a book of what was promised.

use std::collections::BTreeMap;
use std::time::Duration;

use arbitrary::{Result, Unstructured};
use redbolt::redlock::{
    Fence, LockId, MAX_QUERIES, MAX_RESOURCE, MAX_SET, MIN_TTL, QueryId, Redlock,
    RequestError as Refusal, Token,
};
use redbolt::time::Instant;

use super::lock::{Extension, Keep, Lock, State};
use super::numbers::{Number, Wish};

pub(super) const RESOURCES: [&[u8]; 4] = [b"a", b"b", b"with\r\nline end", &[0; 100]];

/// Everything that locks are asked for: single resources, and sets that overlap with each other and
/// with single resources.
const SUBJECTS: [&[&[u8]]; 8] = [
    &[RESOURCES[0]],
    &[RESOURCES[1]],
    &[RESOURCES[2]],
    &[RESOURCES[3]],
    &[RESOURCES[0]],
    &[RESOURCES[0], RESOURCES[1]],
    &[RESOURCES[2], RESOURCES[1], RESOURCES[2]],
    &RESOURCES,
];

/// A token that no lock has.
pub(super) const STRANGER: Token = Token::from_bytes([b'?'; 20]);

/// Resources that the core refuses.
const WRONG_RESOURCES: [&[u8]; 2] = [b"", &[b'x'; MAX_RESOURCE + 1]];

#[derive(Default)]
pub(super) struct Caller {
    pub(super) locks: BTreeMap<LockId, Lock>,
    /// The lock that ended last, and the end of its validity. The id must be good for nothing,
    /// except for its token until then.
    pub(super) ended: Option<(LockId, Instant)>,
    /// The token of the lock that the event before has passed on, and the end of its validity.
    pub(super) passed: Option<(Token, Instant)>,
    /// The tokens of the locks that ended since the last check.
    pub(super) just_ended: Vec<Token>,
    /// A lock that was let go of, for a lock that adopts it.
    pub(super) handed_on: Option<Handed>,
    /// The token of the lock that has just begun to draw a number.
    pub(super) draws: Option<Token>,
    /// The open queries, each with its deadline.
    pub(super) queries: Vec<(QueryId, Instant)>,
}

/// What an adoption needs to know.
pub(super) struct Handed {
    resources: Vec<&'static [u8]>,
    token: Token,
    fence: Option<Fence>,
}

/// What the caller asks for.
struct Request {
    resources: Vec<&'static [u8]>,
    ttl: Duration,
    wait: Duration,
    is_adopted: bool,
    number: Wish,
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
        match (script.int_in_range(0..=16)?, lock) {
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
                assert!(redlock.query(now, resource).is_err());
                let too_many = [RESOURCES[0]; MAX_SET + 1];
                assert!(redlock.acquire_all(now, &too_many, MIN_TTL, ttl).is_err());
                assert!(redlock.acquire_all(now, &[RESOURCES[0], resource], MIN_TTL, ttl).is_err());
                self.ask_wrongly(now, redlock);
            }
            (8, Some(lock)) => {
                let most = Duration::from_millis(script.int_in_range(0..=3_100)?);
                self.keep_alive(now, redlock, lock, ttl, most);
            }
            (9, Some(lock)) => self.warn(now, redlock, lock, ttl / 4),
            (10, Some(lock)) => self.disown(now, redlock, lock),
            (11, _) => self.query(now, redlock, script.choose(&RESOURCES)?),
            (12, _) => self.adopt(now, redlock, script, ttl)?,
            (14, Some(lock)) => self.draw(now, redlock, lock),
            (15.., _) => self.acquire(now, redlock, script, ttl, Wish::Fenced)?,
            _ => self.acquire(now, redlock, script, ttl, Wish::Brings(None))?,
        }
        Ok(())
    }

    fn acquire(
        &mut self,
        now: Instant,
        redlock: &mut Redlock,
        script: &mut Unstructured<'_>,
        ttl: Duration,
        number: Wish,
    ) -> Result<()> {
        let resources = *script.choose(&SUBJECTS)?;
        let wait = match script.arbitrary::<u16>()? {
            u16::MAX => Duration::MAX,
            wait => Duration::from_millis(u64::from(wait) / 16),
        };
        let lock = match (number, resources) {
            (Wish::Fenced, _) => redlock.acquire_with(now, resources, ttl, wait, &number.options()),
            (_, [resource]) => redlock.acquire(now, resource, ttl, wait),
            _ => redlock.acquire_all(now, resources, ttl, wait),
        };
        let resources = resources.to_vec();
        let request = Request { resources, ttl, wait, is_adopted: false, number };
        self.asked(now, redlock, lock, request);
        Ok(())
    }

    fn adopt(
        &mut self,
        now: Instant,
        redlock: &mut Redlock,
        script: &mut Unstructured<'_>,
        ttl: Duration,
    ) -> Result<()> {
        let Handed { resources, token, fence } = match self.handed_on.take() {
            Some(handed) => handed,
            None => {
                let resources = script.choose(&SUBJECTS)?.to_vec();
                Handed { resources, token: STRANGER, fence: None }
            }
        };
        let wait = Duration::from_millis(script.arbitrary::<u8>()?.into());
        let number = Wish::choose(script, fence)?;
        let lock = redlock.adopt_with(now, &resources, token, ttl, wait, &number.options());
        self.asked(now, redlock, lock, Request { resources, ttl, wait, is_adopted: true, number });
        Ok(())
    }

    fn asked(
        &mut self,
        now: Instant,
        redlock: &Redlock,
        answer: core::result::Result<LockId, Refusal>,
        request: Request,
    ) {
        let Request { mut resources, ttl, wait, is_adopted, number } = request;
        let lock = match answer {
            Ok(lock) => lock,
            Err(refusal) => return check_refusal(refusal, redlock, ttl),
        };
        resources.sort_unstable();
        resources.dedup();
        let mut entry = Lock {
            resources,
            ttl,
            state: State::Wanted,
            is_adopted,
            number: Number::new(number),
            token: None,
            acquired: Instant::ZERO,
            valid_until: Instant::ZERO,
            extension: None,
            keep: None,
            ahead: Duration::ZERO,
            is_warned: false,
            due: now,
        };
        let patience = entry.patience(redlock);
        // The time in line is at least that of one attempt.
        let wait = wait.max(redlock.config().longest_node_timeout(ttl));
        entry.due = now + wait + patience;
        assert!(self.locks.insert(lock, entry).is_none(), "{lock:?} is given out twice");
    }

    fn extend(&mut self, now: Instant, redlock: &mut Redlock, id: LockId, ttl: Duration) {
        let lock = self.locks.get_mut(&id).expect("it is chosen from them");
        if redlock.extend(now, id, ttl).is_ok() {
            assert_eq!((lock.state, lock.extension), (State::Held, None));
            let end = lock.acquired + redlock.config().max_hold;
            assert!(now + ttl <= end, "{id:?} is extended for ever");
            let due = (now + redlock.config().longest_node_timeout(ttl)).min(lock.valid_until);
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

    fn keep_alive(
        &mut self,
        now: Instant,
        redlock: &mut Redlock,
        id: LockId,
        ttl: Duration,
        most: Duration,
    ) {
        let lock = self.locks.get_mut(&id).expect("it is chosen from them");
        if redlock.keep_alive(now, id, ttl, most).is_ok() {
            assert!(lock.is_believed(now) && most <= redlock.config().max_hold);
            let latest_end = lock.acquired + most;
            let keep = lock.keep.get_or_insert(Keep { longest_ttl: ttl, latest_end });
            keep.longest_ttl = keep.longest_ttl.max(ttl);
            keep.latest_end = keep.latest_end.max(latest_end);
        }
    }

    fn warn(&mut self, now: Instant, redlock: &mut Redlock, id: LockId, ahead: Duration) {
        let lock = self.locks.get_mut(&id).expect("it is chosen from them");
        let is_armed = redlock.warn(now, id, ahead).is_ok();
        assert_eq!(is_armed, lock.is_believed(now));
        if is_armed {
            lock.ahead = Duration::from_millis(ahead.as_millis() as u64);
            lock.is_warned = false;
        }
    }

    fn disown(&mut self, now: Instant, redlock: &mut Redlock, id: LockId) {
        let lock = self.locks.get_mut(&id).expect("it is chosen from them");
        let token = redlock.disown(now, id);
        assert_eq!(token.is_ok(), lock.is_believed(now));
        let Ok(token) = token else { return };
        assert_eq!(lock.token, Some(token), "{id:?} has another token");
        let fence = lock.number.fence();
        self.handed_on = Some(Handed { resources: lock.resources.clone(), token, fence });
        self.just_ended.push(token);
        if lock.extension.is_some() {
            lock.state = State::HandedOn;
        } else {
            self.ended = Some((id, lock.valid_until));
            self.locks.remove(&id);
        }
    }

    fn query(&mut self, now: Instant, redlock: &mut Redlock, resource: &[u8]) {
        match redlock.query(now, resource) {
            Ok(query) => {
                let timeout = redlock.config().longest_node_timeout(redlock.config().max_ttl);
                self.queries.push((query, now + timeout));
            }
            Err(refusal) => {
                let is_full = self.queries.len() == MAX_QUERIES;
                assert!(is_full && refusal == Refusal::TooManyQueries, "{refusal}");
            }
        }
    }

    fn ask_for_ended(&self, now: Instant, redlock: &mut Redlock, ttl: Duration) {
        if let Some((lock, valid_until)) = self.ended {
            assert_eq!(redlock.extend(now, lock, ttl), Err(Refusal::UnknownLock));
            assert_eq!(redlock.release(now, lock), Err(Refusal::UnknownLock));
            assert_eq!(redlock.cancel(now, lock), Err(Refusal::UnknownLock));
            assert_eq!(redlock.draw_fence(now, lock), Err(Refusal::UnknownLock));
            assert!(!redlock.is_held(now, lock));
            let is_late = redlock.poll_timeout().is_some_and(|(at, _)| at <= now);
            let is_known = redlock.peek_token(lock).is_some() || redlock.fence(lock).is_some();
            assert!(now <= valid_until || is_late || !is_known);
        }
    }

    /// Releases all held locks, and cancels all wanted ones.
    pub(super) fn give_back(&mut self, now: Instant, redlock: &mut Redlock) {
        let all: Vec<_> = self.locks.iter().map(|(id, lock)| (*id, lock.state)).collect();
        // A lock that is released can be passed on to one that is wanted.
        for (id, _) in all.iter().filter(|(_, state)| *state == State::Wanted) {
            redlock.cancel(now, *id).expect("it is wanted");
        }
        for (id, _) in all.iter().filter(|(_, state)| *state == State::Held) {
            self.release(now, redlock, *id);
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.locks.is_empty() && self.queries.is_empty()
    }

    pub(super) fn ttl(&self, lock: LockId) -> Duration {
        self.locks.get(&lock).expect("a lock that lives").ttl
    }

    pub(super) fn resources(&self, lock: LockId) -> &[&'static [u8]] {
        &self.locks.get(&lock).expect("a lock that lives").resources
    }

    pub(super) fn is_adopted(&self, lock: LockId) -> bool {
        self.locks.get(&lock).expect("a lock that lives").is_adopted
    }

    /// Returns the time at which the extension was asked for; `ZERO` for one that nobody asked for.
    pub(super) fn extension_start(&self, lock: LockId) -> Instant {
        let extension = self.locks.get(&lock).expect("a lock that lives").extension;
        extension.map_or(Instant::ZERO, |extension| extension.start)
    }

    /// Returns the end of the held lock with this token.
    pub(super) fn valid_until(&self, token: &Token) -> Option<Instant> {
        self.held(token).map(|lock| lock.valid_until)
    }

    /// Returns the end of the validity of the lock that the event before has passed on.
    pub(super) fn passed(&self, token: &Token) -> Option<Instant> {
        self.passed.filter(|(passed, _)| passed == token).map(|(_, valid_until)| valid_until)
    }

    /// Returns whether the lock with this token was granted at this moment.
    pub(super) fn is_new(&self, token: &Token, now: Instant) -> bool {
        self.held(token).is_some_and(|lock| lock.acquired == now)
    }

    fn held(&self, token: &Token) -> Option<&Lock> {
        let mut locks = self.locks.values();
        locks.find(|lock| lock.state == State::Held && lock.token == Some(*token))
    }

    pub(super) fn has_just_ended(&self, token: &Token) -> bool {
        self.just_ended.contains(token)
    }

    /// Forgets the locks that have just ended, after the check.
    pub(super) fn forget(&mut self) {
        self.just_ended.clear();
    }
}

/// Checks that a request was refused for a reason.
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

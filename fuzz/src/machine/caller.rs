//! The caller that asks for locks and keeps a book of what was promised.

use std::collections::BTreeMap;
use std::time::Duration;

use arbitrary::{Result, Unstructured};
use redbolt::redlock::{
    Event, LockId, LostReason, MAX_QUERIES, MAX_RESOURCE, MAX_SET, MIN_TTL, QueryId, Redlock,
    RequestError as Refusal, Token,
};
use redbolt::time::Instant;

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
const STRANGER: Token = Token::from_bytes([b'?'; 20]);

/// Resources that the core refuses.
const WRONG_RESOURCES: [&[u8]; 2] = [b"", &[b'x'; MAX_RESOURCE + 1]];

#[derive(Default)]
pub(super) struct Caller {
    locks: BTreeMap<LockId, Lock>,
    /// The lock that ended last, and the end of its validity. The id must be good for nothing,
    /// except for its token until then.
    ended: Option<(LockId, Instant)>,
    /// The tokens of the locks that ended since the last check.
    just_ended: Vec<Token>,
    /// The resources and the token of a lock that was let go of, for a lock that adopts it.
    handed_on: Option<(Vec<&'static [u8]>, Token)>,
    /// The open queries, each with its deadline.
    queries: Vec<(QueryId, Instant)>,
}

/// What the caller asks for.
struct Wish {
    resources: Vec<&'static [u8]>,
    ttl: Duration,
    wait: Duration,
    is_adopted: bool,
}

struct Lock {
    /// The resources in order, each once.
    resources: Vec<&'static [u8]>,
    ttl: Duration,
    state: State,
    is_adopted: bool,
    /// The token of a held lock.
    token: Option<Token>,
    /// The time of the event, which is later than the acquisition.
    acquired: Instant,
    valid_until: Instant,
    extension: Option<Extension>,
    keep: Option<Keep>,
    /// How long before the end of the lock a warning is due.
    ahead: Duration,
    is_warned: bool,
    /// The latest time of the next event, if the core is told the time.
    due: Instant,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Wanted,
    Held,
    Releasing,
    /// The caller has let go of the lock during an extension.
    HandedOn,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Extension {
    start: Instant,
    ttl: Duration,
    due: Instant,
}

/// The widest bounds of all requests to keep a lock alive.
#[derive(Clone, Copy)]
struct Keep {
    longest_ttl: Duration,
    latest_end: Instant,
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
        match (script.int_in_range(0..=13)?, lock) {
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
            }
            (8, Some(lock)) => {
                let most = Duration::from_millis(script.int_in_range(0..=3_100)?);
                self.keep_alive(now, redlock, lock, ttl, most);
            }
            (9, Some(lock)) => self.warn(now, redlock, lock, ttl / 4),
            (10, Some(lock)) => self.disown(now, redlock, lock),
            (11, _) => self.query(now, redlock, script.choose(&RESOURCES)?),
            (12, _) => {
                let (resources, token) = match self.handed_on.take() {
                    Some(handed_on) => handed_on,
                    None => (script.choose(&SUBJECTS)?.to_vec(), STRANGER),
                };
                let wait = Duration::from_millis(script.arbitrary::<u8>()?.into());
                let lock = redlock.adopt(now, &resources, token, ttl, wait);
                self.asked(now, redlock, lock, Wish { resources, ttl, wait, is_adopted: true });
            }
            _ => {
                let resources = *script.choose(&SUBJECTS)?;
                let wait = match script.arbitrary::<u16>()? {
                    u16::MAX => Duration::MAX,
                    wait => Duration::from_millis(u64::from(wait) / 16),
                };
                let lock = match resources {
                    [resource] => redlock.acquire(now, resource, ttl, wait),
                    _ => redlock.acquire_all(now, resources, ttl, wait),
                };
                let resources = resources.to_vec();
                self.asked(now, redlock, lock, Wish { resources, ttl, wait, is_adopted: false });
            }
        }
        Ok(())
    }

    fn asked(
        &mut self,
        now: Instant,
        redlock: &Redlock,
        answer: core::result::Result<LockId, Refusal>,
        wish: Wish,
    ) {
        let Wish { mut resources, ttl, wait, is_adopted } = wish;
        let lock = match answer {
            Ok(lock) => lock,
            Err(refusal) => return check_refusal(refusal, redlock, ttl),
        };
        let timeout = redlock.config().longest_node_timeout(ttl);
        resources.sort_unstable();
        resources.dedup();
        let entry = Lock {
            resources,
            ttl,
            state: State::Wanted,
            is_adopted,
            token: None,
            acquired: Instant::ZERO,
            valid_until: Instant::ZERO,
            extension: None,
            keep: None,
            ahead: Duration::ZERO,
            is_warned: false,
            due: (now + wait + timeout).max(now + 2 * timeout),
        };
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
        self.handed_on = Some((lock.resources.clone(), token));
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
            assert!(!redlock.is_held(now, lock));
            let is_late = redlock.poll_timeout().is_some_and(|(at, _)| at <= now);
            assert!(now <= valid_until || is_late || redlock.token(lock).is_none());
        }
    }

    /// Releases all held locks, and cancels all wanted ones.
    pub(super) fn give_back(&mut self, now: Instant, redlock: &mut Redlock) {
        let all: Vec<_> = self.locks.iter().map(|(id, lock)| (*id, lock.state)).collect();
        for (id, state) in all {
            match state {
                State::Wanted => redlock.cancel(now, id).expect("it is wanted"),
                State::Held => self.release(now, redlock, id),
                State::Releasing | State::HandedOn => {}
            }
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.locks.is_empty() && self.queries.is_empty()
    }

    pub(super) fn ttl(&self, lock: LockId) -> Duration {
        self.locks.get(&lock).expect("a lock that lives").ttl
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
        let mut locks = self.locks.values();
        let held = locks.find(|lock| lock.state == State::Held && lock.token == Some(*token))?;
        Some(held.valid_until)
    }

    pub(super) fn has_just_ended(&self, token: &Token) -> bool {
        self.just_ended.contains(token)
    }

    /// Forgets the locks that have just ended, after the check.
    pub(super) fn forget(&mut self) {
        self.just_ended.clear();
    }

    /// Checks that an event is one that its lock can have now.
    pub(super) fn hear(&mut self, now: Instant, redlock: &Redlock, event: Event) {
        match event {
            Event::Acquired { lock: id, valid_until, .. } => {
                let lock = self.expect(id, State::Wanted);
                assert!(valid_until > now, "granted after its validity");
                (lock.state, lock.acquired) = (State::Held, now);
                lock.token = redlock.token(id);
                lock.valid_until = valid_until;
                lock.due = Instant::FAR_FUTURE;
            }
            Event::Extended { lock, valid_until } => {
                self.extended(now, redlock, lock, valid_until);
            }
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
            Event::Released { lock, .. } => self.ended(lock, State::Releasing),
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

    fn expect(&mut self, id: LockId, state: State) -> &mut Lock {
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
            let timeout = redlock.config().longest_node_timeout(lock.ttl);
            let more = if lock.state == State::Wanted { timeout } else { Duration::ZERO };
            lock.due = lock.due.max(now + more);
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
            let is_near = lock.state == State::Held && now + lock.ahead >= lock.valid_until;
            let is_silent = is_near && !lock.ahead.is_zero() && !lock.is_warned;
            assert!(!is_silent, "no warning ahead of the end of {id:?}");
        }
        for (query, due) in &self.queries {
            assert!(now <= *due, "{query:?} is overdue");
        }
    }
}

impl Lock {
    fn is_believed(&self, now: Instant) -> bool {
        self.state == State::Held && now < self.valid_until
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

//! The transactions of a trace on one engine.
//!
//! ```text
//! start ──► growing: asks for its locks ──► holding ──► shrinking: releases all ──► committed
//!              └── a lock is not granted, or is lost ─────────┘ (aborted)
//! ```
//!
//! A transaction has a place in a table, and an event of a lock leads to that place by the index of
//! the lock. Nothing is allocated for a transaction once the table is warm, because the processor
//! time spent here counts as that of the client.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use redbolt::redlock::MAX_SET;
use redbolt::time::Instant;
use redbolt::{AcquireError, Clock, Engine, Event, LockId, RequestError};

use super::args::Locks;
use super::place::{Phase, Place};
use super::snapshot::Snapshot;
use super::tally::Tally;
use super::transactions::Transactions;
use crate::bench::load::ending::{self, Ending};
use crate::bench::signals::Signals;

/// The longest sleep. A signal that comes just before a sleep is noticed after it.
const MAX_SLEEP: Duration = Duration::from_millis(100);

/// No place in the table.
const NOWHERE: u32 = u32::MAX;

pub(super) struct Settings {
    pub(super) locks: Locks,
    pub(super) ttl: Duration,
    pub(super) patience: Duration,
    pub(super) hold: Duration,
    /// How many transactions there are at a time.
    pub(super) at_a_time: usize,
    /// The places for locks that the engine has.
    pub(super) max_locks: usize,
}

pub(super) struct Load<'a> {
    engine: Engine,
    transactions: &'a Transactions,
    settings: Settings,
    /// The number of the transaction that starts next. The trace begins again after its end.
    next: usize,
    places: Vec<Place>,
    /// The places without a transaction.
    free: Vec<u32>,
    is_ending: bool,
    /// The places that want their next lock, each once. An engine must not be asked for a lock
    /// while events are unread: it would give out an index again that these events still name.
    asking: VecDeque<u32>,
    /// The places that hold all their locks, and until when, in order. The place of a transaction
    /// that was lost stays until then, so that there are no more than start within that time.
    holding: VecDeque<(Instant, u32)>,
    /// The place of each lock, by [`LockId::index`].
    owners: Vec<u32>,
    tally: Tally,
}

impl<'a> Load<'a> {
    pub(super) fn new(engine: Engine, transactions: &'a Transactions, settings: Settings) -> Self {
        let (places, max_locks) = (settings.at_a_time, settings.max_locks);
        Self {
            engine,
            transactions,
            settings,
            next: 0,
            places: (0..places).map(|_| Place::default()).collect(),
            // The bound of what is in flight fits.
            free: (0..places as u32).collect(),
            is_ending: false,
            asking: VecDeque::with_capacity(places),
            holding: VecDeque::with_capacity(places),
            owners: vec![NOWHERE; max_locks],
            tally: Tally::new(),
        }
    }

    pub(super) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(super) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Starts to count from zero. Transactions that are under way go on, and count when they end.
    pub(super) fn forget(&mut self) {
        self.tally = Tally::new();
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        Snapshot::take(&self.tally)
    }

    pub(super) fn run_until(&mut self, end: Instant, signals: &Signals) -> io::Result<()> {
        let mut now = Clock::now();
        while now < end && !signals.caught() {
            now = self.turn(now, end)?;
        }
        Ok(())
    }

    /// Starts no more transactions, and returns when all are over, or when that takes too long.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.is_ending = true;
        ending::finish(self)
    }

    /// Starts what can start, sleeps until something happens, but not past `until`, and handles
    /// what happened. `now` is the time that the last turn returned. Returns the time at the end of
    /// this turn.
    fn turn(&mut self, now: Instant, until: Instant) -> io::Result<Instant> {
        self.start(now);
        self.ask(now);
        self.let_go(now);
        let due = self.holding.front().map_or(until, |(due, _)| until.min(*due));
        self.engine.poll(Some((due - now).min(MAX_SLEEP)))?;
        let now = Clock::now();
        while let Some(event) = self.engine.next_event() {
            self.handle(now, event);
        }
        Ok(now)
    }

    fn start(&mut self, now: Instant) {
        while !self.is_ending && self.transactions.len() > 0 {
            let Some(index) = self.free.pop() else { return };
            let Some(place) = self.places.get_mut(index as usize) else { return };
            place.number = self.next;
            place.since = now;
            place.phase = Phase::Growing;
            self.next = (self.next + 1) % self.transactions.len();
            self.wants_more(index);
        }
    }

    fn wants_more(&mut self, index: u32) {
        let Some(place) = self.places.get_mut(index as usize) else { return };
        if !place.is_asking {
            place.is_asking = true;
            self.asking.push_back(index);
        }
    }

    /// Asks for the next lock of every place that wants one.
    fn ask(&mut self, now: Instant) {
        while let Some(&index) = self.asking.front() {
            let is_growing = self.phase(index) == Some(Phase::Growing);
            let asked = if is_growing { self.acquire(now, index) } else { Ok(()) };
            if let Err(RequestError::Full { .. }) = asked {
                // All places of the engine are taken by locks for which a slow node owes replies.
                // Their end makes room.
                return;
            }
            self.asking.pop_front();
            if let Some(place) = self.places.get_mut(index as usize) {
                place.is_asking = false;
            }
            if asked.is_err() {
                self.tally.aborts.add_refused();
                self.abort(index);
            }
        }
    }

    fn acquire(&mut self, now: Instant, index: u32) -> Result<(), RequestError> {
        let Some(place) = self.places.get_mut(index as usize) else { return Ok(()) };
        let Settings { ttl, patience, locks, .. } = self.settings;
        let wait = (place.since + patience) - now;
        let lock = match locks {
            Locks::Set => {
                let mut names = [&[][..]; MAX_SET];
                let mut count = 0;
                for (name, slot) in self.transactions.names(place.number).zip(&mut names) {
                    *slot = name;
                    count += 1;
                }
                self.engine.acquire_all(names.get(..count).unwrap_or_default(), ttl, wait)?
            }
            Locks::Each => {
                let name = self.transactions.name(place.number, place.locks.len());
                self.engine.acquire(name.unwrap_or_default(), ttl, wait)?
            }
        };
        place.locks.push(lock);
        place.alive += 1;
        if let Some(owner) = self.owners.get_mut(lock.index()) {
            *owner = index;
        }
        Ok(())
    }

    /// Releases the locks of those that have held them for long enough.
    fn let_go(&mut self, now: Instant) {
        while let Some(&(due, index)) = self.holding.front().filter(|(due, _)| *due <= now) {
            self.holding.pop_front();
            let place = self.places.get(index as usize);
            // The place may have another transaction by now.
            if place.is_some_and(|place| place.phase == Phase::Holding && place.until == due) {
                self.shrink(index, Phase::Committing);
            }
        }
    }

    fn handle(&mut self, now: Instant, event: Event) {
        match event {
            Event::Acquired { lock, .. } => self.granted(now, lock),
            Event::AcquireFailed { lock, error } => {
                let index = self.owner(lock);
                if self.phase(index) == Some(Phase::Growing) {
                    if self.is_ending && error == AcquireError::Cancelled {
                        self.tally.unfinished += 1;
                    } else {
                        self.tally.aborts.add(&error);
                    }
                }
                self.abort(index);
                self.ended(index);
            }
            Event::Lost { lock, .. } => {
                let index = self.owner(lock);
                if matches!(self.phase(index), Some(Phase::Growing | Phase::Holding)) {
                    self.tally.aborts.add_lost();
                }
                self.abort(index);
                self.ended(index);
            }
            Event::Released { lock, .. } => self.ended(self.owner(lock)),
            // Nothing here is extended or fenced.
            _ => {}
        }
    }

    fn granted(&mut self, now: Instant, lock: LockId) {
        let index = self.owner(lock);
        let Some(place) = self.places.get_mut(index as usize) else { return };
        if place.phase != Phase::Growing {
            // Another lock of this transaction was lost meanwhile.
            let _ = self.engine.release(lock);
            return;
        }
        let is_complete = match self.settings.locks {
            Locks::Set => true,
            Locks::Each => place.locks.len() == self.transactions.locks(place.number),
        };
        if !is_complete {
            self.wants_more(index);
            return;
        }
        self.tally.acquire.record(now - place.since);
        if self.settings.hold.is_zero() {
            self.shrink(index, Phase::Committing);
        } else {
            place.phase = Phase::Holding;
            place.until = now + self.settings.hold;
            self.holding.push_back((place.until, index));
        }
    }

    /// Releases what a transaction holds that cannot go on.
    fn abort(&mut self, index: u32) {
        // A lock that is lost while all are being released was held for long enough.
        if matches!(self.phase(index), Some(Phase::Growing | Phase::Holding)) {
            self.shrink(index, Phase::Aborting);
        }
    }

    /// Releases all locks of a transaction.
    fn shrink(&mut self, index: u32, phase: Phase) {
        let Some(place) = self.places.get_mut(index as usize) else { return };
        place.phase = phase;
        for &lock in &place.locks {
            // Only a lock that is still wanted can be cancelled. A lock that was lost refuses both,
            // and its last event is there or comes next.
            if self.engine.release(lock).is_err() {
                let _ = self.engine.cancel(lock);
            }
        }
        self.check_over(index);
    }

    /// One lock of this transaction was released.
    fn ended(&mut self, index: u32) {
        let Some(place) = self.places.get_mut(index as usize) else { return };
        place.alive = place.alive.saturating_sub(1);
        self.check_over(index);
    }

    /// Frees the place of a transaction that has no lock any more.
    fn check_over(&mut self, index: u32) {
        let place = self.places.get(index as usize);
        let is_over = |place: &Place| place.alive == 0 && place.phase != Phase::Free;
        if place.is_some_and(is_over) {
            self.over(index);
        }
    }

    fn over(&mut self, index: u32) {
        let Some(place) = self.places.get_mut(index as usize) else { return };
        if place.phase == Phase::Committing {
            self.tally.transactions += 1;
            self.tally.locks += self.transactions.locks(place.number) as u64;
        }
        place.phase = Phase::Free;
        place.locks.clear();
        self.free.push(index);
    }

    fn phase(&self, index: u32) -> Option<Phase> {
        self.places.get(index as usize).map(|place| place.phase)
    }

    fn owner(&self, lock: LockId) -> u32 {
        self.owners.get(lock.index()).copied().unwrap_or(NOWHERE)
    }
}

impl Ending for Load<'_> {
    fn engine(&mut self) -> &mut Engine {
        &mut self.engine
    }

    fn turn(&mut self, now: Instant, until: Instant) -> io::Result<Instant> {
        self.turn(now, until)
    }

    fn is_under_way(&self) -> bool {
        self.free.len() < self.places.len()
    }

    fn cancel(&mut self) {
        for place in self.places.iter().filter(|place| place.phase == Phase::Growing) {
            for &lock in &place.locks {
                // A lock that is held refuses this, and is released with the others.
                let _ = self.engine.cancel(lock);
            }
        }
    }
}

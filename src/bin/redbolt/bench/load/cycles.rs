//! The cycles: acquire a lock, release it, go on with the next lock.
//!
//! ```text
//! start ──► wanted ──► held ──► perhaps extended, perhaps kept for a while ──► released ──► over
//!              └──────► failed      └──► lost
//! ```
//!
//! The processor time spent here counts as that of the client. A turn therefore reads the clock
//! once, and a cycle allocates nothing: its state is in a table, by the index of its lock.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use redbolt::time::Instant;
use redbolt::{
    AcquireError, AcquireOptions, Clock, Engine, Event, LockId, NodeState, RequestError,
};

use super::demand::{Demand, Resources};
use super::ending::{self, Ending};
use super::lanes::Lanes;
use super::names::Names;
use super::schedule::Schedule;
use super::shares::Share;
use super::slices;
use super::tally::Tally;
use crate::bench::watch::progress::Progress;

/// How long to wait for a lock that nobody else wants, and so how long nodes may be gone before
/// their absence shows as failures. While a majority is gone, this wait keeps failures rare.
const WAIT: Duration = Duration::from_secs(1);

/// The wait on top of [`WAIT`] for every lock in flight: slow masters do ten thousand locks a
/// second.
const WAIT_PER_LOCK: Duration = Duration::from_micros(100);

/// How long to wait for a lock that others want as well: longer than any fair queue takes.
const CONTENDED_WAIT: Duration = Duration::from_secs(10);

/// The longest sleep. A signal that comes just before a sleep is noticed after it.
const MAX_SLEEP: Duration = Duration::from_millis(100);

pub(crate) struct Load {
    engine: Engine,
    names: Names,
    ttl: Duration,
    wait: Duration,
    /// What a lock with a fencing number asks for; `None` for locks without one.
    fenced: Option<AcquireOptions>,
    /// How long each lock is held.
    hold: Duration,
    extend_percent: u32,
    /// Draws which locks are extended.
    rng: fastrand::Rng,
    /// How many cycles there may be at a time; zero towards the end.
    limit: usize,
    in_flight: usize,
    /// The cycles that were started.
    started: u64,
    /// When to start cycles; `None` to start one whenever there are less than `limit`.
    schedule: Option<Schedule>,
    /// The cycles by [`LockId::index`]; the table has a place for every lock of the engine.
    flights: Vec<Flight>,
    /// The locks that are held for a while, with their ends: in order, because all are held for
    /// the same time. A lock that is lost stays until then.
    held: VecDeque<(Instant, LockId)>,
    lanes: Lanes,
    tally: Tally,
    slice: Duration,
    slice_end: Instant,
}

/// One cycle.
#[derive(Clone, Copy, Default)]
struct Flight {
    /// `None` when there is no cycle with this index.
    lock: Option<LockId>,
    /// When the cycle should have started; once the lock is held, when what it does now began.
    since: Instant,
    lane: u32,
}

impl Load {
    /// Creates a load, which will be measured for `seconds`.
    pub(crate) fn new(
        engine: Engine,
        demand: &Demand,
        share: Share,
        max_locks: usize,
        seconds: Duration,
    ) -> Self {
        let is_open = share.schedule.is_some();
        Self {
            engine,
            names: share.names,
            ttl: demand.ttl,
            wait: wait(demand),
            fenced: demand.is_fenced.then(|| AcquireOptions::new().fenced()),
            hold: demand.hold,
            extend_percent: demand.extend_percent,
            rng: share.rng,
            limit: share.in_flight,
            in_flight: 0,
            started: 0,
            schedule: share.schedule,
            flights: vec![Flight::default(); max_locks],
            held: VecDeque::new(),
            lanes: Lanes::new(if is_open { 0 } else { share.in_flight }),
            tally: Tally::new(Clock::now()),
            slice: slices::length(seconds),
            slice_end: Instant::FAR_FUTURE,
        }
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
    }

    pub(crate) fn started(&self) -> u64 {
        self.started
    }

    /// The number of cycles that should have started by `now` and have not.
    pub(crate) fn overdue(&self, now: Instant) -> u64 {
        self.schedule.as_ref().map_or(0, |schedule| schedule.overdue(now))
    }

    /// Starts to count from zero. Cycles that are under way go on, and count when they end.
    pub(crate) fn begin(&mut self, now: Instant) {
        self.tally = Tally::new(now);
        self.lanes.clear();
        self.slice_end = now + self.slice;
    }

    /// Ends the measured time. What ends from now on counts among the latencies and the failures.
    pub(crate) fn end(&mut self, now: Instant) {
        self.slice_end = Instant::FAR_FUTURE;
        self.tally.end(now);
    }

    /// Tells those who watch what has been done, and which nodes are not ready.
    pub(crate) fn publish(&self, progress: &Progress) {
        progress.publish(self.tally.cycles, self.tally.failures.total());
        let absent = self.engine.nodes().filter(|(_, _, node)| node.state != NodeState::Ready);
        let absent = absent.map(|(_, address, node)| format!("{address}: {}", node.state));
        progress.publish_absent(absent.collect());
    }

    /// Returns what was counted, and the cycles of each lane, once the load is over.
    pub(crate) fn into_counts(mut self) -> (Tally, Vec<u64>) {
        self.tally.end_late();
        (self.tally, self.lanes.into_cycles())
    }

    /// Starts the cycles that are due, sleeps until something happens, but not past `until`, and
    /// handles what happened. `now` is the time that the last turn returned. Returns the time at
    /// the end of this turn.
    ///
    /// Events of a turn are timed by the clock at the end of the turn, and starts by the clock at
    /// the end of the turn before. The two errors of a cycle cancel each other out.
    pub(crate) fn turn(&mut self, now: Instant, until: Instant) -> io::Result<Instant> {
        self.start(now);
        self.release_due(now);
        self.engine.poll(Some(self.sleep(now, until)))?;
        let now = Clock::now();
        // This loop requests no lock: the engine would give out an index again while events about
        // the former lock with this index are still unread.
        while let Some(event) = self.engine.next_event() {
            self.handle(now, event);
        }
        if now >= self.slice_end {
            self.tally.close_slice(now);
            self.slice_end = now + self.slice;
        }
        Ok(now)
    }

    /// Starts no more cycles, and returns when all cycles are over, or when that takes too long.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.limit = 0;
        ending::finish(self)
    }

    /// Starts the cycles that the schedule has reached, as far as there is room. Starts that are
    /// overdue after this call lack room, and not only a turn of the loop.
    pub(crate) fn catch_up(&mut self, now: Instant) {
        if self.schedule.is_some() {
            self.start(now);
        }
    }

    fn start(&mut self, now: Instant) {
        while self.in_flight < self.limit {
            let since = self.schedule.as_ref().map_or(now, Schedule::next);
            if since > now {
                return;
            }
            // The settings are in bounds, so the only possible error is a table full of locks for
            // which a node still owes replies. Their end makes room for this lock.
            let Ok(lock) = self.acquire() else { return };
            if let Some(schedule) = &mut self.schedule {
                schedule.advance();
            }
            self.in_flight += 1;
            self.started += 1;
            if let Some(flight) = self.flights.get_mut(lock.index()) {
                *flight = Flight { lock: Some(lock), since, lane: self.lanes.take() };
            }
        }
    }

    fn acquire(&mut self) -> Result<LockId, RequestError> {
        let name = self.names.next();
        match &self.fenced {
            None => self.engine.acquire(name, self.ttl, self.wait),
            Some(options) => self.engine.acquire_with(&[name], self.ttl, self.wait, options),
        }
    }

    /// How long to sleep if nothing happens.
    fn sleep(&self, now: Instant, until: Instant) -> Duration {
        let mut sleep = (until.min(self.slice_end) - now).min(MAX_SLEEP);
        if let Some(&(end, _)) = self.held.front() {
            sleep = sleep.min(end - now);
        }
        match &self.schedule {
            Some(schedule) if self.in_flight < self.limit => sleep.min(schedule.next() - now),
            _ => sleep,
        }
    }

    fn handle(&mut self, now: Instant, event: Event) {
        match event {
            Event::Acquired { lock, .. } => {
                if let Some(flight) = self.flights.get_mut(lock.index()) {
                    self.tally.acquired(now - flight.since);
                    flight.since = now;
                }
                self.held(now, lock);
            }
            Event::Extended { lock, .. } => {
                if let Some(flight) = self.flights.get(lock.index()) {
                    self.tally.extend.record(now - flight.since);
                }
                self.keep(now, lock);
            }
            Event::ExtendFailed { lock, .. } => {
                self.tally.failures.add_not_extended();
                self.keep(now, lock);
            }
            Event::Released { lock, .. } => {
                let flight = self.land(lock);
                self.tally.release.record(now - flight.since);
                // What ends after the measured time is no turn of the run.
                if self.limit > 0 {
                    self.lanes.count(flight.lane);
                }
                self.tally.ended(now);
            }
            Event::AcquireFailed { lock, error } => {
                self.land(lock);
                // Only `finish` cancels.
                if error == AcquireError::Cancelled && self.has_quorum() {
                    self.tally.unfinished += 1;
                } else {
                    self.tally.failures.add(&error);
                }
            }
            Event::Lost { lock, .. } => {
                self.land(lock);
                self.tally.failures.add_lost();
            }
            // This load draws no numbers for locks that are held, and reads the state of nodes only
            // to show it.
            _ => {}
        }
    }

    /// Goes on with a lock that is held now: extends it, or keeps it.
    fn held(&mut self, now: Instant, lock: LockId) {
        let is_extended = self.extend_percent > 0 && self.rng.u32(0..100) < self.extend_percent;
        // A lock that cannot be extended is lost, and the event of its loss comes next.
        if !is_extended || self.engine.extend(lock, self.ttl).is_err() {
            self.keep(now, lock);
        }
    }

    /// Keeps a lock for its time, and releases it. Most loads keep none.
    fn keep(&mut self, now: Instant, lock: LockId) {
        if self.hold.is_zero() {
            self.release(now, lock);
        } else {
            self.held.push_back((now + self.hold, lock));
        }
    }

    /// Releases the locks whose time is over; towards the end, all.
    fn release_due(&mut self, now: Instant) {
        while let Some(&(end, lock)) = self.held.front() {
            if now < end && self.limit > 0 {
                return;
            }
            self.held.pop_front();
            self.release(now, lock);
        }
    }

    /// A lock that was lost meanwhile cannot be released: its cycle is over, or the event of the
    /// loss comes next.
    fn release(&mut self, now: Instant, lock: LockId) {
        let flight = self.flights.get_mut(lock.index()).filter(|flight| flight.lock == Some(lock));
        if let Some(flight) = flight {
            flight.since = now;
            let _ = self.engine.release(lock);
        }
    }

    fn has_quorum(&self) -> bool {
        let states = || self.engine.nodes().map(|(_, _, status)| status.state);
        2 * states().filter(|&state| state == NodeState::Ready).count() > states().count()
    }

    /// Removes a cycle that is over. Every lock of this engine was started here and has one last
    /// event, so that `in_flight` is not zero.
    fn land(&mut self, lock: LockId) -> Flight {
        self.in_flight -= 1;
        let flight = self.flights.get_mut(lock.index()).map(std::mem::take).unwrap_or_default();
        self.lanes.give_back(flight.lane);
        flight
    }
}

impl Ending for Load {
    fn engine(&mut self) -> &mut Engine {
        &mut self.engine
    }

    fn turn(&mut self, now: Instant, until: Instant) -> io::Result<Instant> {
        self.turn(now, until)
    }

    fn is_under_way(&self) -> bool {
        self.in_flight > 0
    }

    fn cancel(&mut self) {
        for lock in self.flights.iter().filter_map(|flight| flight.lock) {
            // Locks that are being released refuse this, and end by themselves.
            let _ = self.engine.cancel(lock);
        }
    }
}

/// How long to wait for a lock.
fn wait(demand: &Demand) -> Duration {
    if demand.resources != Resources::Own {
        return CONTENDED_WAIT;
    }
    // Other engines use the same masters: the wait is for all locks.
    WAIT + WAIT_PER_LOCK * u32::try_from(demand.in_flight).unwrap_or(u32::MAX)
}

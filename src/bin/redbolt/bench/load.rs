//! The cycles: acquire a lock, release it, go on with the next.
//!
//! ```text
//! start ──► wanted ──► held, and released at once ──► over
//!              └──────► failed          └──► lost
//! ```
//!
//! The processor time spent here counts as the client's. So a turn reads the clock once, and a
//! cycle allocates nothing: what is known of it lies in a table by the index of its lock.

use std::io;
use std::time::Duration;

use redbolt::time::Instant;
use redbolt::{AcquireError, Clock, Engine, Event, LockId, NodeState};

use super::args::Args;
use super::names::Names;
use super::schedule::Schedule;
use super::tally::Tally;

/// How long a lock that nobody else wants is waited for, and so how long nodes may be gone before
/// it shows as a failure. While a majority is gone, this wait is what keeps failures rare.
const WAIT: Duration = Duration::from_secs(1);

/// On top of it for every other lock in flight: slow masters do ten thousand locks a second.
const WAIT_PER_LOCK: Duration = Duration::from_micros(100);

/// How long a lock that others want as well is waited for: longer than any fair line takes.
const CONTENDED_WAIT: Duration = Duration::from_secs(10);

/// How long cycles may go on after the end of the run before they are cancelled.
const GRACE: Duration = Duration::from_secs(2);

/// How long the engine may then take to hear from every node.
const DRAIN: Duration = Duration::from_secs(2);

/// The longest sleep. A signal that comes just before one is noticed after it.
const NAP: Duration = Duration::from_millis(100);

pub(super) struct Load {
    engine: Engine,
    names: Names,
    ttl: Duration,
    wait: Duration,
    /// How many cycles there may be at a time; zero towards the end.
    limit: usize,
    in_flight: usize,
    /// When to start cycles; `None`: whenever there are less than `limit`.
    schedule: Option<Schedule>,
    /// By [`LockId::index`]; as long as the engine has locks.
    flights: Vec<Flight>,
    tally: Tally,
}

/// One cycle.
#[derive(Clone, Copy, Default)]
struct Flight {
    /// `None` when there is none with this index.
    lock: Option<LockId>,
    /// When it should have started; once the lock is held, when its release began.
    since: Instant,
}

impl Load {
    pub(super) fn new(engine: Engine, args: &Args, max_locks: usize) -> Self {
        let queue = WAIT_PER_LOCK * u32::try_from(args.in_flight()).unwrap_or(u32::MAX);
        Self {
            engine,
            names: Names::new(args.resources),
            ttl: args.ttl,
            wait: if args.resources.is_some() { CONTENDED_WAIT } else { WAIT + queue },
            limit: args.in_flight(),
            in_flight: 0,
            schedule: args.rate.map(|rate| Schedule::new(Clock::now(), rate)),
            flights: vec![Flight::default(); max_locks],
            tally: Tally::new(),
        }
    }

    pub(super) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(super) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// How many cycles should have started by `now` and have not.
    pub(super) fn overdue(&self, now: Instant) -> u64 {
        self.schedule.as_ref().map_or(0, |schedule| schedule.overdue(now))
    }

    /// Counts from zero again. Cycles that are under way go on, and count when they end.
    pub(super) fn forget(&mut self) {
        self.tally.forget();
    }

    /// Starts what is due, then sleeps until something happens, but not past `until`, and deals
    /// with it. `now` is what the last turn returned; so does this one.
    ///
    /// All that one turn brings is timed by the clock at its end, and all that it starts by the
    /// clock at the end of the one before. What a cycle loses by the one it gains by the other.
    pub(super) fn turn(&mut self, now: Instant, until: Instant) -> io::Result<Instant> {
        self.start(now);
        self.engine.poll(Some(self.sleep(now, until)))?;
        let now = Clock::now();
        // No lock is asked for in this loop: the engine would hand out indices anew while events
        // about their former locks are still unread.
        while let Some(event) = self.engine.next_event() {
            self.handle(now, event);
        }
        Ok(now)
    }

    /// Stops starting, and returns when all cycles are over and every node has answered, or when
    /// that takes too long. Who still waits after a while is sent away.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.limit = 0;
        self.wind_down(GRACE)?;
        for lock in self.flights.iter().filter_map(|flight| flight.lock) {
            // Those that are on their way out end without being told.
            let _ = self.engine.cancel(lock);
        }
        self.wind_down(GRACE)?;
        self.engine.drain(DRAIN)?;
        Ok(())
    }

    fn wind_down(&mut self, patience: Duration) -> io::Result<()> {
        let mut now = Clock::now();
        let deadline = now + patience;
        while self.in_flight > 0 && now < deadline {
            now = self.turn(now, deadline)?;
        }
        Ok(())
    }

    /// Starts what the schedule has come to, as far as there is room: what is then still overdue
    /// is so for want of room, and not because nobody has looked for a moment.
    pub(super) fn catch_up(&mut self, now: Instant) {
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
            // The settings are in bounds, so all that can be wrong is that the table is full of
            // locks for which a node still owes replies. Their end makes room for this one.
            let Ok(lock) = self.engine.acquire(self.names.next(), self.ttl, self.wait) else {
                return;
            };
            if let Some(schedule) = &mut self.schedule {
                schedule.advance();
            }
            self.in_flight += 1;
            if let Some(flight) = self.flights.get_mut(lock.index()) {
                *flight = Flight { lock: Some(lock), since };
            }
        }
    }

    /// How long to wait for something to happen.
    fn sleep(&self, now: Instant, until: Instant) -> Duration {
        let nap = (until - now).min(NAP);
        match &self.schedule {
            Some(schedule) if self.in_flight < self.limit => nap.min(schedule.next() - now),
            _ => nap,
        }
    }

    fn handle(&mut self, now: Instant, event: Event) {
        match event {
            Event::Acquired { lock, .. } => {
                if let Some(flight) = self.flights.get_mut(lock.index()) {
                    self.tally.acquire.record(now - flight.since);
                    flight.since = now;
                }
                // A lock that has been lost meanwhile cannot be released; its event comes next.
                let _ = self.engine.release(lock);
            }
            Event::Released { lock, .. } => {
                let flight = self.land(lock);
                self.tally.release.record(now - flight.since);
                self.tally.cycles += 1;
            }
            Event::AcquireFailed { lock, error } => {
                self.land(lock);
                // Only `finish` cancels.
                if error == AcquireError::Cancelled && self.has_quorum() {
                    self.tally.unfinished += 1;
                } else {
                    self.tally.failures.add(error);
                }
            }
            Event::Lost { lock, .. } => {
                self.land(lock);
                self.tally.failures.add_lost();
            }
            // Nothing is extended here, and nodes are looked at when their state is shown.
            _ => {}
        }
    }

    fn has_quorum(&self) -> bool {
        let states = || self.engine.nodes().map(|(_, _, status)| status.state);
        2 * states().filter(|&state| state == NodeState::Ready).count() > states().count()
    }

    /// The cycle is over. Every lock of this engine was started here and has one last event, so
    /// there is one in flight.
    fn land(&mut self, lock: LockId) -> Flight {
        self.in_flight -= 1;
        self.flights.get_mut(lock.index()).map(std::mem::take).unwrap_or_default()
    }
}

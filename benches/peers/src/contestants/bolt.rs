//! redbolt, through its public API.

use std::os::fd::AsRawFd;
use std::time::Duration;

use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};
use redbolt::time::Instant;
use redbolt::{AcquireOptions, Ask, Clock, Config, Engine, Event, Init, LockId, RestartGuard};

use super::schedule::Schedule;
use crate::meter::Meter;
use crate::names::Names;
use crate::plan::{Outcome, Plan, TTL, Transport};

/// How long an acquisition may wait. Nobody else wants the lock, so only nodes can be late.
const WAIT: Duration = Duration::from_secs(5);

const PATIENCE: Duration = Duration::from_secs(5);

const ENGINE: Token = Token(0);
const TIMER: Token = Token(1);

/// How redbolt takes part.
#[derive(Default)]
pub(crate) struct Manner {
    pub(crate) transport: Transport,
    pub(crate) busy_poll: Duration,
    /// How many nodes each attempt asks at first.
    pub(crate) ask: Ask,
    /// Every lock has a fencing number.
    pub(crate) is_fenced: bool,
    /// A cycle starts when no node owes anything for the cycles before, as on the raw lines. By
    /// default it starts when the others could take the lock of the cycle before.
    pub(crate) rests: bool,
}

pub(crate) fn run(plan: &Plan, manner: Manner) -> Outcome<Meter> {
    let mut load = Load::new(plan, manner)?;
    match plan.rate {
        None => load.closed_loop()?,
        Some(rate) => load.open_loop(Schedule::new(rate)?)?,
    }
    load.finish()
}

fn urls(plan: &Plan, transport: Transport) -> Outcome<Vec<String>> {
    if transport == Transport::Tcp {
        return Ok(plan.nodes.iter().map(|node| format!("redis://{node}")).collect());
    }
    let tls = plan.tls()?;
    let ca = tls.ca.display();
    Ok(tls.nodes.iter().map(|node| format!("rediss://{node}?ca={ca}")).collect())
}

struct Load {
    engine: Engine,
    /// What a lock with a fencing number asks for.
    fenced: Option<AcquireOptions>,
    rests: bool,
    meter: Meter,
    names: Names,
    most: usize,
    in_flight: usize,
    /// The start of each cycle, by the index of its lock.
    since: Vec<Instant>,
}

impl Load {
    fn new(plan: &Plan, manner: Manner) -> Outcome<Self> {
        let mut config = Config::new(urls(plan, manner.transport)?)?;
        config.busy_poll = manner.busy_poll;
        // The servers have just been started, for this measurement.
        config.redlock.restart_guard = RestartGuard::Off;
        config.redlock.ask = manner.ask;
        if manner.ask == Ask::Majority {
            // Without a guard nobody may ask a majority. The first such client on these servers
            // declares them new; for others they are so already.
            config.redlock.restart_guard = RestartGuard::On;
            _ = Init::new(config.clone()).fresh().run();
        }
        config.redlock.max_ttl = TTL.max(config.redlock.max_ttl);
        // A cycle is over at the quorum-th reply, but its slot is free only at the last one. A node
        // that hangs holds as many slots as its pipeline takes requests.
        let stragglers = plan.nodes.len() * config.redlock.max_pipeline;
        config.redlock.max_locks = plan.in_flight + stragglers;
        let max_locks = config.redlock.max_locks;
        let mut engine = Engine::new(config)?;
        let ready = engine.settle(PATIENCE)?;
        if ready < plan.quorum() {
            return Err(format!("only {ready} nodes are ready").into());
        }
        Ok(Self {
            engine,
            fenced: manner.is_fenced.then(|| AcquireOptions::new().fenced()),
            rests: manner.rests,
            meter: Meter::new(plan),
            names: Names::default(),
            most: plan.in_flight,
            in_flight: 0,
            since: vec![Instant::ZERO; max_locks],
        })
    }

    /// Starts a cycle whenever one ends.
    fn closed_loop(&mut self) -> Outcome<()> {
        let mut now = Clock::now();
        while self.meter.goes_on(now) {
            if self.rests {
                now = self.rest(now)?;
            }
            while self.in_flight < self.most && self.start(now) {}
            self.engine.poll(Some(PATIENCE))?;
            now = self.take_events()?;
        }
        Ok(())
    }

    /// Waits, if no cycle is under way, until all nodes have answered for those before.
    fn rest(&mut self, mut now: Instant) -> Outcome<Instant> {
        while self.in_flight == 0 && !self.engine.owing().is_empty() {
            self.engine.poll(Some(PATIENCE))?;
            now = self.take_events()?;
        }
        Ok(now)
    }

    /// Starts cycles when they are due, inside a loop that does not belong to the engine.
    fn open_loop(&mut self, mut schedule: Schedule) -> Outcome<()> {
        let mut outer = Poll::new()?;
        let mut events = Events::with_capacity(2);
        for (token, fd) in [(ENGINE, self.engine.as_raw_fd()), (TIMER, schedule.as_raw_fd())] {
            outer.registry().register(&mut SourceFd(&fd), token, Interest::READABLE)?;
        }
        let mut now = Clock::now();
        while self.meter.goes_on(now) {
            while self.in_flight < self.most && schedule.next() <= now {
                if !self.start(schedule.next()) {
                    break;
                }
                schedule.advance();
            }
            self.engine.flush()?;
            outer.poll(&mut events, None)?;
            now = Clock::now();
            for event in &events {
                if event.token() == TIMER {
                    schedule.clear();
                } else {
                    self.engine.poll(Some(Duration::ZERO))?;
                    now = self.take_events()?;
                }
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Outcome<Meter> {
        while self.in_flight > 0 {
            self.engine.poll(Some(PATIENCE))?;
            self.take_events()?;
        }
        if !self.engine.drain(PATIENCE)? {
            return Err("some nodes have not answered".into());
        }
        Ok(self.meter)
    }

    /// Starts a cycle that counts from `since`. Returns false without room: nodes still owe replies
    /// to finished locks, and each of these replies makes room.
    fn start(&mut self, since: Instant) -> bool {
        let name = self.names.next();
        let asked = match &self.fenced {
            None => self.engine.acquire(name, TTL, WAIT),
            Some(options) => self.engine.acquire_with(&[name], TTL, WAIT, options),
        };
        let Ok(lock) = asked else { return false };
        self.since[lock.index()] = since;
        self.in_flight += 1;
        true
    }

    /// Handles all events of one turn. Returns the time of the turn.
    fn take_events(&mut self) -> Outcome<Instant> {
        let now = Clock::now();
        while let Some(event) = self.engine.next_event() {
            match event {
                Event::Acquired { lock, .. } => self.acquired(now, lock)?,
                Event::Released { outcome, .. } => {
                    // A key may be absent, because a node that was too slow to vote may have
                    // refused. But nobody else wants the key.
                    if outcome.released.is_empty() || !outcome.foreign.is_empty() {
                        return Err(format!("a lock was not there any more: {outcome:?}").into());
                    }
                    self.in_flight -= 1;
                    self.meter.released(1);
                }
                Event::AcquireFailed { error, .. } => return Err(error.into()),
                Event::Lost { reason, .. } => return Err(format!("lost: {reason:?}").into()),
                _ => {}
            }
        }
        Ok(now)
    }

    fn acquired(&mut self, now: Instant, lock: LockId) -> Outcome<()> {
        self.meter.acquired(now - self.since[lock.index()]);
        Ok(self.engine.release(lock)?)
    }
}

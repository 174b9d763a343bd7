//! A client process with one `Engine`: one thread, a few requests at a time.
//!
//! - [`life`] is the end of an engine, and the next one;
//! - [`tries`] is what a child of the process tries.

mod life;
mod tries;

use std::collections::BTreeMap;
use std::time::Duration;

use fastrand::Rng;
use redbolt::{AcquireError, AcquireOptions, Engine, Event, LockId, Occupancy, QueryId};

use super::{REQUESTS, lifetime, pause_between_children};
use crate::log::{Log, Record, What, nanos};
use crate::order::{Habit, Order};
use crate::plan::{self, Plan, Step};
use crate::register::{Holder, Visitor};
use crate::support::now;

/// The longest turn of the loop: the time in which an idle client learns of the end of the run.
const TURN: Duration = Duration::from_millis(20);

/// Lives as ordered, until the log is closed.
pub(super) fn live(order: Order) {
    let mut client = Client::new(order);
    while !client.log.is_closed() {
        client.turn();
        client.want();
        client.ask();
        client.split();
        client.begin_anew();
    }
    client.leave();
}

struct Client {
    order: Order,
    engine: Engine,
    rng: Rng,
    log: Log,
    register: Visitor,
    requests: BTreeMap<LockId, Request>,
    /// The questions under way, with their numbers as requests.
    queries: BTreeMap<QueryId, u64>,
    /// The number of the last request.
    last: u64,
    /// The time from which the next request may be made.
    rests_until: Duration,
    /// The time of the next question, of the next child, and of the end of the engine.
    asks: Duration,
    splits: Duration,
    ends: Duration,
}

struct Request {
    number: u64,
    stage: Stage,
    plan: Plan,
    /// The last time at which the lock was seen as held; 0 if never.
    seen: u64,
    /// The lock at the register, once it has a number.
    holder: Option<Holder>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Wanted,
    Held,
    Releasing,
}

impl Client {
    fn new(order: Order) -> Self {
        let engine = Engine::new(order.config()).expect("an engine can be made");
        let mut rng = Rng::with_seed(order.seed);
        let splits = now() + pause_between_children(&mut rng);
        let ends = now() + lifetime(&mut rng);
        Self {
            log: order.open_log(),
            register: Visitor::of(&order.log, order.client),
            order,
            engine,
            rng,
            requests: BTreeMap::new(),
            queries: BTreeMap::new(),
            last: 0,
            rests_until: Duration::ZERO,
            asks: now(),
            splits,
            ends,
        }
    }

    /// Asks for another lock, if the time has come.
    fn want(&mut self) {
        let most = match self.order.habit {
            Habit::Mixed | Habit::Gathered | Habit::Numbered => REQUESTS,
            Habit::Clinging => 1,
        };
        if self.requests.len() >= most || now() < self.rests_until {
            return;
        }
        let habit = self.order.next_habit(&self.log);
        let plan = Plan::draw(&mut self.rng, habit, self.order.max_ttl, now());
        self.last += 1;
        self.write(self.last, nanos(), plan.wanted(None));
        let lock = match &plan.resources[..] {
            resources if plan.is_fenced => {
                let options = AcquireOptions::new().fenced();
                self.engine.acquire_with(resources, plan.ttl, plan.wait, &options)
            }
            [resource] => self.engine.acquire(resource, plan.ttl, plan.wait),
            resources => self.engine.acquire_all(resources, plan.ttl, plan.wait),
        };
        let lock = lock.expect("the request is within bounds and there is room");
        let stage = Stage::Wanted;
        let request = Request { number: self.last, stage, plan, seen: 0, holder: None };
        self.requests.insert(lock, request);
        self.rests_until = now() + Duration::from_millis(self.rng.u64(..20));
        self.take_events();
    }

    /// Asks who holds a resource, if the time has come.
    fn ask(&mut self) {
        if now() < self.asks || self.order.is_clinging() {
            return;
        }
        self.asks = now() + Duration::from_millis(self.rng.u64(..400));
        self.last += 1;
        let resource = plan::resource(&mut self.rng);
        self.write(self.last, nanos(), What::Asking { resource: resource.clone() });
        let query = self.engine.query(&resource).expect("few questions are under way");
        self.queries.insert(query, self.last);
        self.take_events();
    }

    /// Takes one turn of the loop, and then every step that is due.
    fn turn(&mut self) {
        let due = self.requests.values().filter_map(|request| request.plan.due).min();
        let wait = due.map_or(TURN, |due| due.saturating_sub(now()).min(TURN));
        self.engine.poll(Some(wait)).expect("polling works");
        self.take_events();
        self.look();
        let due = |request: &Request| request.plan.due.is_some_and(|due| due <= now());
        let due: Vec<_> = self.requests.iter().filter(|(_, r)| due(r)).map(|(id, _)| *id).collect();
        for lock in due {
            self.act(lock);
            // The step may have ended other requests.
            self.take_events();
        }
    }

    /// Asks for every lock whether it is held, as a caller does before working under a lock.
    fn look(&mut self) {
        for (&lock, request) in &mut self.requests {
            // Read before the question: a lock that is held afterwards was held at this time.
            let at = nanos();
            if request.stage == Stage::Held && self.engine.is_held(lock) {
                request.seen = at;
            }
        }
    }

    /// Takes the next step of the plan for this lock.
    fn act(&mut self, lock: LockId) {
        let Some(request) = self.requests.get_mut(&lock) else { return };
        let number = request.number;
        match request.stage {
            Stage::Wanted => {
                request.plan.due = None;
                self.engine.cancel(lock).expect("the lock is wanted");
            }
            Stage::Held => match request.plan.next_step(&mut self.rng, now()) {
                Some(_) if !self.engine.is_held(lock) => {}
                Some(Step::Draw) => {
                    // As below, during another draw.
                    let at = nanos();
                    if self.engine.draw_fence(lock).is_ok() {
                        self.write(number, at, What::Drawing);
                    }
                }
                Some(Step::Extend(ttl)) => {
                    // During another extension, or after the validity, `extend` fails at once and
                    // no event follows; then the log has no request either.
                    let at = nanos();
                    if self.engine.extend(lock, ttl).is_ok() {
                        self.write(number, at, What::Extending { ttl: millis(ttl) });
                    }
                }
                None => self.release(lock),
            },
            Stage::Releasing => request.plan.due = None,
        }
    }

    fn release(&mut self, lock: LockId) {
        let Some(request) = self.requests.get_mut(&lock) else { return };
        // Whoever is stopped between the look and the write writes late.
        if let Some(holder) = request.holder.as_mut().filter(|_| self.engine.is_held(lock)) {
            self.register.write(holder);
        }
        request.stage = Stage::Releasing;
        request.plan.due = None;
        let (number, seen) = (request.number, request.seen);
        self.write(number, nanos(), What::Releasing { seen });
        self.engine.release(lock).expect("its end would have been an event");
    }

    fn take_events(&mut self) {
        while let Some(event) = self.engine.next_event() {
            self.take(&event, nanos());
        }
    }

    /// Writes an event to the log. The checker knows which events may come.
    fn take(&mut self, event: &Event, at: u64) {
        let (lock, what) = match event.clone() {
            Event::Acquired { lock, valid_until, fence } => {
                // A lock whose token is known is not passed on.
                if self.rng.u32(..4) == 0 {
                    let _ = self.engine.token(lock);
                }
                // A lock that came too late to be held still needs a token in the log.
                let token = self.engine.peek_token(lock).map(|token| token.to_hex());
                let token = token.unwrap_or_else(|| format!("none-{}-{lock:?}", self.order.client));
                let (until, fence) = (valid_until.as_nanos(), fence.map(|fence| fence.get()));
                (lock, What::Held { token, until, fence })
            }
            Event::AcquireFailed { lock, error } => {
                let within = error != AcquireError::Cancelled;
                (lock, What::Failed { within, why: error.to_string() })
            }
            Event::Extended { lock, valid_until } => {
                let until = valid_until.as_nanos();
                // A lock that is kept alive is never extended by request.
                let is_kept = self.requests.get(&lock).is_some_and(|r| !r.plan.keeps.is_zero());
                (lock, if is_kept { What::Renewed { until } } else { What::Extended { until } })
            }
            Event::ExtendFailed { lock, error } => {
                (lock, What::NotExtended { why: error.to_string() })
            }
            Event::Fenced { lock, fence } => (lock, What::Drawn { fence: fence.get() }),
            Event::FenceFailed { lock, error } => (lock, What::NotDrawn { why: error.to_string() }),
            Event::Released { lock, outcome } if outcome.is_passed_on => (lock, What::Passed),
            Event::Released { lock, .. } => (lock, What::Released),
            Event::Lost { lock, reason } => {
                let seen = self.requests.get(&lock).map_or(0, |request| request.seen);
                (lock, What::Lost { why: reason.to_string(), seen })
            }
            Event::Queried { query, holder, .. } => {
                let number = self.queries.remove(&query).expect("somebody has asked");
                let is_free = holder.occupancy == Occupancy::Free;
                let what = What::Answered { is_free, answer: holder.to_string() };
                return self.write(number, at, what);
            }
            Event::Node(_) => return,
            ref other => panic!("an event that the clients do not know: {other:?}"),
        };
        let request = self.requests.get_mut(&lock);
        let request = request.unwrap_or_else(|| panic!("{lock:?} has ended before {event:?}"));
        let number = request.number;
        if matches!(what, What::Held { .. }) {
            request.stage = Stage::Held;
            request.plan.hold(now());
            if !request.plan.keeps.is_zero() {
                // Fails if the lock was lost meanwhile, of which the next event tells.
                _ = self.engine.keep_alive(lock, request.plan.ttl, request.plan.keeps);
            }
        }
        self.write(number, at, what.clone());
        self.tell_register(lock, &what);
        if matches!(what, What::Failed { .. } | What::Released | What::Passed | What::Lost { .. }) {
            self.requests.remove(&lock);
        }
        if matches!(what, What::Failed { .. }) {
            self.rests_until = now() + Duration::from_millis(self.rng.u64(5..50));
        }
    }

    /// Leaves the mark of a new number at the register. Whoever has lost a lock writes once more,
    /// late on purpose, and so do some who have released theirs.
    fn tell_register(&mut self, lock: LockId, what: &What) {
        let Some(request) = self.requests.get_mut(&lock) else { return };
        match *what {
            What::Held { fence: Some(fence), .. } | What::Drawn { fence } => {
                let resources = &request.plan.resources;
                request.holder = Some(self.register.mark(request.number, resources, fence));
            }
            What::Released if self.rng.bool() => {}
            What::Lost { .. } | What::Released => {
                if let Some(holder) = &mut request.holder {
                    self.register.write(holder);
                }
            }
            _ => {}
        }
    }

    fn write(&self, request: u64, at: u64, what: What) {
        self.log.write(&Record { at, client: self.order.client, request, what });
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).expect("a few seconds")
}

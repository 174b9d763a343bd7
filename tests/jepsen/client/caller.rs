//! One thread or task that takes locks through a `Client`, one after another.

use std::sync::atomic::Ordering;
use std::time::Duration;

use fastrand::Rng;
use redbolt::{Guard, Handover, LockError, LockErrorKind, LockRequest, LockSignal, Occupancy};

use super::crowd::{Crowd, if_ready};
use super::{child, pause_between_children};
use crate::log::{What, nanos};
use crate::order::Habit;
use crate::plan::{self, End, Plan, Step};
use crate::register::{Holder, Visitor};
use crate::support::{now, until};

/// The longest time between two looks at a lock.
const TURN: Duration = Duration::from_millis(5);

/// How a caller waits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Thread,
    Task,
}

pub(super) struct Caller<'a> {
    crowd: &'a Crowd<'a>,
    way: Way,
    rng: Rng,
    register: Visitor,
    /// The time of the next child.
    splits: Duration,
}

/// A lock that a caller has.
struct Held {
    number: u64,
    guard: Guard,
    /// The end that the log knows.
    until: u64,
    /// The last time at which the lock was seen as held; 0 if never.
    seen: u64,
    /// The lock at the register, once it has a number.
    holder: Option<Holder>,
}

impl<'a> Caller<'a> {
    pub(super) fn new(crowd: &'a Crowd<'a>, way: Way, mut rng: Rng) -> Self {
        let splits = now() + pause_between_children(&mut rng);
        let register = Visitor::of(&crowd.order.log, crowd.order.client);
        Self { crowd, way, rng, register, splits }
    }

    pub(super) async fn live(mut self) {
        while !self.crowd.is_over() {
            self.ask().await;
            let pause = self.turn().await;
            self.pause(Duration::from_millis(pause)).await;
        }
    }

    /// Lives through one request. Returns the pause after it, in milliseconds.
    async fn turn(&mut self) -> u64 {
        let order = self.crowd.order;
        let habit = order.next_habit(&self.crowd.log);
        let mut plan = Plan::draw(&mut self.rng, habit, order.max_ttl, now());
        let may_adopt = habit != Habit::Gathered && self.rng.u32(..3) == 0;
        let adopts = if may_adopt { self.crowd.mail.take() } else { None };
        if let Some(Handover { resources, .. }) = &adopts {
            let name = |name: &Vec<u8>| String::from_utf8_lossy(name).into_owned();
            plan.adopting(resources.iter().map(name).collect());
        }
        let number = self.crowd.last.fetch_add(1, Ordering::Relaxed) + 1;
        let token = adopts.as_ref().map(|lock| lock.token.to_hex());
        let is_adopted = adopts.is_some();
        self.write(number, plan.wanted(token));
        let request = self.request(&plan, adopts);
        let limit = plan.due.map(|due| due.saturating_sub(now()));
        match self.acquire(request, limit).await {
            Ok(guard) => {
                let end = guard.valid_until().as_nanos();
                let (token, fence) = (guard.token().to_hex(), guard.fence().map(|f| f.get()));
                self.write(number, What::Held { token, until: end, fence });
                // The register could not tell a brought number from the former owner's.
                let own = fence.filter(|_| !is_adopted);
                let holder = own.map(|f| self.register.mark(number, &plan.resources, f));
                self.hold(Held { number, guard, until: end, seen: 0, holder }, plan).await;
                self.rng.u64(..20)
            }
            Err(failed) => {
                self.write(number, failed);
                self.rng.u64(5..50)
            }
        }
    }

    /// Asks who holds a resource, now and then.
    async fn ask(&mut self) {
        if self.crowd.order.is_clinging() || self.rng.u32(..4) > 0 {
            return;
        }
        let number = self.crowd.last.fetch_add(1, Ordering::Relaxed) + 1;
        let resource = plan::resource(&mut self.rng);
        self.write(number, What::Asking { resource: resource.clone() });
        let (is_free, answer) = match self.answer(self.crowd.client.query(&resource)).await {
            Ok(holder) => (holder.occupancy == Occupancy::Free, holder.to_string()),
            Err(error) => (false, error.to_string()),
        };
        self.write(number, What::Answered { is_free, answer });
    }

    /// Splits the process if the time has come.
    fn split(&mut self, guard: &Guard) {
        if self.way == Way::Task || self.crowd.order.is_clinging() || now() < self.splits {
            return;
        }
        self.splits = now() + pause_between_children(&mut self.rng);
        let Crowd { client, order, log, .. } = self.crowd;
        let ttl = order.max_ttl;
        child::bear(log, order.client, |tell| {
            // No thread of the child would answer, so each answer must be there at once.
            let acquired = if_ready(client.lock("r0").ttl(ttl).wait(ttl).acquire());
            let (extended, answered) = (if_ready(guard.extend(ttl)), if_ready(client.query("r0")));
            tell(("to look at a lock", !guard.is_held()));
            tell(("to acquire a lock", is_refused(acquired)));
            tell(("to extend a lock", is_refused(extended)));
            tell(("to ask for a holder", is_refused(answered)));
            let nodes = if_ready(client.nodes());
            tell(("to ask for nodes", nodes.is_some_and(|answer| answer.is_err())));
            tell(("to shut down", !client.blocking_shutdown(TURN).is_complete()));
        });
    }

    fn request(&self, plan: &Plan, adopts: Option<Handover>) -> LockRequest {
        let client = &self.crowd.client;
        let request = match (adopts, &plan.resources[..]) {
            (Some(lock), _) => client.adopt(&lock.resources, lock.token).with_fence(lock.fence),
            (None, [resource]) => client.lock(resource),
            (None, resources) => client.lock_all(resources),
        };
        let request = request.ttl(plan.ttl).wait(plan.wait);
        let request = if plan.is_fenced { request.fenced() } else { request };
        if plan.keeps.is_zero() { request } else { request.keep_alive_for(plan.keeps) }
    }

    /// Holds a lock as planned, to its end.
    async fn hold(&mut self, mut lock: Held, mut plan: Plan) {
        plan.hold(now());
        while self.look(&mut lock) {
            self.split(&lock.guard);
            let left = plan.due.map_or(TURN, |due| due.saturating_sub(now()));
            if !left.is_zero() {
                self.wait(lock.guard.lost(), left.min(TURN)).await;
                continue;
            }
            match plan.next_step(&mut self.rng, now()) {
                Some(Step::Extend(ttl)) => self.extend(&mut lock, ttl).await,
                Some(Step::Draw) => self.draw(&mut lock, &plan.resources).await,
                None => return self.end(lock, plan.end).await,
            }
        }
        let why = "its guard says so".to_owned();
        self.write(lock.number, What::Lost { why, seen: lock.seen });
        // Late on purpose.
        self.write_value(lock.holder.as_mut());
    }

    async fn extend(&self, lock: &mut Held, ttl: Duration) {
        let millis = u64::try_from(ttl.as_millis()).expect("a few seconds");
        self.write(lock.number, What::Extending { ttl: millis });
        let what = match self.answer(lock.guard.extend(ttl)).await {
            Ok(end) => {
                lock.until = end.as_nanos();
                What::Extended { until: lock.until }
            }
            Err(error) => What::NotExtended { why: error.to_string() },
        };
        self.write(lock.number, what);
    }

    /// Draws a new number, and leaves its mark at the register.
    async fn draw(&mut self, lock: &mut Held, resources: &[String]) {
        self.write(lock.number, What::Drawing);
        match self.answer(lock.guard.draw_fence()).await {
            Ok(fence) => {
                let fence = fence.get();
                self.write(lock.number, What::Drawn { fence });
                lock.holder = Some(self.register.mark(lock.number, resources, fence));
            }
            Err(error) => self.write(lock.number, What::NotDrawn { why: error.to_string() }),
        }
    }

    /// Replaces the value at the register, in time or late.
    fn write_value(&mut self, holder: Option<&mut Holder>) {
        if let Some(holder) = holder {
            self.register.write(holder);
        }
    }

    /// Takes the last step, after a look that has seen the lock held.
    ///
    /// Whoever is stopped between the look and the write to the register writes late. Some write
    /// once more when all is over, late on purpose.
    async fn end(&mut self, lock: Held, end: End) {
        let Held { number, guard, seen, mut holder, .. } = lock;
        self.write_value(holder.as_mut());
        self.write(number, What::Releasing { seen });
        match end {
            End::Release => drop(self.answer(guard.release()).await),
            End::Drop => drop(guard),
            End::Leak => guard.leak(),
            End::Give => {
                if let Ok(lock) = self.answer(guard.hand_over()).await {
                    self.write(number, What::Gave);
                    self.crowd.mail.put(&lock);
                    return self.write_value(holder.as_mut());
                }
            }
        }
        self.write(number, What::Released);
        if self.rng.bool() {
            self.write_value(holder.as_mut());
        }
    }

    /// Asks whether the lock is held, as a caller does before working under a lock.
    fn look(&self, lock: &mut Held) -> bool {
        // Read before the question: a lock that is held afterwards was held at this time.
        let at = nanos();
        let is_held = lock.guard.is_held();
        let until = lock.guard.valid_until().as_nanos();
        // A lock that is lost between the two has no end any more that could be written.
        if until != 0 {
            if until != lock.until {
                lock.until = until;
                self.write(lock.number, What::Renewed { until });
            }
            if is_held {
                lock.seen = at;
            }
        }
        is_held
    }

    /// Waits for the lock, or gives the request up when the time is over. A thread cannot give up.
    async fn acquire(&self, request: LockRequest, limit: Option<Duration>) -> Result<Guard, What> {
        let result = match (self.way, limit) {
            (Way::Thread, _) => request.blocking_acquire(),
            (Way::Task, None) => request.await,
            (Way::Task, Some(limit)) => {
                match tokio::time::timeout(limit, request.acquire()).await {
                    Ok(result) => result,
                    Err(_) => {
                        return Err(What::Failed { within: false, why: "given up".to_owned() });
                    }
                }
            }
        };
        result.map_err(|error| {
            let within = error.is_contended() || error.is_unavailable();
            What::Failed { within, why: error.to_string() }
        })
    }

    /// Waits until the signal fires or the time is over.
    async fn wait(&self, mut signal: LockSignal, limit: Duration) {
        match self.way {
            Way::Thread => drop(signal.blocking_wait_timeout(limit)),
            Way::Task => drop(tokio::time::timeout(limit, signal).await),
        }
    }

    async fn answer<T>(&self, pending: redbolt::PendingAnswer<T>) -> T {
        match self.way {
            Way::Thread => pending.blocking_wait(),
            Way::Task => pending.await,
        }
    }

    async fn pause(&self, long: Duration) {
        match self.way {
            Way::Thread => _ = until(long, || false),
            Way::Task => tokio::time::sleep(long).await,
        }
    }

    fn write(&self, request: u64, what: What) {
        self.crowd.write(request, what);
    }
}

/// Returns whether an answer is there, and is that of a client in another process.
fn is_refused<T>(answer: Option<Result<T, LockError>>) -> bool {
    let error = answer.and_then(Result::err);
    error.is_some_and(|error| matches!(error.kind(), LockErrorKind::OtherProcess(_)))
}

//! Cycles by threads that block, and by tasks that await.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use redbolt::time::Instant;
use redbolt::{Client, Clock, Guard, LockError, LockErrorKind, LockRequest, NodeState};

use super::figures::Crowd;
use super::sums::{Counted, Shares};
use crate::bench::load::demand::Demand;
use crate::bench::load::names::{Names, Naming};
use crate::bench::load::schedule::Schedule;
use crate::bench::signals::Signals;
use crate::bench::watch::progress::Progress;
use crate::bench::watch::{Seen, Watch, Window, processor};
use crate::failure::Failure;
use crate::output::say;

/// How often to check whether a signal ends the run.
const CHECK_EVERY: Duration = Duration::from_millis(50);

/// How often the line at the terminal is brought up to date.
const PUBLISH_EVERY: Duration = Duration::from_millis(500);

/// How long to wait for a lock: longer than any fair queue takes.
const WAIT: Duration = Duration::from_secs(30);

/// How long the last requests may take after the end of the run before the client ends them.
const GRACE: Duration = Duration::from_secs(5);

/// How long they may take after a signal.
const SHORT_GRACE: Duration = Duration::from_secs(1);

/// How long the end may take in silence.
const SILENCE: Duration = Duration::from_millis(500);

/// How long the last releases may then take to arrive.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// What the workers share.
struct Work {
    window: Window,
    is_over: AtomicBool,
    /// How many workers have not come to their end.
    left: AtomicUsize,
    /// When the lock that all workers want was released last, in nanoseconds.
    released_at: AtomicU64,
    /// Starts that were due and never made.
    overdue: AtomicU64,
    /// Starts that were made in the measured time.
    started: AtomicU64,
    demand: Demand,
    is_contended: bool,
    shares: Shares,
}

/// What a step took, and what was seen of it.
struct Measured {
    seconds: Duration,
    cpu: Duration,
    /// When it was over.
    at: Instant,
    further_trips: u64,
    widened: u64,
    absent: Vec<String>,
    seen: Seen,
}

impl Work {
    fn new(demand: &Demand, [warm_up, seconds]: [Duration; 2]) -> Self {
        let window = Window::new(warm_up, seconds);
        Self {
            window,
            is_over: AtomicBool::new(false),
            left: AtomicUsize::new(demand.in_flight),
            released_at: AtomicU64::new(0),
            overdue: AtomicU64::new(0),
            started: AtomicU64::new(0),
            demand: demand.clone(),
            is_contended: demand.resources.count() == Some(1),
            shares: Shares::new(window.begin, seconds),
        }
    }

    /// Waits for the end of the run. Returns its length and what it took.
    fn measure(&self, client: &Client, watch: &Watch<'_>) -> Measured {
        let progress = [Progress::default()];
        let (mut start, mut cpu) = (Clock::now(), processor::of_process());
        let [mut slice_end, mut publish_at] = [Instant::FAR_FUTURE, start + PUBLISH_EVERY];
        let mut trips = trips(client);
        let mut is_begun = false;
        let each = |now| {
            if now >= self.window.begin && !is_begun {
                is_begun = true;
                trips = self::trips(client);
                (start, cpu) = (Clock::now(), processor::of_process());
                slice_end = self.shares.next_slice(self.window.begin);
            }
            if now >= slice_end {
                self.shares.close_slice(now);
                slice_end = self.shares.next_slice(now);
            }
            if now >= publish_at {
                self.shares.publish(&progress[0]);
                progress[0].publish_absent(absent(client));
                publish_at = now + PUBLISH_EVERY;
            }
        };
        let seen = watch.step(self.window, &progress, each, || false);
        let (now, cpu_after) = (Clock::now(), processor::of_process());
        self.is_over.store(true, Ordering::Relaxed);
        self.shares.end(now);
        let after = self::trips(client);
        let seconds = now - self.window.begin;
        // The processor time is read a moment after the beginning.
        let share = seconds.as_secs_f64() / (now - start).as_secs_f64().max(1e-9);
        Measured {
            seconds,
            cpu: cpu_after.saturating_sub(cpu).mul_f64(share.min(2.0)),
            at: now,
            further_trips: after[0].saturating_sub(trips[0]),
            widened: after[1].saturating_sub(trips[1]),
            absent: absent(client),
            seen,
        }
    }

    /// Returns a request for the next lock of a worker.
    fn request(&self, client: &Client, name: &[u8]) -> LockRequest {
        let request = client.lock(name).ttl(self.demand.ttl).wait(WAIT);
        if self.demand.is_fenced { request.fenced() } else { request }
    }

    /// Waits until the workers have come to their end, and shuts the client down, which ends what
    /// they still wait for. Returns whether all releases were confirmed.
    fn wind_down(&self, client: &Client, signals: &Signals) -> bool {
        let over = Clock::now();
        let mut is_told = false;
        let left = || self.left.load(Ordering::Acquire);
        let grace = || if signals.caught() { SHORT_GRACE } else { GRACE };
        while left() > 0 && Clock::now() - over < grace() {
            if !is_told && Clock::now() - over >= SILENCE {
                is_told = true;
                match left() {
                    1 => say("ending: 1 request still waits for its lock"),
                    count => {
                        say(format_args!("ending: {count} requests still wait for their lock"));
                    }
                }
            }
            thread::park_timeout(CHECK_EVERY);
        }
        client.blocking_shutdown(SHUTDOWN_TIMEOUT).is_complete()
    }
}

/// How often nodes were asked for another fencing number, and how often all were asked after a
/// majority. A client that has ended counts nothing.
fn trips(client: &Client) -> [u64; 2] {
    let counters = client.counters().blocking_wait();
    counters.map_or([0; 2], |counters| [counters.locks.raised, counters.locks.widened])
}

/// Returns the addresses and states of the nodes that are not ready.
pub(super) fn absent(client: &Client) -> Vec<String> {
    let nodes = client.nodes().blocking_wait().unwrap_or_default();
    let absent = nodes.iter().filter(|node| node.state != NodeState::Ready);
    absent.map(|node| format!("{}: {node}", node.address)).collect()
}

/// One thread or task.
struct Worker {
    work: Arc<Work>,
    names: Names,
    schedule: Option<Schedule>,
    /// Draws which locks are extended.
    rng: fastrand::Rng,
    number: usize,
    cycles: u64,
    started: u64,
}

impl Worker {
    fn all(work: &Arc<Work>) -> Vec<Self> {
        let (naming, count) = (Naming::new(&work.demand), work.demand.in_flight);
        let origin = Clock::now();
        let worker = |number| Self {
            names: naming.of_worker(number),
            schedule: Schedule::new(origin, &work.demand, number, count),
            rng: work.demand.rng(number + count),
            number,
            cycles: 0,
            started: 0,
            work: Arc::clone(work),
        };
        (0..count).map(worker).collect()
    }

    fn is_over(&self) -> bool {
        self.work.is_over.load(Ordering::Relaxed)
    }

    /// Returns when the next cycle starts, or should have started.
    fn next_start(&mut self) -> Instant {
        let Some(schedule) = &mut self.schedule else { return Clock::now() };
        schedule.next()
    }

    /// Says that the cycle of `since` has started.
    fn start(&mut self, since: Instant) {
        self.started += u64::from(since >= self.work.window.begin);
        self.schedule.iter_mut().for_each(Schedule::advance);
    }

    fn is_extended(&mut self) -> bool {
        let percent = self.work.demand.extend_percent;
        percent > 0 && self.rng.u32(0..100) < percent
    }

    /// Counts a lock that was granted for a request of `since`, or why it was not.
    fn granted(
        &self,
        since: Instant,
        result: Result<Guard, LockError>,
    ) -> Option<(Guard, Instant)> {
        let now = Clock::now();
        // A wait that crosses the end of the run is a wait, and often the longest.
        let waited = now >= self.work.window.begin && since >= self.work.window.begin;
        let mut sums = self.work.shares.of(self.number);
        match result {
            Ok(guard) => {
                if waited {
                    sums.tally.acquired(now - since);
                    sums.longest = sums.longest.max(now - since);
                }
                if self.work.is_contended {
                    let released_at = self.work.released_at.load(Ordering::Acquire);
                    let released_at = Instant::from_nanos(released_at);
                    // A request that was started after the release has not waited for it.
                    if waited && !self.is_over() && released_at > since {
                        sums.tally.hand_over.record(now - released_at);
                    }
                }
                return Some((guard, now));
            }
            Err(error) => {
                sums.longest = sums.longest.max(now - since.max(self.work.window.begin));
                match error.kind() {
                    // Nobody but the end of the run shuts the client down.
                    LockErrorKind::Closed(_) if self.is_over() => sums.tally.unfinished += 1,
                    LockErrorKind::Acquire(error) => sums.tally.failures.add(error),
                    LockErrorKind::Request(_) | LockErrorKind::Busy { .. } => {
                        sums.tally.failures.add_refused();
                    }
                    _ => sums.tally.failures.add_other(),
                }
            }
        }
        None
    }

    /// Counts an extension that began at `since`.
    fn extended(&self, since: Instant, is_done: bool) {
        let mut sums = self.work.shares.of(self.number);
        if is_done {
            sums.tally.extend.record(Clock::now() - since);
        } else {
            sums.tally.failures.add_not_extended();
        }
    }

    /// Counts the cycle of a lock that is released now. Returns the guard to be released with a
    /// confirmation; without one, the guard is dropped.
    fn released(&mut self, since: Instant, guard: Guard) -> Option<Guard> {
        let now = Clock::now();
        // A cycle that crosses the end of the run is not one of the run.
        if since >= self.work.window.begin && !self.is_over() {
            self.cycles += 1;
            self.work.shares.of(self.number).tally.ended(now);
        }
        self.work.released_at.store(now.as_nanos(), Ordering::Release);
        self.work.demand.confirms.then_some(guard)
    }

    /// Counts the answer to a release that began at `since`.
    fn confirmed(&self, since: Instant) {
        if since >= self.work.window.begin {
            self.work.shares.of(self.number).tally.release.record(Clock::now() - since);
        }
    }

    /// Adds what this worker has done. Starts are overdue when the run ended at `end`.
    fn end(self) {
        let end = self.work.window.end.min(Clock::now());
        let overdue = self.schedule.as_ref().map_or(0, |schedule| schedule.overdue(end));
        self.work.overdue.fetch_add(overdue, Ordering::Relaxed);
        self.work.started.fetch_add(self.started, Ordering::Relaxed);
        self.work.shares.add_cycles(self.number, self.cycles);
        self.work.left.fetch_sub(1, Ordering::Release);
    }

    fn run_blocking(mut self, client: &Client) {
        while !self.is_over() {
            let since = self.next_start();
            if !self.park_until(since) {
                break;
            }
            self.start(since);
            let request = self.work.request(client, self.names.next());
            let Some((guard, now)) = self.granted(since, request.blocking_acquire()) else {
                continue;
            };
            if self.is_extended() {
                let done = guard.extend(self.work.demand.ttl).blocking_wait().is_ok();
                self.extended(now, done);
            }
            self.park_until(now + self.work.demand.hold);
            let begun = Clock::now();
            if let Some(guard) = self.released(since, guard) {
                // The answer of the nodes does not matter here.
                let _ = guard.release().blocking_wait();
                self.confirmed(begun);
            }
        }
        self.end();
    }

    /// Waits until then. Returns `false` if the run is over before.
    fn park_until(&self, until: Instant) -> bool {
        loop {
            let now = Clock::now();
            if now >= until || self.is_over() {
                return now >= until;
            }
            thread::park_timeout((until - now).min(CHECK_EVERY));
        }
    }

    async fn run(mut self, client: Client) {
        while !self.is_over() {
            let since = self.next_start();
            if !self.sleep_until(since).await {
                break;
            }
            self.start(since);
            let request = self.work.request(&client, self.names.next());
            let Some((guard, now)) = self.granted(since, request.await) else { continue };
            if self.is_extended() {
                let done = guard.extend(self.work.demand.ttl).await.is_ok();
                self.extended(now, done);
            }
            self.sleep_until(now + self.work.demand.hold).await;
            let begun = Clock::now();
            if let Some(guard) = self.released(since, guard) {
                // The answer of the nodes does not matter here.
                let _ = guard.release().await;
                self.confirmed(begun);
            }
        }
        self.end();
    }

    /// Waits as [`park_until`](Self::park_until) does. The timers of the runtime know milliseconds.
    async fn sleep_until(&self, until: Instant) -> bool {
        loop {
            let now = Clock::now();
            if now >= until || self.is_over() {
                return now >= until;
            }
            tokio::time::sleep((until - now).min(CHECK_EVERY)).await;
        }
    }
}

pub(super) fn threads(
    client: &Client,
    demand: &Demand,
    times: [Duration; 2],
    signals: &Signals,
    watch: &Watch<'_>,
) -> Result<Crowd, Failure> {
    let work = Arc::new(Work::new(demand, times));
    let mut threads = Vec::with_capacity(demand.in_flight);
    for worker in Worker::all(&work) {
        let client = client.clone();
        let builder = thread::Builder::new().stack_size(256 << 10);
        threads.push(builder.spawn(move || worker.run_blocking(&client))?);
    }
    let measured = work.measure(client, watch);
    let is_clean = work.wind_down(client, signals);
    for thread in threads {
        thread.join().map_err(|_| Failure::software("a thread of the load panicked"))?;
    }
    finish(work, measured, is_clean)
}

pub(super) fn tasks(
    client: &Client,
    demand: &Demand,
    times: [Duration; 2],
    signals: &Signals,
    watch: &Watch<'_>,
) -> Result<Crowd, Failure> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(2).enable_time().build()?;
    let work = Arc::new(Work::new(demand, times));
    let workers = Worker::all(&work).into_iter();
    let tasks: Vec<_> = workers.map(|worker| runtime.spawn(worker.run(client.clone()))).collect();
    let measured = work.measure(client, watch);
    let is_clean = work.wind_down(client, signals);
    for task in tasks {
        let joined = runtime.block_on(task);
        joined.map_err(|_| Failure::software("a task of the load panicked"))?;
    }
    finish(work, measured, is_clean)
}

fn finish(work: Arc<Work>, measured: Measured, is_clean: bool) -> Result<Crowd, Failure> {
    // All workers have added their cycles and are gone.
    let work = Arc::into_inner(work);
    let work = work.ok_or_else(|| Failure::software("a worker of the load is left"))?;
    let (overdue, started) = (work.overdue.into_inner(), work.started.into_inner());
    let counted: Counted = work.shares.count(measured.at, [overdue, started + overdue]);
    Ok(Crowd {
        seconds: measured.seconds,
        cpu: measured.cpu,
        counted,
        is_clean,
        wound_down: Clock::now() - measured.at,
        further_trips: measured.further_trips,
        widened: measured.widened,
        kept: None,
        absent: measured.absent,
        seen: measured.seen,
    })
}

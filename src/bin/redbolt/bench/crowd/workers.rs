//! Cycles by threads that block, and by tasks that await.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use redbolt::time::Instant;
use redbolt::{Client, Clock, Guard, LockError, LockErrorKind, LockRequest};

use super::figures::Crowd;
use super::processor::processor_time;
use crate::bench::args::{Args, WARM_UP};
use crate::bench::load::names::Names;
use crate::bench::load::tally::{Latencies, Tally};
use crate::bench::signals::Signals;
use crate::failure::Failure;
use crate::output::say;

/// How often to check whether a signal ends the run.
const CHECK_EVERY: Duration = Duration::from_millis(50);

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

/// How many tallies the workers share.
const SHARES: u64 = 16;

/// What the workers share.
struct Run {
    begin: Instant,
    end: Instant,
    is_over: AtomicBool,
    /// How many workers have not come to their end.
    left: AtomicUsize,
    /// When the lock that all workers want was released last, in nanoseconds.
    released_at: AtomicU64,
    is_contended: bool,
    /// Whether the workers wait for the answers to their releases.
    confirms: bool,
    resources: Option<u32>,
    ttl: Duration,
    is_fenced: bool,
    /// Several workers share a histogram, because histograms are large and workers many.
    sums: Box<[Mutex<Sums>]>,
}

struct Sums {
    tally: Tally,
    hand_over: Latencies,
    /// The cycles of the worker with the fewest cycles, and of the worker with the most.
    fewest: u64,
    most: u64,
    /// The longest wait of a worker for one lock.
    longest: Duration,
}

impl Sums {
    fn new() -> Self {
        Self {
            tally: Tally::new(),
            hand_over: Latencies::new(),
            fewest: u64::MAX,
            most: 0,
            longest: Duration::ZERO,
        }
    }
}

impl Run {
    fn new(args: &Args, workers: usize) -> Self {
        let begin = Clock::now() + WARM_UP;
        Self {
            begin,
            end: begin + args.seconds,
            is_over: AtomicBool::new(false),
            left: AtomicUsize::new(workers),
            released_at: AtomicU64::new(0),
            is_contended: args.resources == Some(1),
            confirms: args.confirm,
            resources: args.resources,
            ttl: args.ttl,
            is_fenced: args.fenced,
            sums: (0..SHARES).map(|_| Mutex::new(Sums::new())).collect(),
        }
    }

    /// Waits for the end of the run. Returns its length and what it took.
    fn measure(&self, client: &Client, signals: &Signals) -> Measured {
        let wait_until = |until: Instant| {
            while Clock::now() < until && !signals.caught() {
                thread::park_timeout((until - Clock::now()).min(CHECK_EVERY));
            }
        };
        // A client that has ended counts nothing.
        let raised =
            || client.counters().blocking_wait().map_or(0, |counters| counters.locks.raised);
        wait_until(self.begin);
        let trips = self.is_fenced.then(&raised);
        let (start, cpu) = (Clock::now(), processor_time());
        wait_until(self.end);
        self.is_over.store(true, Ordering::Relaxed);
        Measured {
            seconds: Clock::now() - start,
            cpu: processor_time().saturating_sub(cpu),
            further_trips: trips.map(|before| raised().saturating_sub(before)),
        }
    }

    /// Returns a request for the next lock of a worker.
    fn request(&self, client: &Client, name: &[u8]) -> LockRequest {
        let request = client.lock(name).ttl(self.ttl).wait(WAIT);
        if self.is_fenced { request.fenced() } else { request }
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

    fn crowd(self, measured: Measured, is_clean: bool) -> Crowd {
        let Measured { seconds, cpu, further_trips } = measured;
        let mut all = Sums::new();
        for sums in self.sums {
            let sums = sums.into_inner().unwrap_or_else(PoisonError::into_inner);
            all.tally.merge(&sums.tally);
            all.hand_over.merge(&sums.hand_over);
            all.fewest = all.fewest.min(sums.fewest);
            all.most = all.most.max(sums.most);
            all.longest = all.longest.max(sums.longest);
        }
        let Sums { tally, hand_over, fewest, most, longest } = all;
        Crowd {
            seconds,
            cpu,
            cycles: tally.cycles,
            failures: tally.failures,
            unfinished: tally.unfinished,
            is_clean,
            acquire: tally.acquire.summary(),
            hand_over: hand_over.summary(),
            fewest: fewest.min(most),
            most,
            longest,
            extended: 0,
            lost: 0,
            further_trips,
        }
    }
}

/// What the run took.
struct Measured {
    seconds: Duration,
    cpu: Duration,
    further_trips: Option<u64>,
}

/// One thread or task.
struct Worker {
    run: Arc<Run>,
    names: Names,
    share: usize,
    cycles: u64,
}

impl Worker {
    fn new(run: &Arc<Run>, number: u64) -> Self {
        Self {
            names: Names::of_worker(run.resources, number),
            share: (number % SHARES) as usize,
            cycles: 0,
            run: Arc::clone(run),
        }
    }

    fn is_over(&self) -> bool {
        self.run.is_over.load(Ordering::Relaxed)
    }

    /// Counts a request that was started at `since` and has ended. Drops the guard, or returns the
    /// guard to be released with a confirmation.
    fn finished(&mut self, since: Instant, result: Result<Guard, LockError>) -> Option<Guard> {
        let now = Clock::now();
        // A wait that crosses the end of the run is a wait, and often the longest. Its cycle is not
        // one of the run.
        let waited = since >= self.run.begin;
        let counts = waited && !self.is_over();
        let mut sums = self.run.sums[self.share].lock().unwrap_or_else(PoisonError::into_inner);
        match result {
            Ok(guard) => {
                if counts {
                    self.cycles += 1;
                    sums.tally.cycles += 1;
                }
                if waited {
                    sums.tally.acquire.record(now - since);
                    sums.longest = sums.longest.max(now - since);
                }
                if self.run.is_contended {
                    let released_at = self.run.released_at.load(Ordering::Acquire);
                    let released_at = Instant::from_nanos(released_at);
                    // A request that was started after the release has not waited for it.
                    if counts && released_at > since {
                        sums.hand_over.record(now - released_at);
                    }
                    let now = Clock::now().as_nanos();
                    self.run.released_at.store(now, Ordering::Release);
                }
                return self.run.confirms.then_some(guard);
            }
            Err(error) => {
                sums.longest = sums.longest.max(now - since.max(self.run.begin));
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

    fn add_cycles(self) {
        let mut sums = self.run.sums[self.share].lock().unwrap_or_else(PoisonError::into_inner);
        sums.fewest = sums.fewest.min(self.cycles);
        sums.most = sums.most.max(self.cycles);
        self.run.left.fetch_sub(1, Ordering::Release);
    }
}

pub(super) fn threads(
    client: &Client,
    args: &Args,
    count: usize,
    signals: &Signals,
) -> Result<Crowd, Failure> {
    let run = Arc::new(Run::new(args, count));
    let mut threads = Vec::with_capacity(count);
    for number in 0..count {
        let mut worker = Worker::new(&run, number as u64);
        let client = client.clone();
        let builder = thread::Builder::new().stack_size(256 << 10);
        let spawned = builder.spawn(move || {
            while !worker.is_over() {
                let since = Clock::now();
                let request = worker.run.request(&client, worker.names.next());
                let result = request.blocking_acquire();
                if let Some(guard) = worker.finished(since, result) {
                    // The answer of the nodes does not matter here.
                    let _ = guard.release().blocking_wait();
                }
            }
            worker.add_cycles();
        });
        threads.push(spawned?);
    }
    let measured = run.measure(client, signals);
    let is_clean = run.wind_down(client, signals);
    for thread in threads {
        thread.join().map_err(|_| Failure::software("a thread of the load panicked"))?;
    }
    finish(run, measured, is_clean)
}

pub(super) fn tasks(
    client: &Client,
    args: &Args,
    count: usize,
    signals: &Signals,
) -> Result<Crowd, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build()?;
    let run = Arc::new(Run::new(args, count));
    let tasks: Vec<_> = (0..count)
        .map(|number| {
            let mut worker = Worker::new(&run, number as u64);
            let client = client.clone();
            runtime.spawn(async move {
                while !worker.is_over() {
                    let since = Clock::now();
                    let request = worker.run.request(&client, worker.names.next());
                    let result = request.await;
                    if let Some(guard) = worker.finished(since, result) {
                        // The answer of the nodes does not matter here.
                        let _ = guard.release().await;
                    }
                }
                worker.add_cycles();
            })
        })
        .collect();
    let measured = run.measure(client, signals);
    let is_clean = run.wind_down(client, signals);
    for task in tasks {
        let joined = runtime.block_on(task);
        joined.map_err(|_| Failure::software("a task of the load panicked"))?;
    }
    finish(run, measured, is_clean)
}

fn finish(run: Arc<Run>, measured: Measured, is_clean: bool) -> Result<Crowd, Failure> {
    // All workers have added their cycles and are gone.
    let run = Arc::into_inner(run);
    let run = run.ok_or_else(|| Failure::software("a worker of the load is left"))?;
    Ok(run.crowd(measured, is_clean))
}

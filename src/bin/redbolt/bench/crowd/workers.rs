//! Cycles by threads that block, and by tasks that await.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use redbolt::time::Instant;
use redbolt::{Client, Clock, Guard, LockError};

use super::super::args::{Args, WARM_UP};
use super::super::failure::Failure;
use super::super::names::Names;
use super::super::signals::Signals;
use super::super::tally::{Latencies, Tally};
use super::figures::Crowd;
use super::processor::processor_time;

/// How often is looked whether somebody wants the run to end.
const LOOK: Duration = Duration::from_millis(50);

/// How long a lock is waited for: longer than any fair line takes.
const WAIT: Duration = Duration::from_secs(30);

/// How many tallies the workers share.
const SHARES: u64 = 16;

/// What the workers have in common.
struct Floor {
    begin: Instant,
    end: Instant,
    is_over: AtomicBool,
    /// When the lock that all contend for was given back last, in nanoseconds.
    given_back: AtomicU64,
    is_contended: bool,
    /// Releases are waited for.
    confirms: bool,
    resources: Option<u32>,
    ttl: Duration,
    /// Histograms are large and workers many, so that several share one.
    sums: Box<[Mutex<Sums>]>,
}

struct Sums {
    tally: Tally,
    hand_over: Latencies,
    /// The cycles of the worker with the fewest and of that with the most.
    fewest: u64,
    most: u64,
    /// The longest that anybody has waited for one lock.
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

impl Floor {
    fn new(args: &Args) -> Self {
        let begin = Clock::now() + WARM_UP;
        Self {
            begin,
            end: begin + args.seconds,
            is_over: AtomicBool::new(false),
            given_back: AtomicU64::new(0),
            is_contended: args.resources == Some(1),
            confirms: args.confirm,
            resources: args.resources,
            ttl: args.ttl,
            sums: (0..SHARES).map(|_| Mutex::new(Sums::new())).collect(),
        }
    }

    /// Waits for the end, and returns the figures once all workers have handed in theirs.
    fn measure(&self, signals: &Signals) -> (Duration, Duration) {
        let nap = |until: Instant| {
            while Clock::now() < until && !signals.caught() {
                thread::park_timeout((until - Clock::now()).min(LOOK));
            }
        };
        nap(self.begin);
        let (start, before) = (Clock::now(), processor_time());
        nap(self.end);
        self.is_over.store(true, Ordering::Relaxed);
        (Clock::now() - start, processor_time().saturating_sub(before))
    }

    fn crowd(self, (seconds, cpu): (Duration, Duration)) -> Crowd {
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
            acquire: tally.acquire.summary(),
            hand_over: hand_over.summary(),
            fewest: fewest.min(most),
            most,
            longest,
            extended: 0,
            lost: 0,
        }
    }
}

/// One thread or task.
struct Worker {
    floor: Arc<Floor>,
    names: Names,
    share: usize,
    cycles: u64,
}

impl Worker {
    fn new(floor: &Arc<Floor>, number: u64) -> Self {
        Self {
            names: Names::of_worker(floor.resources, number),
            share: (number % SHARES) as usize,
            cycles: 0,
            floor: Arc::clone(floor),
        }
    }

    fn is_over(&self) -> bool {
        self.floor.is_over.load(Ordering::Relaxed)
    }

    /// The request of `since` has ended. Drops the guard, or returns it to be released with a
    /// confirmation.
    fn landed(&mut self, since: Instant, result: Result<Guard, LockError>) -> Option<Guard> {
        let now = Clock::now();
        let counts = since >= self.floor.begin && !self.is_over();
        let mut sums = self.floor.sums[self.share].lock().unwrap_or_else(PoisonError::into_inner);
        match result {
            Ok(guard) => {
                if counts {
                    self.cycles += 1;
                    sums.tally.cycles += 1;
                    sums.tally.acquire.record(now - since);
                    sums.longest = sums.longest.max(now - since);
                }
                if self.floor.is_contended {
                    let given_back = self.floor.given_back.load(Ordering::Acquire);
                    let given_back = Instant::from_nanos(given_back);
                    // Who asked after that was not waiting for it.
                    if counts && given_back > since {
                        sums.hand_over.record(now - given_back);
                    }
                    let now = Clock::now().as_nanos();
                    self.floor.given_back.store(now, Ordering::Release);
                }
                return self.floor.confirms.then_some(guard);
            }
            Err(LockError::Acquire(error)) => sums.tally.failures.add(error),
            Err(_) => sums.tally.failures.add_lost(),
        }
        None
    }

    fn hand_in(self) {
        let mut sums = self.floor.sums[self.share].lock().unwrap_or_else(PoisonError::into_inner);
        sums.fewest = sums.fewest.min(self.cycles);
        sums.most = sums.most.max(self.cycles);
    }
}

pub(super) fn threads(
    client: &Client,
    args: &Args,
    count: usize,
    signals: &Signals,
) -> Result<Crowd, Failure> {
    let floor = Arc::new(Floor::new(args));
    let mut threads = Vec::with_capacity(count);
    for number in 0..count {
        let mut worker = Worker::new(&floor, number as u64);
        let client = client.clone();
        let builder = thread::Builder::new().stack_size(256 << 10);
        let spawned = builder.spawn(move || {
            while !worker.is_over() {
                let since = Clock::now();
                let ttl = worker.floor.ttl;
                let request = client.lock(worker.names.next()).ttl(ttl).wait(WAIT);
                let result = request.acquire();
                if let Some(guard) = worker.landed(since, result) {
                    // What the nodes say makes no difference here.
                    let _ = guard.release().wait();
                }
            }
            worker.hand_in();
        });
        threads.push(spawned?);
    }
    let measured = floor.measure(signals);
    for thread in threads {
        thread.join().map_err(|_| Failure::software("a thread of the load panicked"))?;
    }
    finish(floor, measured)
}

pub(super) fn tasks(
    client: &Client,
    args: &Args,
    count: usize,
    signals: &Signals,
) -> Result<Crowd, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build()?;
    let floor = Arc::new(Floor::new(args));
    let tasks: Vec<_> = (0..count)
        .map(|number| {
            let mut worker = Worker::new(&floor, number as u64);
            let client = client.clone();
            runtime.spawn(async move {
                while !worker.is_over() {
                    let since = Clock::now();
                    let ttl = worker.floor.ttl;
                    let request = client.lock(worker.names.next()).ttl(ttl).wait(WAIT);
                    let result = request.await;
                    if let Some(guard) = worker.landed(since, result) {
                        // What the nodes say makes no difference here.
                        let _ = guard.release().await;
                    }
                }
                worker.hand_in();
            })
        })
        .collect();
    let measured = floor.measure(signals);
    for task in tasks {
        let joined = runtime.block_on(task);
        joined.map_err(|_| Failure::software("a task of the load panicked"))?;
    }
    finish(floor, measured)
}

fn finish(floor: Arc<Floor>, measured: (Duration, Duration)) -> Result<Crowd, Failure> {
    // All workers have handed in their part and are gone.
    let floor = Arc::into_inner(floor);
    let floor = floor.ok_or_else(|| Failure::software("a worker of the load is left"))?;
    Ok(floor.crowd(measured))
}

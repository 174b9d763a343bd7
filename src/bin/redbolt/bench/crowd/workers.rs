//! Cycles by threads that block, and by tasks that await.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use redbolt::time::Instant;
use redbolt::{Client, Clock, Guard, LockError, LockErrorKind};

use super::figures::Crowd;
use super::work::{CHECK_EVERY, Measured, Work};
use crate::bench::load::demand::Demand;
use crate::bench::load::names::{Names, Naming};
use crate::bench::load::schedule::Schedule;
use crate::bench::signals::Signals;
use crate::bench::watch::Watch;
use crate::failure::Failure;

/// One thread or task.
struct Worker {
    work: Arc<Work>,
    names: Names,
    schedule: Option<Schedule>,
    /// Draws which locks are extended.
    rng: fastrand::Rng,
    number: usize,
    cycles: u64,
    /// The starts that were due in the measured time, and made.
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

    /// Returns when the next cycle starts, or should have started.
    fn next_start(&self) -> Instant {
        self.schedule.as_ref().map_or_else(Clock::now, Schedule::next)
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

    /// Whether the warm-up is over at this time, so that what happens is counted.
    fn is_counted(&self, at: Instant) -> bool {
        at >= self.work.window.begin
    }

    /// Counts a lock that was granted for a request of `since`, or why it was not.
    fn granted(
        &self,
        since: Instant,
        result: Result<Guard, LockError>,
    ) -> Option<(Guard, Instant)> {
        let now = Clock::now();
        // A wait that crosses the end of the run is a wait, and often the longest.
        let waited = self.is_counted(since);
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
                    if waited && !self.work.is_over() && released_at > since {
                        sums.tally.hand_over.record(now - released_at);
                    }
                }
                return Some((guard, now));
            }
            // What failed in the warm-up says nothing of the run.
            Err(_) if !self.is_counted(now) => {}
            Err(error) => {
                sums.longest = sums.longest.max(now - since.max(self.work.window.begin));
                match error.kind() {
                    // Nobody but the end of the run shuts the client down.
                    LockErrorKind::Closed(_) if self.work.is_over() => sums.tally.unfinished += 1,
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

    /// Counts an extension that began at `since`, and returns when it ended.
    fn extended(&self, since: Instant, is_done: bool) -> Instant {
        let now = Clock::now();
        if self.is_counted(now) {
            let mut sums = self.work.shares.of(self.number);
            if is_done {
                sums.tally.extend.record(now - since);
            } else {
                sums.tally.failures.add_not_extended();
            }
        }
        now
    }

    /// Counts the cycle of a lock that is released now. Returns the guard to be released with a
    /// confirmation; without one, the guard is dropped.
    ///
    /// A cycle counts where it ends, as that of an engine: of the cycles that cross the beginning
    /// or the end of the run, those of one side count, or the rate would be too low.
    fn released(&mut self, guard: Guard) -> Option<Guard> {
        let now = Clock::now();
        if self.is_counted(now) && !self.work.is_over() {
            self.cycles += 1;
            self.work.shares.of(self.number).tally.ended(now);
        }
        self.work.released_at.store(now.as_nanos(), Ordering::Release);
        self.work.demand.confirms.then_some(guard)
    }

    /// Counts the answer to a release that began at `since`.
    fn confirmed(&self, since: Instant) {
        if self.is_counted(since) {
            self.work.shares.of(self.number).tally.release.record(Clock::now() - since);
        }
    }

    /// Adds what this worker has done.
    fn end(self) {
        let end = self.work.window.end.min(Clock::now());
        let overdue = |at| self.schedule.as_ref().map_or(0, |schedule| schedule.overdue(at));
        // What was overdue when the warm-up ended was not due in the measured time.
        let due = self.started + overdue(end).saturating_sub(overdue(self.work.window.begin));
        self.work.overdue.fetch_add(overdue(end), Ordering::Relaxed);
        self.work.due.fetch_add(due, Ordering::Relaxed);
        self.work.shares.add_cycles(self.number, self.cycles);
        self.work.left.fetch_sub(1, Ordering::Release);
    }

    fn run_blocking(mut self, client: &Client) {
        while !self.work.is_over() {
            let since = self.next_start();
            if !self.park_until(since) {
                break;
            }
            self.start(since);
            let request = self.work.request(client, self.names.next());
            let Some((guard, mut now)) = self.granted(since, request.blocking_acquire()) else {
                continue;
            };
            if self.is_extended() {
                let done = guard.extend(self.work.demand.ttl).blocking_wait().is_ok();
                now = self.extended(now, done);
            }
            self.park_until(now + self.work.demand.hold);
            let begun = Clock::now();
            if let Some(guard) = self.released(guard) {
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
            if now >= until || self.work.is_over() {
                return now >= until;
            }
            thread::park_timeout((until - now).min(CHECK_EVERY));
        }
    }

    async fn run(mut self, client: Client) {
        while !self.work.is_over() {
            let since = self.next_start();
            if !self.sleep_until(since).await {
                break;
            }
            self.start(since);
            let request = self.work.request(&client, self.names.next());
            let Some((guard, mut now)) = self.granted(since, request.await) else { continue };
            if self.is_extended() {
                let done = guard.extend(self.work.demand.ttl).await.is_ok();
                now = self.extended(now, done);
            }
            self.sleep_until(now + self.work.demand.hold).await;
            let begun = Clock::now();
            if let Some(guard) = self.released(guard) {
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
            if now >= until || self.work.is_over() {
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
    let work = Arc::into_inner(work);
    let work = work.ok_or_else(|| Failure::software("a worker of the load is left"))?;
    Ok(work.into_crowd(measured, is_clean))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::load::demand::sample;

    const AN_HOUR: Duration = Duration::from_secs(3600);

    /// Creates the one worker of a run that has just begun.
    fn worker(warm_up: Duration) -> (Arc<Work>, Worker) {
        let work = Arc::new(Work::new(&sample(), [warm_up, AN_HOUR]));
        let worker = Worker::all(&work).pop().expect("one worker");
        (work, worker)
    }

    #[test]
    fn nothing_of_the_warm_up_is_counted() {
        let nobody = redbolt::Config::with_addresses(["127.0.0.1:1".parse().expect("an address")]);
        let client = Client::new(nobody).expect("a client needs no node");
        for (warm_up, count) in [(Duration::ZERO, 1), (AN_HOUR, 0)] {
            let (work, worker) = worker(warm_up);
            let since = worker.next_start();
            let refused = client.lock("r").ttl(Duration::ZERO).blocking_acquire();
            assert!(worker.granted(since, refused).is_none());
            worker.extended(since, true);
            worker.extended(since, false);
            let sums = work.shares.of(0);
            // A request that is refused, and an extension that fails.
            assert_eq!(sums.tally.failures.total(), 2 * count);
            assert_eq!(sums.tally.extend.values().map(|(_, count)| count).sum::<u64>(), count);
        }
    }
}

//! Many locks that are only held and kept alive.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use redbolt::{Acquire, Client, Clock, Guard, LockErrorKind};

use super::figures::{Crowd, Kept};
use super::status;
use super::sums::Counted;
use crate::bench::load::demand::Demand;
use crate::bench::load::names::{Names, Naming};
use crate::bench::load::tally::Tally;
use crate::bench::signals::Signals;
use crate::bench::watch::progress::Progress;
use crate::bench::watch::{Watch, Window, processor};
use crate::failure::Failure;

/// How many locks are requested at a time.
const AT_A_TIME: usize = 512;

/// How often to check whether a signal ends the run.
const CHECK_EVERY: Duration = Duration::from_millis(50);

/// How long the last releases may take to arrive.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// How long to wait for one lock.
const WAIT: Duration = Duration::from_secs(10);

/// How many times requests may fail before no more are made. Each time takes as long as a lock is
/// waited for, and nodes that do not answer would make a million locks wait for hours.
const MOST_FAILED: u32 = 2;

/// How long locks may be kept alive after the run, which releases them.
const MARGIN: Duration = Duration::from_secs(600);

pub(super) fn keep_alive(
    client: &Client,
    demand: &Demand,
    [_, seconds]: [Duration; 2],
    signals: &Signals,
    watch: &Watch<'_>,
) -> Result<Crowd, Failure> {
    let lost = Arc::new(AtomicU64::new(0));
    let mut tally = Tally::new(Clock::now());
    let request = |name: &[u8]| {
        let lost = Arc::clone(&lost);
        let request = client.lock(name).ttl(demand.ttl).wait(WAIT);
        let request = request.keep_alive_for(seconds + MARGIN);
        let request = if demand.is_fenced { request.fenced() } else { request };
        request.on_lost(move |_| _ = lost.fetch_add(1, Ordering::Relaxed)).acquire()
    };
    let is_over = AtomicBool::new(false);
    let guards = thread::scope(|scope| {
        scope.spawn(|| end_on_signal(client, signals, &is_over));
        let mut names = Naming::new(demand).of_worker(0);
        let guards = acquire_all(demand.in_flight, signals, &mut tally, &mut names, request);
        is_over.store(true, Ordering::Relaxed);
        guards
    })?;
    tally.end_late();
    let validities =
        |guards: &[Guard]| -> Vec<_> { guards.iter().map(Guard::valid_until).collect() };
    let (start, before, first) = (Clock::now(), processor::of_process(), validities(&guards));
    let window = Window::new(Duration::ZERO, seconds);
    // Nothing is cycled here, and the line at the terminal shows seconds and absent nodes.
    let progress = [Progress::default()];
    let seen = watch.step(window, &progress, |_| {}, || false);
    let cpu = processor::of_process().saturating_sub(before);
    let last = validities(&guards);
    let held = guards.iter().filter(|guard| guard.is_held()).count();
    let extended = first.iter().zip(&last).filter(|(first, last)| last > first).count();
    let end = Clock::now();
    let [further_trips, widened] = status::trips(client);
    let absent = status::absent(client);
    let is_clean = client.blocking_shutdown(SHUTDOWN_TIMEOUT).is_complete();
    Ok(Crowd {
        seconds: end - start,
        cpu,
        counted: Counted { tally, cycles: Vec::new(), longest: Duration::ZERO, overdue: 0, due: 0 },
        is_clean,
        wound_down: Clock::now() - end,
        further_trips,
        widened,
        kept: Some(Kept {
            held: held as u64,
            extended: extended as u64,
            lost: lost.load(Ordering::Relaxed),
        }),
        absent,
        seen,
    })
}

/// Acquires `count` locks, or fewer if too many requests fail or a signal ends the run.
fn acquire_all(
    count: usize,
    signals: &Signals,
    tally: &mut Tally,
    names: &mut Names,
    request: impl Fn(&[u8]) -> Acquire,
) -> Result<Vec<Guard>, Failure> {
    let mut guards: Vec<Guard> = Vec::with_capacity(count);
    let mut failed = 0;
    while guards.len() < count && failed < MOST_FAILED && !signals.caught() {
        let (since, before) = (Clock::now(), tally.failures.total());
        let at_a_time = AT_A_TIME.min(count - guards.len());
        let requests: Vec<_> = (0..at_a_time).map(|_| request(names.next())).collect();
        for request in requests {
            match request.blocking_wait() {
                Ok(guard) => {
                    tally.acquired(Clock::now() - since);
                    guards.push(guard);
                }
                Err(error) => match error.kind() {
                    LockErrorKind::Acquire(error) => tally.failures.add(error),
                    // A signal has ended the requests.
                    LockErrorKind::Closed(_) if signals.caught() => {}
                    _ => return Err(Failure::software(error)),
                },
            }
        }
        failed += u32::from(tally.failures.total() > before);
    }
    Ok(guards)
}

/// Ends all requests when a signal comes: nodes that do not answer must not hold up Ctrl-C.
fn end_on_signal(client: &Client, signals: &Signals, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        if signals.caught() {
            client.blocking_shutdown(SHUTDOWN_TIMEOUT);
            return;
        }
        thread::park_timeout(CHECK_EVERY);
    }
}

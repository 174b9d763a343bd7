//! Many locks that are only held and kept alive.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use redbolt::{Acquire, Client, Clock, Guard, LockErrorKind};

use super::figures::Crowd;
use super::processor::processor_time;
use crate::bench::args::Args;
use crate::bench::load::names::Names;
use crate::bench::load::tally::{Failures, Latencies};
use crate::bench::signals::Signals;
use crate::failure::Failure;

/// How many locks are requested at a time.
const AT_A_TIME: usize = 512;

/// How often to check whether a signal ends the run.
const CHECK_EVERY: Duration = Duration::from_millis(50);

/// How long the last releases may take to arrive.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// How long to wait for one lock.
const WAIT: Duration = Duration::from_secs(10);

pub(super) fn hold(
    client: &Client,
    args: &Args,
    count: usize,
    signals: &Signals,
) -> Result<Crowd, Failure> {
    let lost = Arc::new(AtomicU64::new(0));
    let mut acquire = Latencies::new();
    let mut failures = Failures::default();
    let max_hold = args.seconds + Duration::from_secs(600);
    let request = |name: &[u8]| {
        let lost = Arc::clone(&lost);
        let request = client.lock(name).ttl(args.ttl).wait(WAIT).keep_alive_for(max_hold);
        let request = if args.fenced { request.fenced() } else { request };
        request.on_lost(move |_| _ = lost.fetch_add(1, Ordering::Relaxed)).acquire()
    };
    let is_over = AtomicBool::new(false);
    let guards = thread::scope(|scope| {
        scope.spawn(|| end_on_signal(client, signals, &is_over));
        let guards = acquire_all(count, signals, &mut acquire, &mut failures, request);
        is_over.store(true, Ordering::Relaxed);
        guards
    })?;
    let validities =
        |guards: &[Guard]| -> Vec<_> { guards.iter().map(Guard::valid_until).collect() };
    let (start, before, first) = (Clock::now(), processor_time(), validities(&guards));
    let end = start + args.seconds;
    while Clock::now() < end && !signals.caught() {
        thread::park_timeout((end - Clock::now()).min(CHECK_EVERY));
    }
    let cpu = processor_time().saturating_sub(before);
    let last = validities(&guards);
    let held = guards.iter().filter(|guard| guard.is_held()).count();
    let extended = first.iter().zip(&last).filter(|(first, last)| last > first).count();
    let seconds = Clock::now() - start;
    let counters = client.counters().blocking_wait();
    let further_trips = counters.ok().map(|all| all.locks.raised).filter(|_| args.fenced);
    Ok(Crowd {
        seconds,
        cpu,
        cycles: held as u64,
        failures,
        unfinished: 0,
        is_clean: client.blocking_shutdown(SHUTDOWN_TIMEOUT).is_complete(),
        acquire: acquire.summary(),
        hand_over: None,
        fewest: 0,
        most: 0,
        longest: Duration::ZERO,
        extended: extended as u64,
        lost: lost.load(Ordering::Relaxed),
        further_trips,
    })
}

/// Acquires `count` locks, or fewer if too many requests fail or a signal ends the run.
fn acquire_all(
    count: usize,
    signals: &Signals,
    acquire: &mut Latencies,
    failures: &mut Failures,
    request: impl Fn(&[u8]) -> Acquire,
) -> Result<Vec<Guard>, Failure> {
    let mut guards: Vec<Guard> = Vec::with_capacity(count);
    let mut names = Names::new(None);
    while guards.len() < count && failures.total() <= count as u64 && !signals.caught() {
        let since = Clock::now();
        let at_a_time = AT_A_TIME.min(count - guards.len());
        let requests: Vec<_> = (0..at_a_time).map(|_| request(names.next())).collect();
        for request in requests {
            match request.blocking_wait() {
                Ok(guard) => {
                    acquire.record(Clock::now() - since);
                    guards.push(guard);
                }
                Err(error) => match error.kind() {
                    LockErrorKind::Acquire(error) => failures.add(error),
                    // A signal has ended the requests.
                    LockErrorKind::Closed(_) if signals.caught() => {}
                    _ => return Err(Failure::software(error)),
                },
            }
        }
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

//! Many locks that are only held and kept alive.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use redbolt::{Client, Clock, Guard, LockErrorKind};

use super::super::args::Args;
use super::super::failure::Failure;
use super::super::names::Names;
use super::super::signals::Signals;
use super::super::tally::{Failures, Latencies};
use super::figures::Crowd;
use super::processor::processor_time;

/// How many locks are requested at a time.
const AT_A_TIME: usize = 512;

/// How often to check whether a signal ends the run.
const CHECK_EVERY: Duration = Duration::from_millis(50);

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
    let mut guards: Vec<Guard> = Vec::with_capacity(count);
    let mut names = Names::new(None);
    let max_hold = args.seconds + Duration::from_secs(600);
    while guards.len() < count && !signals.caught() {
        let since = Clock::now();
        let requests: Vec<_> = (0..AT_A_TIME.min(count - guards.len()))
            .map(|_| {
                let lost = Arc::clone(&lost);
                let request = client.lock(names.next()).ttl(args.ttl).wait(WAIT);
                let request = request.keep_alive_for(max_hold);
                request.on_lost(move |_| _ = lost.fetch_add(1, Ordering::Relaxed)).acquire()
            })
            .collect();
        for request in requests {
            match request.blocking_wait() {
                Ok(guard) => {
                    acquire.record(Clock::now() - since);
                    guards.push(guard);
                }
                Err(error) => match error.kind() {
                    LockErrorKind::Acquire(error) => failures.add(error),
                    _ => return Err(Failure::software(error)),
                },
            }
        }
        if failures.total() > count as u64 {
            break;
        }
    }
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
    Ok(Crowd {
        seconds: Clock::now() - start,
        cpu,
        cycles: held as u64,
        failures,
        acquire: acquire.summary(),
        hand_over: None,
        fewest: 0,
        most: 0,
        longest: Duration::ZERO,
        extended: extended as u64,
        lost: lost.load(Ordering::Relaxed),
    })
}

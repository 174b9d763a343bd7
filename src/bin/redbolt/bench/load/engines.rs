//! The load on one engine or on several, each on a thread of its own.
//!
//! Engines share nothing while they are measured: no queue, no counter, no connection. The load is
//! divided before the run, and the figures are put together after it.

use std::io;
use std::thread;
use std::time::Duration;

use redbolt::time::Instant;
use redbolt::{Clock, Config};

use super::cycles::Load;
use super::demand::Demand;
use super::shares::shares;
use super::snapshot::Snapshot;
use crate::bench::nodes::connect::connect;
use crate::bench::signals::Signals;
use crate::bench::watch::progress::Progress;
use crate::bench::watch::{Seen, Watch, Window};
use crate::failure::Failure;

/// How often a load publishes what it has done.
const PUBLISH_EVERY: Duration = Duration::from_millis(100);

/// What one engine has done: its counters before and after, and the load, which is over.
pub(crate) struct Part {
    pub(crate) load: Load,
    pub(crate) before: Snapshot,
    pub(crate) after: Snapshot,
    /// The time that the last cycles and the last replies took after the end of the measurement.
    pub(crate) wound_down: Duration,
}

/// Connects all engines, and measures. Returns what each has done, and what was seen.
pub(crate) fn measure(
    demand: &Demand,
    config: &Config,
    [warm_up, seconds]: [Duration; 2],
    signals: &Signals,
    watch: &Watch<'_>,
) -> Result<(Vec<Part>, Seen), Failure> {
    let max_locks = config.redlock.max_locks;
    let count = config.threads;
    let engines = (0..count).map(|_| connect(config.clone()));
    let engines = engines.collect::<Result<Vec<_>, Failure>>()?;
    // A schedule begins once all are connected.
    let shares = shares(demand, config, Clock::now());
    let loads = engines.into_iter().zip(shares);
    let loads: Vec<_> =
        loads.map(|(engine, share)| Load::new(engine, demand, share, max_locks, seconds)).collect();
    let progress: Vec<_> = loads.iter().map(|_| Progress::default()).collect();
    let window = Window::new(warm_up, seconds);
    thread::scope(|scope| {
        let threads = loads.into_iter().zip(&progress).map(|(load, progress)| {
            let builder = thread::Builder::new();
            builder.spawn_scoped(scope, move || run(load, window, signals, progress))
        });
        let threads = threads.collect::<io::Result<Vec<_>>>()?;
        let is_over = || threads.iter().all(thread::ScopedJoinHandle::is_finished);
        let seen = watch.step(window, &progress, |_| {}, is_over);
        let ended = threads.into_iter().map(|thread| {
            thread.join().map_err(|_| Failure::software("an engine of the load has panicked"))?
        });
        Ok((ended.collect::<Result<Vec<_>, Failure>>()?, seen))
    })
}

/// Measures one engine.
fn run(
    mut load: Load,
    window: Window,
    signals: &Signals,
    progress: &Progress,
) -> Result<Part, Failure> {
    run_until(&mut load, window.begin, signals, progress)?;
    load.begin(Clock::now());
    let before = Snapshot::take(&mut load);
    let end = before.at + (window.end - window.begin);
    run_until(&mut load, end, signals, progress)?;
    let after = Snapshot::take(&mut load);
    load.end(after.at);
    load.finish()?;
    let wound_down = Clock::now() - after.at;
    Ok(Part { load, before, after, wound_down })
}

fn run_until(
    load: &mut Load,
    end: Instant,
    signals: &Signals,
    progress: &Progress,
) -> io::Result<()> {
    let mut now = Clock::now();
    let mut publish_at = now + PUBLISH_EVERY;
    while now < end && !signals.caught() {
        now = load.turn(now, end.min(publish_at))?;
        if now >= publish_at {
            load.publish(progress);
            publish_at = now + PUBLISH_EVERY;
        }
    }
    Ok(())
}

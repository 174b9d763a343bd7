//! The load on one engine or on several, each on a thread of its own.
//!
//! Engines share nothing while they are measured: no queue, no counter, no connection. The load is
//! divided before the run, and the figures are put together after it.

use std::io;
use std::thread;
use std::time::Duration;

use redbolt::time::Instant;
use redbolt::{Clock, Config, Engine};

use crate::bench::args::{Args, WARM_UP};
use crate::bench::load::cycles::Load;
use crate::bench::load::live::Live;
use crate::bench::load::shares::shares;
use crate::bench::load::snapshot::Snapshot;
use crate::bench::nodes::connect::connect;
use crate::bench::signals::Signals;
use crate::failure::Failure;

/// What one engine has done: its counters before and after, and the load, which is over.
pub(crate) struct Run {
    pub(crate) load: Load,
    pub(crate) before: Snapshot,
    pub(crate) after: Snapshot,
}

/// Connects all engines, and measures. Returns what each has done.
pub(crate) fn measure(
    args: &Args,
    config: &Config,
    signals: &Signals,
) -> Result<Vec<Run>, Failure> {
    let max_locks = config.redlock.max_locks;
    let loads = shares(args, config).into_iter().map(|share| {
        let engine: Engine = connect(config.clone())?;
        Ok(Load::new(engine, args, share, max_locks))
    });
    let mut loads = loads.collect::<Result<Vec<_>, Failure>>()?;
    if loads.len() == 1 {
        let runs = loads.pop().map(|load| run(load, args.seconds, Live::new(), signals));
        return runs.into_iter().collect();
    }
    thread::scope(|scope| {
        let threads = loads.into_iter().map(|load| {
            let builder = thread::Builder::new();
            // A line of one engine would pass for all of them.
            builder.spawn_scoped(scope, || run(load, args.seconds, Live::silent(), signals))
        });
        let threads = threads.collect::<io::Result<Vec<_>>>()?;
        let ended = threads.into_iter().map(|thread| {
            thread.join().map_err(|_| Failure::software("an engine of the load has panicked"))?
        });
        ended.collect()
    })
}

/// Measures one engine.
fn run(
    mut load: Load,
    seconds: Duration,
    mut live: Live,
    signals: &Signals,
) -> Result<Run, Failure> {
    let before = warm_up(&mut load, &mut live, signals)?;
    run_until(&mut load, &mut live, signals, before.at + seconds)?;
    let after = Snapshot::take(&mut load);
    live.clear();
    load.finish()?;
    Ok(Run { load, before, after })
}

/// Runs the load for the warm-up, and forgets what was counted meanwhile.
fn warm_up(load: &mut Load, live: &mut Live, signals: &Signals) -> io::Result<Snapshot> {
    run_until(load, live, signals, Clock::now() + WARM_UP)?;
    load.forget();
    live.forget();
    Ok(Snapshot::take(load))
}

fn run_until(load: &mut Load, live: &mut Live, signals: &Signals, end: Instant) -> io::Result<()> {
    let mut now = Clock::now();
    while now < end && !signals.caught() {
        now = load.turn(now, end.min(live.due()))?;
        if now >= live.due() {
            live.show(now, load);
        }
    }
    Ok(())
}

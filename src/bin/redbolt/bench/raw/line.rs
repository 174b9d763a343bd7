//! One connection for each node, and turns in lockstep.

use std::thread;
use std::time::Duration;

use redbolt::redlock::RELEASE_MANY;
use redbolt::time::Instant;
use redbolt::{Address, Clock, Config};

use super::prepared::{Prepared, acquire, release};
use crate::bench::load::demand::Demand;
use crate::bench::load::names::Naming;
use crate::bench::load::slices;
use crate::bench::load::tally::Tally;
use crate::bench::nodes::plain::Plain;
use crate::bench::signals::Signals;
use crate::bench::watch::progress::Progress;
use crate::bench::watch::{Seen, Watch, Window, processor};
use crate::duration::written;
use crate::failure::Failure;

/// The names of the bare sockets are those of a worker that no engine has.
const WORKER: usize = 1 << 16;

/// What the bare sockets have done.
pub(crate) struct Raw {
    pub(crate) seconds: Duration,
    pub(crate) cpu: Duration,
    pub(crate) cycles: u64,
    pub(crate) tally: Tally,
    pub(crate) seen: Seen,
}

/// Measures one load. The turn that runs at the end goes on to its end, so that no lock is left.
pub(crate) fn measure(
    demand: &Demand,
    config: &Config,
    [warm_up, seconds]: [Duration; 2],
    signals: &Signals,
    watch: &Watch<'_>,
) -> Result<Raw, Failure> {
    let quorum = config.redlock.check(config.nodes.len()).map_err(Failure::usage)?.need();
    let line = Line::connect(&config.nodes, quorum)?;
    let turn = Turn::new(demand, &config.redlock.prefix);
    let progress = [Progress::default()];
    let window = Window::new(warm_up, seconds);
    thread::scope(|scope| {
        let builder = thread::Builder::new();
        let thread = builder.spawn_scoped(scope, || {
            line.run(&turn, window, slices::length(seconds), signals, &progress[0])
        })?;
        let seen = watch.step(window, &progress, |_| {}, || thread.is_finished());
        let done = thread.join().map_err(|_| Failure::software("the bare sockets panicked"))?;
        let Done { seconds, cpu, cycles, tally } = done?;
        Ok(Raw { seconds, cpu, cycles, tally, seen })
    })
}

/// The bytes of one turn.
struct Turn {
    acquire: Prepared,
    release: Prepared,
    locks: u64,
    ttl: Duration,
}

impl Turn {
    fn new(demand: &Demand, prefix: &[u8]) -> Self {
        let mut names = Naming::new(demand).of_worker(WORKER);
        let key = |_| [prefix, names.next()].concat();
        let keys: Vec<_> = (0..demand.in_flight).map(key).collect();
        let acquire = acquire(&keys, demand.ttl.as_millis());
        Self { acquire, release: release(&keys), locks: keys.len() as u64, ttl: demand.ttl }
    }
}

/// What was counted.
struct Done {
    seconds: Duration,
    cpu: Duration,
    cycles: u64,
    tally: Tally,
}

struct Line {
    nodes: Vec<Plain>,
    quorum: usize,
}

impl Line {
    /// Connects to all nodes, and gives them the script.
    fn connect(nodes: &[Address], quorum: usize) -> Result<Self, Failure> {
        let connect = |node: &Address| {
            let mut plain = Plain::open(node)?;
            plain.ask(&["SCRIPT", "LOAD", RELEASE_MANY.text])?;
            Ok(plain)
        };
        let told = |(node, result): (&Address, Result<Plain, String>)| {
            result.map_err(|error| Failure::software(format!("--against raw: {node}: {error}")))
        };
        let nodes = nodes.iter().map(|node| (node, connect(node))).map(told);
        Ok(Self { nodes: nodes.collect::<Result<_, _>>()?, quorum })
    }

    fn run(
        mut self,
        turn: &Turn,
        window: Window,
        slice: Duration,
        signals: &Signals,
        progress: &Progress,
    ) -> Result<Done, Failure> {
        let mut start = Clock::now();
        let mut tally = Tally::new(start);
        while start < window.begin && !signals.caught() {
            start = self.turn(turn, start, &mut tally)?;
        }
        let (begin, cpu) = (start, processor::of_thread());
        tally = Tally::new(begin);
        let mut slice_end = begin + slice;
        while start < window.end && !signals.caught() {
            start = self.turn(turn, start, &mut tally)?;
            if start >= slice_end {
                tally.close_slice(start);
                progress.publish(tally.cycles, 0);
                slice_end = start + slice;
            }
        }
        tally.end(start);
        let cpu = processor::of_thread().saturating_sub(cpu);
        Ok(Done { seconds: start - begin, cpu, cycles: tally.cycles, tally })
    }

    /// Acquires all locks and releases them. Returns the time at the end.
    fn turn(&mut self, turn: &Turn, start: Instant, tally: &mut Tally) -> Result<Instant, Failure> {
        let told = |error| {
            let ttl = written(turn.ttl);
            Failure::software(format!(
                "--against raw: {error}; locks that are left end by themselves within {ttl}"
            ))
        };
        self.send(&turn.acquire).map_err(told)?;
        let (first, others) = self.nodes.split_at_mut(self.quorum);
        receive(first, &turn.acquire).map_err(told)?;
        tally.acquired_many(Clock::now() - start, turn.locks);
        receive(others, &turn.acquire).map_err(told)?;
        let held = Clock::now();
        self.send(&turn.release).map_err(told)?;
        receive(&mut self.nodes, &turn.release).map_err(told)?;
        let end = Clock::now();
        tally.release.record_many(end - held, turn.locks);
        tally.ended_many(end, turn.locks);
        Ok(end)
    }

    fn send(&mut self, prepared: &Prepared) -> Result<(), String> {
        self.nodes.iter_mut().try_for_each(|node| node.send(&prepared.request))
    }
}

/// Reads the same bytes from all of these nodes, one after the other.
fn receive(nodes: &mut [Plain], prepared: &Prepared) -> Result<(), String> {
    nodes.iter_mut().try_for_each(|node| node.receive(&prepared.reply))
}

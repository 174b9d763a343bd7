//! `idle`: many wait for one who keeps the lock for long. What waiting costs, and what follows when
//! the holder lets go, or dies.

use std::time::Duration;

use redbolt::Clock;

use crate::Outcome;
use crate::args::{Args, MOST};
use crate::census::{Census, Counts};
use crate::children::Worker;
use crate::figures::Samples;
use crate::house::{RESOURCE, WARM_UP};
use crate::load::sleep_until;
use crate::proxy;
use crate::report::Row;

/// The ttl of a holder that does not die. It is kept alive.
const LONG_TTL: Duration = Duration::from_secs(60);

/// For how long the waiters settle: at first they ask more often than later.
const SETTLE: Duration = Duration::from_secs(2);

/// For how long a holder works before it lets go or dies, so that the waiters have settled.
const HOLD: Duration = Duration::from_secs(2);

pub(crate) fn run(args: &Args) -> Outcome {
    for waiters in args.counts("waiters", "30,100", MOST)? {
        measure(args, waiters)?;
    }
    Ok(())
}

/// The processes of a measurement.
struct Scene {
    nodes: Vec<String>,
    census: Census,
    holder: Worker,
    waiters: Vec<Worker>,
}

fn measure(args: &Args, clients: usize) -> Outcome {
    let nodes = args.nodes()?;
    let census = Census::connect(&nodes)?;
    let nodes = match args.duration("rtt", Duration::ZERO)? {
        Duration::ZERO => nodes,
        trip => proxy::start(&nodes, trip)?,
    };
    let processes = args.count("processes", 10)?.min(clients);
    let rounds: u32 = args.count("rounds", 5)?;
    let kills: u32 = args.number("kills", 3)?;
    let ttl = args.duration("ttl", Duration::from_secs(2))?;
    let length = args.seconds(10.0)?;
    let start = |number: usize| {
        // The first ones have one client more where the division leaves a rest.
        let share = clients / processes + usize::from(number < clients % processes);
        Worker::start(&nodes, &[("clients", share.to_string())])
    };
    let holder = Worker::start(&nodes, &[])?;
    let mut waiters: Vec<_> = (0..processes).map(start).collect::<Outcome<_>>()?;
    for waiter in &mut waiters {
        waiter.expect("ready")?;
    }
    let mut scene = Scene { nodes, census, holder, waiters };
    scene.holder.expect("ready")?;
    scene.hold(LONG_TTL)?;
    sleep_until(Clock::now() + WARM_UP);
    let calm = scene.census.rate_by_node(length)?;
    scene.wait()?;
    sleep_until(Clock::now() + SETTLE);
    let waiting = scene.census.rate_by_node(length)?;
    let added: Vec<_> =
        waiting.iter().zip(&calm).map(|(waiting, calm)| waiting.without(calm, 1.0)).collect();
    let busiest = added.iter().map(Counts::total).fold(0.0, f64::max);
    let (calm, added) = (Counts::sum(&calm), Counts::sum(&added));
    let mut released = vec![scene.release()?];
    for _ in 1..rounds {
        released.push(scene.hold_and_release()?);
    }
    let killed: Vec<_> = (0..kills).map(|_| scene.kill(ttl)).collect::<Outcome<_>>()?;
    let mut row =
        Row::new(format!("idle: {clients} clients wait, in {processes} processes, {length:?}"));
    row.figure("requests_per_s", added.requests());
    row.figure("commands_per_s", added.total());
    row.figure("commands_per_s_busiest_node", busiest);
    row.figure("requests_per_s_waiter", added.requests() / clients as f64);
    row.figure("calm_per_s", calm.total());
    spread(&mut row, "after_release", released);
    spread(&mut row, "after_expiry", killed);
    row.raw("by_name_per_s", added.iter());
    row.print();
    Ok(())
}

/// The median, and the most, of few samples in milliseconds.
fn spread(row: &mut Row, name: &str, samples: Vec<i64>) {
    // A grant before the expiry that the driver had read is one at the expiry: servers tell
    // milliseconds only.
    let samples: Samples = samples.into_iter().map(|sample| sample.max(0) as u64).collect();
    row.figure(&format!("{name}_p50_ms"), samples.percentile(50.0) / 1e6);
    row.figure(&format!("{name}_most_ms"), samples.percentile(100.0) / 1e6);
    row.count(&format!("{name}_rounds"), samples.count());
}

impl Scene {
    fn hold(&mut self, ttl: Duration) -> Outcome {
        self.holder.tell(&format!("hold {}", ttl.as_millis()))?;
        self.holder.expect("held").map(drop)
    }

    /// Lets each waiter wait for the lock once.
    fn wait(&mut self) -> Outcome {
        self.waiters.iter_mut().try_for_each(|waiter| waiter.tell("once"))
    }

    /// Returns when the first of the waiters had the lock, after all have had it.
    fn first_grant(&mut self) -> Outcome<u64> {
        let mut all = Vec::new();
        for waiter in &mut self.waiters {
            all.extend(waiter.records(0)?);
        }
        let granted = all.iter().filter(|record| record.is_granted());
        granted.map(|record| record.ended).min().ok_or_else(|| "nobody had the lock".into())
    }

    /// Returns the time from the release to the next grant, in nanoseconds.
    fn release(&mut self) -> Outcome<i64> {
        self.holder.tell("release")?;
        let released: i64 = self.holder.expect("released")?.parse()?;
        Ok(self.first_grant()? as i64 - released)
    }

    fn hold_and_release(&mut self) -> Outcome<i64> {
        self.hold(LONG_TTL)?;
        self.wait()?;
        sleep_until(Clock::now() + HOLD);
        self.release()
    }

    /// Kills a holder. Returns the time from the end of its key at a majority to the next grant.
    fn kill(&mut self, ttl: Duration) -> Outcome<i64> {
        self.hold(ttl)?;
        self.wait()?;
        sleep_until(Clock::now() + HOLD);
        self.holder.kill()?;
        let expiry = self.census.expiry(RESOURCE)?;
        let granted = self.first_grant()?;
        self.holder = Worker::start(&self.nodes, &[])?;
        self.holder.expect("ready")?;
        Ok(granted as i64 - expiry.as_nanos() as i64)
    }
}

//! A process of contenders, which obeys the driver line by line.
//!
//! ```text
//! (start)                 ready            the clients are ready at all nodes
//! run <end> <grace>       records, done    contend until then, by the clock of the machine, in ns
//! once                    records, done    each contender takes the lock once
//! hold <ttl in ms>        held             take the lock, and keep it alive
//! release                 released <when>
//! (end of input)                           leave
//! ```

use std::io::{BufRead, Write, stdin, stdout};
use std::time::Duration;

use redbolt::time::Instant;
use redbolt::{Client, Clock, Guard};
use rustix::process::{Signal, set_parent_process_death_signal};

use crate::args::Args;
use crate::load::{self, Load};
use crate::peer::Peer;
use crate::record::Record;
use crate::{Outcome, house};

/// For how long a lock that is held for idle waiters is kept alive at most.
const MAX_HOLD: Duration = Duration::from_secs(3600);

struct Worker {
    clients: Vec<Client>,
    each: usize,
    load: Load,
    guard: Option<Guard>,
    /// Those who contend instead of the clients, if others are measured.
    peers: Vec<Peer>,
}

pub(crate) fn run(args: &Args) -> Outcome {
    // A driver that is killed leaves nobody behind.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let resources = args.text("resource").unwrap_or(house::RESOURCE);
    let load = Load {
        resources: resources.split(',').map(str::to_owned).collect(),
        ttl: args.duration("ttl", house::TTL)?,
        hold: args.duration("hold", Duration::ZERO)?,
        end: Instant::ZERO,
        grace: Duration::ZERO,
        is_once: false,
    };
    let (nodes, each) = (args.nodes()?, args.number("threads", 1)?);
    let mut worker = Worker { clients: Vec::new(), each, load, guard: None, peers: Vec::new() };
    let count = args.number("clients", 1)?;
    match args.text("peer") {
        Some(kind) => {
            let peer = |number| Peer::connect(kind, &nodes, number);
            worker.peers = (0..count * each).map(peer).collect::<Outcome<_>>()?;
        }
        None => worker.clients = load::connect(&nodes, count)?,
    }
    say("ready")?;
    for line in stdin().lock().lines() {
        let line = line?;
        let words: Vec<_> = line.split(' ').collect();
        worker.obey(&words)?;
    }
    Ok(())
}

impl Worker {
    fn obey(&mut self, words: &[&str]) -> Outcome {
        match words {
            ["run", end, grace] => {
                self.load.end = Instant::from_nanos(end.parse()?);
                self.load.grace = Duration::from_nanos(grace.parse()?);
                if self.peers.is_empty() {
                    tell(&self.load.threads(&self.clients, self.each)?)
                } else {
                    tell(&Peer::threads(&mut self.peers, &self.load)?)
                }
            }
            ["once"] => {
                self.load.is_once = true;
                tell(&self.load.threads(&self.clients, self.each)?)
            }
            ["hold", ttl] => {
                let request = self.load.request(&self.clients[0]);
                let request = request.ttl(Duration::from_millis(ttl.parse()?));
                self.guard = Some(request.keep_alive_for(MAX_HOLD).blocking_acquire()?);
                say("held")
            }
            ["release"] => {
                let now = Clock::now().as_nanos();
                self.guard = None;
                say(&format!("released {now}"))
            }
            _ => Err(format!("a worker cannot {words:?}").into()),
        }
    }
}

fn tell(records: &[Record]) -> Outcome {
    let mut text = String::new();
    for record in records {
        text += &format!("{record}\n");
    }
    say(&(text + "done"))
}

fn say(text: &str) -> Outcome {
    let mut out = stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()?;
    Ok(())
}

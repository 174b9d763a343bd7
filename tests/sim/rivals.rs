//! What must be true where clients want one resource again and again, all the time.
//!
//! Each client has some requests for the resource, and asks again in the same turn for what it
//! releases. Nobody waits for much longer than in a fair queue, some tenures aside: a client that
//! has seen nobody else keeps the resource for so long. And a grant costs no more commands than
//! looks of those who wait: votes of all masters would be many more.
//!
//! In some worlds one of the clients has two sets in turn which share the resource.

use std::time::Duration;

use redbolt::redlock::LockId;

use crate::book::State;
use crate::checks::Violation;
use crate::clock::{MS, SECOND};
use crate::manner::Manner;
use crate::names::Resources;
use crate::world::World;

/// How long the requests wait, and the longest time for all of this.
const PATIENCE: u64 = 120 * SECOND;

/// How often all clients together have the lock, for each of them.
const TURNS: u64 = 60;

/// The longest way to a master with which the bounds are promised.
const FARTHEST: u64 = 5 * MS;

/// The longest wait: so many rounds of a fair queue, so many tenures, and this long. Chance has a
/// part in who is next.
const ROUNDS: u64 = 4;
const TENURES: u64 = 4;
const SLACK: u64 = 4 * SECOND;

/// The most commands for a grant, by client that contends. Where turns are long and pauses short,
/// whoever is next looks about so often.
const COMMANDS: u64 = 30;

const WANTED: Resources = Resources(1);

/// Two sets of which both have the resource.
const SETS: [Resources; 2] = [Resources(0b011), Resources(0b101)];

/// A client that contends.
struct Rival {
    index: usize,
    /// What it wants in turn, and how often it has asked.
    wants: [Resources; 2],
    asked: usize,
    /// How many of its requests there are at any moment.
    line: usize,
    /// The lock that it has, and when it gives that back.
    holds: Option<LockId>,
    until: u64,
}

/// What those who want the resource alone have had so far.
#[derive(Default)]
struct Served {
    grants: u64,
    longest: Duration,
}

impl World {
    pub(crate) fn rivals_take_turns(&mut self) -> Result<(), Violation> {
        let config = &self.options.config;
        // Who looks seldom hardly meets a short gap.
        let has_gap = 2 * config.tenure_gap >= config.retry_max;
        let tenure = config.tenure.as_nanos() as u64;
        let mut rivals = self.rivals();
        if !has_gap || rivals.len() < 2 || self.options.farthest() > FARTHEST {
            return Ok(());
        }
        let hold = (tenure / 8).clamp(MS / 10, 50 * MS).min(self.options.max_ttl() / 4);
        let before = self.net.checks.thrift.executed;
        let grants = self.contend_for(&mut rivals, hold)?;
        let commands = self.net.checks.thrift.executed - before;
        let most = COMMANDS * rivals.len() as u64 * grants;
        if commands > most {
            let what = format!("{commands} commands for {grants} grants, of {most}");
            self.net.fail(format_args!("thrift: rivals need {what}"));
        }
        self.end_of_rivals()
    }

    /// The same beside a client that has sets in turn, each for longer or shorter than a gap.
    pub(crate) fn sets_in_turn_leave_what_they_share(&mut self) -> Result<(), Violation> {
        let config = &self.options.config;
        let has_gap = 2 * config.tenure_gap >= config.retry_max;
        let has_room = config.max_locks >= 16 && config.max_pipeline >= 8;
        let runs_scripts = self.options.extras.without_scripts.is_none();
        let gap = config.tenure_gap.as_nanos() as u64;
        let mut rivals = self.rivals();
        let is_near = self.options.farthest() <= FARTHEST;
        if !(has_gap && has_room && runs_scripts && is_near) || rivals.len() < 2 {
            return Ok(());
        }
        (rivals[0].wants, rivals[0].line) = (SETS, 1);
        let hold = self.net.weather.chance.between(gap / 2, 3 * gap);
        let hold = hold.clamp(MS / 10, 200 * MS).min(self.options.max_ttl() / 4);
        self.contend_for(&mut rivals, hold)?;
        self.end_of_rivals()
    }

    /// Lets the clients contend, and checks the longest wait. Returns the number of grants.
    fn contend_for(&mut self, rivals: &mut [Rival], hold: u64) -> Result<u64, Violation> {
        let tenure = self.options.config.tenure.as_nanos() as u64;
        let round_trip = 2 * (self.options.farthest() + self.options.turn);
        let queue = rivals.iter().map(|rival| rival.line as u64).sum::<u64>();
        let round = queue * (hold + round_trip);
        let mut served = Served::default();
        let goal = TURNS * rivals.len() as u64;
        let end = self.net.now + PATIENCE;
        while self.net.now < end && served.grants < goal {
            let mut next = end;
            for rival in &mut *rivals {
                self.contend(rival, hold, &mut served);
                if rival.holds.is_some() {
                    next = next.min(rival.until);
                }
            }
            self.advance(next)?;
        }
        for rival in rivals.iter().filter(|rival| rival.wants[0] == WANTED) {
            let client = &self.clients[rival.index];
            let waits = client.locks_in(State::Wanted).filter_map(|id| client.lock(id));
            let waits = waits.map(|lock| client.clock(self.net.now) - lock.asked_at).max();
            served.longest = served.longest.max(waits.unwrap_or_default());
        }
        let most = Duration::from_nanos(ROUNDS * round + TENURES * tenure + SLACK);
        let Served { grants, longest } = served;
        if longest > most {
            let what = format!("somebody waits for {longest:?} behind rivals, of {most:?}");
            self.net.fail(format_args!("liveness: {what}"));
        }
        Ok(grants)
    }

    /// Lives until nobody has or wants a lock.
    fn end_of_rivals(&mut self) -> Result<(), Violation> {
        let end = self.net.now + PATIENCE;
        while self.net.now < end && self.clients.iter().any(|client| !client.locks.is_empty()) {
            self.give_back();
            self.advance(end)?;
        }
        Ok(())
    }

    /// Returns the clients that contend: those with the same keys.
    fn rivals(&mut self) -> Vec<Rival> {
        let Self { net, clients, options, .. } = self;
        let longest = if options.config.max_locks >= 8 { 3 } else { 1 };
        let mut rivals = Vec::with_capacity(clients.len());
        for (index, client) in clients.iter().enumerate() {
            if client.prefix == clients[0].prefix {
                let line = net.weather.chance.between(1, longest) as usize;
                let wants = [WANTED; 2];
                rivals.push(Rival { index, wants, asked: 0, line, holds: None, until: 0 });
            }
        }
        rivals
    }

    /// Lets a client give its lock back in time, ask again, and take note of a grant.
    fn contend(&mut self, rival: &mut Rival, hold: u64, served: &mut Served) {
        let ttl = self.options.max_ttl() / MS;
        let Self { net, clients, .. } = self;
        let client = &mut clients[rival.index];
        let held = client.first_in(State::Held);
        if let Some(id) = held.filter(|_| held == rival.holds && net.now >= rival.until) {
            client.release(net, id);
        }
        let has = client.locks_in(State::Wanted).count() + client.locks_in(State::Held).count();
        for _ in has..rival.line {
            let wanted = rival.wants[rival.asked % 2];
            rival.asked += 1;
            client.acquire(net, wanted, &Manner::default(), ttl, PATIENCE / MS);
        }
        client.settle(net);
        // The lock may have gone to the next in line at once.
        let held = client.first_in(State::Held);
        let granted = held.filter(|_| held != rival.holds).and_then(|id| client.lock(id));
        if let Some(lock) = granted {
            if rival.wants[0] == WANTED {
                served.grants += 1;
                served.longest = served.longest.max(client.clock(net.now) - lock.asked_at);
            }
            rival.until = net.now + hold;
        }
        rival.holds = held;
    }
}

//! Far masters: worlds in which bytes to some masters, or to all of them, take much longer.
//!
//! Everything is drawn from a stream of its own, so that all other worlds do what they did before
//! there was any of this. In these worlds the delays to one master hardly differ, as on a real line
//! over land or sea, and a lock of the longest ttl has time for all of its nodes. So where nothing
//! goes wrong any more, a free lock is granted at the first attempt, and as soon as the quorum-th
//! node can have answered.

use std::time::Duration;

use redbolt::redlock::Ask;

use crate::book::State;
use crate::chance::Chance;
use crate::checks::Violation;
use crate::clock::{MS, SECOND};
use crate::faults::Kind;
use crate::manner::Manner;
use crate::master::MASTERS_MAX;
use crate::names::Resources;
use crate::options::Options;
use crate::world::World;

/// Sets this stream apart from all others.
const STREAM: u64 = 0xd1b5_4a32_d192_ed03;

/// The usual delay in one direction, by master; in nanoseconds, as all times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Distances {
    ways: [u64; MASTERS_MAX],
    masters: usize,
    /// Connections come up at once: a proxy close by takes them.
    pub(crate) has_proxies: bool,
}

impl Distances {
    /// Draws the distances of some worlds. No lock lives for less than eight round trips.
    fn draw(seed: u64, masters: usize, near: u64, max_ttl: u64) -> Option<Self> {
        let mut chance = Chance::new(seed ^ STREAM);
        if !chance.one_in(6) {
            return None;
        }
        let far = |chance: &mut Chance| {
            let way = chance.pick(&[15 * MS, 30 * MS, 75 * MS, 150 * MS]);
            way.min(max_ttl / 18)
        };
        let mut ways = [near; MASTERS_MAX];
        match chance.below(3) {
            0 => ways = [far(&mut chance); MASTERS_MAX],
            1 => ways[chance.index(masters)] = far(&mut chance),
            _ => {
                for way in &mut ways {
                    *way = if chance.one_in(2) { near } else { far(&mut chance) };
                }
            }
        }
        Some(Self { ways, masters, has_proxies: chance.one_in(2) })
    }

    /// Returns a delay to or from a master.
    pub(crate) fn delay(&self, master: usize, chance: &mut Chance) -> u64 {
        let way = self.ways[master];
        chance.between(way - way / 8, way + way / 8)
    }

    /// Returns the longest delay in one direction that is usual.
    pub(crate) fn farthest(&self) -> u64 {
        self.ways[..self.masters].iter().copied().max().unwrap_or_default()
    }

    /// Returns the longest round trip of the nodes in the fastest quorum.
    fn quorum_round_trip(&self, quorum: usize) -> u64 {
        let mut ways = self.ways;
        let ways = &mut ways[..self.masters];
        ways.sort_unstable();
        let way = ways[quorum - 1];
        2 * (way + way / 8)
    }
}

impl Options {
    /// Moves the masters of some worlds far away, and gives connections the time for that. Where
    /// clocks stand still, or spans end, what matters must reach the clients in time.
    pub(crate) fn draw_distances(&mut self, kind: Kind) {
        if kind != Kind::Usual || self.is_edgy {
            return;
        }
        let distances = Distances::draw(self.seed, self.masters, self.latency, self.max_ttl());
        let Some(distances) = distances else { return };
        let way = distances.farthest();
        let [silence, connect] = [4 * way + 50 * MS, 5 * way + 50 * MS].map(Duration::from_nanos);
        self.config.close_timeout = self.config.close_timeout.max(silence);
        self.config.connect_timeout = self.config.connect_timeout.max(connect);
        self.distances = Some(distances);
    }

    /// Returns the longest delay in one direction that is usual.
    pub(crate) fn farthest(&self) -> u64 {
        self.distances.map_or(self.latency, |distances| distances.farthest())
    }
}

impl World {
    /// Lets every client of a world with far masters take the same lock, one after another, each
    /// with a single attempt.
    pub(crate) fn first_attempts_succeed(&mut self) -> Result<(), Violation> {
        let Some(distances) = self.options.distances else { return Ok(()) };
        // With less room, a look that is under way keeps a `SET` from its node.
        if self.options.config.max_pipeline < 16 {
            return Ok(());
        }
        // A password that was changed last keeps a near master away for longer than a world lasts.
        if self.clients.iter().any(|client| client.waits_for_a_node(self.net.now)) {
            return Ok(());
        }
        // What is cut in two arrives later.
        self.net.weather.splits = 0;
        let ttl = self.options.max_ttl() / MS;
        for index in 0..self.clients.len() {
            self.become_free()?;
            let Self { net, clients, options, .. } = self;
            let client = &mut clients[index];
            let (name, grants, asked_at) = (client.name, client.grants, net.now);
            client.acquire(net, Resources::one(0), &Manner::default(), ttl, 0);
            client.settle(net);
            // Masters and clients are busy for a turn each; the time of the clients may run slowly.
            let turns = 4 * options.turn + MS;
            let in_time = distances.quorum_round_trip(net.checks.rules.quorum) + turns;
            // Spare masters are asked when half of the longest time is over, or before: by the
            // clock of the client, which may be slow.
            let longest = options.config.longest_node_timeout(options.config.max_ttl);
            let longest = longest.as_nanos() as u64;
            let hedge = match options.askers.ask(index) {
                Ask::Majority => longest / 2 * 5 / 4,
                _ => 0,
            };
            let in_time = in_time + hedge;
            let end = net.now + SECOND;
            while self.net.now < end && self.clients[index].first_in(State::Wanted).is_some() {
                self.advance(end)?;
            }
            let (net, client) = (&mut self.net, &mut self.clients[index]);
            let took = net.now - asked_at;
            if client.grants != grants + 1 {
                net.fail(format_args!("far: client {name} was not granted a free lock"));
            } else if took > in_time {
                net.fail(format_args!("far: a lock took {took} ns, not {in_time} ns at most"));
            }
            if let Some(id) = client.first_in(State::Held) {
                client.release(net, id);
                client.settle(net);
            }
        }
        self.become_free()
    }

    /// Lives until nobody has anything to do with any lock.
    pub(crate) fn become_free(&mut self) -> Result<(), Violation> {
        let end = self.net.now + 2 * self.options.max_ttl() + SECOND;
        self.live_until(end, |world| world.rest() == Some(0) && world.is_trusting())
    }
}

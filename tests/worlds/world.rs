//! A world: clients, masters, chance, and what befalls them from the first step to the last.

use std::time::Duration;

use redbolt::redlock::{Config, RestartGuard};

use crate::chance::{Chance, MS, Trace};
use crate::checks;
use crate::client::{Client, RESOURCES, State};
use crate::master::{Mood, Node};
use crate::net::Net;

/// How long after the last fault nothing must be left. The last look of the cleanup list before
/// that comes after 26 s, the longest ttl is 60 s.
const CLEAN_AFTER: u64 = 40_000 * MS;

/// By then every ttl is over, also one that was only asked for at the end.
const FORGOTTEN_AFTER: u64 = 140_000 * MS;

pub(crate) struct World {
    net: Net,
    clients: Vec<Client>,
}

/// What a world has seen.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Summary {
    /// A hash over all requests, replies and events.
    pub(crate) trace: u64,
    pub(crate) nanos: u64,
    pub(crate) faults: u64,
    pub(crate) grants: u64,
    pub(crate) extensions: u64,
}

impl World {
    pub(crate) fn new(seed: u64, is_loud: bool) -> Self {
        let mut chance = Chance::new(seed);
        // With one master or two every single vote counts, so that a mistake shows at once.
        let nodes = [1, 1, 2, 2, 3, 3, 4, 5, 7][chance.rng.usize(..9)];
        let config = config(&mut chance.rng);
        let native = chance.rng.u8(..3);
        let masters = (0..nodes)
            .map(|index| {
                let is_native = native == 0 || (native == 1 && chance.rng.bool());
                Node::new(index as u64, chance.rng.i64(-4_000..=4_000), is_native)
            })
            .collect();
        let clients = (0..chance.rng.usize(2..=4))
            .map(|name| Client::new(name, config.clone(), nodes, &mut chance))
            .collect();
        Self { net: Net::new(1_000 * MS, chance, masters, Trace::new(is_loud)), clients }
    }

    /// Lives through a world and panics where something is wrong with it.
    pub(crate) fn run(mut self, steps_max: usize) -> Summary {
        let born = self.net.now;
        let rng = &mut self.net.chance.rng;
        let steps = rng.usize(steps_max / 16..steps_max);
        let (fault_chance, request_chance) = (rng.f64() * 0.05, 0.05 + rng.f64() * 0.5);
        for _ in 0..steps {
            self.step();
            if self.net.chance.rng.f64() < fault_chance {
                self.fault();
            }
            if self.net.chance.rng.f64() < request_chance {
                self.request();
            }
            checks::exclusion(&self.net, &self.clients);
        }
        self.wind_up();
        let sum = |count: fn(&Client) -> u64| self.clients.iter().map(count).sum();
        Summary {
            trace: self.net.trace.hash(),
            nanos: self.net.now - born,
            faults: self.net.faults,
            grants: sum(|client| client.grants),
            extensions: sum(|client| client.extensions),
        }
    }

    /// A little time passes for all.
    fn step(&mut self) {
        let rng = &mut self.net.chance.rng;
        self.net.now += match rng.u8(..20) {
            0..=8 => rng.u64(1_000..100_000),
            9..=16 => rng.u64(..MS),
            _ => rng.u64(..4 * MS),
        };
        self.turn();
    }

    fn turn(&mut self) {
        self.net.run_masters();
        checks::exclusion(&self.net, &self.clients);
        for index in 0..self.clients.len() {
            if self.clients[index].asleep_until <= self.net.now {
                self.clients[index].turn(&mut self.net);
                checks::deadlines(&self.net, &self.clients[index]);
                // A lock of one client must not rest on what the next one is about to undo.
                checks::exclusion(&self.net, &self.clients);
            }
        }
    }

    /// Some client wants something.
    fn request(&mut self) {
        let net = &mut self.net;
        let chosen = net.chance.rng.usize(..self.clients.len());
        let client = &mut self.clients[chosen];
        if client.asleep_until > net.now {
            return;
        }
        let what = net.chance.rng.u8(..10);
        let (held, wanted) = (client.locks_in(State::Held), client.locks_in(State::Wanted));
        let ttl = net.chance.ttl();
        match what {
            0..=3 => {
                let resource = net.chance.rng.usize(..RESOURCES.len());
                let rng = &mut net.chance.rng;
                let wait = [0, rng.u64(..50), rng.u64(..2_000)][rng.usize(..3)];
                client.acquire(net, resource, ttl, wait);
            }
            4 => {
                let Some(id) = net.chance.rng.choice(wanted) else { return };
                client.cancel(net, id);
            }
            _ => {
                let Some(id) = net.chance.rng.choice(held) else { return };
                match what {
                    5..=7 => client.extend(net, id, ttl),
                    _ => client.release(net, id),
                }
            }
        }
        client.settle(net);
        // What has just left becomes a ghost: an extension or a release more often than chance
        // alone would have it.
        if what >= 4 && net.chance.rng.u8(..8) == 0 {
            let node = net.chance.rng.usize(..net.nodes.len());
            net.faults += u64::from(client.cut(net, node));
        }
    }

    /// Something goes wrong.
    fn fault(&mut self) {
        use Mood::{Busy, Denied, Full, KeyDenied, Loading, Replica, Unclear};
        let net = &mut self.net;
        let index = net.chance.rng.usize(..net.nodes.len());
        let chosen = net.chance.rng.usize(..self.clients.len());
        let client = &mut self.clients[chosen];
        let rng = &mut net.chance.rng;
        let longest = [5, 60, 900][rng.usize(..3)] * MS;
        let until = net.now + rng.u64(..longest);
        let node = &mut net.nodes[index];
        match rng.u8(..8) {
            0..=2 => {
                client.cut(net, index);
            }
            3 => node.stalled_until = until,
            4 => {
                let moods = [Full, Busy, Loading, Unclear, KeyDenied, Replica];
                // Rare, because a client comes back to such a node only after half a minute.
                let mood = if rng.u8(..60) == 0 { Denied } else { moods[rng.usize(..moods.len())] };
                (node.mood, node.mood_until) = (mood, until);
                net.trace.note(net.now, format_args!("node {index} is {mood:?} until {until}"));
            }
            5 => node.flush_scripts(net.now),
            6 => node.refuses_until = until,
            _ => client.asleep_until = net.now + rng.u64(..=net.chance.sleep_max),
        }
        net.faults += 1;
    }

    /// All is well again and all locks are given back: nothing must be left of them.
    fn wind_up(&mut self) {
        self.net.nodes.iter_mut().for_each(Node::heal);
        let healed = self.net.now;
        while self.net.now < healed + CLEAN_AFTER {
            for client in &mut self.clients {
                client.asleep_until = 0;
                for id in client.locks_in(State::Held) {
                    client.release(&self.net, id);
                }
                for id in client.locks_in(State::Wanted) {
                    client.cancel(&self.net, id);
                }
                client.settle(&mut self.net);
            }
            self.jump(healed + CLEAN_AFTER);
        }
        checks::nothing_left(&self.net, &self.clients);
        while self.net.now < healed + FORGOTTEN_AFTER {
            self.jump(healed + FORGOTTEN_AFTER);
        }
        checks::nothing_remembered(&self.net, &self.clients);
    }

    /// Goes on to the next moment at which anything is due, at most to `end`.
    fn jump(&mut self, end: u64) {
        let nodes = self.net.nodes.iter().filter_map(Node::next);
        let next = nodes.chain(self.clients.iter().filter_map(Client::next)).min();
        self.net.now = next.unwrap_or(end).min(end).max(self.net.now + 1);
        self.turn();
    }
}

/// Small limits and short times, so that all of them are met.
fn config(rng: &mut fastrand::Rng) -> Config {
    let mut ms = |least: u64, most: u64| Duration::from_millis(rng.u64(least..most));
    let mut config = Config::default();
    // These masters keep their keys.
    config.restart_guard = RestartGuard::Off;
    config.close_timeout = ms(60, 400);
    config.connect_timeout = ms(300, 500);
    config.release_timeout = ms(10, 200);
    config.reconnect_max = ms(20, 300);
    config.retry_max = ms(5, 100);
    let node_timeout = ms(1, 60);
    config.node_timeout = (rng.u8(..4) == 0).then_some(node_timeout);
    config.max_locks = rng.usize(2..48);
    config.max_pipeline = rng.usize(1..64);
    config.max_cleanup = if rng.bool() { 4096 } else { rng.usize(1..200) };
    config
}

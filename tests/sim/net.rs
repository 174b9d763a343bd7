//! Everything that the clients share: the masters, the network to them, the checks and the time.

use core::fmt;

use crate::chance::Chance;
use crate::checks::Checks;
use crate::clock::MS;
use crate::distance::Distances;
use crate::link::Link;
use crate::master::Node;
use crate::trace::Trace;

pub(crate) struct Net {
    /// True time in nanoseconds, which no clock shows exactly.
    pub(crate) now: u64,
    pub(crate) weather: Weather,
    pub(crate) nodes: Vec<Node>,
    /// The master that answers at the address of each node: usually its own.
    pub(crate) addresses: Vec<usize>,
    pub(crate) trace: Trace,
    pub(crate) checks: Checks,
    links: u64,
}

/// The delays of bytes, and the pieces in which bytes come.
pub(crate) struct Weather {
    pub(crate) chance: Chance,
    /// In nanoseconds, as all times: bytes take between half of this and twice as much in one
    /// direction.
    pub(crate) latency: u64,
    /// The delays where masters are far away, instead of the latency.
    pub(crate) distances: Option<Distances>,
    /// One time in so many, bytes take twenty times as long; zero means never.
    pub(crate) hiccups: u64,
    /// One time in so many, bytes come in pieces; zero means never.
    pub(crate) splits: u64,
    /// The greatest delay with which the bytes of a broken connection may be executed.
    pub(crate) ghost_max: u64,
    /// The time for which a master or a client is busy with what has come, while more gathers.
    pub(crate) turn: u64,
    /// The time until which nothing passes, by client and master, to the master and back.
    clogs: Vec<[u64; 2]>,
    masters: usize,
}

/// Directions of a link.
pub(crate) const THERE: usize = 0;
pub(crate) const BACK: usize = 1;

impl Weather {
    pub(crate) fn new(chance: Chance, clients: usize, masters: usize) -> Self {
        Self {
            chance,
            latency: MS,
            distances: None,
            hiccups: 0,
            splits: 0,
            ghost_max: MS,
            turn: 0,
            clogs: vec![[0; 2]; clients * masters],
            masters,
        }
    }

    /// Returns a delay to or from a master.
    pub(crate) fn delay(&mut self, master: usize) -> u64 {
        let usual = match &self.distances {
            Some(distances) => distances.delay(master, &mut self.chance),
            None => self.chance.between(self.latency / 2, self.latency * 2),
        };
        let is_late = self.hiccups > 0 && self.chance.one_in(self.hiccups);
        if is_late { 20 * usual } else { usual }
    }

    /// Returns the time after which a connection to a master is up.
    pub(crate) fn time_to_connect(&mut self, master: usize) -> u64 {
        if self.distances.is_some_and(|distances| distances.has_proxies) {
            return self.chance.below(MS);
        }
        self.delay(master)
    }

    fn clog_of(&mut self, client: usize, master: usize) -> &mut [u64; 2] {
        &mut self.clogs[client * self.masters + master]
    }

    /// Returns the time from which both directions are free.
    pub(crate) fn blocked_until(&mut self, client: usize, master: usize) -> u64 {
        let [there, back] = *self.clog_of(client, master);
        there.max(back)
    }

    /// Returns the arrival time of what is sent now.
    fn due(&mut self, now: u64, client: usize, master: usize, direction: usize) -> u64 {
        let clog = self.clog_of(client, master)[direction];
        (now + self.delay(master)).max(clog)
    }

    /// Sends the replies of a master, in random pieces.
    pub(crate) fn reply(&mut self, now: u64, master: usize, link: &mut Link, mut bytes: &[u8]) {
        let mut due = self.due(now, link.client, master, BACK);
        while !bytes.is_empty() {
            let is_whole = self.splits == 0 || !self.chance.one_in(self.splits);
            let size = if is_whole { bytes.len() } else { self.chance.index(bytes.len()) + 1 };
            let (piece, rest) = bytes.split_at(size);
            link.replies.send(due, piece);
            due += self.chance.below(50_000);
            bytes = rest;
        }
    }

    /// Lets everything pass, without long delays.
    pub(crate) fn clear_up(&mut self) {
        self.clogs.fill([0; 2]);
        self.hiccups = 0;
    }
}

impl Net {
    /// Draws one direction, or both.
    pub(crate) fn directions(&mut self) -> Vec<usize> {
        [vec![THERE], vec![BACK], vec![THERE, BACK]][self.weather.chance.index(3)].clone()
    }

    pub(crate) fn new(
        now: u64,
        weather: Weather,
        nodes: Vec<Node>,
        trace: Trace,
        checks: Checks,
    ) -> Self {
        let addresses = (0..nodes.len()).collect();
        Self { now, weather, nodes, addresses, trace, checks, links: 0 }
    }

    pub(crate) fn fail(&mut self, what: fmt::Arguments<'_>) {
        self.checks.fail(self.now, what);
    }

    /// Opens a link to the master that answers for the node in this `slot`. Returns the master and
    /// the number of the link.
    pub(crate) fn open(&mut self, client: usize, slot: usize) -> (usize, u64) {
        self.links += 1;
        let master = self.addresses[slot];
        self.checks.thrift.connected(client, slot);
        self.nodes[master].links.push(Link::new(self.links, client, slot));
        (master, self.links)
    }

    /// Sends the beginning of `bytes`, or all of them. Returns how many.
    pub(crate) fn send(
        &mut self,
        master: usize,
        id: u64,
        at: redbolt::time::Instant,
        bytes: &[u8],
    ) -> usize {
        let Some(link) = self.nodes[master].links.iter_mut().find(|link| link.id == id) else {
            return bytes.len();
        };
        let weather = &mut self.weather;
        let due = weather.due(self.now, link.client, master, THERE);
        let is_whole = weather.splits == 0 || !weather.chance.one_in(weather.splits);
        let size = if is_whole { bytes.len() } else { weather.chance.index(bytes.len()) + 1 };
        // Bytes to an end that is gone vanish.
        if link.is_served {
            link.requests.offer(at, bytes.len());
            link.requests.send(due, &bytes[..size]);
            link.requests.stamp(at);
        }
        size
    }

    /// Lets a client hang up a link.
    pub(crate) fn hang_up(&mut self, master: usize, id: u64) {
        let Weather { ghost_max, chance, .. } = &mut self.weather;
        let now = self.now;
        if let Some(link) = self.nodes[master].link(id) {
            link.hang_up(now, *ghost_max, chance);
        }
        self.nodes[master].links.retain(|link| !link.is_over());
    }

    /// Blocks the way between a client and a master in one direction until `until`.
    pub(crate) fn clog(&mut self, client: usize, master: usize, direction: usize, until: u64) {
        let clog = &mut self.weather.clog_of(client, master)[direction];
        *clog = until.max(*clog);
        for link in self.nodes[master].links.iter_mut().filter(|link| link.client == client) {
            let stream = if direction == THERE { &mut link.requests } else { &mut link.replies };
            stream.clog(until);
        }
    }

    /// Lets a master execute what has arrived.
    pub(crate) fn run_master(&mut self, index: usize) {
        let Self { now, weather, nodes, trace, checks, .. } = self;
        nodes[index].run(*now, weather, trace, checks);
    }
}

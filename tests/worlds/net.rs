//! Everything that the clients share: the masters, the links to them, chance and the time.

use crate::chance::{Chance, Trace};
use crate::link::Link;
use crate::master::Node;

pub(crate) struct Net {
    /// True time in nanoseconds; nobody's clock shows exactly this.
    pub(crate) now: u64,
    pub(crate) chance: Chance,
    pub(crate) nodes: Vec<Node>,
    pub(crate) trace: Trace,
    pub(crate) faults: u64,
    links: u64,
}

impl Net {
    pub(crate) fn new(now: u64, chance: Chance, nodes: Vec<Node>, trace: Trace) -> Self {
        Self { now, chance, nodes, trace, faults: 0, links: 0 }
    }

    /// Opens a link and returns its number.
    pub(crate) fn open(&mut self, node: usize) -> u64 {
        self.links += 1;
        self.nodes[node].links.push(Link::new(self.links));
        self.links
    }

    /// Sends the beginning of `bytes`, or all of them, and returns how many.
    pub(crate) fn send(&mut self, node: usize, id: u64, bytes: &[u8]) -> usize {
        let due = self.now + self.chance.delay();
        let is_whole = self.chance.rng.u8(..4) > 0;
        let size = if is_whole { bytes.len() } else { self.chance.rng.usize(1..=bytes.len()) };
        if let Some(link) = self.nodes[node].link(id) {
            link.requests.send(due, &bytes[..size]);
        }
        size
    }

    /// The replies that have arrived on a link.
    pub(crate) fn receive(&mut self, node: usize, id: u64) -> Vec<u8> {
        let now = self.now;
        let Some(link) = self.nodes[node].link(id) else { return Vec::new() };
        link.replies.arrive(now);
        core::mem::take(&mut link.replies.arrived)
    }

    pub(crate) fn break_off(&mut self, node: usize, id: u64) {
        self.trace.note(self.now, format_args!("link {id} to node {node} breaks"));
        let now = self.now;
        if let Some(link) = self.nodes[node].links.iter_mut().find(|link| link.id == id) {
            link.break_off(now, &mut self.chance);
        }
    }

    pub(crate) fn run_masters(&mut self) {
        for node in &mut self.nodes {
            node.run(self.now, &mut self.chance, &mut self.trace);
        }
    }
}

//! Tests of the state machine, with every reply and every instant set by hand.
//!
//! These tests know the whole of `redlock`, and stand between the machine and the network: a
//! [`Rig`] keeps the time, answers handshakes, and shows what leaves for each node as words. They
//! must never know a socket or a clock, and inject no random faults: that is the business of the
//! simulator. Each test here is one story.

mod adoption;
mod attempts;
mod batches;
mod behind;
mod crowds;
mod deadlines;
mod doors;
mod exchange;
mod far;
mod fences;
mod keeping;
mod leases;
mod leftovers;
mod logins;
mod looked_at;
mod looks;
mod majority;
mod names;
mod options;
mod passing;
mod pushes;
mod queries;
mod queues;
mod refusals;
mod repairs;
mod restarts;
mod rights;
mod scriptless;
mod service;
mod sessions;
mod sets;
mod stalls;
mod steps;
mod together;
mod watching;
mod words;

use core::time::Duration;
use std::collections::VecDeque;

use self::looked_at::{Master, micros};
use self::words::loaded;
use super::*;
use crate::resp::{Parser, Status, Value};
use crate::time::Instant;

const NONCE: [u8; 12] = *b"nonce-nonce-";

/// What a look at a key shows that is not there.
const NOBODY: &str = "$0\r\n";
/// What a node answers that gives no tickets.
const NO_TICKETS: &str = "-ERR no tickets here";
/// What a look at a key shows that is no string.
const NO_STRING: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value";
const TTL: Duration = Duration::from_secs(10);
const WAIT: Duration = Duration::from_secs(2);
const NO_WAIT: Duration = Duration::ZERO;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn node(index: usize) -> NodeId {
    NodeId::new(index).expect("the tests use few nodes")
}

fn nodes<const N: usize>(indexes: [usize; N]) -> NodeSet {
    indexes.into_iter().map(node).collect()
}

struct Rig {
    redlock: Redlock,
    now: Instant,
    /// Nodes to which the machine wants a connection, but has none.
    wanted: NodeSet,
    closed: NodeSet,
    /// Nodes whose login was asked for.
    asked: Vec<NodeId>,
    /// Commands that have left for each node and were not looked at yet.
    outputs: Vec<Vec<String>>,
    /// The answer of the nodes to the question for native commands.
    native: &'static str,
    /// What the nodes say when they are looked at.
    masters: Vec<Master>,
    /// By how much the wall clock is ahead of those of the masters.
    wall_ahead: Duration,
    /// The commands without a reply, for each node: the words of a look, or nothing.
    owed: Vec<VecDeque<Option<Vec<String>>>>,
    /// Looks are answered at once, and do not show in the outputs.
    answers_looks: bool,
    /// Looks at the door find nobody there, at once, and do not show in the outputs.
    opens_doors: bool,
    /// What all requests for the first ticket are answered, and those for the second one, at once;
    /// then questions for the end of a ticket and its return are answered as well. Where that is
    /// `None`, they show in the outputs.
    ticket: Option<[&'static str; 2]>,
    /// The number of the last first ticket.
    ticket_number: u64,
    /// Whether the next read of each node opts in, and whether the last one has.
    opts_in: Vec<[bool; 2]>,
    /// The last token that a look has shown, as a reply.
    seen: String,
    /// Whether reads that opt in begin with `OPTIN` in the outputs.
    shows_opt_ins: bool,
    /// The same for questions for the end of a key.
    ttl: Option<&'static str>,
}

impl Rig {
    /// Creates a machine with `count` nodes, all ready.
    fn new(count: usize) -> Self {
        Self::with(count, |_| ())
    }

    fn with(count: usize, change: impl FnOnce(&mut RedlockConfig)) -> Self {
        let mut rig = Self::unconnected(count, change);
        rig.connect_all(count);
        rig
    }

    fn connect_all(&mut self, count: usize) {
        for index in 0..count {
            self.connect(index);
        }
        self.events();
    }

    /// Creates a machine with `count` nodes, all ready, and with random pauses of its own.
    fn seeded(count: usize, seed: u64) -> Self {
        let mut rig = Self::unconnected_seeded(count, seed, |_| ());
        rig.connect_all(count);
        rig
    }

    fn unconnected(count: usize, change: impl FnOnce(&mut RedlockConfig)) -> Self {
        Self::unconnected_seeded(count, 7, change)
    }

    fn unconnected_seeded(
        count: usize,
        seed: u64,
        change: impl FnOnce(&mut RedlockConfig),
    ) -> Self {
        Self::unconnected_at(Instant::from_nanos(1_000_000_000), count, seed, change)
    }

    fn unconnected_at(
        now: Instant,
        count: usize,
        seed: u64,
        change: impl FnOnce(&mut RedlockConfig),
    ) -> Self {
        let mut config = RedlockConfig::default();
        change(&mut config);
        let max_ttl = config.max_ttl;
        let master = |index| Master::old(index as u8, now, max_ttl, count);
        let redlock = Redlock::new(config, vec![Login::default(); count], seed, NONCE);
        let mut rig = Self {
            redlock: redlock.expect("the configurations of the tests are in bounds"),
            now,
            wanted: NodeSet::EMPTY,
            closed: NodeSet::EMPTY,
            asked: Vec::new(),
            outputs: vec![Vec::new(); count],
            native: "*2\r\n*-1\r\n*-1",
            masters: (0..count).map(master).collect(),
            wall_ahead: Duration::ZERO,
            owed: vec![VecDeque::new(); count],
            answers_looks: true,
            opens_doors: true,
            ticket: Some([NO_TICKETS; 2]),
            ticket_number: 0,
            opts_in: vec![[false; 2]; count],
            seen: String::new(),
            shows_opt_ins: false,
            ttl: Some(":60000"),
        };
        rig.advance(Duration::ZERO);
        rig
    }

    /// Returns a machine that begins some time later, for the same masters and with the same
    /// `max_ttl`. Nothing is connected.
    fn later(&self, by: Duration) -> Self {
        let (count, max_ttl) = (self.masters.len(), self.redlock.config().max_ttl);
        let now = self.now + by;
        let mut later = Self::unconnected_at(now, count, 8, |config| config.max_ttl = max_ttl);
        later.masters = self.masters.clone();
        later
    }

    /// Connects a node, and answers its handshake.
    fn connect(&mut self, index: usize) {
        self.connect_as(index, index as u8, "");
    }

    /// Connects a node as the process with this number, with `extra` lines of `INFO`.
    fn connect_as(&mut self, index: usize, process: u8, extra: &str) {
        self.masters[index].process = process;
        self.masters[index].extra = extra.to_owned();
        self.open(index);
        self.shake_hands(index);
    }

    /// Opens the connection that is wanted to a node.
    fn open(&mut self, index: usize) {
        let waited = self.now;
        while !self.wanted.contains(node(index)) {
            let (at, _) = self.redlock.poll_timeout().expect("a node is down");
            assert!(at - waited < Duration::from_secs(60), "no connection is wanted");
            self.advance(at - self.now);
        }
        self.wanted.remove(node(index));
        self.redlock.handle_connected(self.now, node(index));
    }

    /// Answers the handshake of a node.
    fn shake_hands(&mut self, index: usize) {
        let commands = self.sent(index);
        for command in &commands {
            let reply = match command.as_str() {
                "COMMAND INFO DELIFEQ DELEX" => self.native.to_owned(),
                look if look.starts_with("EVAL look-text ") => return,
                command if command.starts_with("INFO ") => {
                    info(&self.masters[index].section(&command[5..]))
                }
                load => {
                    let sha = loaded(load).expect("the handshake has no other steps");
                    format!("$40\r\n{sha}")
                }
            };
            self.reply(index, &reply);
        }
    }

    /// Breaks the connection of a node.
    fn close(&mut self, index: usize) {
        self.redlock.handle_closed(self.now, node(index), NodeError::Closed);
        self.owed[index].clear();
        self.run_actions();
    }

    fn advance(&mut self, by: Duration) {
        let (mut left, step) = (by, self.redlock.config().quarantine() / 4);
        loop {
            let part = left.min(step);
            left -= part;
            self.now = self.now + part;
            let wall = Duration::from_micros(micros(self.now)) + self.wall_ahead;
            self.redlock.set_wall_clock(self.now, wall);
            let looked = self.redlock.counters().looked;
            self.redlock.handle_timeout(self.now);
            self.run_actions();
            if self.opens_doors && self.redlock.counters().looked > looked {
                (0..self.masters.len()).for_each(|index| self.answer_looks(index));
            }
            for index in 0..self.masters.len() {
                if self.answers_looks && self.redlock.is_looking(node(index)) {
                    self.answer_looks(index);
                }
                if self.owes_aside(index) {
                    self.answer_looks(index);
                }
            }
            if left.is_zero() {
                return;
            }
        }
    }

    /// Lets time pass from deadline to deadline until `done`.
    fn until(&mut self, mut done: impl FnMut(&mut Self) -> bool) {
        for _ in 0..10_000 {
            if done(self) {
                return;
            }
            let (at, _) = self.redlock.poll_timeout().expect("something is due");
            self.advance(at - self.now);
        }
        panic!("it never happens");
    }

    /// Lets time pass until there are events, and returns them.
    fn wait(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        self.until(|rig| {
            events = rig.events();
            !events.is_empty()
        });
        events
    }

    fn run_actions(&mut self) {
        while let Some(action) = self.redlock.poll_action() {
            match action {
                Action::Connect(node) => self.wanted.insert(node),
                Action::Login(node) => self.asked.push(node),
                Action::Close(node) => {
                    self.wanted.remove(node);
                    self.closed.insert(node);
                    self.owed[node.index()].clear();
                }
            }
        }
    }

    /// Returns the events so far, without events about nodes.
    fn events(&mut self) -> Vec<Event> {
        let events = core::iter::from_fn(|| self.redlock.poll_event());
        events.filter(|event| !matches!(event, Event::Node(_))).collect()
    }

    fn event(&mut self) -> Event {
        let mut events = self.events();
        assert_eq!(events.len(), 1, "one event: {events:?}");
        events.remove(0)
    }

    fn acquire(&mut self, resource: &str, wait: Duration) -> LockId {
        let lock = self.redlock.acquire(self.now, resource.as_bytes(), TTL, wait);
        lock.expect("the request is in bounds")
    }

    /// Acquires a lock that all nodes grant.
    fn held(&mut self, resource: &str) -> LockId {
        let lock = self.acquire(resource, NO_WAIT);
        for index in 0..self.redlock.nodes().len() {
            self.sent(index);
            self.reply(index, "+OK");
        }
        assert!(matches!(self.event(), Event::Acquired { lock: held, .. } if held == lock));
        lock
    }

    /// Releases a lock on the nodes, although others of this engine stand in line.
    fn release_on_nodes(&mut self, lock: LockId) {
        self.redlock.token(lock).expect("it is held");
        self.redlock.release(self.now, lock).expect("it is held");
    }

    fn state(&self, index: usize) -> NodeState {
        self.redlock.node(self.now, node(index)).expect("the node is there").state
    }
}

fn info(text: &str) -> String {
    format!("${}\r\n{text}", text.len())
}

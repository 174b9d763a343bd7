//! The core inside a driver without sockets: the replies of the nodes lie ready.
//!
//! A measurement then covers the core and next to nothing else. The replies are those of embedded
//! masters, recorded the first time.
#![allow(dead_code, reason = "each crate compiles all of it and uses its own part")]

use std::hint::black_box;
use std::time::Duration;

use bytes::BytesMut;
use redbolt::embedded::{Master, Options, Session};
use redbolt::redlock::{Action, Event, LONGEST_TTL, LockId, Login, NodeId, Redlock, RedlockConfig};
use redbolt::resp::{Status, Value, parse};
use redbolt::time::Instant;

const TTL: Duration = Duration::from_secs(30);
const WAIT: Duration = Duration::from_secs(1);

/// The time between a request and its reply.
const ROUND_TRIP: Duration = Duration::from_micros(60);

/// Long after the start of the masters, because a master that has just restarted may be left out.
const START: Instant = Instant::from_nanos(1_000_000_000_000_000);

/// A core whose nodes are all ready.
pub(crate) struct Rig {
    redlock: Redlock,
    now: Instant,
    masters: Vec<(Master, Session)>,
}

/// What the core sends to each node in one turn, and what each node answers.
pub(crate) struct Turn {
    sent: usize,
    replies: BytesMut,
}

/// The same where each node answers at a pace of its own.
pub(crate) struct Step {
    sent: Vec<usize>,
    replies: Vec<BytesMut>,
}

impl Rig {
    pub(crate) fn new(nodes: usize, mut config: RedlockConfig) -> Self {
        // A span is so long that no look at the masters falls into a measurement.
        config.max_ttl = LONGEST_TTL;
        // And so is a tenure: an engine that has had a resource for a part of one asks whether
        // others wait, which is in no recorded turn.
        config.tenure = LONGEST_TTL;
        let redlock = Redlock::new(config, vec![Login::default(); nodes], 1, [7; 12]);
        let options = Options::default().fresh(true);
        let master = |seed| (Master::new(seed, options.clone(), Instant::ZERO), Session::default());
        let mut rig = Self {
            redlock: redlock.expect("the configuration is in bounds"),
            now: START,
            masters: (0..nodes as u64).map(master).collect(),
        };
        rig.redlock.set_wall_clock(START, Duration::from_nanos(START.as_nanos()));
        rig.connect();
        rig
    }

    fn connect(&mut self) {
        self.redlock.handle_timeout(self.now);
        while let Some(action) = self.redlock.poll_action() {
            let Action::Connect(node) = action else { panic!("{action:?}") };
            self.redlock.handle_connected(self.now, node);
        }
        for (node, (_, replies)) in self.redlock.nodes().into_iter().zip(self.ask_masters()) {
            self.redlock.handle_received(self.now, node, &replies);
        }
        while let Some(event) = self.redlock.poll_event() {
            assert!(matches!(event, Event::Node(_)), "{event:?}");
        }
    }

    pub(crate) fn core(&self) -> &Redlock {
        &self.redlock
    }

    pub(crate) fn now(&self) -> Instant {
        self.now
    }

    pub(crate) fn acquire(&mut self, resource: &[u8]) -> LockId {
        self.redlock.acquire(self.now, resource, TTL, WAIT).expect("there is room")
    }

    pub(crate) fn release(&mut self, lock: LockId) {
        self.redlock.release(self.now, lock).expect("the lock is held");
    }

    /// Returns the next event. Panics if there is none.
    pub(crate) fn event(&mut self) -> Event {
        self.next_event().expect("the nodes have answered")
    }

    pub(crate) fn next_event(&mut self) -> Option<Event> {
        self.redlock.poll_event()
    }

    /// Takes one turn of a driver with answers of the masters, which must agree with each other.
    pub(crate) fn record(&mut self) -> Turn {
        let mut answers = self.ask_masters();
        let (sent, replies) = answers.pop().expect("there is a node");
        for (other_sent, other_replies) in &answers {
            assert_eq!((sent, &replies), (*other_sent, other_replies));
        }
        self.receive(|_| &replies);
        Turn { sent, replies }
    }

    /// Takes one turn of a driver with answers of the masters, each of which gives only its `share`
    /// of the replies that it owes. The others stay in `owed`.
    pub(crate) fn record_step(&mut self, owed: &mut [BytesMut], shares: &[usize]) -> Step {
        let answers = self.ask_masters();
        let mut step = Step { sent: Vec::new(), replies: Vec::new() };
        for (((sent, replies), owed), share) in answers.iter().zip(owed).zip(shares) {
            owed.extend_from_slice(replies);
            let mut len = 0;
            for _ in 0..*share {
                let Ok(Status::Complete((_, used))) = parse(&owed[len..]) else { break };
                len += used;
            }
            step.sent.push(*sent);
            step.replies.push(owed.split_to(len));
        }
        self.receive(|node| &step.replies[node.index()]);
        step
    }

    /// Sends what waits to nobody; the nodes owe the replies.
    pub(crate) fn send(&mut self) {
        self.flush(|_, bytes| assert!(!bytes.is_empty()));
    }

    /// Takes a recorded turn again, without the masters.
    pub(crate) fn replay(&mut self, turn: &Turn) {
        self.flush(|_, bytes| assert_eq!(bytes.len(), turn.sent));
        self.receive(|_| black_box(&turn.replies));
        self.flush(|_, bytes| panic!("nothing is left to say: {}", bytes.escape_ascii()));
    }

    /// Takes a recorded step again, without the masters.
    pub(crate) fn replay_step(&mut self, step: &Step) {
        self.flush(|node, bytes| assert_eq!(bytes.len(), step.sent[node.index()]));
        self.receive(|node| black_box(&step.replies[node.index()]));
    }

    /// Sends what waits to the masters. Returns for each master how many bytes came, and the reply.
    fn ask_masters(&mut self) -> Vec<(usize, BytesMut)> {
        let mut masters = core::mem::take(&mut self.masters);
        let mut answers = vec![(0, BytesMut::new()); masters.len()];
        let now = self.now;
        self.flush(|node, bytes| {
            let (master, session) = &mut masters[node.index()];
            let (sent, replies) = &mut answers[node.index()];
            *sent += bytes.len();
            for request in requests(bytes) {
                master.apply(now, session, &request, replies);
            }
        });
        self.masters = masters;
        answers
    }

    /// Does what a driver does at the beginning and at the end of a turn.
    fn flush(&mut self, mut send: impl FnMut(NodeId, &[u8])) {
        self.obey();
        for node in self.redlock.nodes() {
            if let Some(bytes) = self.redlock.poll_transmit(self.now, node) {
                send(node, bytes);
                let len = bytes.len();
                self.redlock.handle_sent(node, len);
            }
        }
        self.obey();
        black_box(self.redlock.poll_timeout());
    }

    /// Does what a driver does in between: hands over the answers of all nodes.
    fn receive<'a>(&mut self, replies: impl Fn(NodeId) -> &'a [u8]) {
        self.now = self.now + ROUND_TRIP;
        for node in self.redlock.nodes() {
            let replies = replies(node);
            let done = self.redlock.handle_received(self.now, node, replies);
            assert_eq!(done, replies.len(), "the nodes answer in whole replies");
            self.obey();
        }
        self.redlock.handle_timeout(self.now);
        self.obey();
    }

    /// Checks that the core wants no action: connections neither open nor close here.
    fn obey(&mut self) {
        assert_eq!(self.redlock.poll_action(), None);
    }
}

/// Parses what the core sent into requests.
fn requests(mut bytes: &[u8]) -> Vec<Vec<&[u8]>> {
    let mut requests = Vec::new();
    while !bytes.is_empty() {
        let Ok(Status::Complete((Value::Array(words), used))) = parse(bytes) else {
            panic!("the core sends whole commands: {}", bytes.escape_ascii());
        };
        let word = |word| if let Value::Bulk(word) = word { word } else { panic!("{word:?}") };
        requests.push(words.map(word).collect());
        bytes = &bytes[used..];
    }
    requests
}

//! A client: the core under test, its ends of the links, and what it owes its caller.

use std::collections::BTreeMap;
use std::time::Duration;

use redbolt::redlock::{Action, Config, Event, LockId, Login, NodeId, Redlock, Trouble};
use redbolt::time::Instant;

use crate::chance::{Chance, MS};
use crate::master::scaled;
use crate::net::Net;

pub(crate) const RESOURCES: [&[u8]; 3] = [b"alpha", b"b", &[b'x'; 60]];

pub(crate) struct Client {
    pub(crate) redlock: Redlock,
    name: usize,
    /// Its clock started at another time and is fast by `rate` parts per million.
    origin: u64,
    rate: i64,
    ends: Vec<End>,
    pub(crate) asleep_until: u64,
    pub(crate) locks: BTreeMap<LockId, Lock>,
    pub(crate) grants: u64,
    pub(crate) extensions: u64,
}

/// The client's end of a link.
enum End {
    Down,
    Connecting { until: u64, works: bool },
    Up { link: u64, unread: Vec<u8> },
}

/// What the caller knows of a lock, and by when it must hear of what it asked for.
pub(crate) struct Lock {
    pub(crate) resource: usize,
    pub(crate) state: State,
    /// The event that is open has to come by then, in true time.
    pub(crate) due: Option<u64>,
    pub(crate) extension_due: Option<u64>,
    pub(crate) valid_until: Instant,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    Wanted,
    Held,
    Releasing,
}

impl Client {
    pub(crate) fn new(name: usize, config: Config, nodes: usize, chance: &mut Chance) -> Self {
        // No two clients have the same nonce: it stands for twelve bytes of the system's entropy.
        let nonce = [name as u8 + 1; 12];
        let logins = vec![Login::default(); nodes];
        let redlock = Redlock::new(config, logins, chance.rng.u64(..), nonce);
        Self {
            redlock: redlock.expect("the configuration is drawn within its bounds"),
            name,
            origin: chance.rng.u64(..10_000 * MS),
            rate: chance.rng.i64(-4_000..=4_000),
            ends: (0..nodes).map(|_| End::Down).collect(),
            asleep_until: 0,
            locks: BTreeMap::new(),
            grants: 0,
            extensions: 0,
        }
    }

    pub(crate) fn clock(&self, now: u64) -> Instant {
        scaled(now + self.origin, self.rate)
    }

    /// The true time, or very little later, at which its clock shows `at`.
    fn true_time(&self, at: Instant) -> u64 {
        let nanos = u128::from(at.as_nanos()) * 1_000_000;
        let parts = u128::try_from(1_000_000 + self.rate).unwrap_or(1_000_000);
        u64::try_from(nanos.div_ceil(parts)).unwrap_or(u64::MAX).saturating_sub(self.origin) + 1
    }

    /// When this client must be looked at next.
    pub(crate) fn next(&self) -> Option<u64> {
        let connects = self.ends.iter().filter_map(|end| match end {
            End::Connecting { until, .. } => Some(*until),
            _ => None,
        });
        let timeout = self.redlock.poll_timeout().map(|(at, _)| self.true_time(at));
        connects.chain(timeout).min()
    }

    /// One turn of the driver's loop: connections, replies, timeouts, and what follows from them.
    pub(crate) fn turn(&mut self, net: &mut Net) {
        let now = self.clock(net.now);
        for index in 0..self.ends.len() {
            // There are as many ends as nodes.
            let Some(node) = NodeId::new(index) else { continue };
            match &mut self.ends[index] {
                End::Connecting { until, works } if *until <= net.now => {
                    if *works {
                        let link = net.open(index);
                        self.ends[index] = End::Up { link, unread: Vec::new() };
                        self.redlock.handle_connected(now, node);
                    } else {
                        self.ends[index] = End::Down;
                        let refused = Trouble::Connect(std::io::ErrorKind::ConnectionRefused);
                        self.redlock.handle_closed(now, node, refused);
                    }
                }
                End::Up { link, unread } => {
                    unread.extend(net.receive(index, *link));
                    let done = self.redlock.handle_received(now, node, unread);
                    unread.drain(..done);
                    self.obey(net);
                }
                End::Connecting { .. } | End::Down => {}
            }
        }
        self.redlock.handle_timeout(now);
        self.settle(net);
        if let Some((due, reason)) = self.redlock.poll_timeout() {
            assert!(due > now, "client {} spins: due {due:?} at {now:?}, {reason:?}", self.name);
        }
    }

    /// Carries out what the core wants, and takes what it tells.
    pub(crate) fn settle(&mut self, net: &mut Net) {
        // Twice, because a driver may ask again, and the answer to the events must not be lost.
        for _ in 0..2 {
            self.obey(net);
            self.transmit(net);
            while let Some(event) = self.redlock.poll_event() {
                self.heed(net, event);
            }
        }
    }

    fn obey(&mut self, net: &mut Net) {
        while let Some(action) = self.redlock.poll_action() {
            match action {
                Action::Connect(node) => {
                    let end = &mut self.ends[node.index()];
                    assert!(matches!(end, End::Down), "a second connection to {node:?}");
                    let works = net.nodes[node.index()].refuses_until <= net.now;
                    *end = End::Connecting { until: net.now + net.chance.delay(), works };
                }
                Action::Close(node) => self.hang_up(net, node.index()),
                other => panic!("an unknown action: {other:?}"),
            }
        }
    }

    fn hang_up(&mut self, net: &mut Net, node: usize) {
        if let End::Up { link, .. } = core::mem::replace(&mut self.ends[node], End::Down) {
            net.break_off(node, link);
        }
    }

    /// The link to a node breaks; false if there is none.
    pub(crate) fn cut(&mut self, net: &mut Net, node: usize) -> bool {
        let Some(id) = NodeId::new(node) else { return false };
        if !matches!(self.ends[node], End::Up { .. }) {
            return false;
        }
        self.hang_up(net, node);
        self.redlock.handle_closed(self.clock(net.now), id, Trouble::Closed);
        self.settle(net);
        true
    }

    fn transmit(&mut self, net: &mut Net) {
        let now = self.clock(net.now);
        for node in self.redlock.nodes() {
            let End::Up { link, .. } = self.ends[node.index()] else { continue };
            if let Some(bytes) = self.redlock.poll_transmit(now, node) {
                let sent = net.send(node.index(), link, bytes);
                self.redlock.handle_sent(node, sent);
            }
        }
    }

    fn heed(&mut self, net: &mut Net, event: Event) {
        if let Event::Node(_) = event {
            return;
        }
        net.trace.note(net.now, format_args!("client {}: {event:?}", self.name));
        let now = self.clock(net.now);
        match event {
            Event::Acquired { lock, valid_until } => {
                let lock = self.known(lock, State::Wanted);
                assert!(valid_until > now, "a lock was granted after its validity");
                (lock.state, lock.due, lock.valid_until) = (State::Held, None, valid_until);
                self.grants += 1;
            }
            Event::Extended { lock, valid_until } => {
                let lock = self.known(lock, State::Held);
                assert!(lock.extension_due.take().is_some(), "an extension that nobody wants");
                assert!(lock.valid_until > now, "a lock was extended after its validity");
                assert!(valid_until >= lock.valid_until, "an extension shortened a validity");
                lock.valid_until = valid_until;
                self.extensions += 1;
            }
            Event::ExtendFailed { lock, .. } => {
                let lock = self.locks.get_mut(&lock).expect("a lock that lives");
                assert!(lock.extension_due.take().is_some(), "an extension that nobody wants");
            }
            Event::AcquireFailed { lock, .. } => self.ended(lock, State::Wanted),
            Event::Released { lock, .. } => self.ended(lock, State::Releasing),
            Event::Lost { lock, .. } => self.ended(lock, State::Held),
            other => panic!("an unknown event: {other:?}"),
        }
    }

    fn known(&mut self, id: LockId, state: State) -> &mut Lock {
        let lock = self.locks.get_mut(&id).expect("a lock that lives");
        assert_eq!(lock.state, state, "{id:?} has an event that it cannot have now");
        lock
    }

    fn ended(&mut self, id: LockId, state: State) {
        assert_eq!(self.known(id, state).extension_due, None, "an extension has no event");
        self.locks.remove(&id);
    }

    pub(crate) fn acquire(&mut self, net: &Net, resource: usize, ttl: u64, wait: u64) {
        let (ttl, wait) = (Duration::from_millis(ttl), Duration::from_millis(wait));
        let now = self.clock(net.now);
        let timeout = self.redlock.config().node_timeout(ttl);
        // Refused when the engine is full, and then there is nothing to wait for.
        let Ok(id) = self.redlock.acquire(now, RESOURCES[resource], ttl, wait) else { return };
        let due = Some(net.now + nanos((wait + timeout).max(2 * timeout)));
        let (state, valid_until) = (State::Wanted, Instant::ZERO);
        let lock = Lock { resource, state, due, extension_due: None, valid_until };
        assert!(self.locks.insert(id, lock).is_none(), "{id:?} was handed out twice");
    }

    pub(crate) fn extend(&mut self, net: &Net, id: LockId, ttl: u64) {
        let ttl = Duration::from_millis(ttl);
        let due = net.now + nanos(self.redlock.config().node_timeout(ttl));
        if self.redlock.extend(self.clock(net.now), id, ttl).is_ok() {
            self.known(id, State::Held).extension_due = Some(due);
        }
    }

    pub(crate) fn release(&mut self, net: &Net, id: LockId) {
        let due = net.now + nanos(self.redlock.config().release_timeout);
        self.redlock.release(self.clock(net.now), id).expect("a held lock can be released");
        let lock = self.known(id, State::Held);
        (lock.state, lock.due) = (State::Releasing, Some(due));
    }

    pub(crate) fn cancel(&mut self, net: &Net, id: LockId) {
        self.redlock.cancel(self.clock(net.now), id).expect("a wanted lock can be cancelled");
    }

    /// The locks in this state.
    pub(crate) fn locks_in(&self, state: State) -> Vec<LockId> {
        let found = self.locks.iter().filter(|(_, lock)| lock.state == state);
        found.map(|(id, _)| *id).collect()
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

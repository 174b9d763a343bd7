//! Bare sockets: the physical limit.
//!
//! The bytes are made before the clock runs, and replies are only compared with the expected bytes.
//! All locks in flight go in lockstep: one write per node with every `SET`, all replies, one write
//! per node with every release, all replies. No real load does that, and no engine can: the result
//! is what servers and kernel give when the client decides nothing. A lock counts as acquired when
//! the first three of five nodes have been read; the rest is read before the release.
//!
//! The same bytes over and over, with one token for all locks, are cheaper for the servers than any
//! Redlock may be: the Lua of the servers keeps equal strings once, and cached data stays in the
//! cache. [`Kind::Fresh`] shows how much cheaper. [`Kind::Majority`] asks three of five nodes for
//! each lock, and so shows what asking a majority can gain.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

use redbolt::Clock;
use redbolt::redlock::{RELEASE, RELEASE_MANY};

use crate::meter::Meter;
use crate::names;
use crate::plan::{Outcome, Plan, TTL};

/// Keys that one call releases, as in redbolt.
const GROUP: usize = 64;

/// Turns until fresh names are used again.
const FRESH_TURNS: u64 = 64;

const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Releases each lock with a script call of its own.
    Single,
    /// Releases up to [`GROUP`] locks with one script call.
    Group,
    /// As `Group`, but with a token for each lock, and with other names in every turn.
    Fresh,
    /// As `Group`, but each lock goes to a majority of the nodes, and each node gets as many locks.
    Majority,
}

/// What each of the nodes gets.
type Round = Vec<Rc<Canned>>;

/// The bytes to send, and the bytes that must come back.
#[derive(Default)]
struct Canned {
    request: Vec<u8>,
    reply: Vec<u8>,
}

pub(crate) fn run(plan: &Plan, kind: Kind) -> Outcome<Meter> {
    if plan.rate.is_some() {
        return Err("canned bytes go in lockstep, not at a rate".into());
    }
    let count = plan.in_flight as u64;
    let turns = if kind == Kind::Fresh { FRESH_TURNS } else { 1 };
    let turns: Vec<_> =
        (0..turns).map(|turn| kind.turn(plan, turn * count..(turn + 1) * count)).collect();
    let mut wire = Wire::connect(plan)?;
    for script in [RELEASE, RELEASE_MANY] {
        let reply = format!("$40\r\n{}\r\n", script.sha).into_bytes();
        let request = command(&[b"SCRIPT", b"LOAD", script.text.as_bytes()]);
        let load = same(plan, Canned { request, reply });
        wire.send(&load)?;
        wire.receive(&load, 0..plan.nodes.len())?;
    }
    let nodes = plan.nodes.len();
    // Some lock needs the last node where each is asked for a part of the locks.
    let quorum = if kind == Kind::Majority { nodes } else { plan.quorum() };
    let mut meter = Meter::new(plan);
    let mut start = Clock::now();
    for [acquire, release] in turns.iter().cycle() {
        if !meter.goes_on(start) {
            break;
        }
        wire.send(acquire)?;
        wire.receive(acquire, 0..quorum)?;
        meter.acquired_many(Clock::now() - start, count);
        wire.receive(acquire, quorum..nodes)?;
        wire.send(release)?;
        wire.receive(release, 0..nodes)?;
        meter.released(count);
        start = Clock::now();
    }
    Ok(meter)
}

impl Kind {
    /// Returns the bytes for the acquisition and the release of these locks.
    fn turn(self, plan: &Plan, numbers: Range<u64>) -> [Round; 2] {
        let nodes = plan.nodes.len() as u64;
        if self != Self::Majority {
            let numbers: Vec<_> = numbers.collect();
            return [same(plan, self.acquire(&numbers)), same(plan, self.release(&numbers))];
        }
        let asks = |node: u64, number: u64| (number + nodes - node) % nodes < plan.quorum() as u64;
        let of = |node| numbers.clone().filter(|number| asks(node, *number)).collect::<Vec<_>>();
        let of: Vec<_> = (0..nodes).map(of).collect();
        [
            of.iter().map(|numbers| Rc::new(self.acquire(numbers))).collect(),
            of.iter().map(|numbers| Rc::new(self.release(numbers))).collect(),
        ]
    }

    fn acquire(self, numbers: &[u64]) -> Canned {
        let ttl = TTL.as_millis().to_string();
        let mut canned = Canned::default();
        for &number in numbers {
            let (name, token) = (names::name(number), self.token(number));
            canned.request.extend(command(&[b"SET", &name, &token, b"NX", b"PX", ttl.as_bytes()]));
            canned.reply.extend(b"+OK\r\n");
        }
        canned
    }

    fn release(self, numbers: &[u64]) -> Canned {
        match self {
            Self::Single => self.release_single(numbers),
            Self::Group | Self::Fresh | Self::Majority => self.release_group(numbers),
        }
    }

    fn release_single(self, numbers: &[u64]) -> Canned {
        let sha = RELEASE.sha.as_bytes();
        let mut canned = Canned::default();
        for &number in numbers {
            let (name, token) = (names::name(number), self.token(number));
            canned.request.extend(command(&[b"EVALSHA", sha, b"1", &name, &token]));
            canned.reply.extend(b":1\r\n");
        }
        canned
    }

    fn release_group(self, numbers: &[u64]) -> Canned {
        let mut canned = Canned::default();
        for group in numbers.chunks(GROUP) {
            let names: Vec<_> = group.iter().map(|number| names::name(*number)).collect();
            let tokens: Vec<_> = group.iter().map(|number| self.token(*number)).collect();
            let keys = names.len().to_string();
            let mut words: Vec<&[u8]> =
                vec![b"EVALSHA", RELEASE_MANY.sha.as_bytes(), keys.as_bytes()];
            words.extend(names.iter().map(|name| &name[..]));
            words.extend(tokens.iter().map(|token| &token[..]));
            canned.request.extend(command(&words));
            canned.reply.extend(format!(":{keys}\r\n").bytes());
        }
        canned
    }

    /// As long as the tokens of redbolt.
    fn token(self, number: u64) -> [u8; 20] {
        let mut token = *b"twenty bytes, canned";
        if self == Self::Fresh {
            token[..8].copy_from_slice(&number.to_be_bytes());
        }
        token
    }
}

/// Gives all nodes the same bytes.
fn same(plan: &Plan, canned: Canned) -> Round {
    let canned = Rc::new(canned);
    plan.nodes.iter().map(|_| Rc::clone(&canned)).collect()
}

fn command(words: &[&[u8]]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend(format!("${}\r\n", word.len()).bytes());
        bytes.extend(*word);
        bytes.extend(b"\r\n");
    }
    bytes
}

/// One connection per node.
struct Wire {
    streams: Vec<TcpStream>,
    buffer: Vec<u8>,
}

impl Wire {
    fn connect(plan: &Plan) -> Outcome<Self> {
        let mut streams = Vec::new();
        for node in &plan.nodes {
            let stream = TcpStream::connect_timeout(node, PATIENCE)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            streams.push(stream);
        }
        Ok(Self { streams, buffer: vec![0; 64 * 1024] })
    }

    /// Sends each node its bytes.
    fn send(&mut self, round: &Round) -> Outcome<()> {
        for (stream, canned) in self.streams.iter_mut().zip(round) {
            stream.write_all(&canned.request)?;
        }
        Ok(())
    }

    /// Reads the bytes of all nodes of a range, one after the other.
    fn receive(&mut self, round: &Round, nodes: Range<usize>) -> Outcome<()> {
        for (stream, canned) in self.streams[nodes.clone()].iter_mut().zip(&round[nodes]) {
            let mut expected = &canned.reply[..];
            while !expected.is_empty() {
                let count = stream.read(&mut self.buffer)?;
                let found = &self.buffer[..count];
                if count == 0 || !expected.starts_with(found) {
                    return Err(format!("unexpected: {}", String::from_utf8_lossy(found)).into());
                }
                expected = &expected[count..];
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_arrays_of_bulk_strings() {
        assert_eq!(command(&[b"GET", b"k"]), b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n");
    }

    #[test]
    fn groups_have_up_to_64_keys() {
        let canned = Kind::Group.release_group(&(0..70).collect::<Vec<_>>());
        let calls = String::from_utf8(canned.request).expect("text").matches("EVALSHA").count();
        assert_eq!(calls, 2);
        assert_eq!(canned.reply, b":64\r\n:6\r\n");
    }

    #[test]
    fn each_lock_goes_to_a_majority_and_each_node_gets_as_many() {
        let plan = Plan {
            nodes: vec!["127.0.0.1:1".parse().expect("an address"); 5],
            tls: None,
            in_flight: 10,
            rate: None,
            warm_up: Duration::ZERO,
            seconds: Duration::ZERO,
            round: 0,
        };
        let sets = |canned: &Rc<Canned>| canned.reply.len() / b"+OK\r\n".len();
        let [all, _] = Kind::Group.turn(&plan, 0..10);
        let [few, releases] = Kind::Majority.turn(&plan, 0..10);
        assert!(all.iter().map(sets).eq([10; 5]));
        assert!(few.iter().map(sets).eq([6; 5]));
        assert!(releases.iter().all(|canned| canned.reply == b":6\r\n"));
        let asked = |name: &[u8]| {
            few.iter()
                .filter(|canned| canned.request.windows(name.len()).any(|w| w == name))
                .count()
        };
        assert!((0..10).all(|number| asked(&names::name(number)) == 3));
    }
}

//! Bare sockets: the physical limit.
//!
//! The bytes are made before the clock runs, and replies are only compared with what they must be.
//! All locks in flight go in lockstep: one write per node with every `SET`, all replies, one write
//! per node with every release, all replies. No real load does that, and no engine can: it is what
//! the servers and the kernel give when nobody has to think. A lock counts as acquired when the
//! first three of five nodes have been read; the rest is read before the release.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::ops::Range;
use std::time::Duration;

use redbolt::Clock;
use redbolt::redlock::{RELEASE, RELEASE_MANY};

use crate::meter::Meter;
use crate::names;
use crate::plan::{Outcome, Plan, TTL};

/// As long as redbolt's tokens.
const TOKEN: &[u8; 20] = b"twenty bytes, canned";

/// How many keys one call releases, as in redbolt.
const GROUP: u64 = 64;

const PATIENCE: Duration = Duration::from_secs(5);

/// How locks are given back.
#[derive(Clone, Copy)]
pub(crate) enum Release {
    /// One script call each.
    Single,
    /// One script call for up to [`GROUP`].
    Group,
}

/// What is sent, and what must come back.
#[derive(Default)]
struct Canned {
    request: Vec<u8>,
    reply: Vec<u8>,
}

pub(crate) fn run(plan: &Plan, release: Release) -> Outcome<Meter> {
    if plan.rate.is_some() {
        return Err("canned bytes go in lockstep, not at a rate".into());
    }
    let count = plan.in_flight as u64;
    let acquire = acquire(count);
    let release = match release {
        Release::Single => release_single(count),
        Release::Group => release_group(count),
    };
    let mut wire = Wire::connect(plan)?;
    for script in [RELEASE, RELEASE_MANY] {
        let reply = format!("$40\r\n{}\r\n", script.sha).into_bytes();
        let request = command(&[b"SCRIPT", b"LOAD", script.text.as_bytes()]);
        let load = Canned { request, reply };
        wire.send(&load)?;
        wire.receive(&load, 0..plan.nodes.len())?;
    }
    let (quorum, nodes) = (plan.quorum(), plan.nodes.len());
    let mut meter = Meter::new(plan);
    let mut start = Clock::now();
    while meter.goes_on(start) {
        wire.send(&acquire)?;
        wire.receive(&acquire, 0..quorum)?;
        meter.acquired_many(Clock::now() - start, count);
        wire.receive(&acquire, quorum..nodes)?;
        wire.send(&release)?;
        wire.receive(&release, 0..nodes)?;
        meter.released(count);
        start = Clock::now();
    }
    Ok(meter)
}

fn acquire(count: u64) -> Canned {
    let ttl = TTL.as_millis().to_string();
    let mut canned = Canned::default();
    for number in 0..count {
        let name = names::name(number);
        canned.request.extend(command(&[b"SET", &name, TOKEN, b"NX", b"PX", ttl.as_bytes()]));
        canned.reply.extend(b"+OK\r\n");
    }
    canned
}

fn release_single(count: u64) -> Canned {
    let mut canned = Canned::default();
    for number in 0..count {
        let name = names::name(number);
        canned.request.extend(command(&[b"EVALSHA", RELEASE.sha.as_bytes(), b"1", &name, TOKEN]));
        canned.reply.extend(b":1\r\n");
    }
    canned
}

fn release_group(count: u64) -> Canned {
    let mut canned = Canned::default();
    for first in (0..count).step_by(GROUP as usize) {
        let names: Vec<_> = (first..count.min(first + GROUP)).map(names::name).collect();
        let keys = names.len().to_string();
        let mut words: Vec<&[u8]> = vec![b"EVALSHA", RELEASE_MANY.sha.as_bytes(), keys.as_bytes()];
        words.extend(names.iter().map(|name| &name[..]));
        words.extend(names.iter().map(|_| &TOKEN[..]));
        canned.request.extend(command(&words));
        canned.reply.extend(format!("*{keys}\r\n").bytes());
        canned.reply.extend(b":1\r\n".repeat(names.len()));
    }
    canned
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

    /// Sends the same to all nodes.
    fn send(&mut self, canned: &Canned) -> Outcome<()> {
        for stream in &mut self.streams {
            stream.write_all(&canned.request)?;
        }
        Ok(())
    }

    /// Takes the same from all nodes of a range, one after the other.
    fn receive(&mut self, canned: &Canned, nodes: Range<usize>) -> Outcome<()> {
        for stream in &mut self.streams[nodes] {
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
        let canned = release_group(70);
        let calls = String::from_utf8(canned.request).expect("text").matches("EVALSHA").count();
        assert_eq!(calls, 2);
        assert!(canned.reply.starts_with(b"*64\r\n:1\r\n"));
        assert!(canned.reply.ends_with(b"*6\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n"));
    }
}

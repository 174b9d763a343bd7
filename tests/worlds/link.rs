//! One connection as two streams of bytes, each with its delays.
//!
//! The master's end outlives the client's: bytes that were on their way when the connection broke
//! may still arrive, late, and are executed then although nobody hears the reply. Such ghosts are
//! what Redlock must survive and what a test against real servers hardly ever meets.

use std::collections::VecDeque;

use redbolt::embedded::Session;
use redbolt::resp::Parser;

use crate::chance::Chance;

/// A connection, as the master has it.
pub(crate) struct Link {
    pub(crate) id: u64,
    pub(crate) session: Session,
    pub(crate) parser: Parser,
    pub(crate) requests: Stream,
    pub(crate) replies: Stream,
    /// The client's end is gone.
    pub(crate) is_broken: bool,
}

/// Bytes under way in one direction, in order.
#[derive(Default)]
pub(crate) struct Stream {
    /// When each piece arrives; never earlier than the piece before it.
    pieces: VecDeque<(u64, Vec<u8>)>,
    /// Arrived, and not yet understood.
    pub(crate) arrived: Vec<u8>,
}

impl Link {
    pub(crate) fn new(id: u64) -> Self {
        Self {
            id,
            session: Session::default(),
            parser: Parser::new(),
            requests: Stream::default(),
            replies: Stream::default(),
            is_broken: false,
        }
    }

    /// Breaks the client's end. What it had sent is lost from some piece on, goes on as if nothing
    /// had happened, or, most often, lies somewhere for a while and then comes in pieces.
    pub(crate) fn break_off(&mut self, now: u64, chance: &mut Chance) {
        self.is_broken = true;
        let pieces = &mut self.requests.pieces;
        match chance.rng.u8(..6) {
            0 => pieces.truncate(chance.rng.usize(..=pieces.len())),
            1 => {}
            _ => {
                let mut late = now + chance.rng.u64(..chance.ghost_max);
                for (due, _) in pieces {
                    *due = late.max(*due);
                    late = *due + if chance.rng.bool() { 0 } else { chance.delay() };
                }
            }
        }
    }
}

impl Stream {
    /// Sends `bytes` so that they arrive at `due`, or with what was sent before if that is later.
    pub(crate) fn send(&mut self, due: u64, bytes: &[u8]) {
        let due = self.pieces.back().map_or(due, |(last, _)| due.max(*last));
        self.pieces.push_back((due, bytes.to_vec()));
    }

    /// Sends `bytes` in random pieces.
    pub(crate) fn send_split(&mut self, now: u64, mut bytes: &[u8], chance: &mut Chance) {
        let mut due = now + chance.delay();
        while !bytes.is_empty() {
            let is_whole = chance.rng.u8(..3) > 0;
            let size = if is_whole { bytes.len() } else { chance.rng.usize(1..=bytes.len()) };
            let (piece, rest) = bytes.split_at(size);
            self.send(due, piece);
            due += chance.rng.u64(..50_000);
            bytes = rest;
        }
    }

    /// Lets come what has arrived by `now`; false if nothing has.
    pub(crate) fn arrive(&mut self, now: u64) -> bool {
        let before = self.arrived.len();
        while self.next().is_some_and(|due| due <= now) {
            // There is one: it has just been looked at.
            let (_, bytes) = self.pieces.pop_front().unwrap_or_default();
            self.arrived.extend(bytes);
        }
        self.arrived.len() > before
    }

    /// When the next piece arrives.
    pub(crate) fn next(&self) -> Option<u64> {
        self.pieces.front().map(|(due, _)| *due)
    }
}

//! One connection as two ordered streams of bytes, each with its delays.
//!
//! The two ends live and die apart. Bytes that were on their way when the client hung up may still
//! arrive, late, and are executed then although nobody hears the reply. Such ghosts are what
//! Redlock must survive and what a test against real servers hardly ever meets.

use std::collections::VecDeque;

use redbolt::embedded::Session;
use redbolt::resp::Parser;
use redbolt::time::Instant;

use crate::chance::Chance;
use crate::checks::Vote;
use crate::clock::MS;

/// A connection, as the network has it.
pub(crate) struct Link {
    pub(crate) id: u64,
    pub(crate) client: usize,
    /// As which node the client takes whoever answers here.
    pub(crate) slot: usize,
    pub(crate) session: Session,
    pub(crate) parser: Parser,
    pub(crate) requests: Stream,
    pub(crate) replies: Stream,
    /// Votes under way, each with the place in `replies` where its bytes end.
    pub(crate) votes: VecDeque<(u64, Vote)>,
    /// The master's end is there: what arrives is executed.
    pub(crate) is_served: bool,
    /// The client's end is there.
    pub(crate) is_heard: bool,
    /// When the client learns that the master's end is gone; never where nobody tells it.
    pub(crate) ends_at: u64,
}

/// Bytes in one direction, in order.
#[derive(Default)]
pub(crate) struct Stream {
    /// What was sent and not yet taken.
    bytes: Vec<u8>,
    /// How many bytes were taken before those.
    taken: u64,
    /// How many of all have arrived.
    arrived: u64,
    pieces: VecDeque<Piece>,
    /// By the clock of the sender, until when what was sent.
    sent: VecDeque<(u64, Instant)>,
}

/// Bytes that arrive together.
struct Piece {
    due: u64,
    end: u64,
}

impl Link {
    pub(crate) fn new(id: u64, client: usize, slot: usize) -> Self {
        Self {
            id,
            client,
            slot,
            session: Session::default(),
            parser: Parser::new(),
            requests: Stream::default(),
            replies: Stream::default(),
            votes: VecDeque::new(),
            is_served: true,
            is_heard: true,
            ends_at: u64::MAX,
        }
    }

    /// The client's end goes. What it had sent is lost from some piece on, goes on as if nothing
    /// had happened, or, most often, lies somewhere for a while and then comes in pieces.
    pub(crate) fn hang_up(&mut self, now: u64, ghost_max: u64, chance: &mut Chance) {
        self.is_heard = false;
        let pieces = &mut self.requests.pieces;
        match chance.below(6) {
            0 => pieces.truncate(chance.index(pieces.len() + 1)),
            1 => {}
            _ => {
                let mut late = now + chance.below(ghost_max);
                for piece in pieces {
                    piece.due = late.max(piece.due);
                    late = piece.due + if chance.one_in(2) { 0 } else { chance.below(2 * MS) };
                }
            }
        }
    }

    /// The master's end goes, with all that was not executed. Some of its last replies are lost;
    /// the client hears of it behind the others, or, if it `is_silent`, never.
    pub(crate) fn abandon(&mut self, now: u64, is_silent: bool, chance: &mut Chance) {
        self.is_served = false;
        self.requests = Stream::default();
        let pieces = &mut self.replies.pieces;
        pieces.truncate(chance.index(pieces.len() + 1));
        if !is_silent {
            let told = now + chance.below(2 * MS);
            self.ends_at = pieces.back().map_or(told, |last| told.max(last.due));
        }
    }

    /// Whether nobody will ever miss it.
    pub(crate) fn is_over(&self) -> bool {
        !self.is_heard && (!self.is_served || self.requests.next().is_none())
    }
}

impl Stream {
    /// Sends `bytes` so that they arrive at `due`, or with what was sent before if that is later.
    pub(crate) fn send(&mut self, due: u64, bytes: &[u8]) {
        let due = self.pieces.back().map_or(due, |last| due.max(last.due));
        self.bytes.extend_from_slice(bytes);
        self.pieces.push_back(Piece { due, end: self.end() });
    }

    /// Notes when all that has been sent so far was sent.
    pub(crate) fn stamp(&mut self, at: Instant) {
        self.sent.push_back((self.end(), at));
    }

    /// By the clock of the sender, when the waiting byte was sent that has `before` others before
    /// it.
    pub(crate) fn sent_at(&self, before: usize) -> Instant {
        let place = self.taken + before as u64;
        let sent = self.sent.iter().find(|(end, _)| *end > place);
        sent.map_or(Instant::FAR_FUTURE, |(_, at)| *at)
    }

    /// How many bytes were ever sent.
    pub(crate) fn end(&self) -> u64 {
        self.taken + self.bytes.len() as u64
    }

    /// Lets come what has arrived by `now`; false if nothing has.
    pub(crate) fn arrive(&mut self, now: u64) -> bool {
        let before = self.arrived;
        while let Some(piece) = self.pieces.front().filter(|piece| piece.due <= now) {
            self.arrived = piece.end;
            self.pieces.pop_front();
        }
        self.arrived > before
    }

    /// How many of all bytes have arrived.
    pub(crate) fn arrived(&self) -> u64 {
        self.arrived
    }

    /// What has arrived and was not taken.
    pub(crate) fn waiting(&self) -> &[u8] {
        // What was taken had arrived.
        &self.bytes[..(self.arrived - self.taken) as usize]
    }

    /// Takes the first `count` of the waiting bytes.
    pub(crate) fn take(&mut self, count: usize) {
        self.bytes.drain(..count);
        self.taken += count as u64;
        while self.sent.front().is_some_and(|(end, _)| *end <= self.taken) {
            self.sent.pop_front();
        }
    }

    /// When the next piece arrives.
    pub(crate) fn next(&self) -> Option<u64> {
        self.pieces.front().map(|piece| piece.due)
    }

    /// Nothing arrives before `until`.
    pub(crate) fn clog(&mut self, until: u64) {
        for piece in &mut self.pieces {
            piece.due = piece.due.max(until);
        }
    }
}

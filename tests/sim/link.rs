//! One connection as two ordered streams of bytes, each with its delays.
//!
//! The two ends live and die apart. Bytes under way when the client hangs up may still arrive late;
//! they are executed then, although nobody hears the reply. Redlock must survive such ghosts, and a
//! test against real servers hardly ever meets one.

use std::collections::VecDeque;

use redbolt::embedded::Session;
use redbolt::time::Instant;

use crate::chance::Chance;
use crate::checks::Vote;
use crate::clock::MS;
use crate::fences::Accept;
use crate::stops::Look;

/// A connection, as the network has it.
pub(crate) struct Link {
    pub(crate) id: u64,
    pub(crate) client: usize,
    /// The node for which the client takes the master that answers here.
    pub(crate) slot: usize,
    pub(crate) session: Session,
    pub(crate) is_resp3: bool,
    /// The master tells the client what happens to keys for which the client opts in.
    pub(crate) tracks: bool,
    /// The client opts in for the key that the next request reads.
    pub(crate) opts_in: bool,
    /// The keys for which the client has opted in, and has heard nothing since then.
    pub(crate) cared_for: Vec<Vec<u8>>,
    /// The client has logged in.
    pub(crate) is_authed: bool,
    pub(crate) requests: Stream,
    pub(crate) replies: Stream,
    /// Votes under way, each with the place in `replies` where its bytes end.
    pub(crate) votes: VecDeque<(u64, Vote)>,
    /// Fencing numbers that the master has accepted, in the same way.
    pub(crate) numbers: VecDeque<(u64, Accept)>,
    /// Answers to looks under way, in the same way.
    pub(crate) looks: VecDeque<(u64, Look)>,
    /// The master's end is there: arriving bytes are executed.
    pub(crate) is_served: bool,
    /// The client's end is there.
    pub(crate) is_heard: bool,
    /// The time at which the client learns that the master's end is gone; never if nobody tells.
    pub(crate) ends_at: u64,
}

/// Bytes in one direction, in order.
pub(crate) struct Stream {
    /// Bytes that were sent and not yet taken.
    bytes: Vec<u8>,
    /// The number of bytes taken before those.
    taken: u64,
    /// The number of bytes that have arrived, of all.
    arrived: u64,
    pieces: VecDeque<Piece>,
    /// The time at which the first piece arrives; never if there is none. Every step of a world
    /// asks every link.
    next: u64,
    /// The number of bytes that had been sent at each time, by the clock of the sender.
    sent: VecDeque<(u64, Instant)>,
    /// The number of bytes that could have been sent at each time. A socket may take only a part.
    offered: VecDeque<(u64, Instant)>,
}

/// When a byte left, by the clock of its sender.
#[derive(Clone, Copy)]
pub(crate) struct Leaving {
    /// When the byte could have been sent, which is what its sender knows.
    pub(crate) offered_at: Instant,
    pub(crate) sent_at: Instant,
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
            is_resp3: false,
            tracks: false,
            opts_in: false,
            cared_for: Vec::new(),
            is_authed: false,
            requests: Stream::new(),
            replies: Stream::new(),
            votes: VecDeque::new(),
            numbers: VecDeque::new(),
            looks: VecDeque::new(),
            is_served: true,
            is_heard: true,
            ends_at: u64::MAX,
        }
    }

    /// Removes the client's end. The bytes under way are lost from some piece on, or arrive as if
    /// nothing had happened, or, most often, lie somewhere for a while and then arrive in pieces.
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
        self.requests.look_for_next();
    }

    /// Removes the master's end, with all requests that were not executed. Some of the last replies
    /// are lost. The client learns of the end behind the others, or, if the end `is_silent`, never.
    pub(crate) fn abandon(&mut self, now: u64, is_silent: bool, chance: &mut Chance) {
        self.is_served = false;
        self.requests = Stream::default();
        let pieces = &mut self.replies.pieces;
        pieces.truncate(chance.index(pieces.len() + 1));
        if !is_silent {
            let told = now + chance.below(2 * MS);
            self.ends_at = pieces.back().map_or(told, |last| told.max(last.due));
        }
        self.replies.look_for_next();
    }

    /// Returns whether the link can be dropped.
    pub(crate) fn is_over(&self) -> bool {
        !self.is_heard && (!self.is_served || self.requests.next().is_none())
    }
}

impl Default for Stream {
    fn default() -> Self {
        Self {
            bytes: Vec::new(),
            taken: 0,
            arrived: 0,
            pieces: VecDeque::new(),
            next: u64::MAX,
            sent: VecDeque::new(),
            offered: VecDeque::new(),
        }
    }
}

impl Stream {
    fn new() -> Self {
        Self { bytes: Vec::with_capacity(1_024), ..Self::default() }
    }

    /// Brings the time of the next arrival up to date, after the pieces have changed.
    fn look_for_next(&mut self) {
        self.next = self.pieces.front().map_or(u64::MAX, |piece| piece.due);
    }

    /// Sends `bytes` to arrive at `due`, or with the bytes before them if that is later.
    pub(crate) fn send(&mut self, due: u64, bytes: &[u8]) {
        let due = self.pieces.back().map_or(due, |last| due.max(last.due));
        self.bytes.extend_from_slice(bytes);
        self.pieces.push_back(Piece { due, end: self.end() });
        self.look_for_next();
    }

    /// Records the time at which this many bytes wait to be sent behind those that were sent.
    pub(crate) fn offer(&mut self, at: Instant, count: usize) {
        let end = self.end() + count as u64;
        if self.offered.back().is_none_or(|(before, _)| end > *before) {
            self.offered.push_back((end, at));
        }
    }

    /// Records the time at which all bytes so far were sent.
    pub(crate) fn stamp(&mut self, at: Instant) {
        self.sent.push_back((self.end(), at));
    }

    /// Returns when the waiting byte behind `before` others left, by the clock of the sender.
    pub(crate) fn leaving(&self, before: usize) -> Leaving {
        let place = self.taken + before as u64;
        let find = |times: &VecDeque<(u64, Instant)>| {
            let found = times.iter().find(|(end, _)| *end > place);
            found.map_or(Instant::FAR_FUTURE, |(_, at)| *at)
        };
        Leaving { offered_at: find(&self.offered), sent_at: find(&self.sent) }
    }

    /// Returns how many bytes were ever sent.
    pub(crate) fn end(&self) -> u64 {
        self.taken + self.bytes.len() as u64
    }

    /// Lets the bytes arrive that are due by `now`. Returns false if there are none.
    pub(crate) fn arrive(&mut self, now: u64) -> bool {
        if self.next > now {
            return false;
        }
        let before = self.arrived;
        while let Some(piece) = self.pieces.front().filter(|piece| piece.due <= now) {
            self.arrived = piece.end;
            self.pieces.pop_front();
        }
        self.look_for_next();
        self.arrived > before
    }

    /// Returns how many of all bytes have arrived.
    pub(crate) fn arrived(&self) -> u64 {
        self.arrived
    }

    /// Returns the bytes that have arrived and were not taken.
    pub(crate) fn waiting(&self) -> &[u8] {
        // Bytes that were taken had arrived.
        &self.bytes[..(self.arrived - self.taken) as usize]
    }

    /// Takes the first `count` of the waiting bytes.
    pub(crate) fn take(&mut self, count: usize) {
        self.bytes.drain(..count);
        self.taken += count as u64;
        for times in [&mut self.sent, &mut self.offered] {
            while times.front().is_some_and(|(end, _)| *end <= self.taken) {
                times.pop_front();
            }
        }
    }

    /// Returns the time at which the next piece arrives.
    pub(crate) fn next(&self) -> Option<u64> {
        (self.next < u64::MAX).then_some(self.next)
    }

    /// Lets no byte arrive before `until`.
    pub(crate) fn clog(&mut self, until: u64) {
        for piece in &mut self.pieces {
            piece.due = piece.due.max(until);
        }
        self.look_for_next();
    }
}

//! One connection: bytes in, requests to the master, bytes out, all within bounds.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::time::Duration;

use bytes::{Buf, BytesMut};
use mio::net::TcpStream;
use smallvec::SmallVec;

use super::master::{Master, Session};
use crate::resp::{self, Parser, Status, Value};
use crate::time::Instant;

/// The longest request, in bytes on the wire.
pub(super) const INPUT_MAX: usize = 1024 * 1024;

/// The most bytes of replies that wait for a client that does not read, give or take one reply.
pub(super) const OUTPUT_MAX: usize = 4 * 1024 * 1024;

/// The most bytes read from one client before the next client has its turn.
const TURN_MAX: usize = 256 * 1024;

/// How a connection's turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// There is nothing to do until the socket is ready again.
    Idle,
    /// There may be more to read, and no event will announce it.
    More,
    /// The connection is over.
    Closed,
}

pub(super) struct Connection {
    stream: TcpStream,
    session: Session,
    parser: Parser,
    /// Bytes that are not executed yet: the beginning of a request.
    input: BytesMut,
    output: BytesMut,
    /// How many bytes of `output` may leave, from the front.
    due: usize,
    /// The other bytes of `output`, in their order: when replies were made, and their length. No
    /// entry is empty, so that the bound of `output` is one of this list too.
    held: VecDeque<(Instant, usize)>,
    /// No more requests are read, and only `output` is left to be written.
    closing: bool,
}

impl Connection {
    pub(super) fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            session: Session::default(),
            parser: Parser::new(),
            input: BytesMut::new(),
            output: BytesMut::new(),
            due: 0,
            held: VecDeque::new(),
            closing: false,
        }
    }

    /// Reads what has arrived, executes the requests in it, and writes the replies that are due:
    /// `delay` after they were made.
    ///
    /// `clock` is read after the socket, so that no request is executed in the past.
    pub(super) fn turn(
        &mut self,
        master: &mut Master,
        scratch: &mut [u8],
        clock: fn() -> Instant,
        delay: Duration,
    ) -> Outcome {
        let mut outcome = Outcome::Idle;
        let mut taken = 0;
        while !self.closing && outcome == Outcome::Idle {
            match self.stream.read(scratch) {
                Ok(0) => self.closing = true,
                Ok(count) => {
                    self.input.extend_from_slice(scratch.get(..count).unwrap_or_default());
                    let (now, before) = (clock(), self.output.len());
                    self.execute(master, now);
                    taken += count;
                    if self.input.len() > INPUT_MAX && !self.closing {
                        resp::error(&mut self.output, "ERR Protocol error: request too long");
                        self.closing = true;
                    }
                    // Nothing is written before `flush`, so that the output only grows here.
                    let made = self.output.len() - before;
                    if made > 0 {
                        self.held.push_back((now, made));
                    }
                    if self.output.len() > OUTPUT_MAX {
                        return Outcome::Closed;
                    }
                    if taken >= TURN_MAX {
                        outcome = Outcome::More;
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => return Outcome::Closed,
            }
        }
        if self.flush(clock(), delay) { outcome } else { Outcome::Closed }
    }

    /// When the next reply that is held back is due; `None` when none is held back.
    pub(super) fn next_reply(&self, delay: Duration) -> Option<Instant> {
        self.held.front().map(|(made, _)| *made + delay)
    }

    /// Executes every complete request in `input`.
    fn execute(&mut self, master: &mut Master, now: Instant) {
        let mut consumed = 0;
        while !self.closing && self.output.len() <= OUTPUT_MAX {
            let rest = self.input.get(consumed..).unwrap_or_default();
            match next_request(&mut self.parser, rest) {
                Ok(None) => break,
                Ok(Some((request, length))) => {
                    // As in Redis, an empty request has no reply.
                    if !request.is_empty() {
                        master.apply(now, &mut self.session, &request, &mut self.output);
                    }
                    self.closing = self.session.is_closing();
                    consumed += length;
                }
                Err(complaint) => {
                    resp::error(&mut self.output, complaint);
                    self.closing = true;
                }
            }
        }
        // The parser never consumes more than `input` has.
        self.input.advance(consumed);
    }

    /// Writes as much of what is due as the socket takes. Returns false once the connection is
    /// over.
    fn flush(&mut self, now: Instant, delay: Duration) -> bool {
        while self.next_reply(delay).is_some_and(|due| due <= now) {
            self.due += self.held.pop_front().map_or(0, |(_, length)| length);
        }
        while self.due > 0 {
            match self.stream.write(self.output.get(..self.due).unwrap_or_default()) {
                Ok(0) => return false,
                Ok(count) => {
                    self.output.advance(count);
                    self.due -= count;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return error.kind() == ErrorKind::WouldBlock,
            }
        }
        !self.closing || !self.output.is_empty()
    }
}

/// The words of a request. The longest ordinary request of the engine has eight words.
type Request<'a> = SmallVec<[&'a [u8]; 8]>;

/// Returns the first request of `input` and its length in bytes, or `None` while the request is
/// incomplete. The error is a text; after an error the stream cannot be parsed any more.
fn next_request<'a>(
    parser: &mut Parser,
    input: &'a [u8],
) -> Result<Option<(Request<'a>, usize)>, String> {
    match input.first() {
        None => return Ok(None),
        Some(b'*') => {}
        Some(_) => return Err("ERR the embedded master takes no inline commands".into()),
    }
    let status = parser.parse(input).map_err(|error| format!("ERR Protocol error: {error}"))?;
    let Status::Complete((value, length)) = status else { return Ok(None) };
    let Value::Array(elements) = value else { return Ok(Some((Request::new(), length))) };
    let mut request = Request::with_capacity(elements.len());
    for element in elements {
        let Value::Bulk(word) = element else {
            return Err("ERR Protocol error: expected '$'".into());
        };
        request.push(word);
    }
    Ok(Some((request, length)))
}

//! One connection: bytes in, requests to the master, bytes out, all within bounds.

use std::io::{ErrorKind, Read, Write};

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
            closing: false,
        }
    }

    /// Reads what has arrived, executes the requests in it, and writes the replies.
    ///
    /// `clock` is read after the socket, so that no request is executed in the past.
    pub(super) fn turn(
        &mut self,
        master: &mut Master,
        scratch: &mut [u8],
        clock: fn() -> Instant,
    ) -> Outcome {
        let mut outcome = Outcome::Idle;
        let mut taken = 0;
        while !self.closing && outcome == Outcome::Idle {
            match self.stream.read(scratch) {
                Ok(0) => self.closing = true,
                Ok(count) => {
                    self.input.extend_from_slice(scratch.get(..count).unwrap_or_default());
                    self.execute(master, clock());
                    taken += count;
                    if self.input.len() > INPUT_MAX && !self.closing {
                        resp::error(&mut self.output, "ERR Protocol error: request too long");
                        self.closing = true;
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
        if self.flush() { outcome } else { Outcome::Closed }
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

    /// Writes as much as the socket takes. Returns false once the connection is over.
    fn flush(&mut self) -> bool {
        while !self.output.is_empty() {
            match self.stream.write(&self.output) {
                Ok(0) => return false,
                Ok(count) => self.output.advance(count),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return error.kind() == ErrorKind::WouldBlock,
            }
        }
        !self.closing
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

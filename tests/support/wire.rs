//! RESP2 for the tests, written a second time on purpose.
//!
//! Blocking and simple. The codec of the library is not used here, because a test that reads a
//! server through the code under test cannot see the mistakes of that code.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// The longest line, bulk or array that is accepted; tests are far below.
const MAX_LEN: u64 = 16 << 20;

/// A reply, owned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Simple(String),
    Error(String),
    Integer(i64),
    Bulk(Vec<u8>),
    Null,
    Array(Vec<Self>),
}

/// One connection. Every operation fails after the timeout given at [`Connection::open`].
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
}

impl Connection {
    pub(crate) fn open(addr: &str, timeout: Duration) -> io::Result<Self> {
        let addr = addr.to_socket_addrs()?.next().ok_or(io::ErrorKind::AddrNotAvailable)?;
        let stream = TcpStream::connect_timeout(&addr, timeout)?;
        stream.set_read_timeout(Some(timeout))?;
        stream.set_write_timeout(Some(timeout))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::new(stream) })
    }

    /// Sends one command. Returns the reply.
    pub(crate) fn command(&mut self, parts: &[&[u8]]) -> io::Result<Reply> {
        self.send(&request(parts))?;
        self.reply()
    }

    /// Sends any bytes, including bytes that no client should send.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.get_mut().write_all(bytes)
    }

    pub(crate) fn reply(&mut self) -> io::Result<Reply> {
        read_reply(&mut self.stream)
    }

    /// Reads one raw byte; `None` if the peer has closed.
    pub(crate) fn byte(&mut self) -> io::Result<Option<u8>> {
        (&mut self.stream).bytes().next().transpose()
    }
}

/// Returns a command as a client sends it: an array of bulk strings.
pub(crate) fn request(parts: &[&[u8]]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", parts.len()).into_bytes();
    for part in parts {
        bytes.extend_from_slice(&bulk(part));
    }
    bytes
}

/// Appends a bulk string.
pub(crate) fn bulk(payload: &[u8]) -> Vec<u8> {
    let mut bytes = format!("${}\r\n", payload.len()).into_bytes();
    bytes.extend_from_slice(payload);
    bytes.extend_from_slice(b"\r\n");
    bytes
}

/// Reads the next command of a client; `None` if the client has closed between two commands.
pub(crate) fn read_request(stream: &mut impl BufRead) -> io::Result<Option<Vec<Vec<u8>>>> {
    if stream.fill_buf()?.is_empty() {
        return Ok(None);
    }
    let Reply::Array(parts) = read_reply(stream)? else {
        return Err(broken("a command is an array"));
    };
    let bulks = parts.into_iter().map(|part| match part {
        Reply::Bulk(bytes) => Ok(bytes),
        other => Err(broken(&format!("a command consists of bulk strings, not {other:?}"))),
    });
    bulks.collect::<io::Result<_>>().map(Some)
}

/// Reads the next reply of a server. The tests trust the server not to nest without end.
fn read_reply(stream: &mut impl BufRead) -> io::Result<Reply> {
    let line = read_line(stream)?;
    let (kind, rest) = line.split_at_checked(1).ok_or_else(|| broken("empty line"))?;
    match kind {
        "+" => Ok(Reply::Simple(rest.to_owned())),
        "-" => Ok(Reply::Error(rest.to_owned())),
        ":" => rest.parse().map(Reply::Integer).map_err(|_| broken(&line)),
        "$" | "*" if rest == "-1" => Ok(Reply::Null),
        "$" => read_bulk(stream, length(rest)?),
        "*" => (0..length(rest)?)
            .map(|_| read_reply(stream))
            .collect::<io::Result<_>>()
            .map(Reply::Array),
        _ => Err(broken(&line)),
    }
}

fn read_line(stream: &mut impl BufRead) -> io::Result<String> {
    let mut line = Vec::new();
    stream.take(MAX_LEN).read_until(b'\n', &mut line)?;
    let text = line.strip_suffix(b"\r\n").ok_or(io::ErrorKind::UnexpectedEof)?;
    String::from_utf8(text.to_vec()).map_err(|_| broken("a line that is not text"))
}

fn read_bulk(stream: &mut impl BufRead, len: u64) -> io::Result<Reply> {
    let mut bytes = Vec::new();
    stream.take(len).read_to_end(&mut bytes)?;
    match read_line(stream)?.as_str() {
        "" => Ok(Reply::Bulk(bytes)),
        _ => Err(broken("a bulk string longer than announced")),
    }
}

fn length(text: &str) -> io::Result<u64> {
    text.parse().ok().filter(|&len| len <= MAX_LEN).ok_or_else(|| broken(text))
}

fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

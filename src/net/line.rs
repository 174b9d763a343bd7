//! [`Line`]: a connection for one who waits, with a loop of its own.
//!
//! The socket is that of a [`Connection`], as in the driver. Only the waiting differs.

use core::time::Duration;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, ToSocketAddrs};

use mio::{Events, Poll, Token};

use super::address::{Address, Place};
use super::clock::Clock;
use super::connection::Connection;
use super::inbox::Inbox;
use super::race::{MAX_ADDRESSES, Progress, Race};
use super::transport::{Failure, Setup, Target};
use crate::redlock::{MAX_REPLY, NodeError, TlsError};
use crate::resp::{Parser, Status, Value};
use crate::time::Instant;

/// The one socket of a line.
const SOCKET: Token = Token(0);

/// A conversation of questions and answers, whose calls block.
pub(super) struct Line {
    poll: Poll,
    events: Events,
    /// `None` before the first and behind the last.
    connection: Option<Connection>,
    inbox: Inbox,
    parser: Parser,
    timeout: Duration,
}

impl Line {
    /// Connects to the first address of the node that answers, within `timeout`.
    pub(super) fn open(address: &Address, timeout: Duration) -> Result<Self, Failure> {
        Self::open_any(address, resolve(address), timeout)
    }

    /// Connects to the first of these targets that answers, within `timeout`, as the address wants
    /// it.
    pub(super) fn open_any(
        address: &Address,
        targets: Vec<Target>,
        timeout: Duration,
    ) -> Result<Self, Failure> {
        let setup = Setup::read(address)?;
        let end = Clock::now() + timeout;
        let mut line = Self {
            poll: Poll::new().map_err(|error| NodeError::Connect(error.kind()))?,
            events: Events::with_capacity(MAX_ADDRESSES),
            connection: None,
            inbox: Inbox::new(),
            parser: Parser::new(),
            timeout,
        };
        line.connection = Some(line.connect(targets, end)?);
        line.establish(setup.as_ref(), end)?;
        Ok(line)
    }

    /// Returns the first connection that is up.
    fn connect(&mut self, targets: Vec<Target>, end: Instant) -> Result<Connection, NodeError> {
        let mut race = Race::new(targets, self.timeout);
        loop {
            match race.go_on(Clock::now(), self.poll.registry(), SOCKET) {
                Progress::Up(connection) => return Ok(connection),
                Progress::Failed(error) => return Err(error),
                Progress::Pending => {}
            }
            match self.wait(end.min(race.next_at())) {
                Err(error) if error.kind() != ErrorKind::TimedOut => {
                    return Err(NodeError::Connect(error.kind()));
                }
                Err(_) if Clock::now() >= end => return Err(NodeError::ConnectTimeout),
                // The next address is due.
                Ok(()) | Err(_) => {}
            }
        }
    }

    /// Does what comes between a socket that is connected and the first byte.
    fn establish(&mut self, setup: Option<&Setup>, end: Instant) -> Result<(), Failure> {
        self.connection()?.begin(setup)?;
        while !self.connection()?.establish()? {
            self.wait(end).map_err(|error| match error.kind() {
                ErrorKind::TimedOut => NodeError::Tls(TlsError::HandshakeTimeout),
                kind => NodeError::Io(kind),
            })?;
        }
        Ok(())
    }

    /// Returns when the first certificate of the server and of ours ends, in seconds since 1970.
    pub(super) fn certificates_end(&self) -> [Option<u64>; 2] {
        self.connection.as_ref().map_or([None; 2], Connection::certificates_end)
    }

    /// Writes `commands` and reads replies until `read` has what it wants, within the timeout.
    pub(super) fn ask<T>(
        &mut self,
        commands: &[u8],
        mut read: impl FnMut(&Value<'_>) -> Result<Option<T>, NodeError>,
    ) -> Result<T, NodeError> {
        let end = Clock::now() + self.timeout;
        self.write(commands, end)?;
        loop {
            while let Some((value, len)) = next(&mut self.parser, self.inbox.bytes())? {
                let answer = read(&value)?;
                self.inbox.consume(len);
                if let Some(answer) = answer {
                    return Ok(answer);
                }
            }
            if self.inbox.bytes().len() == MAX_REPLY {
                return Err(NodeError::ReplyTooLong);
            }
            // A server that never stops talking must not keep us from looking.
            if Clock::now() >= end {
                return Err(NodeError::HandshakeTimeout);
            }
            let connection = self.connection.as_mut().ok_or(NodeError::Closed)?;
            let received = self.inbox.fill(|room| connection.read(room))?;
            if received.count == 0 && !received.more {
                self.wait(end).map_err(|error| unanswered(&error))?;
                self.connection()?.unblock(&mut 0)?;
            }
        }
    }

    fn write(&mut self, mut bytes: &[u8], end: Instant) -> Result<(), NodeError> {
        loop {
            let count = self.connection()?.write(bytes, &mut 0)?;
            bytes = &bytes[count..];
            if bytes.is_empty() {
                return Ok(());
            }
            self.wait(end).map_err(|error| unanswered(&error))?;
        }
    }

    fn connection(&mut self) -> Result<&mut Connection, NodeError> {
        self.connection.as_mut().ok_or(NodeError::Closed)
    }

    /// Returns the machine at the other end.
    pub(super) fn machine(&self) -> Option<IpAddr> {
        self.connection.as_ref()?.machine()
    }

    /// Waits until something happens to the socket, or `end` has come, which is an error.
    fn wait(&mut self, end: Instant) -> io::Result<()> {
        loop {
            let rest = end - Clock::now();
            if rest.is_zero() {
                return Err(ErrorKind::TimedOut.into());
            }
            match self.poll.poll(&mut self.events, Some(rest)) {
                Ok(()) if self.events.is_empty() => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }

    fn hang_up(&mut self) {
        if let Some(connection) = self.connection.take() {
            connection.close(self.poll.registry());
        }
    }
}

impl Drop for Line {
    /// Closes by a reset: an order that has not arrived when the answer is late never will.
    fn drop(&mut self) {
        self.hang_up();
    }
}

/// Returns where a node may be reached; nothing if its name cannot be resolved.
pub(super) fn resolve(address: &Address) -> Vec<Target> {
    match address.place() {
        Place::Unix { path } => vec![Target::Unix(path.into())],
        Place::Host { host, port, .. } => {
            let resolved = (host.as_str(), *port).to_socket_addrs();
            let resolved = resolved.map(|all| all.take(MAX_ADDRESSES).map(Target::Tcp).collect());
            resolved.unwrap_or_default()
        }
    }
}

fn next<'b>(parser: &mut Parser, bytes: &'b [u8]) -> Result<Option<(Value<'b>, usize)>, NodeError> {
    match parser.parse(bytes).map_err(NodeError::Protocol)? {
        Status::Complete(complete) => Ok(Some(complete)),
        Status::Partial => Ok(None),
    }
}

fn unanswered(error: &io::Error) -> NodeError {
    match error.kind() {
        ErrorKind::TimedOut => NodeError::HandshakeTimeout,
        kind => NodeError::Io(kind),
    }
}

//! Visits to nodes: a conversation with each, without the loop, for an operator who waits.
//!
//! The calls of this file block. Connecting and each answer have a time limit. The lookup of a name
//! has that of the system.

use core::time::Duration;
use std::io::{self, ErrorKind, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::panic::resume_unwind;
use std::thread;

use rustix::net::sockopt;

use super::address::Address;
use super::clock::Clock;
use super::credentials::Credentials;
use super::inbox::Inbox;
use crate::redlock::{
    Inspection, Login, MAX_REPLY, NodeError, Order, Receipt, RedlockConfig, Sight, Visitor,
};
use crate::resp::{Parser, Status, Value};
use crate::time::Instant;

/// A conversation with a node that has been inspected.
pub(crate) struct Visit {
    line: Line,
    login: Login,
    sight: Sight,
}

impl Visit {
    /// Connects to a node and inspects it, which writes nothing there.
    ///
    /// # Errors
    ///
    /// Returns the reason why the node cannot serve.
    pub(crate) fn pay(
        address: &Address,
        credentials: Option<&Credentials>,
        config: &RedlockConfig,
        nodes: usize,
    ) -> Result<Self, NodeError> {
        let login = login(address, credentials);
        let mut line = Line::open(address, config.connect_timeout)?;
        let mut inspection = Inspection::new(&login);
        let commands = inspection.commands(&login, visitor(config, nodes));
        let sight = line.ask(&commands, |value| inspection.handle_reply(value))?;
        Ok(Self { line, login, sight })
    }

    /// What the inspection has found.
    pub(crate) fn sight(&self) -> &Sight {
        &self.sight
    }

    /// Has the node execute an order.
    ///
    /// # Errors
    ///
    /// Returns the error of the node or of the connection. After an error of the connection, the
    /// node may have executed the order.
    pub(crate) fn order(
        &mut self,
        order: Order,
        config: &RedlockConfig,
        nodes: usize,
    ) -> Result<Receipt, NodeError> {
        let command = order.command(&self.login, visitor(config, nodes));
        self.line.ask(&command, |value| order.read(value).map(Some))
    }
}

fn visitor(config: &RedlockConfig, nodes: usize) -> Visitor<'_> {
    Visitor { config, nodes, since_1970: Clock::since_1970() }
}

/// Calls `visit` for each item, all at once, each in a thread of its own. Returns the results in
/// the order of the items.
///
/// # Errors
///
/// Returns the error of the system if a thread cannot be started. The other calls have ended by
/// then.
pub(crate) fn in_threads<T: Send, U: Send>(
    items: Vec<T>,
    visit: impl Fn(T) -> U + Sync,
) -> io::Result<Vec<U>> {
    let visit = &visit;
    thread::scope(|scope| {
        let spawn = |item| {
            let thread = thread::Builder::new().name("redbolt-visit".into());
            thread.spawn_scoped(scope, move || visit(item))
        };
        let threads = items.into_iter().map(spawn).collect::<io::Result<Vec<_>>>()?;
        let join = |thread: thread::ScopedJoinHandle<'_, U>| {
            thread.join().unwrap_or_else(|panic| resume_unwind(panic))
        };
        Ok(threads.into_iter().map(join).collect())
    })
}

/// A connection that is read and written by blocking calls.
pub(super) struct Line {
    stream: TcpStream,
    inbox: Inbox,
    parser: Parser,
    timeout: Duration,
}

impl Line {
    /// Connects to the first address of the node that answers, within `timeout`.
    pub(super) fn open(address: &Address, timeout: Duration) -> Result<Self, NodeError> {
        Self::open_any(&resolve(address), timeout)
    }

    /// Connects to the first of these addresses that answers, within `timeout`.
    pub(super) fn open_any(addresses: &[SocketAddr], timeout: Duration) -> Result<Self, NodeError> {
        let end = Clock::now() + timeout;
        let mut error = NodeError::NameNotResolved;
        for address in addresses {
            match connect(*address, end - Clock::now()) {
                Ok(stream) => {
                    let (inbox, parser) = (Inbox::new(), Parser::new());
                    return Ok(Self { stream, inbox, parser, timeout });
                }
                Err(failed) if is_timeout(&failed) => return Err(NodeError::ConnectTimeout),
                Err(failed) => error = NodeError::Connect(failed.kind()),
            }
        }
        Err(error)
    }

    /// Writes `commands` and reads replies until `read` has what it wants, within the timeout.
    pub(super) fn ask<T>(
        &mut self,
        commands: &[u8],
        mut read: impl FnMut(&Value<'_>) -> Result<Option<T>, NodeError>,
    ) -> Result<T, NodeError> {
        let end = Clock::now() + self.timeout;
        self.limit(end)?;
        self.stream.write_all(commands).map_err(|error| broken(&error))?;
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
            self.limit(end)?;
            match self.inbox.fill(&mut self.stream) {
                Ok((0, _)) => return Err(NodeError::Closed),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(broken(&error)),
            }
        }
    }

    /// Returns the machine at the other end.
    pub(super) fn peer(&self) -> Option<IpAddr> {
        self.stream.peer_addr().ok().map(|address| address.ip())
    }

    /// Lets the next call last until `end` at most.
    fn limit(&self, end: Instant) -> Result<(), NodeError> {
        let rest = end - Clock::now();
        if rest.is_zero() {
            return Err(NodeError::HandshakeTimeout);
        }
        let set = self.stream.set_read_timeout(Some(rest));
        let set = set.and_then(|()| self.stream.set_write_timeout(Some(rest)));
        set.map_err(|error| broken(&error))
    }
}

impl Drop for Line {
    /// Closes by a reset: an order that has not arrived when the answer is late never will.
    fn drop(&mut self) {
        // An error leaves a plain close.
        _ = sockopt::set_socket_linger(&self.stream, Some(Duration::ZERO));
    }
}

/// Returns the addresses of a node; none if the name cannot be resolved.
pub(super) fn resolve(address: &Address) -> Vec<SocketAddr> {
    let resolved = (address.host(), address.port()).to_socket_addrs();
    resolved.map(Iterator::collect).unwrap_or_default()
}

/// Returns the login to a node: that of the program, or else that of the address.
pub(super) fn login(address: &Address, credentials: Option<&Credentials>) -> Login {
    let login = credentials.and_then(|all| all.login(address));
    login.unwrap_or_else(|| address.login().clone())
}

fn connect(address: SocketAddr, timeout: Duration) -> io::Result<TcpStream> {
    if timeout.is_zero() {
        return Err(ErrorKind::TimedOut.into());
    }
    let stream = TcpStream::connect_timeout(&address, timeout)?;
    // The kernel can connect a socket to itself, where nobody listens on the port.
    if stream.local_addr()? == stream.peer_addr()? {
        return Err(ErrorKind::ConnectionRefused.into());
    }
    stream.set_nodelay(true)?;
    Ok(stream)
}

fn next<'b>(parser: &mut Parser, bytes: &'b [u8]) -> Result<Option<(Value<'b>, usize)>, NodeError> {
    match parser.parse(bytes).map_err(NodeError::Protocol)? {
        Status::Complete(complete) => Ok(Some(complete)),
        Status::Partial => Ok(None),
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock)
}

fn broken(error: &io::Error) -> NodeError {
    if is_timeout(error) { NodeError::HandshakeTimeout } else { NodeError::Io(error.kind()) }
}

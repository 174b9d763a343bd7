//! One TCP connection, without knowledge of the bytes that go through.

use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::time::Duration;

use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use rustix::net::sockopt;

/// The silence after which the kernel sends the first keepalive probe.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(15);
/// The time between two keepalive probes.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
/// The number of unanswered keepalive probes after which the kernel gives up.
const KEEPALIVE_PROBES: u32 = 3;

/// The time without an acknowledgement after which the kernel gives up.
const USER_TIMEOUT: Duration = Duration::from_secs(30);

pub(super) struct Connection {
    stream: TcpStream,
    established: bool,
    /// The kernel takes no bytes until it reports the socket as writable.
    blocked: bool,
}

impl Connection {
    /// Starts to connect. The socket becomes writable once the outcome is known.
    pub(super) fn open(address: SocketAddr, registry: &Registry, token: Token) -> io::Result<Self> {
        let mut stream = TcpStream::connect(address)?;
        registry.register(&mut stream, token, Interest::READABLE | Interest::WRITABLE)?;
        Ok(Self { stream, established: false, blocked: true })
    }

    pub(super) fn is_established(&self) -> bool {
        self.established
    }

    /// Asks for the outcome of connecting, after an event of the socket. Returns `false` while
    /// connecting is still under way.
    pub(super) fn establish(&mut self) -> io::Result<bool> {
        if let Some(error) = self.stream.take_error()? {
            return Err(error);
        }
        let peer = match self.stream.peer_addr() {
            Ok(peer) => peer,
            Err(error) if error.kind() == io::ErrorKind::NotConnected => return Ok(false),
            Err(error) => return Err(error),
        };
        // The kernel can choose the server's port as our local port, and connect the socket to
        // itself. Such a connection would occupy the port, and the server could not start.
        if self.stream.local_addr()? == peer {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        self.stream.set_nodelay(true)?;
        sockopt::set_socket_keepalive(&self.stream, true)?;
        sockopt::set_tcp_keepidle(&self.stream, KEEPALIVE_IDLE)?;
        sockopt::set_tcp_keepintvl(&self.stream, KEEPALIVE_INTERVAL)?;
        sockopt::set_tcp_keepcnt(&self.stream, KEEPALIVE_PROBES)?;
        sockopt::set_tcp_user_timeout(&self.stream, USER_TIMEOUT.as_millis() as u32)?;
        self.established = true;
        self.blocked = false;
        Ok(true)
    }

    pub(super) fn can_write(&self) -> bool {
        self.established && !self.blocked
    }

    /// Notes that the kernel takes bytes again.
    pub(super) fn unblock(&mut self) {
        self.blocked = false;
    }

    /// Calls `write` once. Returns the number of bytes that the kernel took, possibly zero.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = match retry(|| self.stream.write(bytes)) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            Err(error) => return Err(error),
        };
        self.blocked = count < bytes.len();
        Ok(count)
    }

    /// Closes the connection by a reset: bytes that have not arrived never will.
    ///
    /// After a plain close the kernel would go on sending them. A node could then execute a `SET`
    /// after the cleanup for this `SET` (S6).
    pub(super) fn close(mut self, registry: &Registry) {
        let _ = sockopt::set_socket_linger(&self.stream, Some(Duration::ZERO));
        // Closing the socket also removes it from the registry. The call only avoids a stale event.
        let _ = registry.deregister(&mut self.stream);
    }
}

impl Read for Connection {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        retry(|| self.stream.read(buffer))
    }
}

/// Repeats `call` as long as signals interrupt it. One signal interrupts only one call.
fn retry<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

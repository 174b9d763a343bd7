//! One TCP connection, without any idea of what it carries.

use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::time::Duration;

use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use rustix::net::sockopt;

/// After how much silence the kernel asks whether the peer still lives, and how often.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(15);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
const KEEPALIVE_PROBES: u32 = 3;

/// After how long without an acknowledgement the kernel gives up.
const USER_TIMEOUT: Duration = Duration::from_secs(30);

pub(super) struct Connection {
    stream: TcpStream,
    established: bool,
    /// The kernel takes no more bytes until it says so.
    blocked: bool,
}

impl Connection {
    /// Starts to connect. The outcome shows when the socket becomes writable.
    pub(super) fn open(address: SocketAddr, registry: &Registry, token: Token) -> io::Result<Self> {
        let mut stream = TcpStream::connect(address)?;
        registry.register(&mut stream, token, Interest::READABLE | Interest::WRITABLE)?;
        Ok(Self { stream, established: false, blocked: true })
    }

    pub(super) fn is_established(&self) -> bool {
        self.established
    }

    /// Whether the connection came up, now that the socket says something; false if not yet.
    pub(super) fn establish(&mut self) -> io::Result<bool> {
        if let Some(error) = self.stream.take_error()? {
            return Err(error);
        }
        let peer = match self.stream.peer_addr() {
            Ok(peer) => peer,
            Err(error) if error.kind() == io::ErrorKind::NotConnected => return Ok(false),
            Err(error) => return Err(error),
        };
        // The kernel can pick the port that we connect to as our own, and connect us to ourselves.
        // That would keep a server that starts from its port.
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

    /// The kernel takes bytes again.
    pub(super) fn unblock(&mut self) {
        self.blocked = false;
    }

    /// One `write` of as much as the kernel takes.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = match retry(|| self.stream.write(bytes)) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            Err(error) => return Err(error),
        };
        self.blocked = count < bytes.len();
        Ok(count)
    }

    /// Closes for good: bytes that have not arrived never will. A plain close would have the kernel
    /// go on sending them, and a `SET` could come to be executed after all that was done to clean
    /// up behind it (S6).
    pub(super) fn close(mut self, registry: &Registry) {
        let _ = sockopt::set_socket_linger(&self.stream, Some(Duration::ZERO));
        // Closing takes it out of the registry by itself; the call only saves a stale event.
        let _ = registry.deregister(&mut self.stream);
    }
}

impl Read for Connection {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        retry(|| self.stream.read(buffer))
    }
}

/// A signal may interrupt a call; the next one is not interrupted by the same.
fn retry<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

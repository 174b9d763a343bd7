//! [`Stream`]: a socket that never blocks.

use std::io::{self, IoSlice, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use mio::event::Source;
use mio::net::{TcpStream, UnixStream};
use mio::{Interest, Registry, Token};

use super::{tcp, unix};

/// Where a connection leads: an address of a name, or the path of a Unix socket.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::net) enum Target {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

impl Target {
    /// Returns the machine to which this leads.
    pub(in crate::net) fn machine(&self) -> IpAddr {
        match self {
            Self::Tcp(address) => address.ip(),
            Self::Unix(_) => THIS_MACHINE,
        }
    }
}

/// The machine of a server behind a Unix socket.
const THIS_MACHINE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A socket that is connected or connects.
pub(in crate::net) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    /// Starts to connect, and reports to `registry`. The socket becomes writable once the outcome
    /// is known.
    pub(in crate::net) fn connect(
        target: &Target,
        registry: &Registry,
        token: Token,
    ) -> io::Result<Self> {
        let mut stream = match target {
            Target::Tcp(address) => Self::Tcp(TcpStream::connect(*address)?),
            Target::Unix(path) => Self::Unix(UnixStream::connect(path)?),
        };
        let interest = Interest::READABLE | Interest::WRITABLE;
        registry.register(stream.source(), token, interest)?;
        Ok(stream)
    }

    /// Asks for the outcome of connecting, after an event of the socket, and prepares a socket that
    /// is connected. Returns `false` while connecting is still under way.
    pub(in crate::net) fn establish(&self) -> io::Result<bool> {
        match self {
            Self::Tcp(stream) => tcp::establish(stream),
            Self::Unix(stream) => unix::establish(stream),
        }
    }

    /// Returns the machine at the other end.
    pub(in crate::net) fn machine(&self) -> Option<IpAddr> {
        match self {
            Self::Tcp(stream) => stream.peer_addr().ok().map(|address| address.ip()),
            Self::Unix(_) => Some(THIS_MACHINE),
        }
    }

    pub(in crate::net) fn is_tcp(&self) -> bool {
        matches!(self, Self::Tcp(_))
    }

    /// Closes the socket by a reset, where there is one: bytes that have not arrived never will.
    ///
    /// What was written to a Unix socket has arrived.
    pub(in crate::net) fn close(mut self, registry: &Registry) {
        if let Self::Tcp(stream) = &self {
            tcp::reset_on_close(stream);
        }
        // Closing the socket also removes it from the registry. The call only avoids a stale event.
        let _ = registry.deregister(self.source());
    }

    fn source(&mut self) -> &mut dyn Source {
        match self {
            Self::Tcp(stream) => stream,
            Self::Unix(stream) => stream,
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => retry(|| stream.read(buffer)),
            Self::Unix(stream) => retry(|| stream.read(buffer)),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => retry(|| stream.write(bytes)),
            Self::Unix(stream) => retry(|| stream.write(bytes)),
        }
    }

    fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => retry(|| stream.write_vectored(pieces)),
            Self::Unix(stream) => retry(|| stream.write_vectored(pieces)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
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

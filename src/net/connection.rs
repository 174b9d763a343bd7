//! One connection, without knowledge of the bytes that go through and of what carries them.

use std::io::{self, Read, Write};
use std::net::IpAddr;

use mio::{Registry, Token};

use super::received::Received;
use super::transport::{Failure, Session, Setup, Stream, Target};
use crate::redlock::{NodeError, TlsError};

/// What begins a record of TLS: an alert, of any version.
const ALERT: &[u8] = &[21, 3];

/// What may be wrong with a server that hangs up on a command, before its first answer.
const WANTS_TLS: &str = "before any answer: does the port want TLS, rediss://?";

pub(super) struct Connection {
    stream: Stream,
    /// What encrypts; `None` where nothing does.
    session: Option<Box<Session>>,
    established: bool,
    /// The kernel takes no bytes until it reports the socket as writable.
    blocked: bool,
    /// Nothing has come from the server yet.
    is_fresh: bool,
}

impl Connection {
    /// Starts to connect. The socket becomes writable once the outcome is known.
    pub(super) fn open(
        target: &Target,
        registry: &Registry,
        token: Token,
    ) -> Result<Self, NodeError> {
        let stream = Stream::connect(target, registry, token).map_err(refused)?;
        Ok(Self { stream, session: None, established: false, blocked: true, is_fresh: true })
    }

    /// Asks for the outcome of connecting, after an event of the socket. Returns `false` while
    /// connecting is still under way.
    pub(super) fn is_connected(&self) -> Result<bool, NodeError> {
        self.stream.establish().map_err(refused)
    }

    /// Begins what comes between connecting and the first byte of ours: nothing, or TLS.
    /// [`establish`](Self::establish) goes on.
    pub(super) fn begin(&mut self, setup: Option<&Setup>) -> Result<(), Failure> {
        self.session = setup.map(Session::new).transpose()?.map(Box::new);
        Ok(())
    }

    pub(super) fn is_established(&self) -> bool {
        self.established
    }

    /// Goes on with what [`begin`](Self::begin) has begun, as far as that is possible now. Returns
    /// `true` as soon as bytes can be written.
    pub(super) fn establish(&mut self) -> Result<bool, Failure> {
        if let Some(session) = &mut self.session {
            if !session.shake(&mut self.stream)? {
                return Ok(false);
            }
        }
        self.established = true;
        self.blocked = false;
        Ok(true)
    }

    /// Returns when the first certificate of the server and of ours ends, in seconds since 1970.
    pub(super) fn certificates_end(&self) -> [Option<u64>; 2] {
        self.session.as_ref().map_or([None; 2], |session| session.ends())
    }

    /// Returns the machine at the other end.
    pub(super) fn machine(&self) -> Option<IpAddr> {
        self.stream.machine()
    }

    pub(super) fn can_write(&self) -> bool {
        self.established && !self.blocked
    }

    /// Notes that the kernel takes bytes again, and gives it those that wait, if there are any.
    /// Adds the number of its calls of `write` to `calls`.
    pub(super) fn unblock(&mut self, calls: &mut u64) -> Result<(), NodeError> {
        self.blocked = match &mut self.session {
            Some(session) if self.blocked => {
                !session.flush(&mut self.stream, calls).map_err(broken)?
            }
            _ => false,
        };
        Ok(())
    }

    /// Calls `write` once. Returns the number of bytes that have left, possibly zero. With TLS,
    /// these are the bytes that are encrypted, in as many calls as they need: one for 64 KiB. Adds
    /// the number of calls to `calls`.
    pub(super) fn write(&mut self, bytes: &[u8], calls: &mut u64) -> Result<usize, NodeError> {
        let Some(session) = &mut self.session else {
            *calls += 1;
            let count = match self.stream.write(bytes) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
                Err(error) => return Err(broken(error)),
            };
            self.blocked = count < bytes.len();
            return Ok(count);
        };
        match session.write(&mut self.stream, bytes, calls) {
            Ok(count) => {
                self.blocked = !session.is_flushed();
                Ok(count)
            }
            Err(error) => {
                Err(session.last_words(&mut self.stream).unwrap_or_else(|| broken(error)))
            }
        }
    }

    /// Calls `read` once.
    ///
    /// A read that does not fill the buffer has emptied the socket (epoll(7), on edge-triggered
    /// streams). With kqueue, all that comes later is told again, too.
    ///
    /// # Errors
    ///
    /// Returns the reason why nothing more will come: the end of the stream is one.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> Result<Received, NodeError> {
        if let Some(session) = &mut self.session {
            return session.read(&mut self.stream, buffer);
        }
        match self.stream.read(buffer) {
            Ok(0) => Err(NodeError::Closed),
            // No reply begins like that.
            Ok(count) if self.is_fresh && buffer[..count].starts_with(ALERT) => {
                Err(NodeError::Tls(TlsError::TlsWanted))
            }
            Ok(count) => {
                self.is_fresh = false;
                Ok(Received { count, more: count == buffer.len() })
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Received::NOTHING),
            Err(error) => Err(broken(error)),
        }
    }

    /// Returns what may be the reason for this error; nothing if there is nothing to guess.
    pub(super) fn guess(&self, error: NodeError) -> &'static str {
        use io::ErrorKind::ConnectionReset;
        match error {
            NodeError::Closed | NodeError::Io(ConnectionReset)
                if self.is_fresh && self.session.is_none() && self.stream.is_tcp() =>
            {
                WANTS_TLS
            }
            _ => "",
        }
    }

    /// Closes the connection in such a way that bytes which have not arrived never will, where the
    /// transport can do so.
    pub(super) fn close(self, registry: &Registry) {
        self.stream.close(registry);
    }
}

fn refused(error: io::Error) -> NodeError {
    NodeError::Connect(error.kind())
}

fn broken(error: io::Error) -> NodeError {
    NodeError::Io(error.kind())
}

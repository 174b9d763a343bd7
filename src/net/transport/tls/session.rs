//! [`Session`]: what is encrypted and decrypted for one socket.

use std::io::{self, ErrorKind, Read, Write};

use rustls::{ClientConnection, IoState};

use super::cause;
use super::setup::Setup;
use super::validity;
use crate::net::received::Received;
use crate::net::transport::failure::Failure;
use crate::net::transport::stream::Stream;
use crate::redlock::{NodeError, TlsError};

/// The most bytes that wait for a socket, encrypted or not. What comes in has the bounds of rustls:
/// a message of a handshake 64 KiB, and a record of data 16 KiB.
const MAX_WAITING: usize = 64 * 1024;

/// The most reads of one turn of a handshake, 4 KiB each. No honest server sends as much.
const READS_PER_TURN: usize = 64;

/// One TLS session. All that waits is bounded, and no call blocks.
pub(in crate::net) struct Session {
    tls: ClientConnection,
    /// The end of the validity of our certificate, in seconds since 1970.
    our_end: Option<u64>,
}

impl Session {
    /// Prepares a handshake.
    pub(in crate::net) fn new(setup: &Setup) -> Result<Self, Failure> {
        let tls = ClientConnection::new(setup.config.clone(), setup.name.clone());
        let mut tls = tls.map_err(|error| cause::of(&error))?;
        tls.set_buffer_limit(Some(MAX_WAITING));
        Ok(Self { tls, our_end: setup.ends })
    }

    /// Goes on with the handshake as far as that is possible now. Returns whether the handshake is
    /// complete. The last message of ours leaves with the first bytes of [`write`](Self::write).
    pub(in crate::net) fn shake(&mut self, stream: &mut Stream) -> Result<bool, Failure> {
        for _ in 0..READS_PER_TURN {
            if !self.tls.is_handshaking() {
                return Ok(true);
            }
            self.flush(stream, &mut 0).map_err(broken)?;
            match self.tls.read_tls(stream) {
                // An alert says why, if there was one.
                Ok(0) => return Err(NodeError::Closed.into()),
                Ok(_) => {
                    self.process(stream)?;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(broken(error)),
            }
        }
        if self.tls.is_handshaking() { Err(TlsError::Protocol.into()) } else { Ok(true) }
    }

    /// Encrypts bytes, and writes what the socket takes. Returns how many bytes were encrypted:
    /// they leave before all later ones, or never. Adds the number of writes to `calls`.
    pub(in crate::net) fn write(
        &mut self,
        stream: &mut Stream,
        bytes: &[u8],
        calls: &mut u64,
    ) -> io::Result<usize> {
        let mut count = 0;
        loop {
            count += self.tls.writer().write(&bytes[count..])?;
            if !self.flush(stream, calls)? || count == bytes.len() {
                return Ok(count);
            }
        }
    }

    /// Writes what waits. Returns whether nothing is left. Adds the number of writes to `calls`.
    pub(in crate::net) fn flush(
        &mut self,
        stream: &mut Stream,
        calls: &mut u64,
    ) -> io::Result<bool> {
        while self.tls.wants_write() {
            *calls += 1;
            match self.tls.write_tls(stream) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Returns whether nothing waits for the socket.
    pub(in crate::net) fn is_flushed(&self) -> bool {
        !self.tls.wants_write()
    }

    /// Calls `read` once at most, and decrypts.
    pub(in crate::net) fn read(
        &mut self,
        stream: &mut Stream,
        room: &mut [u8],
    ) -> Result<Received, NodeError> {
        // What had no room in the last turn.
        let count = self.decrypted(room)?;
        if count > 0 {
            return Ok(Received { count, more: true });
        }
        let mut tap = Tap { stream, has_more: false };
        match self.tls.read_tls(&mut tap) {
            Ok(0) => return Err(NodeError::Closed),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Received::NOTHING),
            Err(error) => return Err(NodeError::Io(error.kind())),
        }
        let has_more = tap.has_more;
        let state = self.process(stream).map_err(|failure| failure.error)?;
        let count = self.decrypted(room)?;
        // Behind a record without data, or behind half of one, the stream may have ended. The
        // system has told of that end together with these bytes, and does not tell again. And of an
        // end in the words of TLS, the system never tells.
        let is_over = count == 0 || state.peer_has_closed();
        Ok(Received { count, more: has_more || is_over || count == room.len() })
    }

    /// Returns the reason why the server has ended the session, if it has told: an alert may stand
    /// behind a socket that takes no more bytes.
    pub(in crate::net) fn last_words(&mut self, stream: &mut Stream) -> Option<NodeError> {
        for _ in 0..READS_PER_TURN {
            match self.tls.read_tls(stream) {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
            match self.tls.process_new_packets() {
                Err(error) => return Some(cause::of(&error).error),
                Ok(_) => {
                    let mut rest = [0; 4096];
                    while self.tls.reader().read(&mut rest).is_ok_and(|count| count > 0) {}
                }
            }
        }
        None
    }

    /// Returns when the first certificate of the server and of ours ends, in seconds since 1970.
    pub(in crate::net) fn ends(&self) -> [Option<u64>; 2] {
        let chain = self.tls.peer_certificates().unwrap_or_default();
        [chain.iter().filter_map(|one| validity::end(one)).min(), self.our_end]
    }

    fn process(&mut self, stream: &mut Stream) -> Result<IoState, Failure> {
        match self.tls.process_new_packets() {
            Ok(state) => Ok(state),
            Err(error) => {
                // The server's log says why, where the alert gets through.
                let _ = self.flush(stream, &mut 0);
                Err(cause::of(&error))
            }
        }
    }

    /// Moves decrypted bytes. An orderly end of the session, by `close_notify`, is an error as any
    /// other end is.
    fn decrypted(&mut self, room: &mut [u8]) -> Result<usize, NodeError> {
        match self.tls.reader().read(room) {
            Ok(0) => Err(NodeError::Closed),
            Ok(count) => Ok(count),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(0),
            Err(error) => Err(NodeError::Io(error.kind())),
        }
    }
}

fn broken(error: io::Error) -> Failure {
    NodeError::Io(error.kind()).into()
}

/// Notes whether the socket may hold more than was read.
struct Tap<'a> {
    stream: &'a mut Stream,
    has_more: bool,
}

impl Read for Tap<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(buffer)?;
        self.has_more = count == buffer.len();
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mio::net::UnixStream;
    use rcgen::{CertifiedKey, generate_simple_self_signed};
    use rustls::crypto::ring::default_provider;
    use rustls::pki_types::ServerName;
    use rustls::{ClientConfig, RootCertStore, ServerConfig, ServerConnection};

    use super::*;

    /// A session with a server of this test, behind the handshake.
    fn connected() -> (Session, Stream, ServerConnection, UnixStream) {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(["h".to_owned()]).expect("a name");
        let mut roots = RootCertStore::empty();
        roots.add(cert.der().clone()).expect("a certificate");
        let provider = Arc::new(default_provider());
        let config = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .expect("ring knows all versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from("h").expect("a name");
        let setup = Setup { config: Arc::new(config), name, ends: None };
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring knows all versions")
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], signing_key.into())
            .expect("the key is that of the certificate");
        let mut server = ServerConnection::new(Arc::new(config)).expect("nothing is odd");
        let (ours, mut theirs) = UnixStream::pair().expect("a pair of sockets");
        let (mut stream, mut session) = (Stream::Unix(ours), Session::new(&setup).expect("a name"));
        while server.is_handshaking() {
            session.shake(&mut stream).expect("the server is honest");
            session.flush(&mut stream, &mut 0).expect("there is room");
            server.read_tls(&mut theirs).expect("the client has spoken");
            server.process_new_packets().expect("the client is honest");
            while server.wants_write() {
                server.write_tls(&mut theirs).expect("there is room");
            }
        }
        while session.read(&mut stream, &mut [0; 8]).expect("tickets") != Received::NOTHING {}
        (session, stream, server, theirs)
    }

    /// The system tells of the bytes and of the end at once, and never again.
    #[test]
    fn behind_half_of_a_record_the_end_of_the_stream_is_looked_for() {
        let (mut session, mut stream, mut server, mut theirs) = connected();
        server.writer().write_all(b"+OK\r\n").expect("there is room");
        let mut record = Vec::new();
        server.write_tls(&mut record).expect("there is memory");
        theirs.write_all(&record[..record.len() / 2]).expect("there is room");
        drop(theirs);
        let mut room = [0; 8];
        let half = session.read(&mut stream, &mut room);
        assert_eq!(half, Ok(Received { count: 0, more: true }));
        assert_eq!(session.read(&mut stream, &mut room), Err(NodeError::Closed));
    }
}

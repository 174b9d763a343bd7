//! What carries the bytes of a server: a socket, or TLS above one.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;

#[cfg(feature = "tls")]
use super::secure::Secure;

/// What a message begins with before there are keys: an alert, or a part of the handshake.
#[cfg(feature = "tls")]
const TLS: [u8; 2] = [0x15, 0x16];

/// The accepting end of a connection.
pub(super) enum Wire {
    Plain(TcpStream),
    #[cfg(feature = "tls")]
    Tls(Box<Secure>),
    /// A server without TLS, whose clients begin with TLS.
    #[cfg(feature = "tls")]
    Other(TcpStream),
}

impl Wire {
    /// Reads all that is there. Returns `false` at the end of the connection.
    pub(super) fn read(&mut self, input: &mut Vec<u8>) -> bool {
        match self {
            Self::Plain(stream) => read_all(stream, |bytes| input.extend_from_slice(bytes)),
            #[cfg(feature = "tls")]
            Self::Tls(secure) => secure.read(input),
            #[cfg(feature = "tls")]
            Self::Other(stream) => {
                let is_tls = |bytes: &[u8]| bytes.first().is_some_and(|first| TLS.contains(first));
                let check = |bytes: &[u8]| assert!(is_tls(bytes), "a client speaks in the clear");
                read_all(stream, check) && stream.write(b"-ERR unknown command\r\n").is_ok()
            }
        }
    }

    /// Writes these bytes, or a part of them. Returns how many have left, or are sealed.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(bytes),
            #[cfg(feature = "tls")]
            Self::Tls(secure) => secure.write(bytes),
            #[cfg(feature = "tls")]
            Self::Other(stream) => stream.write(bytes),
        }
    }
}

/// Reads all that is there. Returns `false` at the end of the connection.
pub(super) fn read_all(stream: &mut TcpStream, mut take: impl FnMut(&[u8])) -> bool {
    let mut scratch = [0; 4096];
    loop {
        match stream.read(&mut scratch) {
            Ok(0) => return false,
            Ok(length) => take(&scratch[..length]),
            Err(error) => return error.kind() == ErrorKind::WouldBlock,
        }
    }
}

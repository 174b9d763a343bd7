//! Unix sockets: a server on this machine, without the work of TCP.

use std::io;

use mio::net::UnixStream;

/// A Unix socket is connected at once, or not at all: a full queue of the server is an error.
pub(super) fn establish(stream: &UnixStream) -> io::Result<bool> {
    match stream.take_error()? {
        Some(error) => Err(error),
        None => Ok(true),
    }
}

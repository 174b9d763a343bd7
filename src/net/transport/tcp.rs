//! TCP: what its sockets need before they carry requests, and how they are closed.

use core::time::Duration;
use std::io;

use mio::net::TcpStream;
use rustix::net::sockopt;

use crate::net::system;

/// The silence after which the kernel sends the first keepalive probe.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(15);
/// The time between two keepalive probes.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
/// The number of unanswered keepalive probes after which the kernel gives up.
const KEEPALIVE_PROBES: u32 = 3;

pub(super) fn establish(stream: &TcpStream) -> io::Result<bool> {
    if let Some(error) = stream.take_error()? {
        return Err(error);
    }
    let peer = match stream.peer_addr() {
        Ok(peer) => peer,
        Err(error) if error.kind() == io::ErrorKind::NotConnected => return Ok(false),
        Err(error) => return Err(error),
    };
    // The kernel can choose the server's port as our local port, and connect the socket to itself.
    // Such a connection would occupy the port, and the server could not start.
    if stream.local_addr()? == peer {
        return Err(io::ErrorKind::ConnectionRefused.into());
    }
    stream.set_nodelay(true)?;
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, KEEPALIVE_IDLE)?;
    sockopt::set_tcp_keepintvl(stream, KEEPALIVE_INTERVAL)?;
    sockopt::set_tcp_keepcnt(stream, KEEPALIVE_PROBES)?;
    system::end_when_silent(stream)?;
    Ok(true)
}

/// Has the socket end by a reset when it is closed.
///
/// After a plain close the kernel would go on sending. A node could then execute a `SET` after the
/// cleanup for this `SET` (S6).
pub(super) fn reset_on_close(stream: &TcpStream) {
    // An error leaves a plain close.
    let _ = sockopt::set_socket_linger(stream, Some(Duration::ZERO));
}

//! [`Port`], a port of 127.0.0.1 that stays ours while no server listens on it.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

use rustix::fd::OwnedFd;
use rustix::net::{
    AddressFamily, SocketFlags, SocketType, bind, getsockname, socket_with, sockopt,
};

/// A free port, for as long as the value lives.
///
/// A socket is bound to the port and never listens. The system gives the port to nobody who asks
/// for any free port, nor to a client as its own end of a connection. So no other test gets the
/// port of a master that is stopped, and clients of that master are refused as if nothing had the
/// port. `SO_REUSEADDR` on both sockets lets a server of ours listen on the same port.
#[derive(Debug)]
pub(super) struct Port {
    address: SocketAddrV4,
    _socket: OwnedFd,
}

impl Port {
    pub(super) fn reserve() -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
        sockopt::set_socket_reuseaddr(&socket, true)?;
        bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0))?;
        let address = SocketAddrV4::try_from(getsockname(&socket)?)?;
        Ok(Self { address, _socket: socket })
    }

    pub(super) fn address(&self) -> SocketAddr {
        SocketAddr::V4(self.address)
    }

    pub(super) fn number(&self) -> u16 {
        self.address.port()
    }
}

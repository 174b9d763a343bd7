//! [`Port`], a port of 127.0.0.1 that stays ours while no server listens on it.

use std::io;
use std::net::SocketAddr;

/// A free port, for as long as the value lives.
///
/// On Linux, a socket is bound to the port and never listens. The system gives the port to nobody
/// who asks for any free port, nor to a client as its own end of a connection. So no other test
/// gets the port of a master that is stopped, and clients of that master are refused as if nothing
/// had the port. `SO_REUSEADDR` on both sockets lets a server of ours listen on the same port.
///
/// Other systems do not let two sockets share a port in this way. There, the port is free while no
/// server listens, and a restart fails when another process has taken the port meanwhile.
#[derive(Debug)]
pub(super) struct Port {
    address: SocketAddr,
    #[cfg(target_os = "linux")]
    _socket: rustix::fd::OwnedFd,
}

impl Port {
    #[cfg(target_os = "linux")]
    pub(super) fn reserve() -> io::Result<Self> {
        use std::net::{Ipv4Addr, SocketAddrV4};

        use rustix::net::{
            AddressFamily, SocketFlags, SocketType, bind, getsockname, socket_with, sockopt,
        };

        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
        sockopt::set_socket_reuseaddr(&socket, true)?;
        bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0))?;
        let address = SocketAddrV4::try_from(getsockname(&socket)?)?;
        Ok(Self { address: SocketAddr::V4(address), _socket: socket })
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn reserve() -> io::Result<Self> {
        let listener = std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0))?;
        Ok(Self { address: listener.local_addr()? })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn number(&self) -> u16 {
        self.address.port()
    }
}

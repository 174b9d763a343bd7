//! Servers that speak TLS, beside the plain port of each.

use std::thread;

use crate::certificates::{Authority, Identity, LOCAL};
use crate::support::ports::Port;
use crate::support::servers::Node;

/// A server, and the port at which it speaks TLS.
pub(crate) struct Secure {
    pub(crate) node: Node,
    pub(crate) port: Port,
}

impl Secure {
    /// Starts a server with this certificate. `clients` says whether those of clients are wanted.
    pub(crate) fn start(authority: &Authority, identity: &Identity, clients: &str) -> Self {
        Self::start_by(Node::start_with, authority, identity, clients)
    }

    /// The same, with a server that `start` starts with these arguments.
    pub(crate) fn start_by(
        start: impl FnOnce(&[&str]) -> Node,
        authority: &Authority,
        identity: &Identity,
        clients: &str,
    ) -> Self {
        let port = Port::free();
        let (number, ca) = (port.number().to_string(), authority.ca());
        let Identity { cert, key } = identity;
        let node = start(&[
            "--tls-port",
            &number,
            "--tls-cert-file",
            cert,
            "--tls-key-file",
            key,
            "--tls-ca-cert-file",
            &ca,
            "--tls-auth-clients",
            clients,
        ]);
        Self { node, port }
    }

    /// Starts servers that want no certificates of clients, with good ones of their own.
    pub(crate) fn cluster(authority: &Authority, count: usize) -> Vec<Self> {
        let identity = authority.sign("server", &LOCAL);
        thread::scope(|scope| {
            let start = || scope.spawn(|| Self::start(authority, &identity, "no"));
            let starts: Vec<_> = (0..count).map(|_| start()).collect();
            starts.into_iter().map(|start| start.join().expect("the node starts")).collect()
        })
    }

    /// Returns the address at which the server speaks TLS, without a scheme.
    pub(crate) fn addr(&self) -> String {
        self.port.addr()
    }

    /// Returns the address for those who trust this CA.
    pub(crate) fn url(&self, authority: &Authority) -> String {
        format!("rediss://{}?ca={}", self.addr(), authority.ca())
    }
}

pub(crate) fn urls(nodes: &[Secure], authority: &Authority) -> Vec<String> {
    nodes.iter().map(|node| node.url(authority)).collect()
}

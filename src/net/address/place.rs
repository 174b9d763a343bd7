//! [`Place`]: where a node is.

use super::tls::Tls;

/// Where a node is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// A name or an IP address, a TCP port, and whether TLS is spoken there.
    Host { host: String, port: u16, tls: Option<Box<Tls>> },
    /// The path of a Unix socket.
    Unix { path: String },
}

impl Place {
    /// Returns the name by which all clients sort nodes. TLS is no part of it.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Host { host, port, .. } => format!("{}:{port}", host.to_ascii_lowercase()),
            Self::Unix { path } => path.clone(),
        }
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Host { host, port, .. }, Self::Host { host: other, port: other_port, .. }) => {
                port == other_port && host.eq_ignore_ascii_case(other)
            }
            (ours, theirs) => ours == theirs,
        }
    }
}

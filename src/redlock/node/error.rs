//! Why a node cannot serve: what went wrong with its connection, its handshake or its replies.

use core::fmt;

use crate::redlock::node_set::NodeId;
use crate::redlock::wire::server_error::ServerError;
use crate::resp;

/// Why a node is not there, or was not when it was tried last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum NodeError {
    /// The name of the node could not be resolved.
    Unresolved,
    /// The connection was not accepted, or the system call failed.
    Connect(std::io::ErrorKind),
    /// The connection did not come up in time.
    ConnectTimeout,
    /// The handshake was not answered in time.
    HandshakeTimeout,
    /// The node closed the connection.
    Closed,
    /// Reading or writing failed.
    Io(std::io::ErrorKind),
    /// No reply for the configured `close_timeout`.
    NoReply,
    /// It owed replies for so long that the locks waiting for them filled the engine, while a
    /// quorum of the others had answered.
    TooSlow,
    /// Bytes that are not RESP.
    Protocol(resp::Error),
    /// A reply that the command cannot have: the connection is out of step.
    UnexpectedReply,
    /// A reply to nothing.
    UnsolicitedReply,
    /// A reply longer than any that was asked for.
    ReplyTooLong,
    /// The server refused `AUTH` or `SELECT`.
    LoginRefused,
    /// The server answered with an error.
    Server(ServerError),
    /// The node is loading its data.
    Loading,
    /// The node is a replica.
    Replica,
    /// The node runs in cluster or sentinel mode.
    NotStandalone,
    /// The node may evict keys: `maxmemory` is set and the policy is not `noeviction`.
    EvictsKeys,
    /// The same server process as another configured node: it would vote twice.
    SameProcess(NodeId),
    /// `INFO` lacks a field, or it cannot be read.
    IncompleteInfo(&'static str),
}

impl NodeError {
    /// Whether somebody must change a configuration before the node can vote. Such a node is tried
    /// again only rarely.
    pub const fn is_misconfiguration(self) -> bool {
        use ServerError::{Cluster, Denied, Unsupported};
        matches!(
            self,
            Self::Server(Denied | Cluster | Unsupported)
                | Self::LoginRefused
                | Self::NotStandalone
                | Self::EvictsKeys
                | Self::SameProcess(_)
                | Self::IncompleteInfo(_)
        )
    }
}

impl fmt::Display for NodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unresolved => f.write_str("the name could not be resolved"),
            Self::Connect(kind) => write!(f, "connecting failed: {kind}"),
            Self::ConnectTimeout => f.write_str("connecting took too long"),
            Self::HandshakeTimeout => f.write_str("no answer to the handshake"),
            Self::Closed => f.write_str("the server closed the connection"),
            Self::Io(kind) => write!(f, "the connection broke: {kind}"),
            Self::NoReply => f.write_str("no reply for too long"),
            Self::TooSlow => f.write_str("too slow for a full engine"),
            Self::Protocol(error) => write!(f, "not a Redis protocol: {error}"),
            Self::UnexpectedReply => f.write_str("a reply that the command cannot have"),
            Self::UnsolicitedReply => f.write_str("a reply to no command"),
            Self::ReplyTooLong => f.write_str("a reply longer than any asked for"),
            Self::LoginRefused => f.write_str("the server refused AUTH or SELECT"),
            Self::Server(error) => error.fmt(f),
            Self::Loading => f.write_str("the server is loading its data"),
            Self::Replica => f.write_str("the server is a replica"),
            Self::NotStandalone => f.write_str("the server is in cluster or sentinel mode"),
            Self::EvictsKeys => {
                f.write_str("the server may evict keys: maxmemory-policy is not noeviction")
            }
            Self::SameProcess(other) => write!(f, "the same server process as {other}"),
            Self::IncompleteInfo(field) => write!(f, "INFO lacks {field}"),
        }
    }
}

//! The reasons why a node cannot serve: errors of its connection, its handshake or its replies.

pub(crate) mod tls;

use core::fmt;
use core::time::Duration;
use std::io::ErrorKind;

use self::tls::TlsError;
use super::quarantine::QuarantineReason;
use crate::redlock::node_set::NodeId;
#[cfg(feature = "net")]
use crate::redlock::wire::peek::Unread;
use crate::redlock::wire::probe::MissingRights;
use crate::redlock::wire::server_error::ServerError;
use crate::resp;
use crate::time::format_duration;

/// The reason why a node cannot serve, or could not when it was last tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum NodeError {
    /// The name of the node could not be resolved.
    NameNotResolved,
    /// The connection was refused, or the system call failed.
    Connect(ErrorKind),
    /// The connection did not come up within `connect_timeout`.
    ConnectTimeout,
    /// There is no TLS with the node.
    Tls(TlsError),
    /// The handshake was not answered within `connect_timeout`.
    HandshakeTimeout,
    /// The node closed the connection.
    Closed,
    /// A read or a write failed.
    Io(ErrorKind),
    /// No reply came for the configured `close_timeout`.
    NoReply,
    /// The node owed replies for so long that the waiting locks filled the engine, while a quorum
    /// of the other nodes had answered.
    TooSlow,
    /// The node sent bytes that are not RESP.
    Protocol(resp::Error),
    /// The node sent a reply that the command cannot have: the connection is out of step.
    UnexpectedReply,
    /// The node sent a reply to no request.
    UnsolicitedReply,
    /// The node sent a reply that is longer than [`MAX_REPLY`](crate::redlock::MAX_REPLY).
    ReplyTooLong,
    /// The server refused `AUTH` or `SELECT`.
    LoginRefused,
    /// The server does not run these commands for us, and no lock can be had, kept and given back
    /// without them: the user lacks the right, or somebody has renamed the command.
    MissingRights(MissingRights),
    /// The server answered with an error.
    Server(ServerError),
    /// The node is loading its data.
    Loading,
    /// The node is a replica.
    Replica,
    /// The node runs in cluster or sentinel mode.
    NotStandalone,
    /// The node may evict keys: the policy is not `noeviction`, whatever `maxmemory` is now.
    EvictsKeys,
    /// The node is the same server process as this other configured node, and would vote twice.
    SameProcess(NodeId),
    /// The deployment of the node has a shorter `max_ttl`, as its witness says (S11). `redbolt init
    /// --max-ttl` raises it on all nodes.
    MaxTtlTooLong {
        /// The `max_ttl` of this client, in milliseconds.
        ours: u64,
        /// The `max_ttl` of the deployment, in milliseconds.
        recorded: u64,
    },
    /// The deployment of the node has another number of nodes, as its witness says (S11).
    OtherNodes {
        /// The number of nodes of this client.
        ours: u64,
        /// The number of nodes of the deployment.
        recorded: u64,
    },
    /// An operator changes the deployment, and has closed the node for all clients, as its witness
    /// says (S11). `redbolt init --reconfigure` opens the node at its end; one that was cut short
    /// has to be run again.
    Reconfiguring,
    /// The data of the node is not what a look has seen before (S11).
    /// [`NodeStatus::quarantine`](crate::redlock::NodeStatus::quarantine) has the reason.
    OtherData,
    /// `INFO` lacks this field, or its value cannot be read.
    IncompleteInfo(&'static str),
}

impl NodeError {
    /// The text of [`NodeError::SameProcess`], up to the name of the other node.
    pub(crate) const SAME_PROCESS: &'static str = "the same server process as ";

    /// Returns `true` if a configuration must be changed before the node can vote. The engine tries
    /// such a node again only about twice a minute.
    pub const fn is_misconfiguration(self) -> bool {
        use ServerError::{Cluster, Denied, ScriptDenied, Unsupported};
        matches!(
            self,
            Self::Server(Denied | ScriptDenied | Cluster | Unsupported)
                | Self::LoginRefused
                | Self::MissingRights(_)
                | Self::NotStandalone
                | Self::EvictsKeys
                | Self::SameProcess(_)
                | Self::MaxTtlTooLong { .. }
                | Self::OtherNodes { .. }
                | Self::Reconfiguring
                | Self::IncompleteInfo(_)
        )
    }
}

impl NodeError {
    /// Returns the reason to distrust the data of a node that has this error during a session.
    pub(crate) const fn distrust(self) -> Option<QuarantineReason> {
        match self {
            Self::Loading | Self::Replica | Self::Server(ServerError::NotServing) => {
                Some(QuarantineReason::StoppedServing)
            }
            Self::EvictsKeys => Some(QuarantineReason::EvictingPolicy),
            Self::NotStandalone => Some(QuarantineReason::NotStandalone),
            _ => None,
        }
    }

    /// Returns `true` if another login may be all that is needed.
    pub(crate) const fn is_about_login(self) -> bool {
        use ServerError::{Denied, ScriptDenied};
        matches!(
            self,
            Self::LoginRefused | Self::MissingRights(_) | Self::Server(Denied | ScriptDenied)
        )
    }
}

#[cfg(feature = "net")]
impl From<Unread> for NodeError {
    fn from(error: Unread) -> Self {
        match error {
            Unread::Refused(error) => Self::Server(error),
            Unread::Unexpected => Self::UnexpectedReply,
        }
    }
}

// The text of an error has everything, so that none has a source.
impl core::error::Error for NodeError {}

impl fmt::Display for NodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NameNotResolved => f.write_str("the name could not be resolved"),
            Self::Connect(ErrorKind::NotFound) => f.write_str("connecting failed: no such socket"),
            Self::Connect(kind) => write!(f, "connecting failed: {kind}"),
            Self::ConnectTimeout => f.write_str("connecting took too long"),
            Self::Tls(error) => error.fmt(f),
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
            Self::MissingRights(missing) => {
                write!(f, "the user may not run: {missing} (ACL, or a renamed command)")
            }
            Self::Server(error) => error.fmt(f),
            Self::Loading => f.write_str("the server is loading its data"),
            Self::Replica => f.write_str("the server is a replica"),
            Self::NotStandalone => f.write_str("the server is in cluster or sentinel mode"),
            Self::EvictsKeys => {
                f.write_str("the server may evict keys: maxmemory-policy is not noeviction")
            }
            Self::SameProcess(other) => write!(f, "{}{other}", Self::SAME_PROCESS),
            Self::MaxTtlTooLong { ours, recorded } => write!(
                f,
                "max_ttl is {} here and {} in the deployment: set the same here, or raise that of \
                 the deployment by `redbolt init --max-ttl`",
                format_duration(Duration::from_millis(*ours)),
                format_duration(Duration::from_millis(*recorded))
            ),
            Self::OtherNodes { ours, recorded } => {
                let are = if *ours == 1 { "node is" } else { "nodes are" };
                write!(f, "{ours} {are} configured here, and {recorded} in the deployment")
            }
            Self::Reconfiguring => f.write_str(
                "closed for all clients by `redbolt init --reconfigure`: run it again if it was \
                 cut short",
            ),
            Self::OtherData => f.write_str("the server does not have the data that it had"),
            Self::IncompleteInfo(field) => {
                write!(f, "the INFO of this server has no {field}, {}", use_of(field))
            }
        }
    }
}

/// Returns what a node is asked a field of `INFO` for.
fn use_of(field: &str) -> &'static str {
    match field {
        "run_id" => "which tells a restart, and one server under two names",
        "role" => "which tells a master from a replica",
        "loading" => "which tells whether the server has its data",
        "maxmemory" | "maxmemory_policy" => "which tells whether the server keeps its keys",
        _ => "which tells a server of its own from a part of a cluster",
    }
}

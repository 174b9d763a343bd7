//! What the owner of an engine can see of a node.

use core::fmt;
use core::time::Duration;

use super::counters::{NodeCounters, NodeLatencies};
use super::nodes::NodeId;
use super::quarantine::Quarantine;
use super::reply::ServerError;
use crate::resp;

/// Why a node is not there, or was not when it was tried last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Trouble {
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

impl Trouble {
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

impl fmt::Display for Trouble {
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

/// Where a node stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum NodeState {
    /// No connection; the next attempt comes by itself.
    Down,
    /// No connection, because somebody must change a configuration first: the trouble says what.
    /// It is tried about twice a minute.
    Misconfigured,
    /// The connection is being set up.
    Connecting,
    /// Connected; the node has not yet proved that it may vote.
    Handshake,
    /// The node votes.
    Ready,
    /// Connected and well, but it may have forgotten locks: it does not vote yet (S11).
    Quarantined,
    /// Ready, but its oldest request has waited for longer than a node timeout.
    Stalled,
    /// Ready, but it said lately that it cannot serve for the moment.
    Unhealthy,
}

impl fmt::Display for NodeState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Down => "down",
            Self::Misconfigured => "misconfigured",
            Self::Connecting => "connecting",
            Self::Handshake => "handshake",
            Self::Ready => "ready",
            Self::Quarantined => "quarantined",
            Self::Stalled => "stalled",
            Self::Unhealthy => "unhealthy",
        })
    }
}

/// One node at one moment; `Display` makes a line of it for a log.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct NodeStatus<'a> {
    /// Where it stands.
    pub state: NodeState,
    /// What was wrong last; `None` when nothing is.
    pub trouble: Option<Trouble>,
    /// Set while the node does not vote because it may have forgotten locks (S11), connected or
    /// not.
    pub quarantine: Option<Quarantine>,
    /// The server's own words, when it answered with an error; at most 128 characters.
    pub message: &'a str,
    /// How many requests it has not answered.
    pub in_flight: usize,
    /// How many tokens wait to be cleaned up on it (S6).
    pub cleanup: usize,
    /// Smoothed time from sending a request to its reply; zero before the first.
    pub round_trip: Duration,
    /// What was counted since the engine was made.
    pub counters: NodeCounters,
    /// How long requests took, from the write to the reply, since the engine was made.
    pub latencies: &'a NodeLatencies,
}

impl fmt::Display for NodeStatus<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.state.fmt(f)?;
        if let Some(Quarantine { reason, remaining }) = self.quarantine {
            let comma = if self.state == NodeState::Quarantined { "" } else { ", quarantined" };
            // A tenth of a second is as much as anybody waits for with their eyes.
            write!(f, "{comma} for another {:.1} s: {reason}", remaining.as_secs_f64())?;
        }
        if let Some(trouble) = self.trouble {
            write!(f, ": {trouble}")?;
        }
        if !self.message.is_empty() {
            write!(f, " ({})", self.message)?;
        }
        Ok(())
    }
}

//! The view of a node that the owner of an engine gets.

use core::fmt;
use core::time::Duration;

use super::error::NodeError;
use super::fitness::FenceBar;
use super::inquiry::Means;
use super::quarantine::{Quarantine, QuarantineReason};
use super::{Node, Session};
use crate::redlock::counters::{NodeCounters, NodeLatencies};
use crate::redlock::wire::probe::MissingRights;
use crate::redlock::wire::server_error::Complaint;
use crate::time::{Instant, format_rounded};

/// The state of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum NodeState {
    /// No connection. The engine tries again by itself.
    Down,
    /// No connection until a configuration is changed. The error says what to change. The engine
    /// tries again about twice a minute.
    Misconfigured,
    /// The connection is being opened.
    Connecting,
    /// Connected, but the node has not proved yet that it may vote: it is being asked for its role,
    /// its settings, our rights and its witness. Ends within `connect_timeout`. A node at which
    /// nobody looked for a span is in this state, too, until all others have been asked whether
    /// they were idle: a span at the longest.
    Handshake,
    /// The node votes.
    Ready,
    /// Connected and well, but the node may have forgotten locks and does not vote yet (S11).
    Quarantined,
    /// Ready, but the oldest request has waited for longer than a node timeout.
    Stalled,
    /// Ready, but the node said lately that it cannot serve for the moment.
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

/// The status of one node at one moment. `Display` writes one line for a log.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct NodeStatus<'a> {
    /// The state of the node.
    pub state: NodeState,
    /// The last error; `None` when nothing is wrong.
    pub error: Option<NodeError>,
    /// The time until the next attempt to connect; `None` while there is a connection, or an
    /// attempt under way. A login that differs from the one that was refused is tried sooner.
    pub retry_in: Option<Duration>,
    /// Set while the node may have forgotten locks and does not vote (S11), connected or not.
    pub quarantine: Option<Quarantine>,
    /// Set on a session with a node that does not allow the witness (S11). The node is treated as
    /// with [`RestartGuard::Strict`](crate::redlock::RestartGuard::Strict).
    pub lacks_witness: bool,
    /// Set on a session that the node tells at once when somebody flushes it (S11). A loss on any
    /// other session is noticed by the next look.
    pub tracks_witness: bool,
    /// Set on a session with a node that was not asked when a fencing number was wanted last (S13).
    /// Locks without a number are not affected. `None` before the first such request.
    pub fence_bar: Option<FenceBar>,
    /// The commands that the node does not run for us, on a session that needs none of them for
    /// locks. Without them a node may lack the witness. Without `eval` a node extends no lock, and
    /// has no part in locks of several resources and in adoptions.
    pub missing: MissingRights,
    /// The server's own words, if it answered with an error, or what else is known of one, such as
    /// the path of a file; at most 128 characters. They are safe for a terminal, and `…` stands for
    /// the password of the login where the server repeats it.
    pub message: &'a str,
    /// What these words complain of.
    pub complaint: Option<Complaint>,
    /// The number of requests that the node has not answered.
    pub in_flight: usize,
    /// How many of these look at the data of the node (S11). All others belong to locks, to queries
    /// or to the handshake.
    pub looks: usize,
    /// The number of tokens that wait to be cleaned up on the node (S6).
    pub cleanup: usize,
    /// The smoothed time from sending a request to its reply; zero before the first reply.
    pub round_trip: Duration,
    /// The counters of the node since the engine was created.
    pub counters: NodeCounters,
    /// How long requests took, from the write to the reply, since the engine was created.
    pub latencies: &'a NodeLatencies,
}

impl NodeStatus<'_> {
    /// Returns `true` if the node wants a login, and was given none.
    #[must_use]
    pub fn lacks_login(&self) -> bool {
        let is_about_login = self.error.is_some_and(NodeError::is_about_login);
        is_about_login && self.complaint == Some(Complaint::LoginMissing)
    }

    /// Writes the status with the given text of its error. A caller that knows the addresses of the
    /// nodes can name nodes by them.
    pub(crate) fn write(
        &self,
        f: &mut fmt::Formatter<'_>,
        error: Option<&dyn fmt::Display>,
    ) -> fmt::Result {
        match self.state {
            // The name of the state says little to those who do not know the protocol.
            NodeState::Handshake => f.write_str("connected, being checked")?,
            state => write!(f, "{state}")?,
        }
        if let Some(quarantine) = self.quarantine {
            if self.state != NodeState::Quarantined {
                f.write_str(", quarantined")?;
            }
            if let Some(left) = quarantine.left() {
                write!(f, " for another {left}")?;
            }
            write!(f, ": {}", quarantine.reason)?;
        }
        if self.lacks_witness {
            f.write_str(", no right to keep a witness")?;
            if !self.missing.is_empty() {
                write!(f, " (may not run: {})", self.missing)?;
            }
        }
        if let Some(bar) = self.fence_bar {
            write!(f, ", no part in fencing numbers: {bar}")?;
        }
        if let Some(error) = error {
            write!(f, ": {error}")?;
        }
        if !self.message.is_empty() {
            write!(f, " ({})", self.message)?;
        }
        self.write_retry(f)
    }

    /// Writes when a node is tried again that needs another configuration. The pauses of other
    /// nodes are too short to tell.
    pub(crate) fn write_retry(&self, f: &mut impl fmt::Write) -> fmt::Result {
        match self.retry_in {
            Some(wait) if self.state == NodeState::Misconfigured && !wait.is_zero() => {
                write!(f, ", tried again in {}", format_rounded(wait))
            }
            _ => Ok(()),
        }
    }
}

/// An error that concerns another node names that node by its number.
impl fmt::Display for NodeStatus<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, self.error.as_ref().map(|error| error as &dyn fmt::Display))
    }
}

impl Node {
    pub(crate) fn state(&self, now: Instant) -> NodeState {
        match self.session {
            Session::Down { .. } if self.is_misconfigured() => NodeState::Misconfigured,
            Session::Down { .. } => NodeState::Down,
            Session::Connecting { .. } => NodeState::Connecting,
            #[cfg(feature = "net")]
            Session::Securing { .. } => NodeState::Connecting,
            Session::Handshake { .. } => NodeState::Handshake,
            // The other nodes have not been asked yet, and may excuse this one.
            Session::Ready { .. } if self.record.is_undecided => NodeState::Handshake,
            Session::Ready { .. } if self.is_quarantined(now) => NodeState::Quarantined,
            Session::Ready { .. } if self.is_stalled(now) => NodeState::Stalled,
            Session::Ready { .. } if self.is_unhealthy() => NodeState::Unhealthy,
            Session::Ready { .. } => NodeState::Ready,
        }
    }

    /// Returns the quarantine that a user sees: none before it is decided. On a session, its end
    /// waits for the next [`settle`](Self::settle), as the state does. Without a session, no look
    /// can be answered, and nothing settles.
    fn quarantine(&self, now: Instant) -> Option<Quarantine> {
        let is_ready = self.is_ready();
        let shown = if is_ready { self.record.quarantine(now) } else { self.record.pending(now) };
        let (until, reason) = shown.filter(|_| !self.record.is_undecided)?;
        let is_seen = is_ready || reason != QuarantineReason::Unseen;
        is_seen.then(|| Quarantine { reason, remaining: until - now })
    }

    /// Returns how many requests have no answer.
    #[inline]
    pub(crate) fn unanswered(&self) -> usize {
        self.pipeline.len()
    }

    /// Returns how many replies have come in the session. The number wraps around.
    #[cfg(feature = "net")]
    pub(crate) const fn replies(&self) -> u32 {
        self.pipeline.replies()
    }

    /// Returns `true` if encoded requests wait to be written.
    #[cfg(feature = "net")]
    pub(crate) fn has_unwritten(&self) -> bool {
        self.pipeline.has_unwritten()
    }

    pub(crate) fn status(&self, now: Instant) -> NodeStatus<'_> {
        let retry_in = match self.session {
            Session::Down { retry_at, .. } => Some(retry_at - now),
            _ => None,
        };
        NodeStatus {
            state: self.state(now),
            error: self.error,
            retry_in,
            quarantine: self.quarantine(now),
            lacks_witness: self.is_ready() && self.means == Means::Denied,
            tracks_witness: self.is_ready()
                && self.tracking.is_on()
                && self.means == Means::Witness,
            fence_bar: self.fence_bar(),
            missing: if self.is_ready() { self.missing } else { MissingRights::default() },
            message: &self.message.text,
            complaint: self.message.complaint,
            in_flight: self.unanswered(),
            looks: self.look.as_ref().map_or(0, |look| look.owed()),
            cleanup: self.cleanup.len(),
            round_trip: Duration::from_nanos(self.distance()),
            counters: self.counters,
            latencies: &self.latencies,
        }
    }
}

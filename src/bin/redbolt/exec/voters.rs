//! Which nodes vote while the lock is waited for, and whether they are a quorum.
//!
//! A node that answers with errors looks well in between, and is asked again and again. Only a vote
//! shows that such a node is well.

use std::time::Duration;

use redbolt::redlock::{NodeCounters, NodeError, NodeId, NodeOutcome};
use redbolt::time::Instant;
use redbolt::{Engine, NodeState, NodeStatus};

use crate::nodes::{self, NodeLine, NodeList};

/// How long there must have been no quorum before a message says so. A stall is shorter.
const SETTLED: Duration = Duration::from_secs(1);

/// How long there must have been a quorum before what was told is news again.
const FORGOTTEN: Duration = Duration::from_secs(60);

/// How many reasons of one node are told.
const MOST_REASONS: usize = 8;

pub(super) struct Voters {
    nodes: Vec<Voter>,
    need: usize,
    has_quorum: bool,
    /// Since when there is a quorum, or is none.
    since: Instant,
}

#[derive(Default)]
struct Voter {
    /// The counters of the node at the last vote that was seen, or at the begin of the session.
    seen: Counted,
    fault: Option<Fault>,
    /// The reasons that were told, without those that are forgotten.
    told: Vec<Reason>,
}

#[derive(Default)]
struct Counted {
    connects: u64,
    asked: u64,
    votes: u64,
    errors: u64,
}

/// Why a node does not vote.
struct Fault {
    reason: Reason,
    /// What there was to say of the node when it had an error. The node may have none at present.
    line: Option<NodeLine>,
}

/// A reason, as far as two of them are worth two messages.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Reason {
    /// Nobody answers.
    Silence,
    /// The connection has ended, or there was none.
    Gone,
    /// The node may have forgotten locks.
    Quarantine,
    /// No connection, or one that does not get as far as votes.
    Error(Option<NodeError>),
    /// The first word of an error with which the server answers.
    Says(String),
}

impl Voters {
    /// Looks at the nodes for the first time. If a message has told of them, the same is no news.
    pub(super) fn new(engine: &Engine, is_told: bool) -> Self {
        let nodes = engine.nodes().map(|_| Voter::default()).collect();
        let need = engine.quorum().need();
        let mut voters = Self { nodes, need, has_quorum: true, since: engine.now() };
        voters.look(engine);
        if is_told {
            voters.take_news();
        }
        voters
    }

    /// Looks at the nodes. Returns a line for each of them if they are no quorum, and the reason is
    /// news.
    pub(super) fn news(&mut self, engine: &Engine) -> Option<NodeList> {
        self.look(engine);
        let lasted = engine.now() - self.since;
        if self.has_quorum {
            if lasted >= FORGOTTEN {
                self.nodes.iter_mut().for_each(|node| node.told.clear());
            }
            return None;
        }
        (lasted >= SETTLED && self.take_news()).then(|| self.lines(engine))
    }

    /// Whether so many nodes vote as a lock needs.
    pub(super) fn has_quorum(&self) -> bool {
        self.has_quorum
    }

    /// Returns a line for each node.
    pub(super) fn lines(&self, engine: &Engine) -> NodeList {
        let known = |id: NodeId| self.nodes.get(id.index())?.fault.as_ref()?.line.clone();
        let line = |id| known(id).or_else(|| nodes::describe_one(engine, id, None));
        NodeList::new(engine.nodes().filter_map(|(id, ..)| line(id)), self.need)
    }

    fn look(&mut self, engine: &Engine) {
        for ((id, _, status), voter) in engine.nodes().zip(&mut self.nodes) {
            voter.look(&status, |outcome| nodes::describe_one(engine, id, outcome));
        }
        let well = self.nodes.iter().filter(|node| node.fault.is_none()).count();
        if self.has_quorum != (well >= self.need) {
            self.has_quorum = !self.has_quorum;
            self.since = engine.now();
        }
    }

    /// Takes all reasons as told. Returns whether one of them is news.
    fn take_news(&mut self) -> bool {
        // Each node has a say.
        self.nodes.iter_mut().fold(false, |is_news, node| node.take_news() | is_news)
    }
}

impl Voter {
    /// Finds out whether the node votes.
    fn look(
        &mut self,
        status: &NodeStatus<'_>,
        line: impl Fn(Option<NodeOutcome>) -> Option<NodeLine>,
    ) {
        let now = Counted::of(status);
        let has_voted = now.votes > self.seen.votes;
        let is_new = now.connects != self.seen.connects;
        let has_failed = now.asked > self.seen.asked && now.errors > self.seen.errors;
        if has_voted || is_new {
            self.seen = now;
        }
        let says = || Reason::says(status.message);
        self.fault = match status.state {
            NodeState::Unhealthy => Some(Fault { reason: says(), line: line(None) }),
            NodeState::Ready if has_voted || is_new => None,
            NodeState::Ready if has_failed && !status.message.is_empty() => {
                Some(Fault { reason: says(), line: line(Some(NodeOutcome::Failed)) })
            }
            // Nothing but a vote ends such a fault within a session.
            NodeState::Ready => self.fault.take().filter(|fault| fault.line.is_some()),
            state => Some(Fault { reason: Reason::of(state, status.error), line: None }),
        };
    }

    fn take_news(&mut self) -> bool {
        let reason = self.fault.as_ref().map(|fault| &fault.reason);
        let news = reason.filter(|reason| !self.told.contains(reason)).cloned();
        let is_news = news.is_some() && self.told.len() < MOST_REASONS;
        self.told.extend(news.filter(|_| is_news));
        is_news
    }
}

impl Counted {
    fn of(status: &NodeStatus<'_>) -> Self {
        let NodeCounters { connects, asked, granted, refused, errors, .. } = status.counters;
        Self { connects, asked, votes: granted + refused, errors }
    }
}

impl Reason {
    fn of(state: NodeState, error: Option<NodeError>) -> Self {
        use NodeError::{Closed, Connect, ConnectTimeout, HandshakeTimeout, Io, NoReply, TooSlow};
        match (state, error) {
            (NodeState::Quarantined, _) => Self::Quarantine,
            (NodeState::Stalled, _)
            | (NodeState::Connecting | NodeState::Handshake, None)
            | (_, Some(ConnectTimeout | HandshakeTimeout | NoReply | TooSlow)) => Self::Silence,
            (_, Some(Closed | Connect(_) | Io(_))) => Self::Gone,
            (_, error) => Self::Error(error),
        }
    }

    fn says(message: &str) -> Self {
        Self::Says(message.split(' ').next().unwrap_or_default().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_differ_where_somebody_has_something_else_to_do() {
        use NodeError::{Closed, Connect, ConnectTimeout, EvictsKeys, NoReply, Replica};
        use NodeState::{Connecting, Down, Handshake, Misconfigured, Quarantined, Stalled};
        use std::io::ErrorKind::{ConnectionRefused, HostUnreachable};
        let same: [&[_]; 5] = [
            &[(Connecting, None), (Handshake, None), (Down, Some(ConnectTimeout)), (Stalled, None)],
            &[
                (Down, Some(Closed)),
                (Down, Some(Connect(ConnectionRefused))),
                (Connecting, Some(Connect(HostUnreachable))),
            ],
            &[(Quarantined, None), (Quarantined, Some(NoReply))],
            &[(Misconfigured, Some(EvictsKeys)), (Handshake, Some(EvictsKeys))],
            &[(Down, Some(Replica))],
        ];
        let reasons = same.map(|rows| {
            let reason = Reason::of(rows[0].0, rows[0].1);
            for (state, error) in rows {
                assert_eq!(Reason::of(*state, *error), reason, "{state} {error:?}");
            }
            reason
        });
        for (place, reason) in reasons.iter().enumerate() {
            assert!(!reasons[..place].contains(reason), "{reason:?}");
        }
        assert_eq!(Reason::says("OOM command not allowed"), Reason::Says("OOM".to_owned()));
    }

    #[test]
    fn a_node_has_a_bounded_number_of_reasons() {
        let mut voter = Voter::default();
        let told = (0..MOST_REASONS + 5).filter(|number| {
            let reason = Reason::Says(number.to_string());
            voter.fault = Some(Fault { reason, line: None });
            voter.take_news() && !voter.take_news()
        });
        assert_eq!(told.count(), MOST_REASONS);
    }
}

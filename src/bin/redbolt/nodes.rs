//! The nodes, as messages describe them.

use std::fmt;
use std::time::Duration;

use redbolt::redlock::{Complaint, NodeError, NodeId, NodeOutcome, NodeOutcomes};
use redbolt::{Address, Engine, NodeState, NodeStatus};
use serde::Serialize;

use crate::settings::password_place;

/// Where to give the login that a node wants.
pub(crate) const LOGIN_HINT: &str = "; a login is needed: redis://USER:PASSWORD@HOST, or \
                                     REDBOLT_USER and REDBOLT_PASSWORD, or --user and \
                                     --password-file";

/// What is said of a node whose answer would have come too late to matter.
const NOT_AWAITED: &str = ", last request: no reply before the others had decided";

/// The hint on how to go on without waiting for a restart guard.
pub(crate) const GUARD_HINT: &str = "\
redbolt init waits until they vote; redbolt init --fresh saves this wait before the first \
client of new servers, and nowhere else";

/// The longest time that [`time_to_answer`] gives to nodes that are far away.
const MOST_TO_ANSWER: Duration = Duration::from_secs(1);

/// Returns how long the nodes may take for something that takes `usual` at most where they are
/// near, and three round trips at least: to be connected, to shake hands and to answer.
pub(crate) fn time_to_answer(engine: &Engine, usual: Duration) -> Duration {
    let longest = engine.nodes().map(|(_, _, status)| status.round_trip).max().unwrap_or_default();
    usual.max(longest.saturating_mul(4).min(MOST_TO_ANSWER))
}

/// The nodes, one by one, for a message.
#[derive(Default, Serialize)]
#[serde(transparent)]
pub(crate) struct NodeList {
    lines: Vec<NodeLine>,
    /// How many nodes a lock needs.
    #[serde(skip)]
    need: usize,
}

/// One node, for a message.
#[derive(Clone, Serialize)]
pub(crate) struct NodeLine {
    pub(crate) node: String,
    pub(crate) state: String,
    /// The state, what is wrong, and the outcome of the last request where that says more.
    #[serde(rename = "status")]
    pub(crate) text: String,
    #[serde(skip)]
    pub(crate) can_vote: bool,
    /// Whether the node is ready, and has answered the last request with an error.
    #[serde(skip)]
    pub(crate) refuses: bool,
}

impl NodeList {
    pub(crate) fn new(lines: impl Iterator<Item = NodeLine>, need: usize) -> Self {
        Self { lines: lines.collect(), need }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Whether there is nothing to tell of any node but that it is ready.
    pub(crate) fn are_ready(&self) -> bool {
        let ready = NodeState::Ready.to_string();
        self.lines.iter().all(|line| line.text == ready)
    }

    /// Returns what continues a line with this list below; nothing for an empty list.
    pub(crate) fn below(&self) -> String {
        if self.is_empty() { String::new() } else { format!(":\n{self}") }
    }

    /// Returns who says more, in a line of its own, of nodes that a configuration keeps out.
    pub(crate) fn way_out(&self) -> &'static str {
        let state = NodeState::Misconfigured.to_string();
        let is_out = self.lines.iter().any(|line| line.state == state || line.refuses);
        if is_out { "\nredbolt check says what to change" } else { "" }
    }

    /// Returns how many nodes can vote and how many are needed, to follow what lacks a quorum;
    /// nothing where there has been a quorum since.
    pub(crate) fn voters(&self) -> String {
        let Self { lines, need } = self;
        let count = |is: fn(&NodeLine) -> bool| lines.iter().filter(|line| is(line)).count();
        let (can_vote, refuse) = (count(|line| line.can_vote), count(|line| line.refuses));
        let all = lines.len();
        match can_vote < *need {
            true if can_vote + refuse >= *need => {
                format!(" ({refuse} of {all} answered with an error, {need} must agree)")
            }
            true => format!(" ({can_vote} of {all} can vote, {need} needed)"),
            false => String::new(),
        }
    }
}

/// A line for each node, without an end of the last line.
impl fmt::Display for NodeList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, line) in self.lines.iter().enumerate() {
            write!(f, "{}  {line}", if place == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

impl fmt::Display for NodeLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.node, self.text)
    }
}

/// Describes the nodes as [`describe`] does if one of them is not ready, else returns an empty
/// list.
pub(crate) fn not_voting(engine: &Engine) -> NodeList {
    let is_ready = engine.nodes().all(|(_, _, status)| status.state == NodeState::Ready);
    if is_ready { NodeList::default() } else { describe(engine, None) }
}

/// Describes the nodes, and when those are tried again that need another configuration.
pub(crate) fn describe_waiting(engine: &Engine) -> NodeList {
    let lines = engine.nodes().filter_map(|(id, ..)| describe_one(engine, id, None));
    NodeList::new(lines, engine.quorum().need())
}

/// Describes the nodes, and the outcomes of the last request where they say more. After most such
/// messages, nothing tries again.
pub(crate) fn describe(engine: &Engine, outcomes: Option<&NodeOutcomes>) -> NodeList {
    let outcomes = outcomes.map_or(&[][..], NodeOutcomes::as_slice);
    let is_decided = is_decided_without(outcomes, engine.quorum().need());
    let lines = engine.nodes().map(|(id, address, mut status)| {
        status.retry_in = None;
        let outcome = outcomes.get(id.index()).copied();
        line(engine, id, address, &status, (outcome, is_decided))
    });
    NodeList::new(lines, engine.quorum().need())
}

/// Describes one node; `None` for a node that is not configured.
pub(crate) fn describe_one(
    engine: &Engine,
    node: NodeId,
    outcome: Option<NodeOutcome>,
) -> Option<NodeLine> {
    Some(line(engine, node, engine.address(node)?, &engine.node(node)?, (outcome, false)))
}

/// Returns what continues the state of a node with the outcome of a request, as far as that says
/// more.
fn said_of(outcome: Option<NodeOutcome>, is_decided: bool) -> String {
    match outcome.filter(|outcome| says_more(*outcome)) {
        None => String::new(),
        Some(NodeOutcome::NotAsked) => ", but not asked".to_owned(),
        Some(NodeOutcome::NoReply) if is_decided => NOT_AWAITED.to_owned(),
        Some(outcome) => format!(", last request: {outcome}"),
    }
}

fn line(
    engine: &Engine,
    id: NodeId,
    address: &Address,
    status: &NodeStatus<'_>,
    (outcome, is_decided): (Option<NodeOutcome>, bool),
) -> NodeLine {
    let more = said_of(outcome, is_decided);
    let twin = match status.error {
        Some(NodeError::SameProcess(other)) => engine.address(other),
        _ => None,
    };
    let twin = twin.map_or_else(String::new, |twin| format!(", {twin}"));
    let wait = if is_first_try(status) { ": no answer yet" } else { "" };
    let login = if status.lacks_login() { LOGIN_HINT } else { "" };
    let right = lacks_witness_keys(status).then(|| engine.redlock_config().own_keys());
    let right =
        right.map_or_else(String::new, |keys| format!("; the witness needs the ACL rule ~{keys}"));
    let place = password_place(id).filter(|_| is_wrong_password(status));
    let password = place.map_or_else(String::new, |place| {
        format!("; {}the password is from {place}", user(address))
    });
    let can_vote = status.state == NodeState::Ready
        && match outcome {
            Some(NodeOutcome::NoReply) => is_decided,
            outcome => outcome != Some(NodeOutcome::Failed),
        };
    let refuses = status.state == NodeState::Ready && outcome == Some(NodeOutcome::Failed);
    let (state, status) = shown(status);
    let text = format!("{status}{twin}{wait}{more}{login}{password}{right}");
    NodeLine { node: address.to_string(), state: state.to_string(), text, can_vote, refuses }
}

/// Returns the user whose password is wrong, for the middle of a sentence; nothing for `default`.
fn user(address: &Address) -> String {
    let user = address.login().username.as_ref();
    user.map_or_else(String::new, |user| format!("the user is {user}, "))
}

/// Returns the state of a node, and its status as a text. A node to which connecting has failed is
/// down, and a new attempt says nothing that the error does not say.
fn shown(status: &NodeStatus<'_>) -> (NodeState, String) {
    let text = status.to_string();
    match text.strip_prefix("connecting: connecting ") {
        Some(error) => (NodeState::Down, format!("{}: connecting {error}", NodeState::Down)),
        None => (status.state, text),
    }
}

/// Whether the server has refused the password.
fn is_wrong_password(status: &NodeStatus<'_>) -> bool {
    let complaint = status.complaint.filter(|_| status.error.is_some());
    matches!(complaint, Some(Complaint::LoginWrong | Complaint::LoginUnwanted))
}

/// Whether the user has no right to the keys of the witness. Missing commands have names of their
/// own in the status.
fn lacks_witness_keys(status: &NodeStatus<'_>) -> bool {
    status.lacks_witness && status.missing.is_empty()
}

/// Whether the answers that have come left no quorum possible. The other answers were not waited
/// for.
fn is_decided_without(outcomes: &[NodeOutcome], need: usize) -> bool {
    let may_agree =
        |outcome: &&NodeOutcome| matches!(outcome, NodeOutcome::Granted | NodeOutcome::NoReply);
    outcomes.iter().filter(may_agree).count() < need
}

/// Returns for how long nodes in quarantine prevent a quorum; `None` if they do not prevent one, or
/// if there would be no quorum after the quarantine either.
pub(crate) fn quarantined_for(engine: &Engine) -> Option<Duration> {
    let mut waits: Vec<_> = engine
        .nodes()
        .filter_map(|(_, _, node)| match node.state {
            NodeState::Quarantined => node.quarantine.map(|quarantine| quarantine.remaining),
            NodeState::Ready | NodeState::Stalled | NodeState::Unhealthy => Some(Duration::ZERO),
            _ => None,
        })
        .collect();
    waits.sort_unstable();
    waits.get(engine.quorum().need() - 1).copied().filter(|wait| !wait.is_zero())
}

/// Whether the first connection to a node is still under way, without an error so far.
fn is_first_try(status: &NodeStatus<'_>) -> bool {
    let trying = matches!(status.state, NodeState::Connecting | NodeState::Handshake);
    trying && status.error.is_none()
}

/// Whether an outcome says more than the state of the node.
fn says_more(outcome: NodeOutcome) -> bool {
    matches!(
        outcome,
        NodeOutcome::Granted
            | NodeOutcome::Refused
            | NodeOutcome::Failed
            | NodeOutcome::NoReply
            | NodeOutcome::Full
            | NodeOutcome::NoScripts
            | NodeOutcome::NotAsked
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_that_can_vote_and_refuse_are_told_from_those_that_cannot() {
        let ready = |can_vote| NodeLine {
            node: "a:1".to_owned(),
            state: NodeState::Ready.to_string(),
            text: "ready".to_owned(),
            can_vote,
            refuses: !can_vote,
        };
        let down = NodeLine { state: "down".to_owned(), refuses: false, ..ready(false) };
        let rows = [
            (
                [ready(false), ready(false), ready(true)],
                " (2 of 3 answered with an error, 2 must agree)",
            ),
            (
                [ready(false), ready(false), down.clone()],
                " (2 of 3 answered with an error, 2 must agree)",
            ),
            ([ready(false), down.clone(), down.clone()], " (0 of 3 can vote, 2 needed)"),
            ([ready(true), down.clone(), down.clone()], " (1 of 3 can vote, 2 needed)"),
            ([ready(true), ready(true), ready(false)], ""),
        ];
        for (lines, expected) in rows {
            let refuses = lines.iter().any(|line| line.refuses);
            let list = NodeList::new(lines.into_iter(), 2);
            assert_eq!(list.voters(), expected);
            assert_eq!(list.way_out().is_empty(), !refuses);
        }
    }

    #[test]
    fn an_answer_is_late_only_where_it_was_waited_for() {
        use NodeOutcome::{Down, Failed, Granted, NoReply, Refused};
        let rows = [
            ([Failed, Failed, NoReply], true),
            ([Failed, Refused, NoReply], true),
            ([Failed, Granted, NoReply], false),
            ([Failed, NoReply, NoReply], false),
            ([Down, Failed, NoReply], true),
            ([Down, Granted, NoReply], false),
            ([NoReply, NoReply, NoReply], false),
        ];
        for (outcomes, expected) in rows {
            assert_eq!(is_decided_without(&outcomes, 2), expected, "{outcomes:?}");
        }
    }
}

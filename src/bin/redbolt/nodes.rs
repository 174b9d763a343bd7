//! The nodes, as messages describe them.

use std::fmt;
use std::time::Duration;

use redbolt::redlock::{NodeError, NodeId, NodeOutcome, NodeOutcomes};
use redbolt::{Address, Engine, NodeState, NodeStatus};
use serde::Serialize;

/// Where to give the login that a node wants.
const LOGIN_HINT: &str = "; a login is needed: redis://USER:PASSWORD@HOST, or REDBOLT_USER and \
                          REDBOLT_PASSWORD, or --user and --password-file";

/// What is said of a node whose answer would have come too late to matter.
const NOT_AWAITED: &str = ", last request: no reply before the others had decided";

/// The hint on how to go on without waiting for a restart guard.
pub(crate) const GUARD_HINT: &str = "\
redbolt init waits until they vote; on a new cluster, redbolt init --fresh before the first client \
saves this wait";

/// The nodes, one by one, for a message.
#[derive(Default, Serialize)]
pub(crate) struct NodeList(Vec<NodeLine>);

/// One node, for a message.
#[derive(Serialize)]
pub(crate) struct NodeLine {
    pub(crate) node: String,
    pub(crate) state: String,
    /// The state, what is wrong, and the outcome of the last request where that says more.
    #[serde(rename = "status")]
    pub(crate) text: String,
}

impl NodeList {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns what continues a line with this list below; nothing for an empty list.
    pub(crate) fn below(&self) -> String {
        if self.is_empty() { String::new() } else { format!(":\n{self}") }
    }
}

/// A line for each node, without an end of the last line.
impl fmt::Display for NodeList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, line) in self.0.iter().enumerate() {
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

/// Describes the nodes, and the outcomes of the last request where they say more.
pub(crate) fn describe(engine: &Engine, outcomes: Option<&NodeOutcomes>) -> NodeList {
    let outcomes = outcomes.map_or(&[][..], NodeOutcomes::as_slice);
    let is_decided = is_decided_without(outcomes, engine.quorum().need());
    let lines = engine.nodes().map(|(id, address, status)| {
        let outcome = outcomes.get(id.index()).filter(|outcome| says_more(**outcome));
        let more = outcome.map_or_else(String::new, |outcome| match outcome {
            NodeOutcome::NotAsked => ", but not asked".to_owned(),
            NodeOutcome::NoReply if is_decided => NOT_AWAITED.to_owned(),
            outcome => format!(", last request: {outcome}"),
        });
        line(engine, address, &status, &more)
    });
    NodeList(lines.collect())
}

/// Describes one node; `None` for a node that is not configured.
pub(crate) fn describe_one(engine: &Engine, node: NodeId) -> Option<NodeLine> {
    Some(line(engine, engine.address(node)?, &engine.node(node)?, ""))
}

fn line(engine: &Engine, address: &Address, status: &NodeStatus<'_>, more: &str) -> NodeLine {
    let twin = match status.error {
        Some(NodeError::SameProcess(other)) => engine.address(other),
        _ => None,
    };
    let twin = twin.map_or_else(String::new, |twin| format!(", {twin}"));
    let wait = if is_first_try(status) { ": no answer yet" } else { "" };
    let login = if status.lacks_login() { LOGIN_HINT } else { "" };
    NodeLine {
        node: address.to_string(),
        state: status.state.to_string(),
        text: format!("{status}{twin}{wait}{more}{login}"),
    }
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
            | NodeOutcome::NotAsked
    )
}

#[cfg(test)]
mod tests {
    use super::*;

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

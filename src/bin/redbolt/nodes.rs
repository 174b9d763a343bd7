//! The nodes, as messages describe them.

use std::fmt;
use std::time::Duration;

use redbolt::redlock::{NodeError, NodeId, NodeOutcome, NodeOutcomes};
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
redbolt init waits until they vote; on a new cluster, redbolt init --fresh before the first client \
saves this wait";

/// The nodes, one by one, for a message.
#[derive(Default, Serialize)]
pub(crate) struct NodeList(Vec<NodeLine>);

/// One node, for a message.
#[derive(Clone, Serialize)]
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

impl FromIterator<NodeLine> for NodeList {
    fn from_iter<I: IntoIterator<Item = NodeLine>>(lines: I) -> Self {
        Self(lines.into_iter().collect())
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
        let outcome = outcomes.get(id.index()).copied();
        line(engine, id, address, &status, &said_of(outcome, is_decided))
    });
    lines.collect()
}

/// Describes one node; `None` for a node that is not configured.
pub(crate) fn describe_one(
    engine: &Engine,
    node: NodeId,
    outcome: Option<NodeOutcome>,
) -> Option<NodeLine> {
    let more = said_of(outcome, false);
    Some(line(engine, node, engine.address(node)?, &engine.node(node)?, &more))
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
    more: &str,
) -> NodeLine {
    let twin = match status.error {
        Some(NodeError::SameProcess(other)) => engine.address(other),
        _ => None,
    };
    let twin = twin.map_or_else(String::new, |twin| format!(", {twin}"));
    let wait = if is_first_try(status) { ": no answer yet" } else { "" };
    let login = if status.lacks_login() { LOGIN_HINT } else { "" };
    let right = lacks_witness_keys(status).then(|| witness_hint(&engine.redlock_config().prefix));
    let right = right.unwrap_or_default();
    let place = password_place(id).filter(|_| is_wrong_password(status));
    let password =
        place.map_or_else(String::new, |place| format!("; the password is from {place}"));
    let (state, status) = shown(status);
    let text = format!("{status}{twin}{wait}{more}{login}{password}{right}");
    NodeLine { node: address.to_string(), state: state.to_string(), text }
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
    // The first is of all servers since Redis 6; the last is said where no password is set.
    let words = ["WRONGPASS", "ERR invalid password", "ERR AUTH ", "ERR Client sent AUTH"];
    status.error.is_some() && words.iter().any(|words| status.message.starts_with(words))
}

/// Whether the user has no right to the keys of the witness. Missing commands have names of their
/// own in the status.
fn lacks_witness_keys(status: &NodeStatus<'_>) -> bool {
    status.lacks_witness && status.missing.is_empty()
}

/// Returns the rule that gives the right to the keys of the witness.
fn witness_hint(prefix: &[u8]) -> String {
    let mut rule = String::new();
    for byte in prefix {
        match byte {
            b'*' | b'?' | b'[' | b'\\' => rule.extend(['\\', char::from(*byte)]),
            // No rule has a space in it, and a question mark stands for any byte.
            byte if !byte.is_ascii_graphic() => rule.push('?'),
            byte => rule.push(char::from(*byte)),
        }
    }
    format!("; the witness needs the ACL rule ~{rule}redbolt:*")
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
    fn the_rule_of_the_witness_has_the_prefix_letter_by_letter() {
        let rows = [
            (&b""[..], "~redbolt:*"),
            (b"x:", "~x:redbolt:*"),
            (b"a*[", r"~a\*\[redbolt:*"),
            (b"a b\0", "~a?b?redbolt:*"),
        ];
        for (prefix, rule) in rows {
            let hint = witness_hint(prefix);
            assert!(hint.ends_with(&format!(" {rule}")), "{hint}");
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

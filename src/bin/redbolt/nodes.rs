//! The nodes, as messages describe them.

use std::fmt::Write;
use std::time::Duration;

use redbolt::redlock::{NodeError, NodeOutcome, NodeOutcomes};
use redbolt::{Engine, NodeState, NodeStatus};

/// Where to give the login that a node wants.
const LOGIN_HINT: &str = "; a login is needed: redis://USER:PASSWORD@HOST, or REDBOLT_USER and \
                          REDBOLT_PASSWORD, or --user and --password-file";

/// The hint on how to go on without waiting for a restart guard.
pub(crate) const GUARD_HINT: &str =
    "a new cluster, on which no client can hold a lock, is declared so by redbolt init --fresh";

/// Describes the nodes as [`describe`] does if one of them is not ready, else returns an empty
/// text.
pub(crate) fn not_voting(engine: &Engine) -> String {
    let is_ready = engine.nodes().all(|(_, _, status)| status.state == NodeState::Ready);
    if is_ready { String::new() } else { describe(engine, None) }
}

/// Returns one line per node: the address, the state, what is wrong, and the outcome of the last
/// request where that says more.
pub(crate) fn describe(engine: &Engine, outcomes: Option<&NodeOutcomes>) -> String {
    let mut lines = String::new();
    for (id, address, status) in engine.nodes() {
        let outcome = outcomes.and_then(|all| all.as_slice().get(id.index())).copied();
        let wait = if is_first_try(&status) { ": no answer yet" } else { "" };
        let more = outcome.filter(|outcome| says_more(*outcome));
        let more = more.map_or_else(String::new, |outcome| match outcome {
            NodeOutcome::NotAsked => ", but not asked".to_owned(),
            outcome => format!(", last request: {outcome}"),
        });
        let twin = match status.error {
            Some(NodeError::SameProcess(other)) => engine.address(other),
            _ => None,
        };
        let twin = twin.map_or_else(String::new, |twin| format!(", {twin}"));
        let login = if status.lacks_login() { LOGIN_HINT } else { "" };
        // Writing to a string does not fail.
        _ = writeln!(lines, "  {address}: {status}{twin}{wait}{more}{login}");
    }
    lines
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

//! Which changes of the nodes `--verbose` tells.

use redbolt::redlock::{NodeError, NodeId, NodeLatencies};
use redbolt::{Engine, NodeState, NodeStatus};

use crate::nodes::{self, NodeLine};

/// What was told of each node.
///
/// A node that is gone is tried again and again, and each attempt is a change of its state. What a
/// reader wants to know is that the node is gone and why, once for each reason, and when the node
/// is back. In the same way, a node that cannot serve for the moment is tried again and again.
pub(super) struct Changes(Vec<Told>);

#[derive(Default)]
struct Told {
    state: Option<NodeState>,
    /// How many requests the node had served when it last said that it could not.
    served: u64,
    /// The reasons since the node was last there.
    reasons: Vec<NodeError>,
}

impl Changes {
    /// Takes the present states as told.
    pub(super) fn new(engine: &Engine) -> Self {
        let nodes = engine.nodes().map(|(_, _, status)| {
            let mut told = Told::default();
            told.is_news(status.state, status.error, served(&status));
            told
        });
        Self(nodes.collect())
    }

    /// Returns what there is to say about a node, if its state is news.
    pub(super) fn news(&mut self, engine: &Engine, node: NodeId) -> Option<NodeLine> {
        let status = engine.node(node)?;
        let told = self.0.get_mut(node.index())?;
        let is_news = told.is_news(status.state, status.error, served(&status));
        is_news.then(|| nodes::describe_one(engine, node, None)).flatten()
    }
}

impl Told {
    fn is_news(&mut self, state: NodeState, error: Option<NodeError>, served: u64) -> bool {
        use NodeState::{Connecting, Down, Handshake, Misconfigured, Ready, Unhealthy};
        if state == Unhealthy {
            self.served = served;
        }
        let state = match (state, self.state) {
            // The pause is over, and nothing shows yet that the node can serve.
            (Ready, Some(Unhealthy)) if served <= self.served => return false,
            // An attempt whose outcome is not known yet.
            (Connecting | Handshake, None | Some(Down | Misconfigured)) => return false,
            // The end of the connection was in the same event as the attempt that follows.
            (Connecting | Handshake, Some(_)) => Down,
            (state, _) => state,
        };
        let is_change = self.state.replace(state) != Some(state);
        if !matches!(state, Down | Misconfigured) {
            self.reasons.clear();
            return is_change;
        }
        let reason = error.filter(|error| !self.reasons.contains(error));
        self.reasons.extend(reason);
        is_change || reason.is_some()
    }
}

/// Returns how many requests a node has served, or somewhat less: an error of the handshake counts
/// against them.
fn served(status: &NodeStatus<'_>) -> u64 {
    let NodeLatencies { set, release, extend, .. } = status.latencies;
    let replies = set.count() + release.count() + extend.count();
    replies.saturating_sub(status.counters.errors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_told_once_and_then_once_for_each_reason() {
        use NodeState::{Connecting, Down, Handshake, Quarantined, Ready, Stalled};
        const CLOSED: Option<NodeError> = Some(NodeError::Closed);
        const LATE: Option<NodeError> = Some(NodeError::ConnectTimeout);
        let mut told = Told::default();
        for (step, (state, error, expected)) in [
            (Connecting, None, false),
            (Ready, None, true),
            (Stalled, None, true),
            (Ready, None, true),
            (Connecting, CLOSED, true),
            (Down, CLOSED, false),
            (Connecting, CLOSED, false),
            (Down, LATE, true),
            (Connecting, LATE, false),
            (Handshake, LATE, false),
            (Down, CLOSED, false),
            (Down, LATE, false),
            (Quarantined, None, true),
            (Down, CLOSED, true),
        ]
        .into_iter()
        .enumerate()
        {
            assert_eq!(told.is_news(state, error, 0), expected, "step {step}: {state} {error:?}");
        }
    }

    #[test]
    fn a_node_that_cannot_serve_is_told_once_until_it_serves() {
        use NodeState::{Down, Ready, Unhealthy};
        let mut told = Told::default();
        for (step, (state, served, expected)) in [
            (Ready, 7, true),
            (Unhealthy, 7, true),
            (Ready, 7, false),
            (Unhealthy, 7, false),
            (Ready, 7, false),
            (Ready, 8, true),
            (Unhealthy, 8, true),
            // An error of a handshake counts against those that were served.
            (Down, 7, true),
            (Ready, 7, true),
        ]
        .into_iter()
        .enumerate()
        {
            assert_eq!(told.is_news(state, None, served), expected, "step {step}: {state}");
        }
    }
}

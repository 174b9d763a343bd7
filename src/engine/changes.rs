//! Changes of the state of nodes, without the attempts to connect that change nothing.

use crate::redlock::{MAX_NODES, NodeId, NodeState};

/// The states of all nodes that were told last.
///
/// A node that is down is asked again and again, and each attempt makes two or three events. What
/// an observer wants to hear is that the node is down, once, and then that the node is back.
#[derive(Default)]
pub(crate) struct Changes([Option<NodeState>; MAX_NODES]);

impl Changes {
    /// Returns `true` if the state is news, and remembers the state.
    pub(crate) fn is_news(&mut self, node: NodeId, state: NodeState) -> bool {
        let outcome = self.standing(node, state);
        // An attempt whose outcome is not known, and nothing was known before.
        let is_open = matches!(outcome, NodeState::Connecting | NodeState::Handshake);
        !is_open && self.0[node.index()].replace(outcome) != Some(outcome)
    }

    /// Returns the state of a node as far as it is known. The outcome of an attempt to connect is
    /// not: until then, the node is what it was before.
    pub(crate) const fn standing(&self, node: NodeId, state: NodeState) -> NodeState {
        use NodeState::{Connecting, Down, Handshake, Misconfigured};
        match (state, self.0[node.index()]) {
            (Connecting | Handshake, Some(Misconfigured)) => Misconfigured,
            // Where a session was told last, its end was in the same event as the attempt.
            (Connecting | Handshake, Some(_)) => Down,
            (state, _) => state,
        }
    }

    /// Returns the state that was told last.
    #[cfg(any(feature = "tracing", feature = "metrics"))]
    pub(crate) const fn told(&self, node: NodeId) -> Option<NodeState> {
        self.0[node.index()]
    }
}

#[cfg(test)]
mod tests {
    use NodeState::{Connecting, Down, Handshake, Misconfigured, Quarantined, Ready, Stalled};

    use super::*;

    #[test]
    fn every_state_is_told_once_and_no_attempt_to_connect() {
        let node = NodeId::new(MAX_NODES - 1).expect("the last node");
        let mut changes = Changes::default();
        for (step, (state, expected)) in [
            (Connecting, false),
            (Down, true),
            (Connecting, false),
            (Handshake, false),
            (Down, false),
            (Misconfigured, true),
            (Connecting, false),
            (Misconfigured, false),
            (Handshake, false),
            (Quarantined, true),
            (Ready, true),
            (Stalled, true),
            (Ready, true),
            // Nobody has taken the event that the node is down.
            (Connecting, true),
            (Down, false),
            (Ready, true),
        ]
        .into_iter()
        .enumerate()
        {
            assert_eq!(changes.is_news(node, state), expected, "step {step}: {state}");
        }
        // Who begins to listen now has not heard of the node.
        for (state, expected) in [(Connecting, Down), (Handshake, Down), (Stalled, Stalled)] {
            assert_eq!(changes.standing(node, state), expected);
        }
        let other = NodeId::new(0).expect("the first node");
        assert_eq!(changes.standing(other, Connecting), Connecting, "nothing is known yet");
        assert!(changes.is_news(other, Ready), "each node has its own state");
    }
}

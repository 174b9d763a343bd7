//! [`Board`]: what the engines of one client have told of the nodes, together.

use std::sync::{Arc, Mutex, PoisonError};

use crate::engine::changes::Changes;
use crate::redlock::{MAX_NODES, NodeId, NodeState};

/// The states of the nodes that were told last, for all engines of a client.
///
/// Each thread of a client has connections of its own, and a node that goes away goes away for all
/// of them. An operator wants one line then, and one when the node is back for the last of them. So
/// a node is told to be in the worst of its states.
#[derive(Clone, Default)]
pub(crate) struct Board(Arc<Mutex<States>>);

#[derive(Default)]
struct States {
    told: [Option<NodeState>; MAX_NODES],
    /// What each engine knows; `None` for an engine that is gone.
    engines: Vec<Option<Changes>>,
}

/// The place of one engine at a [`Board`].
pub(super) struct Seat {
    board: Board,
    place: usize,
}

/// A state that is news.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct News {
    pub(super) state: NodeState,
    /// Whether this is the state for the engine that asks. If not, another engine has it.
    pub(super) is_own: bool,
}

impl Board {
    /// Adds an engine.
    pub(super) fn join(&self) -> Seat {
        let place = self.with(|states| {
            states.engines.push(Some(Changes::default()));
            states.engines.len() - 1
        });
        Seat { board: self.clone(), place }
    }

    fn with<T>(&self, look: impl FnOnce(&mut States) -> T) -> T {
        // Nothing here panics half-way.
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Seat {
    /// Returns the state of a node for all engines together, if the new state for this engine makes
    /// that state news.
    pub(super) fn news(&self, node: NodeId, state: NodeState) -> Option<News> {
        self.board.with(|states| {
            let own = states.engines[self.place].as_mut()?;
            if !own.is_news(node, state) {
                return None;
            }
            let own = own.told(node);
            let all = states.engines.iter().flatten().map(|engine| engine.told(node));
            let state = all.max_by_key(|state| rank(*state)).flatten()?;
            let is_news = states.told[node.index()].replace(state) != Some(state);
            is_news.then_some(News { state, is_own: own == Some(state) })
        })
    }
}

/// What an engine that is gone has known of the nodes does not count any more.
impl Drop for Seat {
    fn drop(&mut self) {
        self.board.with(|states| states.engines[self.place] = None);
    }
}

/// Returns how bad a state is. What an engine does not know yet is worse than that all is well, so
/// that a node is ready once all engines say so.
const fn rank(state: Option<NodeState>) -> u8 {
    match state {
        Some(NodeState::Ready) => 0,
        None => 1,
        Some(NodeState::Unhealthy) => 2,
        Some(NodeState::Stalled) => 3,
        Some(NodeState::Quarantined) => 4,
        // An attempt to connect whose outcome is not known is never told.
        Some(NodeState::Down | NodeState::Connecting | NodeState::Handshake) => 5,
        Some(NodeState::Misconfigured) => 6,
    }
}

#[cfg(test)]
mod tests {
    use NodeState::{Connecting, Down, Quarantined, Ready};

    use super::*;

    #[test]
    fn a_node_is_told_once_for_all_engines_and_is_back_for_the_last() {
        let board = Board::default();
        let seats = [board.join(), board.join(), board.join()];
        let node = NodeId::new(0).expect("a node");
        let told = |state, is_own| Some(News { state, is_own });
        for (step, (engine, state, expected)) in [
            (0, Connecting, None),
            (0, Ready, None),
            (1, Ready, None),
            (2, Ready, told(Ready, true)),
            (1, Down, told(Down, true)),
            (0, Down, None),
            (2, Connecting, None),
            (1, Connecting, None),
            (1, Ready, None),
            (2, Quarantined, None),
            (0, Ready, told(Quarantined, false)),
            (2, Ready, told(Ready, true)),
        ]
        .into_iter()
        .enumerate()
        {
            assert_eq!(seats[engine].news(node, state), expected, "step {step}: {engine} {state}");
        }
        assert_eq!(seats[0].news(node, Down), told(Down, true));
        let [first, ..] = seats;
        drop(first);
        let next = board.join();
        assert_eq!(next.news(node, Ready), told(Ready, true), "the engine that was down is gone");
    }
}

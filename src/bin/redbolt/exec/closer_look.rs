//! A closer look at nodes that keep a lock from everybody without a quorum.
//!
//! A query adds up what all nodes say, and tells the time that is left to a value only where a
//! quorum has that value. An engine with a single node tells the time at that node.

use std::io;
use std::time::Duration;

use redbolt::redlock::NodeId;
use redbolt::{Config, Engine, Event, NodeState, RestartGuard};

/// How long the nodes may take to answer.
const TIMEOUT: Duration = Duration::from_millis(200);

/// How long one node is listened to at a time.
const TURN: Duration = Duration::from_millis(1);

/// One node, by itself.
struct Look {
    node: NodeId,
    engine: Engine,
    is_asked: bool,
}

/// Returns those of the nodes that have a value without a ttl, as far as they answer in time. The
/// engine goes on with its own requests meanwhile.
pub(super) fn without_ttl(
    engine: &mut Engine,
    nodes: &[NodeId],
    resource: &[u8],
) -> io::Result<Vec<NodeId>> {
    let mut looks: Vec<_> = nodes.iter().filter_map(|node| Look::at(engine, *node)).collect();
    let mut found = Vec::new();
    let until = engine.now() + TIMEOUT;
    while !looks.is_empty() && engine.now() < until {
        engine.poll(Some(Duration::ZERO))?;
        looks.retain_mut(|look| match look.turn(resource) {
            Some(has_ttl) => {
                found.extend((!has_ttl).then_some(look.node));
                false
            }
            None => true,
        });
    }
    Ok(found)
}

impl Look {
    /// Returns nothing for a node that cannot be looked at, such as for want of a descriptor.
    fn at(engine: &Engine, node: NodeId) -> Option<Self> {
        let mut config = Config::with_addresses([engine.address(node)?.clone()]);
        config.redlock = engine.redlock_config().clone();
        config.redlock.quorum = None;
        // This engine has no locks that a label could explain.
        config.redlock.label.clear();
        // Nobody is to vote, so that nothing that was forgotten matters.
        config.redlock.restart_guard = RestartGuard::Off;
        let engine = Engine::new(config).ok()?;
        Some(Self { node, engine, is_asked: false })
    }

    /// Goes on with the look. Returns whether the key has a ttl, once the node has said so.
    fn turn(&mut self, resource: &[u8]) -> Option<bool> {
        // An error would come again, until the time is over.
        self.engine.poll(Some(TURN)).ok()?;
        while let Some(event) = self.engine.next_event() {
            if let Event::Queried { holder, .. } = event {
                return Some(holder.remaining != Duration::MAX);
            }
        }
        let is_ready = self.engine.nodes().all(|(_, _, node)| node.state == NodeState::Ready);
        if is_ready && !self.is_asked {
            self.is_asked = self.engine.query(resource).is_ok();
        }
        None
    }
}

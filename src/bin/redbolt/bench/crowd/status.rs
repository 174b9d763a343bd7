//! What a client tells of itself and of its nodes.

use redbolt::{Client, NodeState};

/// How often nodes were asked for another fencing number, and how often all were asked after a
/// majority. A client that has ended counts nothing.
pub(super) fn trips(client: &Client) -> [u64; 2] {
    let counters = client.counters().blocking_wait();
    counters.map_or([0; 2], |counters| [counters.locks.raised, counters.locks.widened])
}

/// Returns the addresses and states of the nodes that are not ready.
pub(super) fn absent(client: &Client) -> Vec<String> {
    let nodes = client.nodes().blocking_wait().unwrap_or_default();
    let absent = nodes.iter().filter(|node| node.state != NodeState::Ready);
    absent.map(ToString::to_string).collect()
}

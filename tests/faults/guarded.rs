//! Owners that do not trust every node, and the locks with which they are tested.

use std::time::Duration;

use redbolt::redlock::{Quarantine, QuarantineReason, RestartGuard};
use redbolt::{LockId, NodeState};

use crate::owner::{Owner, PATIENCE, config};
use crate::support::servers::Node;
use crate::support::until;

pub(crate) const KEY: &[u8] = b"resource";

/// A ttl short enough for a test to wait.
pub(crate) const SHORT: Duration = Duration::from_secs(2);

/// The arguments of a server that keeps what it has granted.
pub(crate) const DURABLE: [&str; 4] = ["--appendonly", "yes", "--appendfsync", "always"];

/// Returns an owner with this guard, whose locks last for up to `max_ttl`.
pub(crate) fn owner<'a>(
    nodes: impl IntoIterator<Item = &'a Node>,
    guard: RestartGuard,
    max_ttl: Duration,
) -> Owner {
    let mut config = config(nodes.into_iter().map(Node::addr));
    config.redlock.restart_guard = guard;
    config.redlock.max_ttl = max_ttl;
    Owner::new(config)
}

/// Returns an owner with the usual ttl, whose attempts wait only briefly for nodes that do not
/// vote.
pub(crate) fn hasty(nodes: &[Node], guard: RestartGuard) -> Owner {
    let mut config = config(nodes.iter().map(Node::addr));
    config.redlock.restart_guard = guard;
    config.redlock.node_timeout = Some(Duration::from_millis(100));
    Owner::new(config)
}

/// Waits until the nodes have been up for so long that a guard lets them vote, with locks of ttl
/// [`SHORT`]. Uptimes are rounded, and the guard takes a second off.
pub(crate) fn season(nodes: &[Node]) {
    let is_old = |node: &Node| {
        let uptime = node.info("uptime_in_seconds").and_then(|uptime| uptime.parse().ok());
        uptime.is_some_and(|uptime| Duration::from_secs(uptime) >= 2 * SHORT)
    };
    assert!(until(PATIENCE, || nodes.iter().all(is_old)), "they do not grow old");
}

/// Takes a lock that only the first two of three nodes have, and leaves the third without it.
pub(crate) fn hold_on_two(nodes: &[Node], owner: &mut Owner, ttl: Duration) -> LockId {
    nodes[2].set_px(KEY, b"somebody else's", PATIENCE);
    let lock = owner.acquire_for(KEY, ttl, PATIENCE);
    assert_eq!(owner.acquired(), lock);
    owner.all_answered();
    nodes[2].command(&[b"DEL", KEY]);
    let token = owner.engine.token(lock).expect("it is held");
    for (node, has_it) in nodes.iter().zip([true, true, false]) {
        assert_eq!(node.get(KEY).as_deref() == Some(token.as_ref()), has_it, "{}", node.addr());
    }
    lock
}

/// Polls until this node is connected and does not vote. Returns the time that the quarantine still
/// lasts.
pub(crate) fn quarantined(owner: &mut Owner, index: usize, why: QuarantineReason) -> Duration {
    owner.poll_until("a quarantine", |owner| owner.status(index).state == NodeState::Quarantined);
    let Quarantine { reason, remaining, .. } = owner.status(index).quarantine.expect("it is set");
    assert_eq!(reason, why);
    remaining
}

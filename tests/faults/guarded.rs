//! Owners that do not trust every node, and the locks with which they are tested.

use std::time::Duration;

use redbolt::redlock::{DECLARE_FRESH, Quarantine, QuarantineReason, RestartGuard};
use redbolt::{LockId, NodeState};

use crate::owner::{Owner, PATIENCE, config};
use crate::support::servers::Node;
use crate::support::wire::Reply;

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
    let mut config = config(nodes.into_iter().map(Node::url));
    config.redlock.restart_guard = guard;
    config.redlock.max_ttl = max_ttl;
    Owner::new(config)
}

/// Returns an owner as [`owner`] does, which has no right to be told that keys are gone.
pub(crate) fn deaf(nodes: &[Node], guard: RestartGuard, max_ttl: Duration) -> Owner {
    let rules: [&[u8]; 5] = [b"on", b">pw", b"~*", b"+@all", b"-client|tracking"];
    let make = [&[&b"ACL"[..], b"SETUSER", b"deaf"], &rules[..]].concat();
    for node in nodes {
        assert_eq!(node.command(&make), Reply::Simple("OK".to_owned()));
    }
    let mut config = config(nodes.iter().map(|node| format!("redis://deaf:pw@{}", node.addr())));
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

/// Declares that these nodes, which have just been started, are a fresh cluster with locks of up to
/// `max_ttl`.
pub(crate) fn declare(nodes: &[Node], max_ttl: Duration) {
    let text = |number: u128| number.to_string().into_bytes();
    let (max_ttl, span) = (text(max_ttl.as_millis()), text(2 * max_ttl.as_micros()));
    let (script, count) = (DECLARE_FRESH.text.as_bytes(), text(nodes.len() as u128));
    for node in nodes {
        let keys: [&[u8]; 3] = [b"2", b"redbolt:witness", b"redbolt:seen"];
        let arguments: [&[u8]; 5] = [b"0", b"0", &max_ttl, &count, &span];
        let reply = node.command(&[&[b"EVAL", script], &keys[..], &arguments].concat());
        let is_done = matches!(&reply, Reply::Array(parts) if parts.len() == 12);
        assert!(is_done, "{}: {reply:?}", node.addr());
    }
}

/// Returns how many `SET`s came to a node that had no witness when its process began. Of the `SET`s
/// in scripts, one is the witness, and each look has one more.
pub(crate) fn sets(node: &Node) -> u64 {
    let in_looks = 1 + node.calls("time");
    node.calls("set") - in_looks
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

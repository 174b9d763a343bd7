//! Users who lack a right: each missing one is named, and none is noticed only by its locks.

use std::time::Duration;

use redbolt::redlock::{NodeError, QuarantineReason, RestartGuard};
use redbolt::{Config, NodeState};

use crate::owner::{Owner, PATIENCE, config};
use crate::support::rights::{LOADING, RIGHTS, TRACKING, command};
use crate::support::servers::Node;
use crate::support::wire::Reply;

/// The keys of the locks and of the witness.
const KEYS: [&str; 2] = ["~locks:*", "~redbolt:*"];

/// The smallest rules, as OPERATING.md has them. The keys of the locks come first.
fn smallest() -> Vec<&'static str> {
    KEYS.into_iter().chain(RIGHTS).chain([LOADING]).collect()
}

/// Makes the user `app` with these rules, and nothing else. Returns the address.
fn user(node: &Node, rules: &[&str]) -> String {
    let mut parts: Vec<&[u8]> = [&b"ACL"[..], b"SETUSER", b"app", b"reset", b"on", b">pw"].to_vec();
    parts.extend(rules.iter().map(|rule| rule.as_bytes()));
    assert_eq!(node.command(&parts), Reply::Simple("OK".to_owned()), "{rules:?}");
    format!("redis://app:pw@{}", node.addr())
}

fn without(rule: &str) -> Vec<&'static str> {
    smallest().into_iter().filter(|known| *known != rule).collect()
}

/// The ttl of the locks here: as long as the span of a quarantine, roughly.
const TTL: Duration = Duration::from_secs(1);

/// Returns a configuration with the witness, whose quarantines are over soon.
fn guarded(url: &str) -> Config {
    let mut config = config([url.to_owned()]);
    config.redlock.restart_guard = RestartGuard::On;
    config.redlock.max_ttl = TTL;
    config
}

fn error(owner: &Owner) -> Option<NodeError> {
    owner.status(0).error
}

/// FAULTS 41: a lock that could be had but not given back, or not extended, is not had.
#[test]
fn each_right_that_locks_need_keeps_the_node_out_by_its_name_when_it_is_missing() {
    let node = Node::start();
    for rule in RIGHTS.into_iter().filter(|rule| *rule != "+time") {
        let mut owner = Owner::of([user(&node, &without(rule))]);
        owner.poll_until("the node to be refused", |owner| {
            owner.status(0).state == NodeState::Misconfigured
        });
        let Some(NodeError::MissingRights(missing)) = error(&owner) else {
            panic!("{rule}: {}", owner.status(0))
        };
        assert!(missing.names().eq([command(rule)]), "{rule}: {missing}");
        let text = format!("the user may not run: {missing} (ACL, or a renamed command)");
        assert!(owner.status(0).to_string().contains(&text), "{}", owner.status(0));
        assert_eq!(owner.status(0).counters.failures, 1);
        // Where the key of the probe cannot be deleted, it goes by itself.
        owner.poll_until("the key to be gone", |_| node.keys().is_empty());
    }
}

#[test]
fn all_missing_rights_are_named_at_once() {
    let node = Node::start();
    let rules = ["~*", "+eval", "+evalsha", "+set", "+exists", "+time"];
    let mut owner = Owner::of([user(&node, &rules)]);
    owner.poll_until("the node to be refused", |owner| error(owner).is_some());
    let text = "the user may not run: info, get, getrange, mget, pttl, pexpire, del (ACL, or a \
                renamed command)";
    assert_eq!(error(&owner).map(|error| error.to_string()).as_deref(), Some(text));
    // The key of the probe cannot be deleted, and goes by itself.
    owner.poll_until("the key to be gone", |_| node.keys().is_empty());
}

/// What OPERATING.md names as the rights that are needed, with the witness and without loading.
#[test]
fn the_smallest_rules_are_enough_for_locks_and_for_the_witness() {
    for rules in [smallest(), without(LOADING)] {
        let node = Node::start();
        let mut owner = Owner::new(guarded(&user(&node, &rules)));
        owner.all_ready();
        let status = owner.status(0);
        assert!(!status.lacks_witness && status.missing.is_empty(), "{status}");
        assert!(node.get(b"redbolt:witness").is_some(), "the witness is there");
        assert_eq!(node.keys(), Vec::<Vec<u8>>::new(), "and nothing but the witness");
        for together in [1, 20] {
            let locks: Vec<_> = (0..together)
                .map(|n| owner.acquire_for(format!("locks:{n}"), TTL, PATIENCE))
                .collect();
            locks.iter().for_each(|_| _ = owner.acquired());
            locks.iter().for_each(|lock| owner.extend_for(*lock, TTL));
            locks.iter().for_each(|_| owner.extended());
            locks.iter().for_each(|lock| owner.release(*lock));
            locks.iter().for_each(|_| assert_eq!(owner.released().unconfirmed.len(), 0));
        }
        owner.finish([&node]);
    }
}

/// S11: a node without these rights serves as with `Strict`.
#[test]
fn rights_that_only_the_witness_needs_cost_only_the_witness() {
    let rows = [("+time", "time"), ("~redbolt:*", "")];
    for (rule, missing) in rows {
        let node = Node::start();
        let mut owner = Owner::new(guarded(&user(&node, &without(rule))));
        owner.poll_until("the node to be in quarantine", |owner| {
            owner.status(0).quarantine.is_some()
        });
        let status = owner.status(0);
        assert!(status.lacks_witness && status.error.is_none(), "{rule}: {status}");
        assert_eq!(status.quarantine.map(|it| it.reason), Some(QuarantineReason::FirstContact));
        assert_eq!(status.missing.to_string(), missing, "{status}");
        owner.all_ready();
        assert_eq!(node.keys(), Vec::<Vec<u8>>::new(), "{rule}");
    }
}

/// S11: whoever has this right is told at once that the keys of a node are gone.
#[test]
fn the_right_to_track_is_used_where_it_is_there() {
    for (more, expected) in [(&[][..], false), (&TRACKING[..1], false), (&TRACKING, true)] {
        let node = Node::start();
        let rules: Vec<_> = smallest().into_iter().chain(more.iter().copied()).collect();
        let mut owner = Owner::new(guarded(&user(&node, &rules)));
        owner.all_ready();
        let status = owner.status(0);
        assert_eq!(status.tracks_witness, expected, "{status}");
        assert!(status.error.is_none() && status.missing.is_empty(), "{status}");
        owner.finish([&node]);
    }
}

/// Without rights on the keys of redbolt, the rights to run commands are tried all the same.
#[test]
fn a_missing_right_is_named_even_where_the_key_of_the_probe_is_forbidden() {
    let node = Node::start();
    let rules: Vec<_> = without(KEYS[1]).into_iter().filter(|rule| *rule != "+del").collect();
    let mut owner = Owner::of([user(&node, &rules)]);
    owner.poll_until("the node to be refused", |owner| error(owner).is_some());
    let text = error(&owner).map(|error| error.to_string()).unwrap_or_default();
    assert!(text.starts_with("the user may not run: del ("), "{text}");
}

#[test]
fn a_command_that_somebody_has_renamed_is_a_missing_right() {
    let node = Node::start_with(&["--rename-command", "DEL", "\"\""]);
    let mut owner = Owner::of([node.addr()]);
    owner.poll_until("the node to be refused", |owner| error(owner).is_some());
    let text = error(&owner).map(|error| error.to_string()).unwrap_or_default();
    assert!(text.starts_with("the user may not run: del ("), "{text}");
}

/// A server whose memory is full grants nothing and is well for the locks that are there.
#[test]
fn a_server_that_is_full_is_not_called_misconfigured() {
    let node = Node::start();
    node.command(&[b"CONFIG", b"SET", b"maxmemory", b"1"]);
    let mut owner = Owner::of([user(&node, &smallest())]);
    owner.all_ready();
    assert!(error(&owner).is_none() && owner.status(0).missing.is_empty());
}

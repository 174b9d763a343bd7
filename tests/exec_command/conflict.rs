//! Somebody else has the lock.

use std::time::Duration;

use super::run::{PATIENCE, assert_no_keys, run, run_until_quorate};
use crate::support::servers::{Cluster, Node};
use crate::support::until;

const OTHER: &[u8] = b"x";

/// Takes `r` by hand on some of the servers.
fn take(nodes: &[Node], ttl: Duration) {
    for node in nodes {
        node.set_px(b"r", OTHER, ttl);
    }
}

#[test]
fn a_majority_of_another_is_a_conflict_and_a_minority_is_none() {
    let cluster = Cluster::start(5);
    take(&cluster[..3], Duration::from_secs(60));
    for _ in 0..5 {
        let outcome = run_until_quorate(&cluster.addrs(), &["--no-wait", "r", "--", "echo", "ran"]);
        outcome.assert_code(75);
        assert_eq!(outcome.out, "");
        assert!(outcome.err.contains("\"r\" is held by another"), "{}", outcome.err);
        assert_eq!(cluster.holding(b"r", OTHER), 3);
        assert!(until(PATIENCE, || cluster[3..].iter().all(|node| node.keys().is_empty())));
    }
    let options = ["--no-wait", "--conflict-exit-code", "9", "r", "--", "echo", "ran"];
    run_until_quorate(&cluster.addrs(), &options).assert_code(9);

    cluster[2].command(&[b"DEL", b"r"]);
    for _ in 0..5 {
        // One of the three that are free may be late, which looks like a conflict. A minority that
        // was one would be one every time.
        let mut outcome = None;
        until(PATIENCE, || {
            let next = run(&cluster.addrs(), &["--no-wait", "r", "--", "echo", "ran"]);
            let has_run = next.status.success();
            outcome = Some(next);
            has_run
        });
        let outcome = outcome.expect("it ran once at least");
        outcome.assert_code(0);
        assert_eq!(outcome.out, "ran\n");
        assert_eq!(cluster.holding(b"r", OTHER), 2);
        assert!(until(PATIENCE, || cluster[2..].iter().all(|node| node.keys().is_empty())));
    }
}

#[test]
fn a_conflict_that_an_absent_node_takes_part_in_names_it() {
    let mut cluster = Cluster::start(5);
    take(&cluster[..3], Duration::from_secs(60));
    cluster[4].kill();
    let outcome = run_until_quorate(&cluster.addrs(), &["--wait", "1s", "r", "--", "true"]);
    outcome.assert_code(75);
    let lines: Vec<_> = outcome.err.lines().collect();
    let start = "redbolt: \"r\" is held by another";
    let is_right =
        lines[0].starts_with(start) && lines[0].ends_with(", and not every node is ready:");
    assert!(is_right, "{}", outcome.err);
    // Also while it is being tried again.
    let line = lines[5];
    let down = format!("  {}: down: connecting failed: ", cluster[4].addr());
    assert!(lines.len() == 6 && line.starts_with(&down), "{}", outcome.err);
}

#[test]
fn a_lock_that_stays_taken_is_waited_for_until_the_wait_ends() {
    let cluster = Cluster::start(3);
    take(&cluster, Duration::from_secs(60));
    let arguments = ["--wait", "1s", "r", "--", "true"];
    run_until_quorate(&cluster.addrs(), &arguments).assert_code(75);
    assert_eq!(cluster.holding(b"r", OTHER), 3);
}

#[test]
fn a_lock_that_comes_free_is_acquired() {
    let cluster = Cluster::start(3);
    take(&cluster, Duration::from_millis(500));
    run(&cluster.addrs(), &["--wait", "20s", "r", "--", "true"]).assert_code(0);
    assert_no_keys(&cluster);
}

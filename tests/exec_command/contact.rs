//! The first contact: what is known at once is said at once.

use std::time::Duration;

use super::run::{PATIENCE, Run, exec, run, start_script};
use crate::support::ports::Port;
use crate::support::servers::Cluster;
use crate::support::until;

#[test]
fn a_quarantine_that_is_longer_than_the_wait_fails_at_once() {
    let cluster = Cluster::start(3);
    let mut command = exec(&cluster.addrs());
    // Sixty seconds of quarantine; a test that waits for them would be over before.
    command.env("REDBOLT_RESTART_GUARD", "on").args(["--wait", "50s", "r", "--", "true"]);
    let outcome = Run::start(&mut command).finish();
    outcome.assert_code(69);
    assert!(outcome.err.contains("no quorum of nodes for \"r\" for another"), "{}", outcome.err);
    assert!(outcome.err.contains("redbolt init --fresh"), "{}", outcome.err);
}

#[test]
fn nodes_that_cannot_be_reached_are_named_at_once_and_tried_until_the_wait_ends() {
    let mut cluster = Cluster::start(3);
    let addresses = cluster.addrs();
    (1..3).for_each(|index| cluster[index].kill());
    let mut run = start_script(&addresses, &["--wait", "60s"], "echo ran");
    let said = format!("{}: down: connecting failed: ", addresses[1]);
    assert!(until(PATIENCE, || run.file("err").contains(&said)), "{}", run.file("err"));
    let first = run.file("err");
    let start = "redbolt: no quorum of nodes for \"r\", waiting another ";
    assert!(first.starts_with(start), "{first}");
    // They have kept nothing, but here nobody asks.
    cluster[1].restart();
    let outcome = run.wait();
    outcome.assert_code(0);
    assert_eq!(outcome.out, "ran\n");
}

#[test]
fn nodes_that_stay_away_are_no_quorum_when_the_wait_ends() {
    let nodes: Vec<_> = (0..3).map(|_| Port::free()).collect();
    let addresses: Vec<_> = nodes.iter().map(Port::addr).collect();
    let outcome = run(&addresses, &["--wait", "1s", "r", "--", "true"]);
    outcome.assert_code(69);
    let messages: Vec<_> =
        outcome.err.lines().filter(|line| line.starts_with("redbolt: ")).collect();
    assert_eq!(messages.len(), 2, "{}", outcome.err);
    let said = "redbolt: no quorum of nodes for \"r\" (0 of 3 can vote, 2 needed):";
    assert_eq!(messages[1], said);
    // Without a wait there is nothing between the first contact and the end.
    let outcome = run(&addresses, &["--no-wait", "r", "--", "true"]);
    assert_eq!(outcome.err.matches("redbolt: ").count(), 1, "{}", outcome.err);
}

#[test]
fn the_last_message_about_a_wrong_configuration_promises_no_attempt_and_names_check() {
    let cluster = Cluster::start(3);
    for node in cluster.iter() {
        node.command(&[b"CONFIG", b"SET", b"maxmemory-policy", b"allkeys-lru"]);
    }
    let outcome = run(&cluster.addrs(), &["--no-wait", "r", "--", "true"]);
    outcome.assert_code(69);
    assert!(outcome.err.contains(": misconfigured: "), "{}", outcome.err);
    assert!(!outcome.err.contains("tried again"), "{}", outcome.err);
    assert!(outcome.err.ends_with("\nredbolt check says what to change\n"), "{}", outcome.err);
}

#[test]
fn a_verbose_wait_says_who_has_the_lock_and_shows_no_value_with_which_to_release() {
    let cluster = Cluster::start(3);
    let token = b"a-token-of-somebody-else";
    for node in cluster.iter() {
        node.set_px(b"r", token, Duration::from_secs(60));
    }
    let run = start_script(&cluster.addrs(), &["--verbose", "--wait", "60s"], "echo ran");
    let is_said = || run.file("err").contains("held by a-token-…, for at most ");
    assert!(until(PATIENCE, is_said), "{}", run.file("err"));
    for node in cluster.iter() {
        node.command(&[b"DEL", b"r"]);
    }
    let outcome = run.finish();
    outcome.assert_code(0);
    assert!(!outcome.err.contains("a-token-of-somebody-else"), "{}", outcome.err);
    // Other lines continue the one before.
    let lines = || outcome.err.lines().filter(|line| line.starts_with("redbolt"));
    assert!(lines().all(|line| seconds(line).is_some()), "{}", outcome.err);
    let times: Vec<_> = lines().filter_map(seconds).collect();
    assert!(times.is_sorted() && times.len() >= 3, "{}", outcome.err);
}

/// The time of a line of `--verbose`, in seconds since the start, behind the id of the process.
fn seconds(line: &str) -> Option<f64> {
    let (pid, rest) = line.strip_prefix("redbolt[")?.split_once("]: [")?;
    let (time, _) = rest.split_once("s] ")?;
    pid.parse::<u32>().ok()?;
    time.trim().parse().ok()
}

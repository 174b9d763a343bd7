//! Servers that have just been started, and may have forgotten locks.

use crate::run::{Run, exec, run};
use crate::support::servers::Cluster;

#[test]
fn a_young_cluster_is_refused_with_its_time_and_the_way_out() {
    let cluster = Cluster::start(3);
    let guarded = ["--restart-guard", "on", "--no-wait", "r", "--", "true"];
    let outcome = run(&cluster.addrs(), &guarded);
    outcome.assert_code(69);
    assert!(outcome.err.contains("no quorum of nodes for \"r\" for another"), "{}", outcome.err);
    assert_eq!(outcome.err.matches("quarantined for another").count(), 3, "{}", outcome.err);
    assert!(outcome.err.contains("redbolt init --fresh"), "{}", outcome.err);
    run(&cluster.addrs(), &["--restart-guard", "off", "r", "--", "true"]).assert_code(0);
}

#[test]
fn a_wait_that_is_long_enough_says_so_and_waits() {
    let cluster = Cluster::start(3);
    let longest = ["--ttl", "2s", "--max-ttl", "2s", "--wait", "60s"];
    let mut command = exec(&cluster.addrs());
    command.env("REDBOLT_RESTART_GUARD", "strict").args(longest).args(["r", "--", "true"]);
    let outcome = Run::start(&mut command).finish();
    outcome.assert_code(0);
    assert!(outcome.err.contains("for a quorum of nodes for \"r\":"), "{}", outcome.err);
    assert!(outcome.err.contains("redbolt init --fresh"), "{}", outcome.err);
}

#[test]
fn another_word_for_the_guard_is_refused() {
    let outcome = run(&["127.0.0.1:1".to_owned()], &["--restart-guard", "no", "r", "--", "true"]);
    outcome.assert_code(64);
    assert!(
        outcome.err.contains("--restart-guard is \"no\", on, strict, durable or off is possible"),
        "{}",
        outcome.err
    );
}

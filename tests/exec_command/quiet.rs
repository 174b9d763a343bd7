//! `--quiet`: for cron, which mails whatever is said.

use std::time::Duration;

use super::run::{Outcome, PATIENCE, Run, exec, run, run_until_quorate, start_script};
use crate::support::ports::Port;
use crate::support::servers::Cluster;
use crate::support::until;

#[test]
fn another_who_holds_the_lock_is_no_reason_to_say_anything() {
    let cluster = Cluster::start(3);
    for node in cluster.iter() {
        node.set_px(b"r", b"x", Duration::from_secs(60));
    }
    let rows: [(&[&str], u8); 3] =
        [(&["-qn"], 75), (&["-q", "-w", "1s", "-E", "9"], 9), (&["-qn", "--log", "json"], 75)];
    for (options, code) in rows {
        let arguments = [options, &["r", "--", "true"]].concat();
        // On a busy machine too few nodes may answer in time, which is told.
        let outcome = run_until_quorate(&cluster.addrs(), &arguments);
        outcome.assert_code(code);
        assert_eq!(outcome.err, "", "{options:?}");
    }
}

#[test]
fn a_key_that_stays_for_ever_is_told_because_no_later_run_gets_the_lock() {
    let cluster = Cluster::start(3);
    for node in cluster.iter() {
        node.command(&[b"SET", b"r", b"somebody's data"]);
    }
    let is_told = until(PATIENCE, || {
        let outcome = run_until_quorate(&cluster.addrs(), &["-qn", "r", "--", "true"]);
        outcome.assert_code(75);
        outcome.err.starts_with("redbolt: \"r\" is not free: the key \"r\" has no ttl")
    });
    assert!(is_told);
}

#[test]
fn nodes_are_told_once_and_only_if_the_lock_is_not_had() {
    let nodes: Vec<_> = (0..3).map(|_| Port::free()).collect();
    let addresses: Vec<_> = nodes.iter().map(Port::addr).collect();
    let outcome = run(&addresses, &["--quiet", "--wait", "1s", "r", "--", "true"]);
    outcome.assert_code(69);
    let said = "redbolt: no quorum of nodes for \"r\" (0 of 3 can vote, 2 needed):\n";
    assert!(outcome.err.starts_with(said), "{}", outcome.err);
    assert_eq!(outcome.err.matches("redbolt: ").count(), 1, "{}", outcome.err);

    let mut cluster = Cluster::start(3);
    let addresses = cluster.addrs();
    (1..3).for_each(|index| cluster[index].kill());
    let mut run = start_script(&addresses, &["--quiet", "--wait", "60s"], "echo ran");
    let before = cluster[0].info("total_connections_received");
    let is_there = || cluster[0].info("total_connections_received") > before;
    assert!(until(PATIENCE, is_there), "it does not connect");
    cluster[1].restart();
    let outcome = run.wait();
    outcome.assert_code(0);
    assert_eq!((outcome.out.as_str(), outcome.err.as_str()), ("ran\n", ""));
}

#[test]
fn a_lost_lock_is_told_with_the_reason_and_the_nodes_that_are_not_ready() {
    let mut cluster = Cluster::start(3);
    let script = "echo >begun; exec sleep 60";
    let run = start_script(&cluster.addrs(), &["--quiet", "--ttl", "2s"], script);
    run.line("begun");
    cluster[0].kill();
    for node in &cluster[1..] {
        node.command(&[b"DEL", b"r"]);
    }
    let outcome = run.finish();
    outcome.assert_code(76);
    assert!(outcome.err.contains(" is lost: no quorum has its value"), "{}", outcome.err);
    assert!(cluster.addrs().iter().all(|node| outcome.err.contains(node)), "{}", outcome.err);
    assert!(cluster[1..].iter().all(|node| node.keys().is_empty()));
}

#[test]
fn the_option_goes_before_the_variable_of_its_opposite() {
    let cluster = Cluster::start(3);
    let run = |variables: &[(&str, &str)], options: &[&str]| -> Outcome {
        let mut command = exec(&cluster.addrs());
        command.envs(variables.iter().copied()).args(options).args(["r", "--", "true"]);
        Run::start(&mut command).finish()
    };
    let (verbose, quiet) = (("REDBOLT_VERBOSE", "true"), ("REDBOLT_QUIET", "true"));
    let outcome = run(&[verbose], &["--quiet"]);
    outcome.assert_code(0);
    assert_eq!(outcome.err, "");
    let outcome = run(&[quiet], &["--verbose"]);
    outcome.assert_code(0);
    assert!(outcome.err.contains("\"r\" is locked after "), "{}", outcome.err);
    let refused = run(&[verbose, quiet], &[]);
    refused.assert_code(64);
    let what = "redbolt: REDBOLT_VERBOSE and REDBOLT_QUIET are both true: one is possible\n";
    assert_eq!(refused.err, what);
    let refused = run(&[], &["-q", "-v"]);
    refused.assert_code(64);
    assert!(refused.err.contains("'--quiet' cannot be used with '--verbose'"), "{}", refused.err);
}

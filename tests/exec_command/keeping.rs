//! A lock that is kept alive as long as the command runs, and what happens when it cannot be.

use std::process::Command;

use crate::run::{PATIENCE, Run, assert_no_keys, exec, run_until_quorate, start_script};
use crate::support::fake::Fake;
use crate::support::servers::Cluster;
use crate::support::until;
use crate::support::wire::Reply;

const SHORT: [&str; 2] = ["--ttl", "2s"];

#[test]
fn a_command_may_take_longer_than_the_ttl() {
    let cluster = Cluster::start(3);
    let outcome = start_script(&cluster.addrs(), &SHORT, "sleep 5; exit 7").finish();
    outcome.assert_code(7);
    assert_no_keys(&cluster);
}

#[test]
fn the_end_of_max_hold_ends_the_command() {
    let cluster = Cluster::start(3);
    let options = ["--ttl", "8s", "--max-hold", "10s", "--verbose"];
    let script = "trap 'echo bye; exit 0' TERM; sleep 60 & wait";
    let outcome = start_script(&cluster.addrs(), &options, script).finish();
    outcome.assert_code(76);
    assert_eq!(outcome.out, "bye\n");
    let ended = "--max-hold ended the lock on \"r\" before the command did";
    let ending = "--max-hold is about to end the lock on \"r\": SIGTERM";
    let bye = "\"sh\" exited with 0 after ";
    for said in ["\"r\" is locked after", ending, bye, ended, "\"r\" is released after"] {
        assert!(outcome.err.contains(said), "{said}: {}", outcome.err);
    }
    assert_no_keys(&cluster);
}

#[test]
fn a_command_is_warned_by_the_signal_that_it_wants() {
    let cluster = Cluster::start(3);
    let options = ["--no-keep-alive", "--ttl", "6s", "--expiring-signal", "USR1"];
    let script = "trap 'echo warned; exit 3' USR1; sleep 60 & wait";
    let outcome = start_script(&cluster.addrs(), &options, script).finish();
    outcome.assert_code(3);
    assert_eq!(outcome.out, "warned\n");
    assert_no_keys(&cluster);
}

/// FAULTS 60: the command is not left to work on what others may have by now.
#[test]
fn a_lock_that_a_majority_has_lost_ends_the_command_at_once() {
    let cluster = Cluster::start(3);
    let run = start_script(&cluster.addrs(), &["--ttl", "3s"], "echo >ready; exec sleep 60");
    run.line("ready");
    for node in cluster.iter() {
        node.command(&[b"DEL", b"r"]);
    }
    let outcome = run.finish();
    outcome.assert_code(76);
    assert!(outcome.err.contains("killed"), "{}", outcome.err);
    let lost = "redbolt: the lock on \"r\" is lost: no quorum has its value any more; it is gone \
                there, or another stands there, as after redbolt unlock\n";
    assert!(outcome.err.starts_with(lost), "{}", outcome.err);
    // All nodes are well, which says nothing of the lock.
    assert!(!outcome.err.contains("ready"), "{}", outcome.err);
}

/// The command has ended before the next renewal, which would have told.
#[test]
fn a_lock_that_a_majority_has_lost_by_the_release_is_told_of() {
    let cluster = Cluster::start(5);
    // node by node: what became of the key, and the code
    let rows: [(&[&[u8]], u8); 5] = [
        (&[], 7),
        (&[b"DEL", b"SET"], 7),
        // A quorum of the answers to a release can be two with the key and one without.
        (&[b"DEL", b"DEL", b"DEL"], 76),
        (&[b"DEL", b"SET", b"DEL"], 76),
        // Somebody else has got the lock meanwhile.
        (&[b"SET", b"SET", b"SET"], 76),
    ];
    for (orders, code) in rows {
        let script = "echo >ready; while ! [ -e go ]; do sleep 0.01; done; exit 7";
        let run = start_script(&cluster.addrs(), &["--ttl", "30s"], script);
        run.line("ready");
        // A node that grants late would have the key again.
        assert!(until(PATIENCE, || cluster.iter().all(|node| node.get(b"r").is_some())));
        for (node, order) in cluster.iter().zip(orders) {
            let parts: &[&[u8]] = &[order, b"r", b"another"];
            node.command(&parts[..if *order == b"SET" { 3 } else { 2 }]);
        }
        run.create("go");
        let outcome = run.finish();
        outcome.assert_code(code);
        let gone = "redbolt: the lock on \"r\" was gone before its release: too few nodes";
        assert_eq!(outcome.err.contains(gone), code == 76, "{}", outcome.err);
        cluster.iter().for_each(|node| _ = node.command(&[b"DEL", b"r"]));
    }
}

/// Nobody else can have had a quorum, whichever of two values at one node each is read last.
#[test]
fn a_lock_whose_nodes_are_silent_or_somebody_elses_is_not_gone() {
    let cluster = Cluster::start(3);
    for (foreign, silent) in [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)] {
        cluster[foreign].command(&[b"SET", b"r", b"another"]);
        let script = "echo >ready; while ! [ -e go ]; do sleep 0.01; done; exit 7";
        let run = start_script(&cluster.addrs(), &["--ttl", "30s"], script);
        run.line("ready");
        cluster[silent].stop();
        run.create("go");
        let outcome = run.finish();
        cluster[silent].cont();
        outcome.assert_code(7);
        cluster.iter().for_each(|node| _ = node.command(&[b"DEL", b"r"]));
    }
}

/// They have had no vote to give to anybody since.
#[test]
fn a_lock_that_a_majority_has_lost_in_restarts_was_nobody_elses() {
    let mut cluster = Cluster::start(3);
    let program = env!("CARGO_BIN_EXE_redbolt");
    let nodes = cluster.addrs().join(",");
    let init = Command::new(program).args(["init", "--fresh", "--nodes", &nodes]).output();
    assert!(init.expect("redbolt runs").status.success());
    let script = "echo >ready; while ! [ -e go ]; do sleep 0.01; done; exit 7";
    let mut command = exec(&cluster.addrs());
    command.env("REDBOLT_RESTART_GUARD", "on").args(["r", "--", "sh", "-c", script]);
    let run = Run::start(&mut command);
    run.line("ready");
    for index in 0..2 {
        cluster[index].restart();
        // The last command of a handshake is a script.
        let is_back = || match cluster[index].command(&[b"CLIENT", b"LIST"]) {
            Reply::Bulk(list) => String::from_utf8_lossy(&list)
                .lines()
                .any(|line| line.contains("name=redbolt") && line.contains("cmd=evalsha")),
            _ => false,
        };
        assert!(until(PATIENCE, is_back));
    }
    run.create("go");
    run.finish().assert_code(7);
}

/// Two of five that are gone for good are a minority.
#[test]
fn killing_a_minority_of_the_nodes_does_not_end_the_command() {
    let mut cluster = Cluster::start(5);
    let run = start_script(&cluster.addrs(), &SHORT, "echo >ready; sleep 5; exit 7");
    run.line("ready");
    (0..2).for_each(|index| cluster[index].kill());
    run.finish().assert_code(7);
}

#[test]
fn a_majority_that_does_not_answer_ends_the_command_before_the_lock_ends() {
    let cluster = Cluster::start(5);
    let script = "trap 'echo bye; exit 0' TERM; echo >ready; sleep 60 & wait";
    let run = start_script(&cluster.addrs(), &["--ttl", "10s"], script);
    run.line("ready");
    (0..3).for_each(|index| cluster[index].stop());
    let outcome = run.finish();
    (0..3).for_each(|index| cluster[index].cont());
    outcome.assert_code(76);
    assert_eq!(outcome.out, "bye\n");
    // The nodes are named, whether or not anybody has asked for more.
    assert!(
        outcome.err.contains("the lock on \"r\" is about to end: SIGTERM:\n"),
        "{}",
        outcome.err
    );
    assert!(outcome.err.contains(&format!("\n  {}: ", cluster[0].addr())), "{}", outcome.err);
}

#[test]
fn the_short_options_are_those_of_flock() {
    let cluster = Cluster::start(3);
    let holder = start_script(&cluster.addrs(), &[], "echo >ready; exec sleep 60");
    holder.line("ready");
    for options in [&["-n", "-E", "9"][..], &["-w", "0.2", "-E", "9"]] {
        let arguments = [options, &["r", "--", "true"]].concat();
        run_until_quorate(&cluster.addrs(), &arguments).assert_code(9);
    }
    let mut free = exec(&cluster.addrs());
    free.args(["-w", "20", "-v", "s", "--", "true"]);
    let outcome = Run::start(&mut free).finish();
    outcome.assert_code(0);
    assert!(outcome.err.contains("\"s\" is locked after"), "{}", outcome.err);
}

/// A command that runs for a night beside a node that is gone must not fill the log.
#[test]
fn a_node_that_stays_away_is_told_once_for_each_reason_however_often_it_is_tried() {
    const ATTEMPTS: usize = 6;
    let cluster = Cluster::start(2);
    let gone = Fake::closing();
    let nodes = [cluster.addrs(), vec![gone.addr()]].concat();
    let script = "echo >ready; while [ -e out ] && [ ! -e go ]; do sleep 0.05; done";
    let run = start_script(&nodes, &["--verbose"], script);
    run.line("ready");
    let seen = gone.accepted();
    assert!(until(PATIENCE, || gone.accepted() >= seen + ATTEMPTS));
    run.create("go");
    let outcome = run.finish();
    outcome.assert_code(0);
    let lines: Vec<_> = outcome.err.lines().filter(|line| line.contains(&gone.addr())).collect();
    assert!((1..=4).contains(&lines.len()), "{}", outcome.err);
    let mut reasons: Vec<_> = lines.iter().map(|line| line.trim()).collect();
    reasons.sort_unstable();
    reasons.dedup();
    assert_eq!(reasons.len(), lines.len(), "{}", outcome.err);
}

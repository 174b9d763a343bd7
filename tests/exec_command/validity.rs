//! Commands that outlive a lock which is not kept alive.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

use super::run::{PATIENCE, Run, assert_no_keys, exec, start_script};
use crate::support::process::is_alive;
use crate::support::servers::Cluster;
use crate::support::until;

/// Long enough for the command to get going, short enough to wait for its end.
const TTL: [&str; 3] = ["--no-keep-alive", "--ttl", "4s"];

/// The same where the command must have time to finish after `SIGTERM`, or to be stopped before.
const LONGER_TTL: [&str; 3] = ["--no-keep-alive", "--ttl", "10s"];

#[test]
fn a_command_that_outlives_its_lock_gets_sigterm_in_time_to_finish() {
    let cluster = Cluster::start(3);
    let script = "trap 'echo bye; exit 0' TERM; sleep 60 & wait";
    let outcome = start_script(&cluster.addrs(), &LONGER_TTL, script).finish();
    outcome.assert_code(76);
    assert_eq!(outcome.out, "bye\n");
    assert!(outcome.err.contains("\"r\"") && outcome.err.contains("SIGTERM"), "{}", outcome.err);
    assert_no_keys(&cluster);
}

#[test]
fn a_group_that_ignores_sigterm_is_dead_before_the_next_holder_begins() {
    let cluster = Cluster::start(3);
    // Both write as fast as they can, so that one who lives on is seen.
    let script = r#"
        trap '' TERM
        while echo >>grandchild; do :; done &
        while echo >>child; do :; done
    "#;
    let mut first = start_script(&cluster.addrs(), &LONGER_TTL, script);
    first.line("child");
    first.line("grandchild");
    let folder = first.folder().to_owned();
    let mut second = exec(&cluster.addrs());
    let script = r#"wc -c <"$0/child"; wc -c <"$0/grandchild""#;
    second.args(["--wait", "60s", "r", "--", "sh", "-c", script]).arg(&folder);
    let second = Run::start(&mut second).finish();
    let outcome = first.wait();
    outcome.assert_code(76);
    assert!(outcome.err.contains("killed"), "{}", outcome.err);
    second.assert_code(0);
    let seen = second.out.lines().map(|line| line.trim().parse().expect("a number of bytes"));
    let size = |name| fs::metadata(folder.join(name)).expect("the file is there").len();
    assert_eq!(seen.collect::<Vec<u64>>(), [size("child"), size("grandchild")]);
    assert_no_keys(&cluster);
}

#[test]
fn what_a_command_leaves_behind_after_sigterm_is_killed() {
    let cluster = Cluster::start(3);
    let script = r#"
        (trap '' TERM; echo >ready; exec sleep 60) &
        echo $! >pid
        trap 'exit 0' TERM
        sleep 60 &
        wait
    "#;
    let mut run = start_script(&cluster.addrs(), &TTL, script);
    run.line("ready");
    let grandchild = run.process("pid");
    run.wait().assert_code(76);
    assert!(until(PATIENCE, || !is_alive(grandchild)));
    assert_no_keys(&cluster);
}

/// Whoever inherits what a shell has started has to be told of its death before it is out of the
/// group. On a busy machine that takes longer than the lock can wait for, but not every time.
#[test]
fn the_lock_is_released_once_the_whole_group_of_a_killed_command_is_dead() {
    let cluster = Cluster::start(3);
    let script = "trap '' TERM; sleep 60 & sleep 60 & sleep 60 & echo $! >pid; wait";
    let expired = || -> Vec<_> { cluster.iter().map(|node| node.info("expired_keys")).collect() };
    let is_released = (0..5).any(|_| {
        let before = expired();
        let mut run = start_script(&cluster.addrs(), &["--no-keep-alive", "--ttl", "3s"], script);
        let grandchild = run.process("pid");
        let outcome = run.wait();
        outcome.assert_code(76);
        assert!(until(PATIENCE, || !is_alive(grandchild)));
        assert_no_keys(&cluster);
        let ended_by_ttl = before.iter().zip(expired()).filter(|(a, b)| *a != b).count();
        !outcome.err.contains("the lock on \"r\" is left to its ttl") && ended_by_ttl <= 1
    });
    assert!(is_released, "the ttl has ended the lock");
}

#[test]
fn what_a_command_leaves_behind_in_good_time_is_left_alone() {
    let cluster = Cluster::start(3);
    let script = "while [ -e out ] && [ ! -e go ]; do :; done & echo $! >pid";
    let mut run = start_script(&cluster.addrs(), &[], script);
    run.wait().assert_code(0);
    assert_no_keys(&cluster);
    let grandchild = run.process("pid");
    assert!(is_alive(grandchild));
    run.create("go");
    assert!(until(PATIENCE, || !is_alive(grandchild)));
}

/// FAULTS 35: a client stopped while it holds.
#[test]
fn a_command_is_killed_at_once_when_redbolt_was_stopped_for_longer_than_the_ttl() {
    let cluster = Cluster::start(3);
    let script = "trap 'echo TERM' TERM; echo $$ >pid; sleep 60 & wait";
    let mut run = start_script(&cluster.addrs(), &LONGER_TTL, script);
    let child = run.process("pid");
    run.stop();
    // The keys outlive the validity.
    assert!(until(PATIENCE, || cluster.iter().all(|node| node.keys().is_empty())));
    assert!(is_alive(child), "nobody was there to end it");
    run.signal(Signal::CONT);
    let outcome = run.wait();
    outcome.assert_code(76);
    assert_eq!(outcome.out, "", "it was asked to end, after the end");
    assert!(outcome.err.contains("killed"), "{}", outcome.err);
    assert!(!is_alive(child));
}

/// FAULTS 35.
#[test]
fn a_command_that_ended_while_redbolt_was_stopped_may_have_outlived_its_lock() {
    let cluster = Cluster::start(3);
    let script = "echo $$ >pid; while [ -e out ] && [ ! -e go ]; do :; done";
    let mut run = start_script(&cluster.addrs(), &LONGER_TTL, script);
    let child = run.process("pid");
    run.stop();
    run.create("go");
    assert!(until(PATIENCE, || !is_alive(child)));
    assert!(until(PATIENCE, || cluster.iter().all(|node| node.keys().is_empty())));
    run.signal(Signal::CONT);
    let outcome = run.wait();
    outcome.assert_code(76);
    assert!(outcome.err.contains("seen to have ended"), "{}", outcome.err);
}

#[test]
fn a_stopped_command_is_ended_as_well() {
    let cluster = Cluster::start(3);
    let script = "trap 'echo bye; exit 0' TERM; echo $$ >pid; sleep 60 & wait";
    let run = start_script(&cluster.addrs(), &LONGER_TTL, script);
    let child = i32::try_from(run.process("pid")).ok().and_then(Pid::from_raw);
    kill_process(child.expect("a process id"), Signal::STOP).expect("it runs");
    let outcome = run.finish();
    outcome.assert_code(76);
    assert_eq!(outcome.out, "bye\n");
    assert_no_keys(&cluster);
}

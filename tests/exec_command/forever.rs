//! `--wait forever`: through everything that a shorter wait gives up at.

use rustix::process::Signal;

use super::run::{PATIENCE, Run, exec, start_script};
use crate::support::fake::Fake;
use crate::support::process::{Folder, is_in_set};
use crate::support::servers::Cluster;
use crate::support::until;

/// The holder, until the test removes its file. A test that fails leaves nothing behind: its folder
/// goes, and the file with it.
const STAY: &str = "echo >here; while [ -e here ]; do :; done";

#[test]
fn a_lock_that_another_holds_is_waited_for() {
    let cluster = Cluster::start(3);
    let holder = start_script(&cluster.addrs(), &[], STAY);
    holder.line("here");
    // Who waits looks at one node, whether the lock is still there.
    let looks = || cluster.iter().map(|node| node.calls("getrange")).sum::<u64>();
    let before = looks();
    let waiter = start_script(&cluster.addrs(), &["--wait", "forever"], "echo >mine");
    assert!(until(PATIENCE, || looks() > before + 3), "nobody looks");
    assert_eq!(waiter.file("mine"), "");
    holder.remove("here");
    holder.finish().assert_code(0);
    let outcome = waiter.finish();
    outcome.assert_code(0);
    assert_eq!(outcome.err, "");
}

#[test]
fn nodes_that_are_down_and_then_in_quarantine_are_waited_for() {
    let mut cluster = Cluster::start(2);
    let closing = Fake::closing();
    let nodes = [&cluster.addrs()[..], &[closing.addr()]].concat();
    cluster[0].kill();
    cluster[1].kill();
    let mut command = exec(&nodes);
    command.env("REDBOLT_WAIT", "forever").env("REDBOLT_RESTART_GUARD", "strict");
    command.args(["--ttl", "2s", "--max-ttl", "2s", "r", "--", "true"]);
    let mut waiter = Run::start(&mut command);
    // Connecting was given up several times, and the pause before the next time is at its longest.
    assert!(until(PATIENCE, || closing.accepted() > 6), "{} attempts", closing.accepted());
    cluster[0].restart();
    cluster[1].restart();
    waiter.wait().assert_code(0);
}

#[test]
fn a_signal_ends_a_wait_without_end() {
    let nobody = ["127.0.0.1:1".to_owned()];
    let folder = Folder::new();
    let file = folder.path().join("f.toml");
    std::fs::write(&file, "wait = 'forever'\n").expect("the folder is ours");
    let mut command = exec(&nobody);
    command.arg("--config").arg(&file).args(["r", "--", "true"]);
    let waiter = Run::start(&mut command);
    // Signals are listened to from before the first connection on.
    let pid = waiter.pid().as_raw_nonzero().get().unsigned_abs();
    assert!(until(PATIENCE, || is_in_set(pid, "SigCgt", Signal::TERM)));
    waiter.signal(Signal::TERM);
    let outcome = waiter.finish();
    assert!(!outcome.status.success());
    assert!(outcome.err.contains("SIGTERM ended the wait for the lock"), "{}", outcome.err);
}

//! Processes that a command leaves behind, and those that have left its group.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use rustix::process::{Pid, Signal, geteuid, kill_process};

use super::run::{PATIENCE, Run, assert_no_keys, exec, start_script};
use crate::support::process::is_alive;
use crate::support::servers::Cluster;
use crate::support::until;

/// Long enough for the command to get going, short enough to wait for its end.
const TTL: [&str; 3] = ["--no-keep-alive", "--ttl", "6s"];

/// A process that appends to the file `work` until it is killed, in a session of its own. The end
/// of the folder ends it as well.
const ESCAPED: &str = "
    setsid sh -c 'trap \"\" TERM HUP; echo A >work; while [ -e work ]; do echo A >>work; done' &
";

/// Waits for the lock behind `first`, and returns how much work was done when the lock came.
fn work_seen_by_next_holder(cluster: &Cluster, folder: &Path) -> u64 {
    let mut next = exec(&cluster.addrs());
    next.args(["--wait", "60s", "r", "--", "sh", "-c", r#"wc -c <"$0/work""#]).arg(folder);
    let next = Run::start(&mut next).finish();
    next.assert_code(0);
    next.out.trim().parse().expect("a number of bytes")
}

fn work_done(folder: &Path) -> u64 {
    fs::metadata(folder.join("work")).expect("the file is there").len()
}

#[test]
fn a_process_in_another_session_is_dead_before_the_next_holder_begins() {
    let cluster = Cluster::start(3);
    for rest in [
        "wait",
        "trap '' TERM; while [ -e out ] && [ ! -e work ]; do :; done
         while [ -e work ]; do sleep 0.1; done",
    ] {
        let mut run = start_script(&cluster.addrs(), &TTL, &format!("{ESCAPED} {rest}"));
        run.line("work");
        let folder = run.folder().to_owned();
        let seen = work_seen_by_next_holder(&cluster, &folder);
        run.wait().assert_code(76);
        assert_eq!(seen, work_done(&folder), "{rest}");
        assert_no_keys(&cluster);
    }
}

/// The parent has ended, so that only the subreaper knows it.
#[test]
fn a_process_without_its_parent_is_dead_before_the_next_holder_begins() {
    let cluster = Cluster::start(3);
    let script = format!("({ESCAPED}) & wait; exec sleep 60");
    let mut run = start_script(&cluster.addrs(), &TTL, &script);
    run.line("work");
    let folder = run.folder().to_owned();
    let seen = work_seen_by_next_holder(&cluster, &folder);
    run.wait().assert_code(76);
    assert_eq!(seen, work_done(&folder));
}

#[test]
fn with_wait_group_the_lock_is_held_until_everything_has_ended() {
    let cluster = Cluster::start(3);
    for child in ["sh -c", "setsid sh -c"] {
        let script = format!(
            "{child} 'echo >ready; while [ -e ready ] && [ ! -e go ]; do sleep 0.01; done
                      echo >done' & exit 7"
        );
        let options = ["--wait-group", "--ttl", "2s"];
        let mut run = start_script(&cluster.addrs(), &options, &script);
        run.line("ready");
        // Renewed at least once behind the end of the command.
        let expiry = || cluster.iter().map(|node| node.pttl(b"r")).max();
        let before = expiry();
        assert!(until(PATIENCE, || expiry() < before) && until(PATIENCE, || expiry() >= before));
        assert!(run.file("done").is_empty());
        run.create("go");
        run.wait().assert_code(7);
        assert!(!run.file("done").is_empty());
        assert_no_keys(&cluster);
    }
}

#[test]
fn with_wait_group_what_outlives_the_lock_is_asked_to_end_and_then_killed() {
    let cluster = Cluster::start(3);
    let script = "
        sh -c 'trap \"echo bye >bye\" TERM; echo $$ >pid; while [ -e pid ]; do sleep 0.1; done' &
        exit 0
    ";
    let options = ["--wait-group", "--no-keep-alive", "--ttl", "6s"];
    let mut run = start_script(&cluster.addrs(), &options, script);
    let child = run.process("pid");
    run.wait().assert_code(76);
    assert!(!is_alive(child));
    assert_eq!(run.line("bye"), "bye");
    assert_no_keys(&cluster);
}

#[test]
fn a_signal_reaches_what_holds_the_lock_behind_the_command() {
    let cluster = Cluster::start(3);
    // The child learns the id of the command before the command ends. Behind that, the id is free.
    let script = "sh -c 'trap \"echo >got; exit\" USR1; echo >up; while kill -0 $PPID; do :; done
                         echo >ready; while [ -e ready ]; do :; done' 2>/dev/null &
                  while [ -e out ] && [ ! -e up ]; do :; done; exit 3";
    let run = start_script(&cluster.addrs(), &["--wait-group"], script);
    run.line("ready");
    run.signal(Signal::USR1);
    run.line("got");
    run.finish().assert_code(3);
}

/// They belong to whoever became `redbolt` by `exec`, and so do those whose parent ends meanwhile.
#[test]
fn processes_from_before_are_left_alone() {
    let cluster = Cluster::start(3);
    let exec = exec(&cluster.addrs());
    let mut shell = Command::new("sh");
    let script = "
        echo >here
        sh -c 'while [ -e here ] && [ ! -e go ]; do sleep 0.01; done & echo $! >bystander
               while [ -e out ] && [ ! -e pid ]; do sleep 0.01; done' &
        while [ -e out ] && [ ! -e bystander ]; do :; done
        exec \"$@\"
    ";
    shell.args(["-c", script, "sh"]).arg(exec.get_program()).args(exec.get_args());
    shell.args(TTL).args(["r", "--", "sh", "-c", "echo $$ >pid; exec sleep 60"]);
    shell.env("REDBOLT_NODES", cluster.addrs().join(",")).env("REDBOLT_RESTART_GUARD", "off");
    let mut run = Run::start(&mut shell);
    let (bystander, child) = (run.process("bystander"), run.process("pid"));
    run.wait().assert_code(76);
    assert!(!is_alive(child) && is_alive(bystander));
    run.create("go");
    assert!(until(PATIENCE, || !is_alive(bystander)));
}

/// A process that has taken another user refuses `SIGKILL`. Only root can prepare such a one.
#[test]
fn the_lock_is_left_to_its_ttl_when_a_process_refuses_to_be_killed() {
    if !geteuid().is_root() {
        return;
    }
    let cluster = Cluster::start(3);
    let script = "
        ./become --reuid 0 --regid 0 --clear-groups sh -c 'echo $$ >pid; exec sleep 60' &
        wait
    ";
    let exec = exec(&cluster.addrs());
    let mut unprivileged = Command::new("sh");
    let arrange = "cp \"$(command -v setpriv)\" become; chmod 4755 become; chmod 777 .; \
                   exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$@\"";
    unprivileged.args(["-c", arrange, "sh"]).arg(exec.get_program()).args(exec.get_args());
    unprivileged.args(TTL).args(["r", "--", "sh", "-c", script]);
    unprivileged.env("REDBOLT_NODES", cluster.addrs().join(","));
    unprivileged.env("REDBOLT_RESTART_GUARD", "off");
    let mut run = Run::start(&mut unprivileged);
    fs::set_permissions(run.folder(), fs::Permissions::from_mode(0o777)).expect("ours");
    let survivor = run.process("pid");
    let outcome = run.wait();
    let is_left = is_alive(survivor);
    let pid = i32::try_from(survivor).ok().and_then(Pid::from_raw);
    _ = kill_process(pid.expect("a process id"), Signal::KILL);
    outcome.assert_code(76);
    assert!(is_left);
    assert!(outcome.err.contains("left to its ttl"), "{}", outcome.err);
}

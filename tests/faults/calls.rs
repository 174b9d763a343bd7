//! System calls that fail in ways in which they may.

use std::fs;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::run::{Outcome, PATIENCE, Run, assert_no_keys, exec};
use crate::support::flavours::leave_out;
use crate::support::servers::Cluster;
use crate::support::until;

/// Runs `redbolt exec` on these nodes below another program, which may make system calls fail.
fn run_below(program: &str, arguments: &[&str], wait: &str, cluster: &Cluster) -> Outcome {
    start_below(program, arguments, wait, cluster).finish()
}

/// Returns whether there is a program that delays system calls and makes them fail.
fn has_strace() -> bool {
    let there = Command::new("strace").arg("-V").stdout(Stdio::null()).status();
    there.is_ok_and(|status| status.success())
}

/// Starts `redbolt exec` on these nodes below another program.
fn start_below(program: &str, arguments: &[&str], wait: &str, cluster: &Cluster) -> Run {
    let inner = exec(&cluster.addrs());
    let mut command = Command::new(program);
    command.args(arguments).arg(inner.get_program()).args(inner.get_args());
    for (name, value) in inner.get_envs() {
        command.env(name, value.expect("it only sets variables"));
    }
    Run::start(command.args(["--wait", wait, "r", "--", "echo", "done"]))
}

/// Returns a child of a process, if there is one.
fn child_of(parent: Pid) -> Option<Pid> {
    let parent = parent.as_raw_nonzero().to_string();
    let mut processes = fs::read_dir("/proc").expect("Linux").flatten().filter_map(|entry| {
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        // Behind the name: the state, and the parent.
        let is_child = stat.rsplit_once(") ")?.1.split(' ').nth(1) == Some(&parent);
        is_child.then(|| entry.file_name().to_str()?.parse().ok())?
    });
    processes.next().and_then(Pid::from_raw)
}

/// FAULTS 19: calls interrupted by a signal are made again, and nothing is lost.
#[test]
fn interrupted_calls_are_made_again() {
    if !has_strace() {
        return leave_out("interrupted system calls", "strace is not on the PATH");
    }
    let cluster = Cluster::start(3);
    for calls in ["epoll_wait,epoll_pwait", "recvfrom,read", "sendto,write"] {
        let inject = format!("inject={calls}:error=EINTR:when=30+2");
        let arguments = ["-f", "-qq", "-o", "/dev/null", "-e", "trace=none", "-e", &inject];
        // The first calls are those of the loader, which does not expect an interruption.
        let outcome = run_below("strace", &arguments, "20s", &cluster);
        outcome.assert_code(0);
        assert_eq!(outcome.out, "done\n", "{calls}");
        assert_no_keys(&cluster);
    }
}

/// FAULTS 16: without a descriptor for a connection the node is down, and the command still gets an
/// answer.
#[test]
fn a_process_without_descriptors_gets_an_answer() {
    let cluster = Cluster::start(5);
    // The limits leave descriptors to the standard streams and the program itself, but not to all
    // five connections.
    for limit in 8..14 {
        let script = format!("ulimit -n {limit}; exec \"$@\"");
        let outcome = run_below("sh", &["-c", &script, "sh"], "1s", &cluster);
        let code = outcome.status.code();
        assert!(matches!(code, Some(0 | 69 | 70)), "{limit}: {code:?} {}", outcome.err);
        assert!(!outcome.err.contains("panicked"), "{limit}: {}", outcome.err);
        assert_no_keys(&cluster);
    }
}

/// A `Ctrl-Z` can stop the new process after its birth and before it becomes the command. Nobody
/// else knows of that process, and the thread that has started it sleeps until it is the command.
#[test]
fn a_command_that_is_stopped_before_it_begins_goes_on() {
    if !has_strace() {
        return leave_out("a stop before the command begins", "strace is not on the PATH");
    }
    let cluster = Cluster::start(3);
    // The new process makes this call while signals wait, and nobody else does.
    let inject = "inject=setpgid:delay_enter=1000000";
    let arguments = ["-f", "-qq", "-o", "/dev/null", "-e", "trace=setpgid", "-e", inject];
    let mut run = start_below("strace", &arguments, "20s", &cluster);
    let mut newborn = None;
    let is_born = until(PATIENCE, || {
        newborn = child_of(run.pid()).and_then(child_of);
        newborn.is_some()
    });
    assert!(is_born, "no command was started");
    kill_process(newborn.expect("it is born"), Signal::TSTP).expect("it is not the command yet");
    let outcome = run.wait();
    outcome.assert_code(0);
    assert_eq!(outcome.out, "done\n");
    assert_no_keys(&cluster);
}

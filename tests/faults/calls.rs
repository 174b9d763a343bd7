//! System calls that fail in ways in which they may.

use std::process::{Command, Stdio};

use crate::run::{Outcome, Run, assert_no_keys, exec};
use crate::support::flavours::leave_out;
use crate::support::servers::Cluster;

/// Starts `redbolt exec` on these nodes below another program, which may make system calls fail.
fn run_below(program: &str, arguments: &[&str], wait: &str, cluster: &Cluster) -> Outcome {
    let inner = exec(&cluster.addrs());
    let mut command = Command::new(program);
    command.args(arguments).arg(inner.get_program()).args(inner.get_args());
    for (name, value) in inner.get_envs() {
        command.env(name, value.expect("it only sets variables"));
    }
    Run::start(command.args(["--wait", wait, "r", "--", "echo", "done"])).finish()
}

/// FAULTS 19: calls interrupted by a signal are made again, and nothing is lost.
#[test]
fn interrupted_calls_are_made_again() {
    let there = Command::new("strace").arg("-V").stdout(Stdio::null()).status();
    if !there.is_ok_and(|status| status.success()) {
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

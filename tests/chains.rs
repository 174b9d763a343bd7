//! `redbolt exec` and chains of processes, each of which starts the next and ends.
//!
//! The crowd that makes each list of processes take long would hold up other tests of the command,
//! so that this is a target of its own.
#![cfg(feature = "cli")]

#[allow(dead_code, reason = "the tests of the command use the rest")]
#[path = "exec_command/run.rs"]
mod run;
#[path = "support/mod.rs"]
mod support;

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::run::{PATIENCE, Run, exec};
use crate::support::process::{Folder, is_alive};
use crate::support::servers::Cluster;
use crate::support::until;

/// Processes that make a list of all take long, longer than a link of a chain lives. They end by
/// themselves as well.
struct Crowd {
    shell: Child,
    folder: Folder,
}

const COUNT: usize = 600;

impl Crowd {
    fn new() -> Self {
        let folder = Folder::new();
        // The second `wait` is for the time after the signal, so that no dead are left behind.
        let script = format!(
            "trap : TERM
             i=0; while [ $i -lt {COUNT} ]; do sleep 100 & echo $!; i=$((i+1)); done >pids
             echo >up; wait; wait"
        );
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).current_dir(folder.path()).process_group(0);
        shell.stdin(Stdio::null()).stderr(Stdio::null());
        let crowd = Self { shell: shell.spawn().expect("there is a shell"), folder };
        assert!(until(PATIENCE, || crowd.folder.path().join("up").exists()), "no crowd");
        crowd
    }

    fn is_complete(&self) -> bool {
        let pids = fs::read_to_string(self.folder.path().join("pids")).unwrap_or_default();
        let pids: Vec<u32> = pids.lines().filter_map(|pid| pid.parse().ok()).collect();
        pids.len() == COUNT && pids.into_iter().all(is_alive)
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        // The shell has not been waited for, so that the group is still its own.
        _ = kill_process_group(Pid::from_child(&self.shell), Signal::TERM);
        _ = self.shell.wait();
    }
}

/// Runs a command that starts a chain in another session, and outlives its lock. Returns whether
/// the chain was killed: otherwise it says so at its end, after some seconds.
fn is_killed(cluster: &Cluster, each: &str) -> bool {
    let chain = format!(
        "use POSIX (); $SIG{{TERM}} = 'IGNORE'; open(my $alive, '+<', 'alive') or die;
         open(my $begun, '>', 'begun') or die; print $begun qq(yes\\n); close $begun;
         my $end = time + 12;
         while (time < $end) {{ POSIX::_exit(0) if fork; {each} }}
         syswrite($alive, 'outlived');"
    );
    let script = "trap '' TERM; mkfifo alive; setsid perl -e \"$0\" &
                  while [ -e out ]; do sleep 0.1; done";
    let mut command = exec(&cluster.addrs());
    command.args(["--no-keep-alive", "--ttl", "3s", "r", "--", "sh", "-c", script, &chain]);
    let mut run = Run::start(&mut command);
    run.line("begun");
    // The end of the file is the end of the chain, which has the other end of the pipe.
    let mut alive = File::open(run.folder().join("alive")).expect("the chain begins");
    run.wait().assert_code(76);
    let mut text = String::new();
    alive.read_to_string(&mut text).expect("the pipe is ours");
    text.is_empty()
}

/// On a busy machine a chain may still be ahead when the time for it is over, but not every time.
#[test]
fn a_chain_that_is_ahead_of_every_list_of_processes_is_killed_and_nobody_else_is() {
    if !Command::new("perl").arg("-e1").status().is_ok_and(|status| status.success()) {
        eprintln!("no perl: left out");
        return;
    }
    let (cluster, crowd) = (Cluster::start(3), Crowd::new());
    for each in ["", "setpgrp(0, 0);", "POSIX::setsid();"] {
        assert!((0..4).any(|_| is_killed(&cluster, each)), "{each}");
    }
    assert!(crowd.is_complete());
}

//! A process that is stopped for longer than its lock lasts.
//!
//! It has to be one of its own, so this program runs itself again, with nodes in its environment.

use std::env;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use redbolt::Client;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use crate::fixture::{PATIENCE, config_of};
use crate::support::servers::Cluster;
use crate::support::until;

const NODES: &str = "REDBOLT_TEST_STOPPED_NODES";
const TTL: Duration = Duration::from_secs(1);

struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // Errors mean that it has ended, as it should.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// FAULTS 35: the clock goes on while the process does not.
#[test]
fn a_process_that_was_stopped_for_too_long_knows_that_it_has_lost() {
    let cluster = Cluster::start(3);
    let this = env::current_exe().expect("a program can find itself");
    let mut command = Command::new(this);
    command.args(["--exact", "stopped::holder", "--nocapture"]);
    command.env(NODES, cluster.addrs().join(",")).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut process = Process(command.spawn().expect("this program can be run"));
    let out = process.0.stdout.take().expect("it is a pipe");
    let mut lines = BufReader::new(out).lines().map(|line| line.expect("it writes text"));
    assert!(lines.any(|line| line.ends_with("held")));
    let pid = Pid::from_child(&process.0);
    kill_process(pid, Signal::STOP).expect("it runs");
    let options = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    let news = waitid(WaitId::Pid(pid), options).expect("it is ours to wait for");
    assert!(news.is_some_and(|news| news.stopped()));
    assert!(until(PATIENCE, || cluster.iter().all(|node| node.keys().is_empty())));
    kill_process(pid, Signal::CONT).expect("it is there");
    // The first thing that it looks at, before its engine has run, and then the signal.
    let found: Vec<_> = lines.filter(|line| line.starts_with("found")).collect();
    assert_eq!(found, ["found held false", "found lost Lost(Expired)"]);
}

/// What the other process does; nothing where it is run by itself.
#[test]
fn holder() {
    let Ok(nodes) = env::var(NODES) else { return };
    let client = Client::new(config_of(nodes.split(','))).expect("a client can be made");
    let guard =
        client.lock("a").ttl(TTL).wait(PATIENCE).keep_alive_for(PATIENCE).blocking_acquire();
    let guard = guard.expect("nobody else has it");
    println!("held");
    // A holder that looks all the time, so that it is in the middle of it when it is stopped.
    while guard.is_held() {
        std::hint::spin_loop();
    }
    println!("found held {}", guard.is_held());
    println!("found lost {:?}", guard.lost().blocking_wait().kind());
}

//! This test program as another process, for what only a process can do: stop, and die.
//!
//! The other process runs one test of this program by its name, and finds the nodes in its
//! environment. Without them such a test does nothing.

use std::env;
use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};

use redbolt::Client;
use rustix::process::Pid;

use crate::fixture::config_of;
use crate::support::servers::Cluster;

const NODES: &str = "REDBOLT_TEST_PROCESS_NODES";

pub(crate) struct Process {
    child: Child,
    out: Lines<BufReader<ChildStdout>>,
}

impl Process {
    /// Runs the test with this name, such as `stopped::holder`, over the nodes of a cluster.
    pub(crate) fn run(test: &str, cluster: &Cluster) -> Self {
        let this = env::current_exe().expect("a program can find itself");
        let mut command = Command::new(this);
        command.args(["--exact", test, "--nocapture"]).env(NODES, cluster.addrs().join(","));
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("this program can be run");
        let out = child.stdout.take().expect("it is a pipe");
        Self { child, out: BufReader::new(out).lines() }
    }

    /// Returns what the process writes, line by line, until it ends.
    pub(crate) fn lines(&mut self) -> impl Iterator<Item = String> + '_ {
        self.out.by_ref().map(|line| line.expect("it writes text"))
    }

    /// Waits until the process has said `word`. The harness may have begun the line.
    pub(crate) fn expect(&mut self, word: &str) {
        assert!(self.lines().any(|line| line.ends_with(word)), "it has ended without {word:?}");
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("it runs");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Errors mean that it has ended, as it should.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a client of the nodes that this process was given; `None` in a run of all tests.
pub(crate) fn client_of_given_nodes() -> Option<Client> {
    let nodes = env::var(NODES).ok()?;
    Some(Client::new(config_of(nodes.split(','))).expect("a client can be made"))
}

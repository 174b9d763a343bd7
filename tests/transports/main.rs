//! What carries the bytes to real servers, and the commands of the program over all of that.
#![cfg(feature = "cli")]

mod causes;
mod certificates;
mod files;
mod lies;
mod relay;
mod secure;
#[path = "../support/mod.rs"]
mod support;
mod terminator;
mod tls;
mod unix;
mod writes;

use std::process::{Command, Stdio};
use std::time::Duration;

use redbolt::redlock::RestartGuard;
use redbolt::{Client, Config};

/// The ttl of locks that are not to end by themselves.
const TTL: Duration = Duration::from_secs(60);

/// For anything that is to happen.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a run of the program has printed, and its exit code.
struct Outcome {
    code: Option<i32>,
    out: String,
    err: String,
}

/// Runs the program with these nodes.
fn redbolt(nodes: &[String], arguments: &[&str]) -> Outcome {
    redbolt_with(nodes, arguments, &[])
}

/// The same, with these variables.
fn redbolt_with(nodes: &[String], arguments: &[&str], variables: &[(&str, &str)]) -> Outcome {
    let mut program = Command::new(env!("CARGO_BIN_EXE_redbolt"));
    program.args(arguments).env("REDBOLT_NODES", nodes.join(",")).stdin(Stdio::null());
    program.envs(variables.iter().copied());
    let output = program.output().expect("the program can be started");
    let text = |bytes| String::from_utf8(bytes).expect("the program prints text");
    Outcome { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

impl Outcome {
    #[track_caller]
    fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}{}", self.out, self.err);
        self
    }

    /// Returns all that was said.
    fn text(&self) -> String {
        format!("{}{}", self.out, self.err)
    }
}

fn config(nodes: &[String]) -> Config {
    let mut config = Config::new(nodes).expect("the addresses of servers can be read");
    // The servers of a test have just been started.
    config.redlock.restart_guard = RestartGuard::Off;
    config.redlock.node_timeout = Some(Duration::from_secs(5));
    config.redlock.retry_max = Duration::from_millis(20);
    config
}

fn client(nodes: &[String]) -> Client {
    Client::new(config(nodes)).expect("a client can be made")
}

/// Runs every command of the program that talks to nodes, on nodes that have just been started.
fn assert_every_command_works(nodes: &[String]) {
    redbolt(nodes, &["init", "--fresh"]).expect(0);
    redbolt(nodes, &["check"]).expect(0);
    let held = client(nodes);
    let guard = held.lock("held").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("it is free");
    let token: String = guard.token().as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    redbolt(nodes, &["exec", "--no-wait", "held", "--", "true"]).expect(75);
    let who = redbolt(nodes, &["who", "held", "--json"]).expect(0);
    assert!(who.out.contains(&token), "{}", who.out);
    redbolt(nodes, &["unlock", "held", "--token", &token]).expect(0);
    redbolt(nodes, &["exec", "--wait", "20s", "held", "--", "true"]).expect(0);
    drop(guard);
}

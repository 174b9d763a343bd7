//! `redbolt init` on real servers, through the program itself.
#![cfg(feature = "cli")]

mod changing;
mod closing;
mod fresh;
mod halfway;
mod ordinary;
mod raising;
mod same_words;
#[path = "../support/mod.rs"]
mod support;

use std::process::{Command, Stdio};

use crate::support::servers::{Cluster, Node};

/// The longest ttl where a test waits for it.
const SHORT: [&str; 2] = ["--max-ttl", "2s"];

/// What a run has printed, and its exit code.
struct Outcome {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Outcome {
    /// # Panics
    ///
    /// When the exit code is another, or a text is not in the output.
    #[track_caller]
    fn assert(&self, code: i32, texts: &[&str]) {
        assert_eq!(self.code, Some(code), "{}{}", self.out, self.err);
        for text in texts {
            let is_there = self.out.contains(text) || self.err.contains(text);
            assert!(is_there, "{text:?} is not in:\n{}{}", self.out, self.err);
        }
    }
}

fn redbolt(command: &str, nodes: &[String], arguments: &[&str]) -> Outcome {
    let output = program(command, nodes, arguments).output().expect("the program can be started");
    let text = |bytes| String::from_utf8(bytes).expect("the program prints text");
    Outcome { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

fn program(command: &str, nodes: &[String], arguments: &[&str]) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_redbolt"));
    program.arg(command).env("REDBOLT_NODES", nodes.join(",")).args(arguments);
    program.stdin(Stdio::null());
    program
}

fn init(nodes: &[String], arguments: &[&str]) -> Outcome {
    redbolt("init", nodes, arguments)
}

/// Whether `exec` gets a lock at its first attempt, on a cluster with this longest ttl.
fn exec_at_once(nodes: &[String], max_ttl: &str) -> Outcome {
    let arguments = ["--no-wait", "--ttl", "1s", "--max-ttl", max_ttl, "r", "--", "true"];
    redbolt("exec", nodes, &arguments)
}

/// Everything that the nodes keep about their witnesses.
fn written(nodes: &[&Node]) -> Vec<Option<Vec<u8>>> {
    let keys: [&[u8]; 2] = [b"redbolt:witness", b"redbolt:seen"];
    nodes.iter().flat_map(|node| keys.map(|key| node.get(key))).collect()
}

fn all(cluster: &Cluster) -> Vec<&Node> {
    cluster.iter().collect()
}

#[test]
fn a_password_is_never_printed() {
    let node = Node::start();
    let url = format!("redis://:top-secret@{}", node.addr());
    let outcome = init(&[url], &[]);
    outcome.assert(69, &["the server refused AUTH or SELECT"]);
    assert!(!outcome.err.contains("secret") && !outcome.out.contains("secret"));
}

#[test]
fn wrong_usage_is_told_before_a_node_is_visited() {
    init(&[], &[]).assert(64, &["no nodes given"]);
    init(&["127.0.0.1:1".to_owned()], &["--max-ttl", "0"]).assert(64, &["max-ttl"]);
    init(&["127.0.0.1:1".to_owned()], &["--nodes", ""]).assert(64, &["--nodes is empty"]);
}

#[test]
fn a_node_that_never_answers_holds_init_up_for_a_bounded_time() {
    let node = Node::start();
    node.stop();
    init(&[node.addr()], &[]).assert(69, &["connected, but no answer"]);
    node.cont();
    assert_eq!(written(&[&node]), [None, None]);
}

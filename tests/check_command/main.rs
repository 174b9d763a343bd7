//! `redbolt check` on real servers, through the program itself.
#![cfg(feature = "cli")]

mod agreement;
mod findings;
mod newcomer;
mod outcome;
mod readonly;
#[path = "../support/mod.rs"]
mod support;
mod watch;

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::servers::Cluster;

/// What a run has printed, and its exit code.
struct Outcome {
    code: Option<i32>,
    out: String,
    err: String,
}

/// What a check has found: the text and the JSON of two runs, one right behind the other.
struct Seen {
    code: Option<i32>,
    text: String,
    json: Value,
}

fn command(nodes: &[String], arguments: &[&str]) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_redbolt"));
    program.arg("check").env("REDBOLT_NODES", nodes.join(",")).args(arguments);
    program.stdin(Stdio::null());
    program
}

fn finished(mut program: Command) -> Outcome {
    let output = program.output().expect("the program can be started");
    let text = |bytes| String::from_utf8(bytes).expect("the program prints text");
    Outcome { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

fn check(nodes: &[String], arguments: &[&str]) -> Outcome {
    finished(command(nodes, arguments))
}

/// Runs `redbolt init`, and asserts that it has done everything.
fn init(nodes: &[String], arguments: &[&str]) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_redbolt"));
    program.arg("init").env("REDBOLT_NODES", nodes.join(",")).args(arguments);
    let outcome = finished(program);
    assert_eq!(outcome.code, Some(0), "{}{}", outcome.out, outcome.err);
}

/// Starts masters that vote at once.
fn declared(count: usize) -> Cluster {
    let cluster = Cluster::start(count);
    init(&cluster.addrs(), &["--fresh"]);
    cluster
}

/// Runs a check in both forms, and asserts that both say the same, on lines that fit.
#[track_caller]
fn seen(nodes: &[String], arguments: &[&str]) -> Seen {
    let text = check(nodes, arguments);
    let json = check(nodes, &[arguments, &["--json"]].concat());
    assert_eq!((text.err.as_str(), json.err.as_str()), ("", ""), "{}", text.out);
    assert_eq!(text.code, json.code, "{}{}", text.out, json.out);
    assert_eq!(json.out.lines().count(), 1, "{}", json.out);
    let json: Value = serde_json::from_str(&json.out).expect("one object");
    let seen = Seen { code: text.code, text: text.out, json };
    seen.assert_forms_agree();
    seen
}

impl Seen {
    fn list(&self, name: &str) -> &[Value] {
        self.json[name].as_array().expect("a list")
    }

    /// The text without its line breaks, and without the digits of times that run.
    fn flat(text: &str) -> String {
        let words: Vec<_> = text.split_whitespace().collect();
        let text = words.join(" ");
        let pieces = text.split(|c: char| c.is_ascii_digit() || c == '.');
        pieces.filter(|piece| !piece.is_empty()).collect::<Vec<_>>().join("#")
    }

    #[track_caller]
    fn assert_forms_agree(&self) {
        for line in self.text.lines() {
            assert!(line.chars().count() <= 80, "{line}\n{}", self.text);
            assert_eq!(line.trim_end(), line, "{}", self.text);
        }
        let flat = Self::flat(&self.text);
        let assert_has = |value: &Value| {
            let value = value.as_str().expect("text");
            assert!(flat.contains(&Self::flat(value)), "{value:?} is not in:\n{}", self.text);
        };
        for node in self.list("nodes") {
            assert_has(&node["node"]);
            assert_has(&node["label"]);
        }
        for finding in self.list("findings") {
            assert_has(&finding["cause"]);
            assert_has(&finding["remedy"]);
            let count = finding["nodes"].as_array().expect("a list").len();
            if count > 1 && count == self.list("nodes").len() {
                assert!(flat.contains("all nodes: "), "{}", self.text);
            }
        }
        assert_has(&self.json["verdict"]["text"]);
        assert_eq!(self.json["verdict"]["exit_code"].as_i64(), self.code.map(i64::from));
        let last = self.text.rsplit("\n\n").next().expect("a paragraph");
        assert!(last.starts_with("verdict  "), "{}", self.text);
    }

    /// Returns what the check says of one node.
    #[track_caller]
    fn node(&self, address: &str) -> &Value {
        let node = self.list("nodes").iter().find(|node| node["node"] == address);
        node.unwrap_or_else(|| panic!("{address} is not in {}", self.json))
    }

    /// Asserts that a finding about exactly this node has this cause and this remedy, and that it
    /// keeps the node from voting if `blocks`.
    #[track_caller]
    fn assert_finding(&self, address: &str, blocks: bool, cause: &str, remedy: &str) {
        let has = |value: &Value, text: &str| value.as_str().is_some_and(|it| it.contains(text));
        let is_it = |finding: &&Value| {
            finding["nodes"].as_array().is_some_and(|nodes| nodes.iter().any(|it| it == address))
                && finding["blocks"] == blocks
                && has(&finding["cause"], cause)
                && has(&finding["remedy"], remedy)
        };
        let found = self.list("findings").iter().find(is_it);
        assert!(found.is_some(), "{address}: {cause} → {remedy} is not in:\n{}", self.text);
        // The line of the finding begins with the node.
        let head = if blocks { "! " } else { "- " };
        let lines = self.text.lines().filter(|line| line.starts_with(head));
        let named = lines.filter(|line| line.contains(address) || line.contains("all nodes"));
        assert!(named.count() > 0, "{address} has no line in:\n{}", self.text);
    }

    /// Asserts that no finding about this node has this text in its cause or its remedy.
    #[track_caller]
    fn assert_no_finding(&self, address: &str, text: &str) {
        let has = |value: &Value| value.as_str().is_some_and(|it| it.contains(text));
        let is_it = |finding: &&Value| {
            finding["nodes"].as_array().is_some_and(|nodes| nodes.iter().any(|it| it == address))
                && (has(&finding["cause"]) || has(&finding["remedy"]))
        };
        let found = self.list("findings").iter().find(is_it);
        assert!(found.is_none(), "{address}: {text} is in:\n{}", self.text);
    }

    #[track_caller]
    fn assert_verdict(&self, code: i32, text: &str) {
        assert_eq!(self.code, Some(code), "{}", self.text);
        let found = self.json["verdict"]["text"].as_str().expect("text");
        assert!(found.starts_with(text), "{found} is not {text}\n{}", self.text);
    }
}

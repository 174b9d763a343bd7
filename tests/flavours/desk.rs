//! The commands of an operator, on every kind of server.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::place::Place;
use super::support::rights::{RIGHTS, TRACKING};
use super::support::servers::Node;
use super::support::until;
use super::support::wire::Reply;

fn program(command: &str, nodes: &[Node], arguments: &[&str]) -> Command {
    let nodes: Vec<_> = nodes.iter().map(Node::url).collect();
    let mut program = Command::new(env!("CARGO_BIN_EXE_redbolt"));
    program.arg(command).env("REDBOLT_NODES", nodes.join(",")).args(arguments);
    program.env("REDBOLT_MAX_TTL", "1s").stdin(Stdio::null());
    program
}

/// Runs a command, asserts its exit code and that it says these texts, and returns what it said.
#[track_caller]
fn run(command: &str, nodes: &[Node], arguments: &[&str], code: i32, texts: &[&str]) -> String {
    let output = program(command, nodes, arguments).output().expect("the program can be started");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8(said).expect("the program prints text");
    assert_eq!(output.status.code(), Some(code), "{command} {arguments:?}: {said}");
    let flat: Vec<_> = said.split_whitespace().collect();
    let flat = flat.join(" ");
    for text in texts {
        assert!(flat.contains(text), "{command} {arguments:?}: {text:?} is not in:\n{said}");
    }
    said
}

/// A process that does not outlive a test that fails.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // It may have ended.
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

fn count(node: &Node, field: &str) -> u64 {
    node.info(field).and_then(|count| count.parse().ok()).unwrap_or_default()
}

#[test]
fn every_flavour_serves_all_commands_of_an_operator() {
    for flavour in Place::all() {
        let nodes: Vec<_> = (0..4).map(|_| flavour.start()).collect();
        let old = &nodes[..3];
        let changes = count(&old[0], "rdb_changes_since_last_save");
        run("check", old, &[], 69, &["it has no witness", "redbolt init --fresh"]);
        assert_eq!(count(&old[0], "rdb_changes_since_last_save"), changes, "a check writes");
        run(
            "init",
            old,
            &["--fresh"],
            0,
            &["empty: declared fresh", "a quorum of the nodes votes"],
        );
        let all = run("check", old, &[], 0, &["3 of 3 can vote, 2 needed: 1 may fail"]);
        assert!(!all.contains("\n! "), "{all}");

        let hold = ["--label", "billing", "--ttl", "900ms", "r", "--", "cat"];
        let holder = program("exec", old, &hold).stdin(Stdio::piped()).spawn();
        let holder = Killed(holder.expect("the program can be started"));
        let is_held = || {
            let output = program("who", old, &["r"]).output().expect("the program can be started");
            String::from_utf8_lossy(&output.stdout).contains("\"billing\", process ")
        };
        assert!(until(Duration::from_secs(20), is_held));
        run("who", old, &["-v", "r"], 0, &["\"r\" is held for another ", "on 3 of 3 nodes"]);
        old.iter().for_each(|node| {
            node.command(&[b"RPUSH", b"list", b"x"]);
        });
        run("who", old, &["list"], 0, &["is no lock", "data of type list without a ttl"]);
        let json = run("who", old, &["--json", "r"], 0, &[]);
        let json: serde_json::Value = serde_json::from_str(&json).expect("one object");
        let token = json["resources"][0]["holder"]["token"].as_str().expect("a token").to_owned();
        run("unlock", old, &["r", "--token", "00"], 75, &["another value"]);
        run("unlock", old, &["list", "--token", "00"], 75, &["data of another type, left alone"]);
        drop(holder);
        run("unlock", old, &["r", "--token", &token], 0, &["the lock "]);
        run("who", old, &["r"], 1, &["is free"]);

        let wait = ["all clients must be stopped", "changed from 3 nodes to 4"];
        run("init", &nodes, &["--reconfigure"], 0, &wait);
        // The new node votes after a span.
        let is_complete = || {
            let status = program("check", &nodes, &[]).stdout(Stdio::null()).status();
            status.expect("the program can be started").code() == Some(0)
        };
        assert!(until(Duration::from_secs(20), is_complete));
        let other = "3 nodes are configured here, and 4 in the deployment";
        run("check", old, &[], 69, &[other]);
    }
}

/// What init, check, who and unlock need of a user, in the words of OPERATING.md.
#[test]
fn every_flavour_lets_an_operator_with_the_rights_of_locks_do_all() {
    for flavour in Place::all() {
        let node = flavour.start();
        let user = ["ACL", "SETUSER", "app", "on", ">pw", "~r*", "~redbolt:*"];
        let words = [&user[..], &RIGHTS, &TRACKING, &["+dbsize"]].concat();
        let words: Vec<_> = words.iter().map(|word| word.as_bytes()).collect();
        // Redis 6 knows no right to one subcommand.
        if node.command(&words) != Reply::Simple("OK".to_owned()) {
            continue;
        }
        let run = |command: &str, arguments: &[&str], code, texts: &[&str]| {
            let url = node.url_of("app:pw");
            let nodes = std::slice::from_ref(&node);
            let arguments = [&["--nodes", &url], arguments].concat();
            run(command, nodes, &arguments, code, texts)
        };
        run("init", &["--fresh"], 0, &["empty: declared fresh"]);
        let said = run("check", &[], 0, &["1 of 1 can vote"]);
        assert!(!said.contains("\n! "), "{said}");
        run("who", &["r"], 1, &["is free"]);
        node.command(&[b"RPUSH", b"r", b"x"]);
        run("who", &["r"], 0, &["data of another type"]);
        run("unlock", &["r", "--token", "00"], 75, &["data of another type, left alone"]);
        node.command(&[b"DEL", b"r"]);
        node.command(&[b"SET", b"r", b"x"]);
        run("unlock", &["r", "--token", "78"], 0, &["the lock has ended"]);
    }
}

//! What a wait says of nodes that somebody must mend.

use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use super::run::{PATIENCE, Run, exec};
use crate::support::servers::{Cluster, Node};
use crate::support::until;

const OOM: &str = "OOM command not allowed";
const NO_KEY: &str = "NOPERM ";

/// `redbolt exec` as the user `app`, who is known everywhere.
fn as_app(cluster: &Cluster) -> Command {
    let mut command = exec(&cluster.addrs());
    command.env("REDBOLT_USER", "app").env("REDBOLT_PASSWORD", "app-password");
    command
}

/// Gives the user `app` these rights and no others.
fn allow(node: &Node, rules: &[&[u8]]) {
    let user: [&[u8]; 6] = [b"ACL", b"SETUSER", b"app", b"reset", b"on", b">app-password"];
    node.command(&[&user[..], rules].concat());
}

fn allow_all(node: &Node) {
    allow(node, &[b"~*", b"+@all"]);
}

fn max_memory(node: &Node, bytes: &[u8]) {
    node.command(&[b"CONFIG", b"SET", b"maxmemory", bytes]);
}

/// Waits until something was said, and then for some more attempts.
fn await_said(run: &Run, cluster: &Cluster, what: &str) {
    assert!(until(PATIENCE, || run.file("err").contains(what)), "{}", run.file("err"));
    let errors = || -> Option<u64> { cluster[0].info("total_error_replies")?.parse().ok() };
    let before = errors().expect("a number");
    assert!(until(PATIENCE, || errors() > Some(before + 5)), "nobody tries");
}

/// The lines about nodes below each line that begins a message.
fn messages(err: &str) -> Vec<(&str, Vec<&str>)> {
    let mut messages: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in err.lines() {
        match messages.last_mut() {
            Some((_, nodes)) if line.starts_with("  ") => nodes.push(line.trim_start()),
            _ => messages.push((line, Vec::new())),
        }
    }
    messages
}

fn assert_told_once(err: &str, cluster: &Cluster, reasons: [&str; 3]) {
    let messages = messages(err);
    let said = "redbolt: no quorum of nodes for \"r\", waiting until a signal comes (";
    assert!(messages.len() == 1 && messages[0].0.starts_with(said), "{err}");
    for ((line, address), reason) in messages[0].1.iter().zip(cluster.addrs()).zip(reasons) {
        assert!(line.starts_with(&address) && line.contains(reason), "{line}, not {reason}");
    }
}

#[test]
fn full_nodes_are_named_once_and_waited_for() {
    let cluster = Cluster::start(3);
    cluster[..2].iter().for_each(|node| max_memory(node, b"1"));
    let mut command = exec(&cluster.addrs());
    let run = Run::start(command.args(["--wait", "forever", "r", "--", "true"]));
    await_said(&run, &cluster, OOM);
    assert_told_once(&run.file("err"), &cluster, [OOM, OOM, ": ready"]);
    cluster.iter().for_each(|node| max_memory(node, b"0"));
    let outcome = run.finish();
    outcome.assert_code(0);
    assert_told_once(&outcome.err, &cluster, [OOM, OOM, ": ready"]);
}

#[test]
fn nodes_without_a_right_to_the_key_are_named_once_and_waited_for() {
    let cluster = Cluster::start(3);
    cluster.iter().for_each(|node| allow(node, &[b"~other:*", b"~redbolt:*", b"+@all"]));
    let run = Run::start(as_app(&cluster).args(["--wait", "forever", "r", "--", "true"]));
    await_said(&run, &cluster, NO_KEY);
    cluster.iter().for_each(allow_all);
    let outcome = run.finish();
    outcome.assert_code(0);
    assert_told_once(&outcome.err, &cluster, [NO_KEY; 3]);
}

#[test]
fn nodes_without_a_right_to_a_command_are_named_at_once() {
    const NO_SET: &str = "misconfigured: the user may not run: set (ACL, or a renamed command)";
    let cluster = Cluster::start(3);
    allow_all(&cluster[2]);
    cluster[..2].iter().for_each(|node| allow(node, &[b"~*", b"+@all", b"-set"]));
    let run = Run::start(as_app(&cluster).args(["--wait", "forever", "r", "--", "true"]));
    assert!(until(PATIENCE, || run.file("err").contains(NO_SET)), "{}", run.file("err"));
    assert_told_once(&run.file("err"), &cluster, [NO_SET, NO_SET, ": ready"]);
    run.signal(Signal::TERM);
    run.finish().assert_died_of(Signal::TERM);
}

#[test]
fn another_reason_is_told_as_well() {
    let mut cluster = Cluster::start(3);
    cluster[..2].iter().for_each(|node| max_memory(node, b"1"));
    let mut command = exec(&cluster.addrs());
    let run = Run::start(command.args(["--wait", "forever", "r", "--", "true"]));
    await_said(&run, &cluster, OOM);
    cluster[0].kill();
    let is_told = || messages(&run.file("err")).len() == 2;
    assert!(until(PATIENCE, is_told), "{}", run.file("err"));
    max_memory(&cluster[1], b"0");
    let outcome = run.finish();
    outcome.assert_code(0);
    let messages = messages(&outcome.err);
    assert_eq!(messages.len(), 2, "{}", outcome.err);
    assert!(!messages[1].1[0].contains(OOM) && messages[1].1[1].contains(OOM), "{}", outcome.err);
}

#[test]
fn a_verbose_wait_names_the_nodes_that_do_not_say_what_they_have() {
    let cluster = Cluster::start(3);
    cluster[..2].iter().for_each(|node| allow(node, &[b"~other:*", b"~redbolt:*", b"+@all"]));
    allow_all(&cluster[2]);
    let run = Run::start(as_app(&cluster).args(["-v", "--wait", "forever", "r", "--", "true"]));
    let said = ": too few nodes say what they have:";
    let lines = || -> Vec<String> {
        let err = run.file("err");
        let lines = err.lines().skip_while(|line| !line.ends_with(said)).skip(1);
        lines.take(3).map(str::to_owned).collect()
    };
    assert!(until(PATIENCE, || lines().len() == 3), "{}", run.file("err"));
    let lines = lines();
    for (line, address) in lines.iter().zip(cluster.addrs()) {
        assert!(line.trim_start().starts_with(&address), "{line}");
    }
    assert!(lines[..2].iter().all(|line| line.contains(NO_KEY)), "{lines:?}");
    cluster.iter().for_each(allow_all);
    run.finish().assert_code(0);
}

/// A node that cannot serve for the moment looks well as soon as a short pause is over.
#[test]
fn a_verbose_wait_tells_once_that_a_node_is_full_and_that_it_is_not_any_more() {
    let cluster = Cluster::start(3);
    cluster[..2].iter().for_each(|node| max_memory(node, b"1"));
    let mut command = exec(&cluster.addrs());
    let run = Run::start(command.args(["--verbose", "--wait", "forever", "r", "--", "true"]));
    await_said(&run, &cluster, ", but too few nodes vote:\n");
    cluster[2].set_px(b"r", b"x", Duration::from_secs(60));
    cluster[..2].iter().for_each(|node| max_memory(node, b"0"));
    let outcome = run.finish();
    outcome.assert_code(0);
    for node in &cluster[..2] {
        let line = |state| format!(" node {}: {state}", node.addr());
        assert_eq!(outcome.err.matches(&line("unhealthy: ")).count(), 1, "{}", outcome.err);
        assert!(outcome.err.matches(&line("ready\n")).count() <= 1, "{}", outcome.err);
    }
}

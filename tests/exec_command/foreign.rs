//! Keys of others that are no locks, and nodes that answer with errors.

use std::process::Command;
use std::time::Duration;

use super::run::{PATIENCE, Run, run, run_until_quorate, start_script};
use crate::support::fake::{Action, Fake};
use crate::support::master::Master;
use crate::support::servers::{Cluster, Node};
use crate::support::until;

const ATTEMPT: [&str; 4] = ["--no-wait", "r", "--", "true"];

#[test]
fn a_key_without_a_ttl_is_told_as_one_that_stays() {
    let cluster = Cluster::start(3);
    for node in cluster.iter() {
        node.command(&[b"SET", b"r", b"somebody's data"]);
    }
    let said = format!(
        "redbolt: \"r\" is not free: the key \"r\" has no ttl and stays until it is deleted, \
         at {}\n{}",
        cluster.addrs().join(", "),
        way_out(Some("r"), &[], "r")
    );
    assert!(is_said(&cluster, |err| err == said));
    // What is said to end it ends it.
    let token: String = b"somebody's data".iter().map(|byte| format!("{byte:02x}")).collect();
    let mut unlock = Command::new(env!("CARGO_BIN_EXE_redbolt"));
    unlock.args(["unlock", "--token", &token, "r"]);
    unlock.env("REDBOLT_NODES", cluster.addrs().join(","));
    Run::start(&mut unlock).finish().assert_code(0);
    run_until_quorate(&cluster.addrs(), &ATTEMPT).assert_code(0);
}

/// What is said of a key that stays: a value that `unlock` ends, and data, node by node.
fn way_out(value: Option<&str>, data: &[Node], key: &str) -> String {
    let unlock = value.map(|resource| {
        let token = format!("TOKEN: redbolt who --json {resource}");
        format!("  redbolt unlock --token TOKEN {resource}  # {token}\n")
    });
    let lines = data.iter().map(|node| {
        let address = node.addr();
        let (host, port) = address.rsplit_once(':').expect("a port");
        format!("  redis-cli -h {host} -p {port} DEL {key}\n")
    });
    let todo = "find out who has written the key, and delete it if nobody needs it:\n";
    todo.to_owned() + &unlock.into_iter().chain(lines).collect::<String>()
}

/// Beside a node that is down, one key that stays is enough to leave no quorum.
#[test]
fn a_key_that_stays_beside_a_node_that_is_down_is_told() {
    let mut cluster = Cluster::start(3);
    let addrs = cluster.addrs();
    cluster[0].command(&[b"SET", b"r", b"somebody's data"]);
    cluster[2].kill();
    let run = start_script(&addrs, &["--wait", "60s"], "echo ran");
    let said = format!(
        "\"r\" will not come free by itself: the key \"r\" has no ttl and stays until it is \
         deleted, at {}\n",
        cluster[0].addr()
    );
    assert!(until(PATIENCE, || run.file("err").contains(&said)), "{}", run.file("err"));
    cluster[0].command(&[b"DEL", b"r"]);
    run.finish().assert_code(0);
}

/// Neither the value nor the list has a quorum, and together they leave none.
#[test]
fn keys_that_stay_on_some_nodes_are_told_with_the_prefix_also_during_the_wait() {
    let cluster = Cluster::start(3);
    cluster[0].command(&[b"SET", b"x:r", b"somebody's data"]);
    cluster[1].command(&[b"RPUSH", b"x:r", b"x"]);
    let said = format!(
        "the key \"x:r\" has no ttl and stays until it is deleted, at {}; it is not a lock but \
         other data, such as a list, at {}\n{}",
        cluster[0].addr(),
        cluster[1].addr(),
        way_out(Some("r"), &cluster[1..2], "x:r")
    );
    let run = start_script(&cluster.addrs(), &["--prefix", "x:", "--wait", "60s"], "echo ran");
    let warning = format!("redbolt: \"r\" will not come free by itself: {said}");
    assert!(until(PATIENCE, || run.file("err") == warning), "{}", run.file("err"));
    let is_told = until(PATIENCE, || {
        let options = ["--prefix", "x:", "--no-wait", "r", "--", "true"];
        let outcome = run_until_quorate(&cluster.addrs(), &options);
        outcome.assert_code(75);
        outcome.err == format!("redbolt: \"r\" is not free: {said}")
    });
    assert!(is_told);
    // One of them is enough, and the other is not what keeps the lock from others.
    cluster[1].command(&[b"DEL", b"x:r"]);
    let outcome = run.finish();
    outcome.assert_code(0);
    assert_eq!((outcome.out.as_str(), outcome.err), ("ran\n", warning));
}

#[test]
fn values_that_have_a_ttl_on_some_nodes_are_not_told_as_ones_that_stay() {
    let cluster = Cluster::start(3);
    cluster[0].command(&[b"SET", b"r", b"somebody's data"]);
    cluster[1].set_px(b"r", b"x", Duration::from_secs(60));
    assert!(is_said(&cluster, |err| err == "redbolt: \"r\" is held by another\n"));
}

/// Whether a single attempt says this in the end. On a busy machine the nodes may not say in time
/// what they have.
fn is_said(cluster: &Cluster, is_right: impl Fn(&str) -> bool) -> bool {
    until(PATIENCE, || {
        let outcome = run_until_quorate(&cluster.addrs(), &ATTEMPT);
        outcome.assert_code(75);
        is_right(&outcome.err)
    })
}

#[test]
fn a_lock_with_a_ttl_is_told_as_one() {
    let cluster = Cluster::start(3);
    for node in cluster.iter() {
        node.set_px(b"r", b"x", Duration::from_secs(60));
    }
    let is_right = |err: &str| {
        let left = err.strip_prefix("redbolt: \"r\" is held by another, for at most ");
        let left = left.and_then(|left| left.strip_suffix("s more unless it is extended\n"));
        left.is_some_and(|left| left.parse().is_ok_and(|left: f64| 0.0 < left && left <= 60.0))
    };
    assert!(is_said(&cluster, is_right));
}

#[test]
fn data_that_is_no_lock_is_told_with_its_nodes_also_during_the_wait() {
    let cluster = Cluster::start(3);
    for node in &cluster[..2] {
        node.command(&[b"RPUSH", b"r", b"x"]);
    }
    let said = format!(
        "the key \"r\" is not a lock but other data, such as a list, at {}, {}\n{}",
        cluster[0].addr(),
        cluster[1].addr(),
        way_out(None, &cluster[..2], "r")
    );
    let failure = format!("redbolt: \"r\" is not free: {said}");
    assert!(is_said(&cluster, |err| err == failure));

    let run = start_script(&cluster.addrs(), &["--wait", "60s"], "echo ran");
    let warning = format!("redbolt: \"r\" will not come free by itself: {said}");
    assert!(until(PATIENCE, || run.file("err") == warning), "{}", run.file("err"));
    for node in &cluster[..2] {
        node.command(&[b"DEL", b"r"]);
    }
    let outcome = run.finish();
    outcome.assert_code(0);
    assert_eq!((outcome.out.as_str(), outcome.err), ("ran\n", warning));
}

/// Three of the five make a quorum as soon as the lock has ended.
#[test]
fn data_on_a_minority_of_the_nodes_is_not_what_keeps_the_lock_from_others() {
    let cluster = Cluster::start(5);
    for node in &cluster[..2] {
        node.command(&[b"RPUSH", b"r", b"x"]);
    }
    cluster[2].set_px(b"r", b"x", Duration::from_secs(60));
    assert!(is_said(&cluster, |err| err == "redbolt: \"r\" is held by another\n"));
    cluster[2].set_px(b"r", b"x", Duration::from_secs(3));
    let outcome = run_until_quorate(&cluster.addrs(), &["--wait", "60s", "r", "--", "true"]);
    outcome.assert_code(0);
    assert_eq!(outcome.err, "");
}

#[test]
fn an_answer_that_nobody_waited_for_is_not_called_late() {
    let full = Cluster::start(2);
    for node in full.iter() {
        node.command(&[b"CONFIG", b"SET", b"maxmemory", b"1"]);
    }
    // It takes part, and is silent when asked for the lock. The others decide at once.
    let silent = Fake::after_handshake(Master::new(), |_| Action::Silence);
    let nodes = [full.addrs(), vec![silent.addr()]].concat();
    let said = format!("{}: ready, last request: no reply before the others had", silent.addr());
    let is_said = until(PATIENCE, || {
        let outcome = run(&nodes, &ATTEMPT);
        outcome.assert_code(69);
        assert!(!outcome.err.contains("no reply in time"), "{}", outcome.err);
        outcome.err.contains(&said) && outcome.err.matches("OOM").count() == 2
    });
    assert!(is_said);
}

//! Keys of others that are no locks, and nodes that answer with errors.

use std::time::Duration;

use super::run::{PATIENCE, run, run_until_quorate, start_script};
use crate::support::fake::{Action, Fake};
use crate::support::master::Master;
use crate::support::servers::Cluster;
use crate::support::until;

const ATTEMPT: [&str; 4] = ["--no-wait", "r", "--", "true"];

#[test]
fn a_key_without_a_ttl_is_told_as_one_that_stays() {
    let cluster = Cluster::start(3);
    for node in cluster.iter() {
        node.command(&[b"SET", b"r", b"somebody's data"]);
    }
    let said = "redbolt: \"r\" is not free: held by another, whose key has no ttl and stays until";
    assert!(is_said(&cluster, |err| err.starts_with(said)));
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
    let outcome = run_until_quorate(&cluster.addrs(), &ATTEMPT);
    outcome.assert_code(75);
    assert_eq!(outcome.err, "redbolt: \"r\" is held by another\n");
}

#[test]
fn data_that_is_no_lock_is_told_with_its_nodes_also_during_the_wait() {
    let cluster = Cluster::start(3);
    for node in &cluster[..2] {
        node.command(&[b"RPUSH", b"r", b"x"]);
    }
    let said = format!(
        "its key is not a lock but other data, such as a list, at {}, {}",
        cluster[0].addr(),
        cluster[1].addr()
    );
    let failure = format!("redbolt: \"r\" is not free: {said}\n");
    assert!(is_said(&cluster, |err| err == failure));

    let run = start_script(&cluster.addrs(), &["--wait", "60s"], "echo ran");
    let warning = format!("redbolt: \"r\" will not come free by itself: {said}\n");
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

//! How runs end that get no lock, and runs with a client that has to wait.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::run::{after, bench, run, spawn, text};
use crate::support::servers::Cluster;
use crate::{assert_no_keys, wait_for_load};

/// The only resource of a run with `--resources 1`.
const RESOURCE: &[u8] = b"bench/0000000000";

/// The object that a run has printed which ended with this code, and what the run has said.
fn object(args: &[&str], code: i32) -> (Value, String) {
    let (stdout, stderr) = text(run(args), code);
    (serde_json::from_str(&stdout).expect("it prints JSON"), stderr)
}

#[test]
fn a_run_that_gets_no_lock_fails_and_shows_no_latency() {
    let cluster = Cluster::start(3);
    for node in &cluster[..] {
        node.set_px(RESOURCE, b"another", Duration::from_secs(600));
    }
    let nodes = cluster.addrs().join(",");
    let contended = ["--nodes", &nodes, "--seconds", "1", "--resources", "1", "--json"];
    let (engine, said) = object(&[&contended[..], &["--in-flight", "2"]].concat(), 75);
    assert!(said.contains("no lock was granted"), "{said}");
    assert_eq!(engine["cycles"], 0);
    assert!(engine["acquire_us"].is_null() && engine["client_cpu_us_per_cycle"].is_null());
    let (client, said) = object(&[&contended[..], &["--client", "--threads", "2"]].concat(), 75);
    assert!(said.contains("no lock was granted"), "{said}");
    assert!(said.contains("ending: 2 requests still wait for their lock"), "{said}");
    // The two waits had no end, and are not left out.
    assert_eq!((&client["cycles"], &client["unfinished"]), (&0.into(), &2.into()));
    assert!(client["longest_wait_us"].as_f64().is_some_and(|wait| wait > 1e6), "{client}");
}

#[test]
fn a_signal_ends_a_client_whose_majority_is_gone() {
    let cluster = Cluster::start(3);
    let nodes = cluster.addrs().join(",");
    let args = ["--nodes", &nodes, "--seconds", "600", "--client", "--threads", "4"];
    let child = spawn(bench(&args));
    wait_for_load(&cluster[0]);
    cluster[1..].iter().for_each(|node| node.stop());
    child.signal(Signal::INT);
    // The requests would wait for longer than this test has patience.
    let (stdout, _) = text(child.finish(), 0);
    cluster[1..].iter().for_each(|node| node.cont());
    assert!(stdout.contains("\nfailed "), "{stdout}");
}

#[test]
fn a_terminal_that_is_closed_ends_a_run_and_no_run_of_nohup() {
    let cluster = Cluster::start(1);
    let nodes = cluster.addrs().join(",");
    let args = ["--nodes", &nodes, "--in-flight", "64", "--json"];
    // The tests themselves may run under nohup.
    let as_usual = "set -- env --default-signal=HUP \"$@\"";
    let child = spawn(after(as_usual, &[&args[..], &["--seconds", "600"]].concat()));
    wait_for_load(&cluster[0]);
    child.signal(Signal::HUP);
    text(child.finish(), 0);
    assert_no_keys(&cluster);

    let child = spawn(after("trap '' HUP", &[&args[..], &["--seconds", "2"]].concat()));
    wait_for_load(&cluster[0]);
    child.signal(Signal::HUP);
    let (stdout, _) = text(child.finish(), 0);
    let object: Value = serde_json::from_str(&stdout).expect("it prints JSON");
    assert!(object["ran_ms"].as_f64().is_some_and(|ran| ran >= 2_000.0), "{object}");
}

#[test]
fn locks_to_keep_alive_are_not_asked_for_as_long_as_nobody_answers() {
    let cluster = Cluster::start(3);
    let nodes = cluster.addrs().join(",");
    let args = ["--nodes", &nodes, "--seconds", "100ms", "--client", "--keep-alive", "1000000"];
    let child = spawn(bench(&args));
    wait_for_load(&cluster[0]);
    cluster[1..].iter().for_each(|node| node.stop());
    let output = child.finish_within(Duration::from_secs(90));
    cluster[1..].iter().for_each(|node| node.cont());
    // It has no lock where the nodes have stopped before the first was granted.
    assert!([Some(0), Some(69)].contains(&output.status.code()), "{output:?}");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains("\nfailed ") && stdout.contains("(no quorum "), "{stdout}");
}

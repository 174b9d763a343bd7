//! Servers that are none.

use super::run::{assert_no_keys, run, run_until_quorate};
use crate::support::fake::Fake;
use crate::support::ports::Port;
use crate::support::servers::Cluster;

/// One of each kind, with what is said of it.
fn hostile() -> [(Fake, &'static str); 4] {
    [
        (Fake::silent(), "no answer to the handshake"),
        (Fake::repeating(b"HTTP/1.1 400 Bad Request\r\n\r\n"), "not a Redis protocol"),
        (Fake::dripping(b"$1000\r\n# Server\r\nredis_version:"), "no answer to the handshake"),
        (Fake::closing(), "the server closed the connection"),
    ]
}

#[test]
fn a_minority_of_them_costs_nothing_but_itself() {
    let cluster = Cluster::start(5);
    let hostile = hostile();
    let fakes = hostile.iter().map(|(fake, _)| fake.addr());
    let nodes: Vec<_> = fakes.chain(cluster.addrs()).collect();
    for options in [&["--wait", "10s"][..], &["--no-wait"]] {
        let outcome = run_until_quorate(&nodes, &[options, &["r", "--", "echo", "ran"]].concat());
        outcome.assert_code(0);
        assert_eq!((outcome.out.as_str(), outcome.err.as_str()), ("ran\n", ""));
        assert_no_keys(&cluster);
    }
}

#[test]
fn a_majority_of_them_is_no_quorum_and_each_node_is_told_of() {
    let cluster = Cluster::start(1);
    let hostile = hostile();
    let nobody = Port::free().addr();
    let mut expected: Vec<_> = hostile.iter().map(|(fake, why)| (fake.addr(), *why)).collect();
    expected.push((nobody, "connecting failed: connection refused"));
    expected.push((cluster[0].addr(), "ready"));
    let nodes: Vec<_> = expected.iter().map(|(node, _)| node.clone()).collect();

    let outcome = run(&nodes, &["--wait", "2s", "r", "--", "echo", "ran"]);
    outcome.assert_code(69);
    assert_eq!(outcome.out, "");
    // All of them were told once before, at the first contact, as far as they were known then.
    let lines: Vec<_> = outcome.err.lines().collect();
    let (first, lines) = lines.split_at(1 + nodes.len());
    assert!(first[0].starts_with("redbolt: no quorum of nodes for \"r\", waiting another "));
    assert_eq!(lines.len(), 1 + nodes.len(), "{}", outcome.err);
    for (line, (node, why)) in lines[1..].iter().zip(&expected) {
        assert!(line.trim_start().starts_with(node) && line.contains(why), "{line}, not {why}");
    }
    assert_no_keys(&cluster);
}

#[test]
fn an_attempt_without_a_quorum_of_nodes_ends_although_some_never_answer() {
    let cluster = Cluster::start(1);
    let fakes = [Fake::silent(), Fake::deaf()];
    let nodes: Vec<_> = fakes.iter().map(Fake::addr).chain(cluster.addrs()).collect();
    let outcome = run(&nodes, &["--no-wait", "r", "--", "echo", "ran"]);
    outcome.assert_code(69);
    for node in nodes {
        assert!(outcome.err.contains(&node), "{}", outcome.err);
    }
}

//! Servers that listen to a Unix socket.

use redbolt::NodeState;
use redbolt::redlock::NodeError;

use super::{PATIENCE, TTL, assert_every_command_works, client, redbolt};
use crate::support::servers::{Cluster, Node};
use crate::support::until;

/// One server by its port, the others by their sockets.
fn mixed(cluster: &Cluster) -> Vec<String> {
    let mut nodes: Vec<_> = cluster.iter().map(Node::unix).collect();
    nodes[0] = cluster[0].addr();
    nodes
}

#[test]
fn every_command_works_over_unix_sockets() {
    let cluster = Cluster::start(3);
    assert_every_command_works(&cluster.iter().map(Node::unix).collect::<Vec<_>>());
}

#[test]
fn every_command_works_where_some_nodes_are_sockets_and_others_are_ports() {
    let cluster = Cluster::start(3);
    assert_every_command_works(&mixed(&cluster));
}

#[test]
fn a_lock_stands_on_servers_behind_sockets_and_one_comes_back_after_a_restart() {
    let mut cluster = Cluster::start(3);
    let nodes = mixed(&cluster);
    let client = client(&nodes);
    let states = || client.nodes().blocking_wait().expect("the client runs");
    let are_ready = || states().iter().all(|node| node.state == NodeState::Ready);
    assert!(until(PATIENCE, are_ready), "{:?}", states());
    let guard = client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("it is free");
    assert!(until(PATIENCE, || cluster.holding(b"a", guard.token().as_ref()) == 3));
    cluster[1].restart();
    let is_back = || {
        let node = &states()[1];
        node.counters.connects >= 2 && node.state == NodeState::Ready
    };
    assert!(until(PATIENCE, is_back), "{:?}", states());
    guard.extend(TTL).blocking_wait().expect("two of three hold the lock");
    guard.release().blocking_wait().expect("the client runs");
    assert!(until(PATIENCE, || cluster.iter().all(|node| node.get(b"a").is_none())));
}

/// The login in front of the path, in the query, and half in each; and the number of the database.
#[test]
fn a_login_and_a_database_go_to_a_server_behind_a_socket() {
    let cluster = Cluster::start(3);
    for node in cluster.iter() {
        node.command(&[b"ACL", b"SETUSER", b"app", b"on", b">p@s/s", b"~*", b"&*", b"+@all"]);
        node.command(&[b"CONFIG", b"SET", b"requirepass", b"other"]);
    }
    let path = |index: usize| cluster[index].unix().replace("unix://", "");
    let nodes = [
        format!("unix://app:p%40s%2Fs@{}?db=2", path(0)),
        format!("redis+unix://{}?user=app&password=p%40s%2Fs&db=2", path(1)),
        format!("unix://app@{}?pass=p%40s%2Fs&db=2", path(2)),
    ];
    let client = client(&nodes);
    let guard = client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("it is free");
    let mut admin = cluster[1].connect(PATIENCE).expect("the node accepts");
    let mut ask = |parts: &[&[u8]]| admin.command(parts).expect("a reply");
    ask(&[b"AUTH", b"other"]);
    ask(&[b"SELECT", b"2"]);
    assert!(until(PATIENCE, || ask(&[b"EXISTS", b"a"]) == crate::support::wire::Reply::Integer(1)));
    drop(guard);
    let told = redbolt(&nodes, &["check"]).text();
    assert!(!told.contains("p@s") && !told.contains("p%40s"), "{told}");
}

#[test]
fn a_socket_that_is_not_there_costs_its_node_and_as_a_majority_the_lock() {
    let cluster = Cluster::start(3);
    let gone = |index: usize| format!("{}.gone", cluster[index].unix());
    let all: Vec<_> = cluster.iter().map(Node::unix).collect();
    redbolt(&all, &["init", "--fresh"]).expect(0);
    let nodes = [cluster[0].unix(), cluster[1].unix(), gone(2)];
    let client = client(&nodes);
    drop(client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("two of three"));
    let states = client.nodes().blocking_wait().expect("the client runs");
    assert!(matches!(states[2].error, Some(NodeError::Connect(_))), "{:?}", states[2]);

    let check = redbolt(&nodes, &["check"]).expect(1).text();
    assert!(check.contains("unixsocket"), "{check}");
    let nodes = [cluster[0].unix(), gone(1), gone(2)];
    let failed = redbolt(&nodes, &["exec", "--no-wait", "a", "--", "true"]).expect(69);
    for node in &nodes[1..] {
        let line = format!("{node}: down: connecting failed: no such socket");
        assert!(failed.err.contains(&line), "{}", failed.err);
    }
}

/// A node behind a socket is on this machine, as one at a loopback address is.
#[test]
fn nodes_behind_sockets_and_ports_of_this_machine_are_said_to_be_on_one() {
    let cluster = Cluster::start(3);
    let nodes = mixed(&cluster);
    redbolt(&nodes, &["init", "--fresh"]).expect(0);
    let told = redbolt(&nodes, &["check", "--json"]).expect(0).out;
    let report: serde_json::Value = serde_json::from_str(&told).expect("one object");
    let findings = report["findings"].as_array().expect("a list");
    let same = findings.iter().find(|finding| finding["subject"] == "same_machine");
    let on_it = same.and_then(|finding| finding["nodes"].as_array()).map(Vec::len);
    assert_eq!(on_it, Some(3), "{told}");
}

/// S10: a server that is given by its socket and by its port votes once.
#[test]
fn a_server_by_its_socket_and_by_its_port_is_found_to_be_one() {
    let cluster = Cluster::start(2);
    let nodes = [cluster[0].addr(), cluster[0].unix(), cluster[1].unix()];
    let client = client(&nodes);
    let is_found = || {
        let states = client.nodes().blocking_wait().expect("the client runs");
        states.iter().any(|node| matches!(node.error, Some(NodeError::SameProcess(_))))
    };
    assert!(until(PATIENCE, is_found));
}

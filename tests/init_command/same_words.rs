//! What `init` and `check` say of a node that cannot serve: the same.

use serde_json::Value;

use crate::support::fake::Fake;
use crate::support::ports::Port;
use crate::support::servers::{Cluster, Node};
use crate::{init, redbolt};

fn run(node: &Node, words: &[&str]) {
    let words: Vec<_> = words.iter().map(|word| word.as_bytes()).collect();
    node.command(&words);
}

/// Returns what a check says of each node: the address, the cause and the remedy.
fn checked(nodes: &[String]) -> Vec<[String; 3]> {
    let outcome = redbolt("check", nodes, &["--json"]);
    let report: Value = serde_json::from_str(&outcome.out).expect("one object");
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let mut said = Vec::new();
    for finding in report["findings"].as_array().expect("a list") {
        for node in finding["nodes"].as_array().expect("a list") {
            if finding["blocks"] == true {
                said.push([text(node), text(&finding["cause"]), text(&finding["remedy"])]);
            }
        }
    }
    said
}

#[test]
fn init_gives_the_cause_and_the_remedy_that_check_gives() {
    let cluster = Cluster::start(9);
    let mut nodes = cluster.addrs();
    let (host, port) = cluster[0]
        .addr()
        .split_once(':')
        .map(|(h, p)| (h.to_owned(), p.to_owned()))
        .expect("an address");
    run(&cluster[1], &["REPLICAOF", &host, &port]);
    run(&cluster[2], &["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"]);
    run(&cluster[3], &["CONFIG", "SET", "requirepass", "right"]);
    run(&cluster[4], &["CONFIG", "SET", "requirepass", "right"]);
    nodes[4] = format!("redis://:wrong@{}", nodes[4]);
    nodes[5] = format!("redis://:right@{}", nodes[5]);
    nodes[6] = format!("redis://{}/99", nodes[6]);
    run(&cluster[7], &["ACL", "SETUSER", "app", "on", ">pw", "~*", "+@all", "-set", "-mget"]);
    nodes[7] = format!("redis://app:pw@{}", nodes[7]);
    nodes[8] = cluster[0].addr().replace("127.0.0.1", "localhost");
    nodes.push(Port::free().addr());
    let strange = Fake::repeating(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    nodes.push(strange.addr());
    let silent = Fake::silent();
    nodes.push(silent.addr());

    let said = checked(&nodes);
    // The others of the first: a node without a witness is what init is for.
    let said: Vec<_> = said.iter().filter(|[node, ..]| *node != cluster[0].addr()).collect();
    assert_eq!(said.len(), nodes.len() - 1, "{said:?}");
    let outcome = init(&nodes, &["--no-wait"]);
    for [node, cause, remedy] in said {
        let line = format!("{node}: {cause} → {remedy}\n");
        assert!(outcome.out.contains(&line), "{line} is not in:\n{}", outcome.out);
    }
}

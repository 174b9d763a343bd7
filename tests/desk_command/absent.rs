//! Nodes that are down, or whose answers do not count.

use crate::run::{hex, redbolt, unlock, who, who_json};
use crate::support::servers::{Cluster, Node};
use crate::who::{MINUTE, OF_REDLOCK_PY};

fn take(nodes: &[Node]) {
    for node in nodes {
        node.set_px(b"r", OF_REDLOCK_PY, MINUTE);
    }
}

#[test]
fn two_of_five_down_change_nothing_and_are_named() {
    let mut cluster = Cluster::start(5);
    take(&cluster);
    let gone = [3, 4].map(|place| format!("{}: connecting failed", cluster[place].addr()));
    cluster[3].kill();
    cluster[4].kill();
    let outcome = who(&cluster.addrs(), &["r", "free"]);
    let said = ["on 3 of 5 nodes", "a quorum agrees", "\"free\" is free", &gone[0], &gone[1]];
    outcome.assert(0, &said);
    let object = who_json(&cluster.addrs(), "r");
    assert_eq!((&object["state"], &object["unknown"]), (&"held".into(), &2.into()));

    let outcome = unlock(&cluster.addrs(), "r", &hex(OF_REDLOCK_PY));
    outcome.assert(0, &["the lock has ended: deleted on 3 of 5", &gone[0], &gone[1]]);
    who(&cluster.addrs(), &["r"]).assert(1, &["is free"]);
}

#[test]
fn three_of_five_down_leave_it_open_and_what_was_deleted_is_said() {
    let mut cluster = Cluster::start(5);
    take(&cluster);
    cluster[2..].iter_mut().for_each(Node::kill);
    let said = "2 of 5 nodes have said what they have, and 3 must agree";
    let outcome = who(&cluster.addrs(), &["r"]);
    outcome.assert(69, &["cannot be told: 2 of 5 nodes have", said, "token kPq03Zsy… on 2 of 5"]);
    assert_eq!(outcome.err, "");
    let outcome = who(&cluster.addrs(), &["--json", "r"]);
    assert_eq!(outcome.err, format!("redbolt: {said}\n"));
    let outcome = unlock(&cluster.addrs(), "r", &hex(OF_REDLOCK_PY));
    outcome
        .assert(69, &["too few nodes have said what counts", "(deleted on 2 of 5)", ": deleted"]);
    assert!(cluster[..2].iter().all(|node| node.keys().is_empty()));
}

#[test]
fn a_node_that_never_answers_costs_a_bounded_time() {
    let cluster = Cluster::start(3);
    take(&cluster);
    cluster[2].stop();
    who(&cluster.addrs(), &["r"]).assert(0, &["on 2 of 3 nodes", "connected, but no answer"]);
    cluster[2].cont();
}

#[test]
fn a_node_that_cannot_vote_does_not_count_and_says_why() {
    let cluster = Cluster::start(5);
    take(&cluster[..3]);
    cluster[0].command(&[b"CONFIG", b"SET", b"maxmemory-policy", b"allkeys-lru"]);
    cluster[3].command(&[b"REPLICAOF", b"127.0.0.1", b"1"]);
    let outcome = who(&cluster.addrs(), &["r"]);
    let said =
        ["the server may evict keys", "the server is a replica", "token kPq03Zsy… on 2 of 5"];
    outcome.assert(69, &said);
    let outcome = who(&cluster.addrs(), &["-v", "r"]);
    outcome.assert(69, &["left, which does not count: the server may evict keys"]);

    let outcome = unlock(&cluster.addrs(), "r", &hex(OF_REDLOCK_PY));
    outcome.assert(0, &["deleted, but does not count: the server may evict"]);
    assert_eq!(cluster.holding(b"r", OF_REDLOCK_PY), 0);
}

/// What a new client would not believe proves nothing to an operator either.
#[test]
fn the_guard_of_the_clients_decides_whether_a_node_counts() {
    let cluster = Cluster::start(3);
    redbolt("init", &cluster.addrs(), &["--fresh", "--no-wait"]).assert(0, &[]);
    for (guard, code) in [("on", 1), ("off", 1), ("durable", 1), ("strict", 69)] {
        let outcome = who(&cluster.addrs(), &["--restart-guard", guard, "r"]);
        assert_eq!(outcome.code, Some(code), "{guard}: {}{}", outcome.out, outcome.err);
    }
}

#[test]
fn a_node_in_quarantine_counts_for_what_it_has_and_not_for_what_it_lacks() {
    let mut cluster = Cluster::start(3);
    redbolt("init", &cluster.addrs(), &["--fresh", "--no-wait"]).assert(0, &[]);
    take(&cluster[..1]);
    who(&cluster.addrs(), &["r"]).assert(1, &["is free, but some nodes"]);
    cluster[1].restart();
    let outcome = who(&cluster.addrs(), &["r"]);
    outcome.assert(69, &["cannot be told", "in quarantine for 60.", "may have forgotten keys"]);
    take(&cluster[1..2]);
    who(&cluster.addrs(), &["r"]).assert(0, &["on 2 of 3 nodes", "in quarantine"]);
    // A client writes the witness anew, which is young then.
    cluster[1].command(&[b"DEL", b"r"]);
    redbolt("init", &cluster.addrs(), &["--no-wait"]).assert(0, &[]);
    let outcome = who(&cluster.addrs(), &["r"]);
    outcome.assert(69, &["in quarantine for ", "it may have forgotten keys"]);
    let object = who(&cluster.addrs(), &["--json", "r"]).object();
    assert_eq!(object["nodes"][1]["state"], "quarantined");
    assert!(object["nodes"][1]["remaining_ms"].as_f64() > Some(1_000.0), "{object}");
    let at = &object["resources"][0]["nodes"];
    let counts = [0, 1, 2].map(|node| at[node]["counts"].as_bool());
    assert_eq!(counts, [Some(true), Some(false), Some(true)], "{object}");
    cluster[2].kill();
    let outcome = unlock(&cluster.addrs(), "r", &hex(OF_REDLOCK_PY));
    outcome.assert(69, &["nothing was there (in quarantine for ", "(deleted on 1 of 3)"]);
}

#[test]
fn a_part_of_a_deployment_is_no_quorum() {
    let cluster = Cluster::start(5);
    redbolt("init", &cluster.addrs(), &["--fresh", "--no-wait"]).assert(0, &[]);
    take(&cluster[..2]);
    let outcome = who(&cluster.addrs()[..3], &["r"]);
    outcome.assert(69, &["3 nodes are configured here, and 5 in the deployment"]);
    // The other nodes would keep the lock, so that nothing is deleted on these.
    for part in [&cluster.addrs()[..1], &cluster.addrs()[..3]] {
        let outcome = unlock(part, "r", &hex(OF_REDLOCK_PY));
        let said = format!("configured here, and 5 in the deployment of {}", part[0]);
        outcome.assert(64, &[&said, "nothing was deleted"]);
        assert_eq!(cluster.holding(b"r", OF_REDLOCK_PY), 2);
    }
    // Another longest ttl is no matter here.
    who(&cluster.addrs(), &["--max-ttl", "10m", "r"]).assert(1, &["is free, but some"]);
}

#[test]
fn one_process_under_two_addresses_counts_once() {
    let cluster = Cluster::start(2);
    take(&cluster[..1]);
    let twin = cluster[0].addr().replace("127.0.0.1", "localhost");
    let nodes = [cluster.addrs(), vec![twin]].concat();
    let said = format!("the same server process as {}", cluster[0].addr());
    who(&nodes, &["r"]).assert(69, &["on 1 of 3 nodes", &said]);
}

#[test]
fn a_password_is_never_printed() {
    let node = Node::start();
    let url = [format!("redis://:top-secret@{}", node.addr())];
    for outcome in [who(&url, &["-v", "r"]), who(&url, &["--json", "r"]), unlock(&url, "r", "00")] {
        assert!(!outcome.err.contains("secret") && !outcome.out.contains("secret"));
        assert_eq!(outcome.code, Some(69), "{}", outcome.err);
    }
    let outcome = who(&url, &["r"]);
    outcome.assert(69, &["the server refused AUTH or SELECT"]);
}

//! What the commands leave alone, and which rights they need.

use crate::run::{hex, redbolt, unlock, who, who_json};
use crate::support::rights::RIGHTS;
use crate::support::servers::{Cluster, Node};
use crate::who::{MINUTE, OF_REDLOCK_PY};

/// All that writing would change.
fn changes(node: &Node) -> [Option<String>; 3] {
    ["rdb_changes_since_last_save", "number_of_cached_scripts", "tracking_clients"]
        .map(|field| node.info(field))
}

#[test]
fn who_leaves_nothing_behind() {
    let cluster = Cluster::start(3);
    redbolt("init", &cluster.addrs(), &["--fresh", "--no-wait"]).assert(0, &[]);
    cluster[0].set_px(b"r", OF_REDLOCK_PY, MINUTE);
    cluster[1].command(&[b"RPUSH", b"r", b"x"]);
    // The text of a script stays with the server, which is no data.
    who(&cluster.addrs(), &["r", "s"]).assert(0, &["\"s\" is free"]);
    let before: Vec<_> = cluster.iter().map(changes).collect();
    let calls = |command: &str| cluster.iter().map(|node| node.calls(command)).sum::<u64>();
    let commands = ["set", "del", "pexpire", "script|load", "client|tracking", "hello"];
    let counts = commands.map(calls);
    who(&cluster.addrs(), &["-v", "r", "s"]).assert(0, &[]);
    who(&cluster.addrs(), &["--json", "r", "s"]);
    assert_eq!(cluster.iter().map(changes).collect::<Vec<_>>(), before);
    assert_eq!(commands.map(calls), counts);
    assert!(cluster[0].pttl(b"r") > 0);
}

/// The rights of locks, as OPERATING.md has them, and nothing more.
#[test]
fn the_rights_of_locks_suffice() {
    let cluster = Cluster::start(3);
    for node in cluster.iter() {
        node.set_px(b"r", OF_REDLOCK_PY, MINUTE);
        node.set_px(b"long", &[b'x'; 2_000], MINUTE);
        node.command(&[b"RPUSH", b"list", b"x"]);
        let start = ["ACL", "SETUSER", "locks", "on", ">pass", "~*"];
        let words = start.into_iter().chain(RIGHTS).map(str::as_bytes);
        node.command(&words.collect::<Vec<_>>());
    }
    let nodes: Vec<_> =
        cluster.addrs().iter().map(|addr| format!("redis://locks:pass@{addr}")).collect();
    let outcome = who(&nodes, &["-v", "r", "long", "list"]);
    let said = ["\"r\" is held", "a string of 2,000 bytes", "data of another type", "is no lock"];
    outcome.assert(0, &said);
    unlock(&nodes, "r", &hex(OF_REDLOCK_PY)).assert(0, &["deleted on 3 of 3 nodes"]);
}

#[test]
fn a_node_that_lets_us_look_at_nothing_is_named() {
    let cluster = Cluster::start(3);
    for node in &cluster[..2] {
        node.command(&[b"ACL", b"SETUSER", b"default", b"-eval"]);
    }
    for arguments in [&["-v", "r"][..], &["r"]] {
        who(&cluster.addrs(), arguments).assert(69, &["access is denied"]);
    }
    assert_eq!(who_json(&cluster.addrs(), "r")["nodes"][0]["found"], "no_answer");
}

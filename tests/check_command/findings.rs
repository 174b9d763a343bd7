//! What is wrong with a node, and what to do: each with the name of the node.

use std::time::Duration;

use crate::support::clocks::Clocks;
use crate::support::flavours::Flavour;
use crate::support::rights::{RIGHTS, TRACKING, command};
use crate::support::servers::{Cluster, Node};
use crate::support::until;
use crate::support::wire::Reply;
use crate::{declared, init, seen};

const PATIENCE: Duration = Duration::from_secs(20);

fn ok(node: &Node, parts: &[&str]) {
    let parts: Vec<_> = parts.iter().map(|part| part.as_bytes()).collect();
    assert_eq!(node.command(&parts), Reply::Simple("OK".to_owned()));
}

#[test]
fn a_replica_is_told_its_master_and_the_master_what_replicas_do() {
    let cluster = declared(3);
    let addrs = cluster.addrs();
    let (host, port) = addrs[0].split_once(':').expect("an address");
    ok(&cluster[1], &["REPLICAOF", host, port]);
    assert!(until(PATIENCE, || cluster[0].info("connected_slaves").as_deref() == Some("1")));
    let found = seen(&addrs, &[]);
    // The first replica has changed the identity of its master.
    found.assert_verdict(69, "1 of 3 can vote, 2 needed: NO LOCKS NOW");
    let cause = format!("a replica of {}", addrs[0]);
    found.assert_finding(&addrs[1], true, &cause, "REPLICAOF NO ONE");
    found.assert_finding(&addrs[0], true, "its replication id has changed", "redbolt init");
    found.assert_finding(
        &addrs[0],
        false,
        "1 replica attached",
        "attach replicas to one master at a time, and CONFIG SET repl-backlog-ttl 0",
    );
    // The danger is not over when the last replica has gone.
    ok(&cluster[1], &["REPLICAOF", "NO", "ONE"]);
    assert!(until(PATIENCE, || cluster[0].info("connected_slaves").as_deref() == Some("0")));
    let found = seen(&addrs, &[]);
    let cause = "once they have been gone for repl-backlog-ttl (1h), master_replid changes";
    found.assert_finding(&addrs[0], false, cause, "CONFIG SET repl-backlog-ttl 0");
    assert_eq!(found.node(&addrs[0])["repl_backlog"], true);
    ok(&cluster[0], &["CONFIG", "SET", "repl-backlog-ttl", "0"]);
    let found = seen(&addrs, &[]);
    found.assert_no_finding(&addrs[0], "CONFIG SET repl-backlog-ttl");
    ok(&cluster[1], &["REPLICAOF", host, port]);
    assert!(until(PATIENCE, || cluster[0].info("connected_slaves").as_deref() == Some("1")));
    let found = seen(&addrs, &[]);
    found.assert_finding(&addrs[0], false, "1 replica attached", "to one master at a time");
    found.assert_no_finding(&addrs[0], "CONFIG SET repl-backlog-ttl");
}

#[test]
fn a_policy_that_evicts_is_told() {
    let cluster = declared(3);
    ok(&cluster[2], &["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"]);
    let found = seen(&cluster.addrs(), &[]);
    found.assert_verdict(1, "2 of 3 can vote");
    let cause = "maxmemory-policy is allkeys-lru";
    let remedy = "CONFIG SET maxmemory-policy noeviction";
    found.assert_finding(&cluster[2].addr(), true, cause, remedy);
    assert_eq!(found.node(&cluster[2].addr())["label"], "EVICTING");
}

#[test]
fn each_way_a_login_fails_has_its_own_remedy() {
    let cluster = declared(5);
    for node in cluster.iter().take(3) {
        ok(node, &["CONFIG", "SET", "requirepass", "right"]);
    }
    let addrs = cluster.addrs();
    let urls = [
        format!("redis://:wrong@{}", addrs[0]),
        addrs[1].clone(),
        format!("redis://:right@{}", addrs[2]),
        format!("redis://:right@{}", addrs[3]),
        format!("redis://{}/99", addrs[4]),
    ];
    let found = seen(&urls, &[]);
    found.assert_verdict(69, "1 of 5 can vote");
    let remedy = "correct the user or the password";
    found.assert_finding(&addrs[0], true, "WRONGPASS", remedy);
    found.assert_finding(&addrs[1], true, "NOAUTH", "give the login of this node");
    assert_eq!(found.node(&addrs[2])["state"], "ready");
    found.assert_finding(&addrs[3], true, "without any password", "give this node no password");
    let database = format!("{}/99", addrs[4]);
    let node = if found.text.contains(&database) { &database } else { &addrs[4] };
    found.assert_finding(node, true, "out of range", "correct the number of the database");
}

#[test]
fn missing_rights_are_named_with_the_rule_that_gives_them() {
    let cluster = declared(5);
    let missing = ["+set", "+del"];
    let all = || RIGHTS.into_iter().chain(TRACKING);
    let without = |lacks: &[&str]| all().filter(|rule| !lacks.contains(rule)).collect();
    let lists: [Vec<_>; 5] = [
        all().collect(),
        without(&missing),
        RIGHTS.to_vec(),
        without(&TRACKING[..1]),
        without(&TRACKING[1..]),
    ];
    let mut urls = Vec::new();
    for (node, rules) in cluster.iter().zip(&lists) {
        ok(node, &[&["ACL", "SETUSER", "app", "reset", "on", ">pw", "~*"], &rules[..]].concat());
        urls.push(format!("redis://app:pw@{}", node.addr()));
    }
    let found = seen(&urls, &[]);
    found.assert_verdict(1, "4 of 5 can vote");
    let addr = cluster[1].addr();
    found.assert_finding(&addr, true, "may not run: set, del", "ACL SETUSER app +set +del;");
    assert_eq!(found.node(&addr)["missing_rights"], serde_json::json!(["set", "del"]));
    let cause = "may not run client|tracking or client|caching";
    let remedy = "ACL SETUSER app +client|tracking +client|caching";
    for node in &cluster[2..] {
        found.assert_finding(&node.addr(), false, cause, remedy);
    }
    found.assert_no_finding(&cluster[0].addr(), cause);
    // A user with no right to anything but to be told so.
    ok(&cluster[0], &["ACL", "SETUSER", "app", "reset", "on", ">pw"]);
    let cause =
        "may not run: info, eval, evalsha, set, get, getrange, mget, exists, pttl, pexpire, del";
    seen(&urls, &[]).assert_finding(&cluster[0].addr(), true, cause, "ACL SETUSER app +info");
}

#[test]
fn every_kind_of_server_tells_its_rights_by_tries_that_change_nothing() {
    for flavour in Flavour::all() {
        let node = flavour.start();
        let url = [format!("redis://app:pw@{}", node.addr())];
        ok(&node, &["ACL", "SETUSER", "app", "on", ">pw", "~*", "+@all"]);
        let before = node.info("rdb_changes_since_last_save");
        let found = seen(&url, &[]);
        assert_eq!(found.node(&node.addr())["label"], "QUARANTINE", "{}", found.text);
        assert_eq!(found.node(&node.addr())["missing_rights"], serde_json::json!([]));
        for right in RIGHTS.map(command) {
            ok(&node, &["ACL", "SETUSER", "app", "+@all", &format!("-{right}")]);
            let found = seen(&url, &[]);
            let node = found.node(&node.addr());
            assert_eq!(node["missing_rights"], serde_json::json!([right]), "{}", found.text);
            // Without scripts, a native command is enough for single locks.
            let is_enough = right == "eval" && flavour.native.is_some();
            let label = if right == "time" || is_enough { "NO WITNESS" } else { "NO RIGHTS" };
            assert_eq!(node["label"], label, "{}", found.text);
        }
        assert_eq!(node.info("rdb_changes_since_last_save"), before);
        assert_eq!(node.info("expired_keys").as_deref(), Some("0"));
    }
}

#[test]
fn a_user_without_scripts_is_told_what_that_costs() {
    for flavour in Flavour::all().iter().filter(|flavour| flavour.native.is_some()) {
        let node = flavour.start();
        let url = [format!("redis://app:pw@{}", node.addr())];
        ok(&node, &["ACL", "SETUSER", "app", "on", ">pw", "~*", "+@all", "-eval", "-evalsha"]);
        let found = seen(&url, &[]);
        let remedy = "ACL SETUSER app ~redbolt:* +get +set +time +info +eval +evalsha";
        found.assert_finding(&node.addr(), true, "no right to keep the witness", remedy);
        let cause = "may not run: eval, evalsha; it grants locks and takes them back";
        found.assert_finding(&node.addr(), false, cause, "ACL SETUSER app +eval +evalsha");
    }
}

#[test]
fn a_user_without_the_keys_of_the_witness_is_told_what_that_costs() {
    let cluster = declared(1);
    let addr = cluster[0].addr();
    let url = [format!("redis://app:pw@{addr}")];
    for keys in ["~locks:*", "%R~*"] {
        ok(&cluster[0], &["ACL", "SETUSER", "app", "reset", "on", ">pw", "+@all", keys]);
        let found = seen(&url, &[]);
        found.assert_verdict(69, "0 of 1 can vote");
        let remedy = "ACL SETUSER app ~redbolt:* +get +set +time +info";
        found.assert_finding(&addr, true, "no right to keep the witness", remedy);
    }
    ok(&cluster[0], &["ACL", "SETUSER", "app", "~redbolt:*"]);
    seen(&url, &[]).assert_verdict(0, "1 of 1 can vote");
}

/// Nobody knows the names of locks: the patterns of a user may fit all of them, and then a note
/// about this is all that can be said.
#[test]
fn a_user_with_few_patterns_is_told_which_locks_and_labels_they_leave_out() {
    let cluster = Cluster::start(1);
    init(&cluster.addrs(), &["--fresh", "--prefix", "lock:"]);
    init(&cluster.addrs(), &["--no-wait"]);
    let addr = cluster[0].addr();
    let url = [format!("redis://app:pw@{addr}")];
    let locks =
        "has no right to all keys ~lock:*: a lock is refused whose key none of its patterns";
    let labels = "may not write the label of a client";
    // The patterns, and whether locks and labels are left out.
    let rows: [(&[&str], bool, bool); 7] = [
        (&["~lock:*"], false, false),
        (&["~*"], false, false),
        (&["~lock:redbolt:*"], true, false),
        (&["~lock:redbolt:*", "~lock:orders/*"], true, false),
        (&["~lock:redbolt:*", "%R~*"], true, false),
        // One half of the names that the check may try.
        (&["~lock:redbolt:*", "~lock:[0-7]*"], true, false),
        (&["~lock:redbolt:witness", "~lock:redbolt:seen", "~lock:a*"], true, true),
    ];
    for (patterns, no_locks, no_labels) in rows {
        let words = [&["ACL", "SETUSER", "app", "reset", "on", ">pw", "+@all"], patterns].concat();
        ok(&cluster[0], &words);
        let found = seen(&url, &["--prefix", "lock:"]);
        found.assert_verdict(0, "1 of 1 can vote");
        if no_locks {
            let remedy = "nothing, if its patterns fit the keys of all locks; else ACL SETUSER app \
                          ~lock:*";
            found.assert_finding(&addr, false, locks, remedy);
        } else {
            found.assert_no_finding(&addr, "has no right to all keys");
        }
        if no_labels {
            found.assert_finding(&addr, false, labels, "ACL SETUSER app ~lock:redbolt:*");
        } else {
            found.assert_no_finding(&addr, labels);
        }
    }
    ok(&cluster[0], &["ACL", "SETUSER", "app", "reset", "on", ">pw", "+@all", "~redbolt:*"]);
    let found = seen(&url, &[]);
    found.assert_finding(&addr, false, "has no right to all keys ~*", "ACL SETUSER app ~*");
}

#[test]
fn a_restarted_node_is_told_when_it_votes() {
    let mut cluster = declared(3);
    let addrs = cluster.addrs();
    cluster[1].restart();
    let found = seen(&addrs, &[]);
    found.assert_verdict(1, "2 of 3 can vote, 2 needed: none may fail; 3 can ");
    found.assert_finding(&addrs[1], true, "it has no witness", "redbolt init");
    init(&addrs, &[]);
    let found = seen(&addrs, &[]);
    found.assert_verdict(1, "2 of 3 can vote, 2 needed: none may fail; 3 in ");
    found.assert_finding(&addrs[1], true, "it was started ", "nothing: it votes in ");
    let label = found.node(&addrs[1])["label"].as_str().expect("text").to_owned();
    assert_eq!(label, "QUARANTINE");
    // What has survived in a file is another process' witness.
    let mut durable = Cluster::start_with(1, &["--appendonly", "yes", "--appendfsync", "always"]);
    let addrs = durable.addrs();
    init(&addrs, &["--fresh"]);
    durable[0].restart();
    let found = seen(&addrs, &[]);
    let cause = "it was restarted, and no client has looked at it since";
    found.assert_finding(&addrs[0], true, cause, "redbolt init, or any client");
    assert_eq!(found.node(&addrs[0])["persistence"], "aof");
}

/// Clients with another prefix know nothing of this one's witnesses, and a prefix can be mistyped.
#[test]
fn a_prefix_without_a_witness_is_named() {
    let cluster = declared(1);
    let addr = &cluster.addrs()[0];
    let found = seen(std::slice::from_ref(addr), &["--prefix", "shop\n:"]);
    let cause = r#"no client with the prefix "shop\n:" has looked at it yet: it has no witness"#;
    found.assert_finding(addr, true, cause, "redbolt init");
}

#[test]
fn a_clock_an_hour_off_is_a_note_about_its_node() {
    let Some(clocks) = Clocks::new(3) else { return };
    clocks.set(2, Duration::from_secs(3600));
    let nodes = clocks.start_all();
    let addrs: Vec<_> = nodes.iter().map(Node::addr).collect();
    init(&addrs, &["--fresh"]);
    let found = seen(&addrs, &[]);
    found.assert_verdict(0, "3 of 3 can vote");
    found.assert_finding(&addrs[2], false, "its clock is 1h ahead of the other nodes'", "NTP");
    assert_eq!(found.text.matches("its clock is").count(), 1, "{}", found.text);
    let offset = |node: usize| found.node(&addrs[node])["clock"]["from_others_ms"].as_f64();
    assert!(offset(2).is_some_and(|offset| offset > 3_599_000.0), "{:?}", offset(2));
    // When all clocks are as far off, ours is the one to look at.
    clocks.set(0, Duration::from_secs(3600));
    clocks.set(1, Duration::from_secs(3600));
    let found = seen(&addrs, &[]);
    let text = "- this machine: its clock is 1h behind the nodes'";
    assert!(found.text.contains(text), "{}", found.text);
    assert_eq!(found.text.matches("its clock is").count(), 1, "{}", found.text);
}

#[test]
fn two_addresses_of_one_process_are_told() {
    let cluster = declared(3);
    let mut addrs = cluster.addrs();
    addrs[2] = addrs[0].replace("127.0.0.1", "localhost");
    let found = seen(&addrs, &[]);
    found.assert_verdict(1, "2 of 3 can vote, 2 needed: none may fail");
    let cause = format!("the same server process as {}", addrs[0]);
    found.assert_finding(&addrs[2], true, &cause, "give each server once");
    found.assert_finding(&addrs[2], false, "on one machine", "a machine of its own");
    assert_eq!(found.node(&addrs[2])["label"], "TWIN");
}

#[test]
fn another_deployment_is_told_by_its_constants() {
    let cluster = declared(3);
    let addrs = cluster.addrs();
    let found = seen(&addrs, &["--max-ttl", "2m"]);
    found.assert_verdict(69, "0 of 3 can vote");
    let cause = "max_ttl is 2m here and 1m in the deployment";
    found.assert_finding(&addrs[0], true, cause, "redbolt init --max-ttl 2m");
    let found = seen(&addrs[..1], &[]);
    found.assert_finding(&addrs[0], true, "1 node is configured here", "list the 3 nodes");
    // A shorter `max_ttl` is no reason to stay out.
    let found = seen(&addrs, &["--max-ttl", "30s"]);
    found.assert_verdict(0, "3 of 3 can vote");
    let cause = "max_ttl is 30s here and 1m in the deployment";
    found.assert_finding(&addrs[0], false, cause, "set max_ttl to 1m here");
    found.assert_finding(&addrs[0], false, "does not vote for 61s", "61s apart");
}

#[test]
fn a_node_that_a_change_has_closed_is_told_with_what_opens_it() {
    let cluster = declared(3);
    let addr = cluster[0].addr();
    let witness = cluster[0].get(b"redbolt:witness").expect("a witness");
    let witness = String::from_utf8(witness).expect("a text");
    let open = witness.strip_suffix(" 3").expect("the number of nodes at the end");
    ok(&cluster[0], &["SET", "redbolt:witness", &format!("{open} 1003 7")]);
    let found = seen(&cluster.addrs(), &[]);
    found.assert_verdict(1, "2 of 3 can vote");
    let cause = "closed for all clients by redbolt init --reconfigure";
    found.assert_finding(&addr, true, cause, "redbolt init --reconfigure again");
    assert_eq!(found.node(&addr)["label"], "CLOSED");
    assert_eq!(found.node(&addr)["deployment"]["nodes"], 3, "{}", found.json);
}

#[test]
fn a_node_that_cannot_write_is_told_why() {
    let cluster = declared(3);
    ok(&cluster[0], &["CONFIG", "SET", "maxmemory", "1"]);
    ok(&cluster[1], &["CONFIG", "SET", "min-replicas-to-write", "1"]);
    let addrs = cluster.addrs();
    let found = seen(&addrs, &[]);
    found.assert_verdict(69, "1 of 3 can vote");
    found.assert_finding(&addrs[0], true, "cannot write: OOM", "raise maxmemory");
    found.assert_finding(&addrs[1], true, "cannot write: NOREPLICAS", "min-replicas-to-write 0");
}

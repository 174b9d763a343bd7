//! What is wrong with a node, and what to do: each with the name of the node.

use std::time::Duration;

use crate::support::clocks::Clocks;
use crate::support::flavours::Flavour;
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
    ok(&cluster[0], &["CONFIG", "SET", "repl-backlog-ttl", "0"]);
    let found = seen(&addrs, &[]);
    assert!(!found.text.contains("backlog-ttl 0"), "{}", found.text);
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
    const RULES: &[&str] = &[
        "on",
        ">pw",
        "~*",
        "+info",
        "+eval",
        "+evalsha",
        "+set",
        "+get",
        "+mget",
        "+exists",
        "+pttl",
        "+pexpire",
        "+del",
        "+time",
        "+client|tracking",
    ];
    let cluster = declared(3);
    let missing = ["+set", "+del", "+client|tracking"];
    let lists = [
        RULES.to_vec(),
        RULES.iter().copied().filter(|rule| !missing[..2].contains(rule)).collect(),
        RULES.iter().copied().filter(|rule| *rule != missing[2]).collect(),
    ];
    let mut urls = Vec::new();
    for (node, rules) in cluster.iter().zip(&lists) {
        ok(node, &[&["ACL", "SETUSER", "app", "reset"], &rules[..]].concat());
        urls.push(format!("redis://app:pw@{}", node.addr()));
    }
    let found = seen(&urls, &[]);
    found.assert_verdict(1, "2 of 3 can vote");
    let addr = cluster[1].addr();
    found.assert_finding(&addr, true, "may not run: set, del", "ACL SETUSER app +set +del;");
    assert_eq!(found.node(&addr)["missing_rights"], serde_json::json!(["set", "del"]));
    let remedy = "ACL SETUSER app +client|tracking";
    found.assert_finding(&cluster[2].addr(), false, "may not run client|tracking", remedy);
    // A user with no right to anything but to be told so.
    ok(&cluster[0], &["ACL", "SETUSER", "app", "reset", "on", ">pw"]);
    let cause = "may not run: info, eval, evalsha, set, get, mget, exists, pttl, pexpire, del";
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
        for right in [
            "info", "eval", "evalsha", "set", "get", "mget", "exists", "pttl", "pexpire", "del",
            "time",
        ] {
            ok(&node, &["ACL", "SETUSER", "app", "+@all", &format!("-{right}")]);
            let found = seen(&url, &[]);
            let node = found.node(&node.addr());
            assert_eq!(node["missing_rights"], serde_json::json!([right]), "{}", found.text);
            let label = if right == "time" { "NO WITNESS" } else { "NO RIGHTS" };
            assert_eq!(node["label"], label, "{}", found.text);
        }
        assert_eq!(node.info("rdb_changes_since_last_save"), before);
        assert_eq!(node.info("expired_keys").as_deref(), Some("0"));
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
    let mut durable = Cluster::start_with(1, &["--appendonly", "yes"]);
    let addrs = durable.addrs();
    init(&addrs, &["--fresh"]);
    durable[0].restart();
    let found = seen(&addrs, &[]);
    let cause = "it was restarted, and no client has looked at it since";
    found.assert_finding(&addrs[0], true, cause, "redbolt init, or any client");
    assert_eq!(found.node(&addrs[0])["persistence"], "aof");
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
    let offset = |node: usize| found.node(&addrs[node])["clock"]["from_others_us"].as_i64();
    assert!(offset(2).is_some_and(|offset| offset > 3_599_000_000), "{:?}", offset(2));
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
    found.assert_finding(&addrs[0], true, "1 nodes are configured here", "list the 3 nodes");
    // A shorter `max_ttl` is no reason to stay out.
    seen(&addrs, &["--max-ttl", "30s"]).assert_verdict(0, "3 of 3 can vote");
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

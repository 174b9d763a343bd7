//! What stands under a resource, on nodes that are all there.

use std::time::Duration;

use crate::holder::Held;
use crate::run::{hex, who, who_json};
use crate::support::servers::Cluster;
use crate::support::until;

/// Longer than anything takes here, shorter than a test may hang.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) const MINUTE: Duration = Duration::from_secs(60);

/// The form of a token of redlock-py: 22 characters of text.
pub(crate) const OF_REDLOCK_PY: &[u8] = b"kPq03ZsyC8aRLx5EtUv1Jn";

#[test]
fn a_lock_of_ours_is_told_with_its_time_and_its_token_in_short() {
    let cluster = Cluster::start(5);
    let held = Held::on(&cluster.addrs());
    assert!(until(PATIENCE, || who_json(&cluster.addrs(), "r")["values"][0]["nodes"] == 5));
    let short = format!("{}…{}", &held.token[..4], &held.token[36..]);
    let outcome = who(&cluster.addrs(), &["r"]);
    let token = format!("token {short} on 5 of 5 nodes, ");
    outcome.assert(0, &["\"r\" is held for another ", ", a quorum agrees", &token, " left"]);
    assert!(!outcome.out.contains(&held.token) && !outcome.err.contains(&held.token));
    assert!(outcome.out.contains(" of an engine of redbolt"), "{}", outcome.out);

    let object = who_json(&cluster.addrs(), "r");
    assert_eq!(
        (&object["state"], &object["holder"]["token"]),
        (&"held".into(), &held.token.as_str().into())
    );
    assert_eq!(object["holder"]["engine"], held.token[..24]);
    assert!(object["holder"]["attempt"].as_u64() >= Some(1), "{object}");
    let left = |name: &str| object[name].as_f64().expect("a lock has a ttl");
    assert!((0.0..=3_000.0).contains(&left("remaining_ms")), "{object}");
    assert_eq!(object["nodes"].as_array().map(Vec::len), Some(5));
    assert!(object["nodes"][4]["remaining_ms"].as_f64() <= Some(3_000.0), "{object}");

    let (code, err) = held.end();
    assert_eq!(code, Some(0), "{err}");
    who(&cluster.addrs(), &["r"]).assert(1, &["\"r\" is free"]);
}

#[test]
fn two_locks_of_one_engine_are_known_as_such() {
    let cluster = Cluster::start(3);
    let token = |nonce: u8, number: u8| [&[nonce; 12][..], &[0; 7], &[number]].concat();
    for node in cluster.iter() {
        node.set_px(b"a", &token(0xfe, 7), MINUTE);
        node.set_px(b"b", &token(0xfe, 9), MINUTE);
        node.set_px(b"c", &token(0xfd, 7), MINUTE);
    }
    let outcome = who(&cluster.addrs(), &["a", "b", "c"]);
    outcome.assert(0, &["attempt 9 of an engine of redbolt, the same as of \"a\""]);
    assert_eq!(outcome.out.matches("the same as of").count(), 1, "{}", outcome.out);
}

#[test]
fn a_lock_of_redlock_py_is_told_as_text_too() {
    let cluster = Cluster::start(3);
    for node in &cluster[..2] {
        node.set_px(b"r", OF_REDLOCK_PY, MINUTE);
    }
    let outcome = who(&cluster.addrs(), &["r"]);
    outcome
        .assert(0, &["is held for another", "token kPq03Zsy… on 2 of 3 nodes", "nothing on 1 of"]);
    assert!(!outcome.out.contains("redbolt"), "{}", outcome.out);
    let holder = &who_json(&cluster.addrs(), "r")["holder"];
    assert_eq!(holder["token"], hex(OF_REDLOCK_PY));
    assert_eq!(holder["token_text"], "kPq03ZsyC8aRLx5EtUv1Jn");
    assert!(holder["engine"].is_null() && holder["attempt"].is_null(), "{holder}");
}

#[test]
fn a_list_is_named_and_the_way_out() {
    let cluster = Cluster::start(3);
    for node in &cluster[..2] {
        node.command(&[b"RPUSH", b"r", b"x"]);
    }
    let outcome = who(&cluster.addrs(), &["r"]);
    let kind = "data of type list without a ttl";
    outcome.assert(0, &["\"r\" is no lock: other data", "on 2 of 3 nodes", kind, "by hand"]);
    let object = who_json(&cluster.addrs(), "r");
    assert_eq!((&object["state"], &object["nodes"][0]["type"]), (&"data".into(), &"list".into()));
    assert!(object["holder"].is_null(), "{object}");
}

#[test]
fn a_long_string_is_not_fetched_but_measured() {
    let cluster = Cluster::start(3);
    let (long, longest) = (vec![b'x'; 1_025], vec![b'x'; 1_024]);
    for node in cluster.iter() {
        node.set_px(b"long", &long, MINUTE);
        node.set_px(b"longest", &longest, MINUTE);
    }
    let outcome = who(&cluster.addrs(), &["-v", "long", "longest"]);
    outcome.assert(0, &["a string of 1,025 bytes", "\"longest\" is held"]);
    let object = who_json(&cluster.addrs(), "long");
    assert_eq!(object["nodes"][0]["bytes"], 1_025);
    assert!(object["nodes"][0]["token"].is_null(), "{object}");
    assert_eq!(who_json(&cluster.addrs(), "longest")["holder"]["token"], hex(&longest));
    // Three runs read the two keys of the witness, and two of them the shorter value.
    assert!(cluster.iter().all(|node| node.calls("get") == 8), "the long one is not read");
}

#[test]
fn a_key_without_a_ttl_is_told_as_one_that_no_time_ends() {
    let cluster = Cluster::start(3);
    for node in cluster.iter() {
        node.command(&[b"SET", b"r", b"somebody"]);
    }
    let outcome = who(&cluster.addrs(), &["r"]);
    outcome.assert(0, &["\"r\" is held without a ttl", "no ttl", "redbolt unlock does"]);
    let object = who_json(&cluster.addrs(), "r");
    assert_eq!(object["state"], "permanent");
    assert!(
        object["remaining_ms"].is_null() && object["nodes"][0]["remaining_ms"].is_null(),
        "{object}"
    );
}

#[test]
fn a_split_value_is_nobodys_lock_and_in_the_way() {
    let cluster = Cluster::start(5);
    for (place, node) in cluster[..4].iter().enumerate() {
        node.set_px(b"r", if place < 2 { b"first" } else { b"other" }, MINUTE);
    }
    let outcome = who(&cluster.addrs(), &["r"]);
    outcome.assert(0, &["\"r\" is not held, and not free", "token fi… on 2 of 5", "on 1 of 5"]);
    assert_eq!(who_json(&cluster.addrs(), "r")["state"], "split");
}

#[test]
fn a_value_on_a_minority_is_nobodys_lock_and_not_in_the_way() {
    let cluster = Cluster::start(5);
    for node in &cluster[..2] {
        node.set_px(b"r", b"left", MINUTE);
        node.command(&[b"SET", b"stays", b"left"]);
    }
    let outcome = who(&cluster.addrs(), &["r"]);
    outcome.assert(1, &["is free, but some nodes", "on 2 of 5 nodes", "ends with its ttl"]);
    let outcome = who(&cluster.addrs(), &["stays"]);
    outcome.assert(1, &["is free, but some nodes", "no ttl", "until somebody deletes it"]);
    let object = who_json(&cluster.addrs(), "r");
    assert_eq!((&object["state"], &object["free"]), (&"dangling".into(), &3.into()));
    assert!(object["holder"].is_null(), "{object}");
}

#[test]
fn every_node_is_told_if_asked_for() {
    let cluster = Cluster::start(3);
    cluster[0].set_px(b"r", b"0123456789abcdef", MINUTE);
    let [first, second] = [0, 1].map(|place| cluster[place].addr());
    let lines = [format!("{first}: token 01234567…, "), format!("{second}: nothing")];
    who(&cluster.addrs(), &["-v", "r"]).assert(1, &[&lines[0], &lines[1]]);
}

#[test]
fn the_prefix_of_the_clients_stands_before_the_name() {
    let cluster = Cluster::start(3);
    for node in cluster.iter() {
        node.set_px(b"locks:r", b"value", MINUTE);
    }
    who(&cluster.addrs(), &["r"]).assert(1, &[]);
    who(&cluster.addrs(), &["--prefix", "locks:", "r"]).assert(0, &["\"r\" is held"]);
}

#[test]
fn one_resource_that_is_taken_makes_the_exit_code() {
    let cluster = Cluster::start(3);
    for node in cluster.iter() {
        node.set_px(b"b", b"value", MINUTE);
    }
    let resources: Vec<_> = (0..70).map(|number| number.to_string()).chain(["b".into()]).collect();
    let resources: Vec<_> = resources.iter().map(String::as_str).collect();
    let outcome = who(&cluster.addrs(), &resources);
    outcome.assert(0, &["\"b\" is held"]);
    assert_eq!(outcome.out.matches(" is free\n").count(), 70, "{}", outcome.out);
    who(&cluster.addrs(), &resources[..70]).assert(1, &[]);
}

#[test]
fn wrong_usage_is_told_before_a_node_is_visited() {
    let nowhere = ["127.0.0.1:1".to_owned()];
    who(&[], &["r"]).assert(64, &["no nodes given"]);
    who(&nowhere, &[]).assert(64, &["<RESOURCE>"]);
    who(&nowhere, &[""]).assert(64, &["the resource is empty"]);
    who(&nowhere, &["redbolt:witness"]).assert(64, &["which is reserved"]);
    who(&nowhere, &["r", &"x".repeat(4_097)]).assert(64, &["have 4097 bytes"]);
}

#[test]
fn a_label_says_whose_lock_it_is() {
    let cluster = Cluster::start(3);
    let nodes = cluster.addrs();
    let options = ["--wait", "60s", "--ttl", "3s", "--prefix", "p:", "--label", "billing\x1b[31m"];
    let held = Held::with(&nodes, &options);
    let is_told = || {
        let found = who(&nodes, &["--prefix", "p:", "r"]);
        found.out.contains(&format!("of \"billing\\u{{1b}}[31m\", process {} on ", held.id()))
    };
    assert!(until(PATIENCE, is_told), "{}", who(&nodes, &["--prefix", "p:", "r"]).out);
    let found = who(&nodes, &["--prefix", "p:", "--json", "r"]).object();
    let client = &found["resources"][0]["holder"]["client"];
    assert_eq!(client["label"], "billing\x1b[31m");
    assert_eq!(client["process"], held.id());
    assert!(client["machine"].as_str().is_some_and(|machine| !machine.is_empty()), "{client}");
    // Whoever has no label has none.
    let other = Held::on(&nodes);
    assert!(who_json(&nodes, "r")["holder"]["client"].is_null());
    drop((held, other));
}

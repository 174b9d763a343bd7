//! A newcomer who does what the check says, and nothing else.

use std::time::Duration;

use crate::support::servers::Cluster;
use crate::support::until;
use crate::support::wire::Reply;
use crate::{init, seen};

const PATIENCE: Duration = Duration::from_secs(20);

/// Returns the words behind `start` in the remedy for a node, up to the end or a comma, a semicolon
/// or a colon.
fn words(found: &crate::Seen, address: &str, start: &str) -> Vec<String> {
    let about = |finding: &&serde_json::Value| finding["nodes"][0] == address;
    let finding = found.list("findings").iter().find(about).expect("a finding");
    let remedy = finding["remedy"].as_str().expect("text");
    let at = remedy.find(start).unwrap_or_else(|| panic!("{start:?} is not in {remedy:?}"));
    let order = remedy[at..].split([',', ';']).next().expect("a piece");
    order.split(' ').map(str::to_owned).collect()
}

#[test]
fn five_servers_three_of_them_wrong_become_good_by_the_words_of_the_check() {
    let cluster = Cluster::start(5);
    let run = |node: usize, order: &[String]| {
        let parts: Vec<_> = order.iter().map(|word| word.as_bytes()).collect();
        assert_eq!(cluster[node].command(&parts), Reply::Simple("OK".to_owned()), "{order:?}");
    };
    // Each report is taken twice, as text and as JSON, and a replica could attach in between.
    let has_replicas = |count: &str| {
        let found = || cluster[0].info("connected_slaves");
        assert!(until(PATIENCE, || found().as_deref() == Some(count)), "{:?}", found());
    };
    let order = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let mut addrs = cluster.addrs();
    let (host, port) = addrs[0].split_once(':').expect("an address");
    run(1, &order(&format!("REPLICAOF {host} {port}")));
    run(2, &order("CONFIG SET maxmemory-policy volatile-lru"));
    run(3, &order("ACL SETUSER app on >pw ~* +@all -set -pexpire"));
    addrs[3] = format!("redis://app:pw@{}", addrs[3]);
    has_replicas("1");

    let found = seen(&addrs, &[]);
    found.assert_verdict(69, "0 of 5 can vote");
    let names = cluster.addrs();
    run(1, &words(&found, &names[1], "REPLICAOF NO ONE"));
    has_replicas("0");
    run(2, &words(&found, &names[2], "CONFIG SET"));
    run(3, &words(&found, &names[3], "ACL SETUSER"));
    let found = seen(&addrs, &[]);
    found.assert_verdict(69, "0 of 5 can vote, 3 needed: NO LOCKS NOW; 5 can ");
    let init_words = words(&found, &names[0], "redbolt init --fresh");
    assert_eq!(init_words, ["redbolt", "init", "--fresh"]);
    init(&addrs, &["--fresh"]);
    let found = seen(&addrs, &[]);
    found.assert_verdict(0, "5 of 5 can vote, 3 needed: 2 may fail");
    assert!(!found.text.contains("\n! "), "{}", found.text);
}

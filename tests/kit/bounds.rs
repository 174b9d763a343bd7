//! What a cluster is at its start, and what it and its masters refuse.

use std::io::ErrorKind;

use redbolt::Client;
use redbolt::embedded::{Cluster, Options};
use redbolt::redlock::MAX_NODES;

use super::{PATIENCE, TTL, cluster};

#[test]
fn a_request_is_granted_at_once_and_excludes_other_clients() {
    let cluster = Cluster::start(3).expect("the system gives sockets and threads");
    let new = || Client::new(cluster.config()).expect("a client can be made");
    let (first, second) = (new(), new());
    let guard = first.lock("printer").ttl(TTL).blocking_try_acquire().expect("nothing to wait for");
    let error = second.lock("printer").ttl(TTL).blocking_try_acquire().expect_err("another has it");
    assert!(error.is_contended(), "{error}");
    assert!(guard.is_held());
}

#[test]
fn the_number_of_masters_is_bounded() {
    for nodes in [0, MAX_NODES + 1, usize::MAX] {
        let error = Cluster::start(nodes).expect_err("out of bounds");
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        let text = format!("{nodes} nodes given, between 1 and 16 are possible");
        assert_eq!(error.to_string(), text);
    }
    let (cluster, client) = cluster(MAX_NODES);
    assert_eq!(cluster.nodes().len(), MAX_NODES);
    assert!(
        client.lock("printer").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free").is_held()
    );
}

#[test]
fn a_master_that_is_not_there_is_an_error() {
    let (cluster, _) = cluster(3);
    assert_eq!(cluster.node(2).expect("the last").addr(), cluster.nodes()[2].addr());
    let error = cluster.node(3).expect_err("three have the indexes 0 to 2");
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert_eq!(error.to_string(), "node 3 of a cluster of 3");
}

#[test]
fn masters_with_a_password_are_in_the_configuration() {
    let options = Options::default().user("engine", "p@ss/ word");
    let cluster = Cluster::start_with(3, &options).expect("the system gives sockets and threads");
    let client = Client::new(cluster.config()).expect("a client can be made");
    assert!(
        client.lock("printer").ttl(TTL).blocking_try_acquire().expect("ready at once").is_held()
    );
    assert!(!format!("{cluster:?}").contains("ss/"), "no password is shown");

    let options = Options::default().password(&"x".repeat(20_000));
    let error = Cluster::start_with(1, &options).expect_err("no login is so long");
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
}

#[test]
fn the_bound_of_keys_is_one_of_sets_too() {
    let options = Options::default().max_keys(8);
    let cluster = Cluster::start_with(3, &options).expect("the system gives sockets and threads");
    let client = Client::new(cluster.config()).expect("a client can be made");
    let four = |set: &str| {
        let names = (0..4).map(|number| format!("{set}{number}"));
        client.lock_all(names).ttl(TTL).blocking_try_acquire()
    };
    let (_a, _b) = (four("a").expect("room for eight"), four("b").expect("room for eight"));
    let error = four("c").expect_err("no room for twelve");
    assert!(!error.is_contended(), "{error}");
    assert!(error.to_string().contains("answered with an error"), "{error}");
    assert!(cluster.nodes().iter().all(|node| node.keys().len() <= 8));
}

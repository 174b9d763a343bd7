//! Waiting for the nodes before the first lock.

use std::time::Duration;

use redbolt::redlock::RestartGuard;
use redbolt::{Client, ClientBuilder, ConnectError, NodeState, ReadyError};

use crate::fixture::{Fixture, PATIENCE, TTL, config, config_of};
use crate::support::now;
use crate::support::servers::Cluster;

#[test]
fn a_client_that_is_ready_gets_its_first_lock_in_one_attempt() {
    let cluster = Cluster::start(3);
    for threads in [1, 3] {
        let builder = ClientBuilder::from(config(&cluster)).threads(threads).ttl(TTL);
        let client = builder.blocking_connect(PATIENCE).expect("the servers are there");
        let nodes = client.nodes().blocking_wait().expect("the client lives");
        assert!(nodes.iter().all(|node| node.is_ready()), "{nodes:?}");
        for name in ["a", "b", "c", "d"] {
            drop(client.lock(name).blocking_try_acquire().expect("nobody else is there"));
        }
        assert!(client.blocking_shutdown(PATIENCE).is_complete());
    }
}

#[test]
fn a_minority_that_is_not_there_holds_nobody_up() {
    let mut cluster = Cluster::start(3);
    cluster[2].kill();
    let client = Client::new(config(&cluster)).expect("a client can be made");
    client.ready(PATIENCE).blocking_wait().expect("two of three are a quorum");
}

#[test]
fn nodes_that_are_not_there_are_named_with_their_reason() {
    let mut cluster = Cluster::start(3);
    cluster[1].kill();
    cluster[2].kill();
    let client = Client::new(config(&cluster)).expect("a client can be made");
    let start = now();
    let limit = Duration::from_millis(300);
    let error = client.ready(limit).blocking_wait().expect_err("one of three is no quorum");
    assert!(now() - start >= limit, "the nodes had their time");
    let ReadyError::NoQuorum { need, nodes } = &error else { panic!("{error}") };
    assert_eq!(*need, 2);
    let states: Vec<_> = nodes.iter().map(|node| node.is_ready()).collect();
    assert_eq!(states, [true, false, false]);
    let text = error.to_string();
    assert!(text.starts_with("no quorum: 1 of 3 nodes vote, 2 needed; "), "{text}");
    assert!(cluster.addrs().iter().all(|addr| text.contains(&addr.to_string())), "{text}");
}

/// S11: nodes that may have forgotten locks are waited for, as long as the caller wants.
#[test]
fn a_quarantine_is_waited_out() {
    let cluster = Cluster::start(3);
    let mut config = config(&cluster);
    config.redlock.restart_guard = RestartGuard::Strict;
    config.redlock.max_ttl = Duration::from_millis(500);
    config.redlock.node_timeout = Some(Duration::from_millis(50));
    let client = Client::new(config).expect("a client can be made");
    let soon = client.ready(Duration::from_millis(100)).blocking_wait();
    let Err(ReadyError::NoQuorum { nodes, .. }) = soon else { panic!("{soon:?}") };
    assert!(nodes.iter().any(|node| node.state == NodeState::Quarantined), "{nodes:?}");
    client.ready(PATIENCE).blocking_wait().expect("the quarantine ends");
}

#[test]
fn a_client_that_is_shut_down_is_never_ready() {
    let fixture = Fixture::new(1);
    fixture.client.ready(PATIENCE).blocking_wait().expect("the server is there");
    assert!(fixture.client.blocking_shutdown(PATIENCE).is_complete());
    let error = fixture.client.ready(PATIENCE).blocking_wait().expect_err("it is shut down");
    assert!(matches!(error, ReadyError::Client(_)), "{error}");
}

#[test]
fn what_cannot_be_a_client_says_why() {
    let error = |builder: ClientBuilder| match builder.blocking_connect(PATIENCE) {
        Err(ConnectError::Engine(error)) => error.to_string(),
        other => panic!("{other:?}"),
    };
    let wrong = error(Client::builder(["redis://:secret@a b"]));
    assert!(wrong.contains("has a space in it") && !wrong.contains("secret"), "{wrong}");
    let none: [&str; 0] = [];
    assert!(error(Client::builder(none)).starts_with("0 nodes given"));
    let builder = Client::builder(["127.0.0.1:1"]).max_ttl(Duration::from_millis(1));
    assert!(error(builder).starts_with("max_ttl is 1ms"));
    assert!(error(Client::builder(["127.0.0.1:1"]).threads(65)).starts_with("threads is 65"));
}

#[test]
fn requests_have_the_defaults_of_their_client() {
    let cluster = Cluster::start(3);
    let build = |wait| {
        let builder = ClientBuilder::from(config_of(cluster.addrs()));
        let builder = builder.ttl(Duration::from_secs(3)).wait(wait);
        builder.blocking_connect(PATIENCE).expect("the servers are there")
    };
    let (patient, hasty) = (build(PATIENCE), build(Duration::ZERO));
    let guard = patient.lock("a").blocking_acquire().expect("nobody has it");
    assert!(guard.remaining() <= Duration::from_secs(3), "{:?}", guard.remaining());
    let refused = hasty.lock("a").blocking_acquire().expect_err("one attempt finds it held");
    assert!(refused.is_contended(), "{refused}");
    let waiting = patient.lock("a").acquire();
    drop(guard);
    drop(waiting.blocking_wait().expect("the wait is long"));
}

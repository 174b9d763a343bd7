//! The test kit, `embedded::Cluster`, as users see it: what each ability does to locks that a
//! `Client` wants, holds or gives back.
#![cfg(feature = "net")]

mod bounds;
mod delaying;
mod keys;
mod paused_time;
mod pausing;
mod restarting;
#[path = "../support/mod.rs"]
mod support;

use std::time::Duration;

use redbolt::embedded::Cluster;
use redbolt::{Client, Config};

use support::until;

/// The ttl of locks that are not to end by themselves.
const TTL: Duration = Duration::from_secs(60);

/// For anything that is to happen. Only a failing test waits for so long.
const PATIENCE: Duration = Duration::from_secs(30);

/// Masters, and a client that is connected to all of them.
fn cluster(nodes: usize) -> (Cluster, Client) {
    let cluster = Cluster::start(nodes).expect("the system gives sockets and threads");
    let client = client(cluster.config());
    (cluster, client)
}

/// A client that is connected to all masters: a lock needs only a majority of them, and then the
/// others have no key yet.
fn client(config: Config) -> Client {
    let client = Client::new(config).expect("a client can be made");
    let are_ready = || {
        let nodes = client.nodes().blocking_wait().expect("the client lives");
        nodes.iter().all(|node| node.is_ready())
    };
    assert!(until(PATIENCE, are_ready), "all masters vote");
    client
}

/// How many masters have something at `key`.
fn standing(cluster: &Cluster, key: &str) -> usize {
    cluster.nodes().iter().filter(|node| node.get(key).is_some()).count()
}

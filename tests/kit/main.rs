//! The test kit, `embedded::Cluster`, as users see it: what each ability does to locks that a
//! `Client` wants, holds or gives back.
#![cfg(feature = "net")]

mod bounds;
mod delaying;
mod fencing;
mod joining;
mod keys;
mod paused_time;
mod pausing;
mod restarting;
#[path = "../support/mod.rs"]
mod support;

use std::time::Duration;

use redbolt::embedded::Cluster;
use redbolt::{Client, Config};

/// The ttl of locks that are not to end by themselves.
const TTL: Duration = Duration::from_secs(60);

/// For anything that is to happen. Only a failing test waits for so long.
const PATIENCE: Duration = Duration::from_secs(30);

/// Masters, and a client that is connected to all of them.
fn cluster(nodes: usize) -> (Cluster, Client) {
    let cluster = Cluster::start(nodes).expect("the system gives sockets and threads");
    let client = cluster.client().expect("all masters vote");
    (cluster, client)
}

/// A client with settings of its own that is connected to all masters: a lock needs only a majority
/// of them, and then the others have no key yet.
fn client(config: Config) -> Client {
    let client = Client::new(config).expect("a client can be made");
    client.ready_all(PATIENCE).blocking_wait().expect("all masters vote");
    client
}

/// How many masters have something at `key`.
fn standing(cluster: &Cluster, key: &str) -> usize {
    cluster.nodes().iter().filter(|node| node.get(key).is_some()).count()
}

//! What a stall of a majority leaves behind, once all nodes answer again.

use std::time::Duration;

use crate::owner::{Owner, TTL, config};
use crate::support::servers::Cluster;

/// The length of the stall: longer than the wait of the request after it.
const STALL: Duration = Duration::from_millis(1_200);

/// Replies that come late all at once are no measure of the way to a node. An engine that takes
/// them for one gives a request up whose wait is shorter, although the nodes answer at once again.
#[test]
fn a_majority_that_stopped_for_a_moment_cuts_no_wait_short_afterwards() {
    let cluster = Cluster::start(3);
    let mut config = config(cluster.addrs());
    config.redlock.node_timeout = Some(Duration::from_millis(50));
    let mut owner = Owner::new(config);
    owner.all_ready();
    let lock = owner.hold("resource");
    owner.let_go(lock);
    cluster.iter().for_each(|node| node.set_px(b"resource", b"somebody else", TTL));

    cluster[1].stop();
    cluster[2].stop();
    let end = owner.engine.now() + STALL;
    for number in 0..64_u8 {
        owner.attempt([number]);
    }
    for _ in 0..64 {
        owner.not_acquired();
    }
    owner.poll_until("the end of the stall", |owner| owner.engine.now() >= end);
    cluster[1].cont();
    cluster[2].cont();
    owner.all_answered();

    let (start, wait) = (owner.engine.now(), Duration::from_millis(800));
    owner.acquire_for("resource", TTL, wait);
    let error = owner.not_acquired();
    // The last try comes after half of what is left.
    let used = owner.engine.now() - start;
    assert!(used >= wait / 2, "given up after {used:?}: {error}");
    for node in cluster.iter() {
        node.command(&[b"DEL", b"resource"]);
    }
    owner.finish(cluster.iter());
}

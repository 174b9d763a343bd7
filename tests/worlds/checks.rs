//! What must be true of every world, looked at from outside.

use std::collections::BTreeMap;

use crate::chance::MS;
use crate::client::{Client, RESOURCES};
use crate::net::Net;

/// Nobody else believes in a resource that somebody believes in, and the reason for it: a lock that
/// is believed stands on a majority of the masters.
pub(crate) fn exclusion(net: &Net, clients: &[Client]) {
    let mut believers = BTreeMap::new();
    for (index, client) in clients.iter().enumerate() {
        let now = client.clock(net.now);
        let believed = client.locks.iter().filter(|(id, _)| client.redlock.is_held(now, **id));
        for (id, lock) in believed {
            let other = believers.insert(lock.resource, (index, *id));
            let both = (other, (index, *id));
            assert!(other.is_none(), "resource {} has two holders: {both:?}", lock.resource);
            let token = client.redlock.token(*id).expect("a held lock has a token");
            let resource = RESOURCES[lock.resource];
            let votes = net.nodes.iter().filter(|node| node.holds(net.now, resource, &token));
            let (votes, nodes) = (votes.count(), net.nodes.len());
            assert!(2 * votes > nodes, "{id:?} is believed with {votes} of {nodes} votes");
        }
    }
}

/// Every request has its event by its deadline. A client that was off the processor gets it when
/// it is back, and a request that it then starts late has its own time once more.
pub(crate) fn deadlines(net: &Net, client: &Client) {
    let slack = 10 * MS + 3 * net.chance.sleep_max;
    for (id, lock) in &client.locks {
        for due in [lock.due, lock.extension_due].into_iter().flatten() {
            assert!(net.now <= due + slack, "{:?} of {id:?} has no event", lock.state);
        }
    }
}

/// After all locks were given back and the masters were well for a while, nothing is left of them,
/// although their ttls are longer than that.
pub(crate) fn nothing_left(net: &Net, clients: &[Client]) {
    let mut dropped = 0;
    for (index, client) in clients.iter().enumerate() {
        assert!(client.locks.is_empty(), "client {index} waits for an event");
        assert_eq!(client.redlock.in_use(), 0, "client {index} leaked a slot");
        let now = client.clock(net.now);
        let nodes = client.redlock.nodes().into_iter();
        let statuses = nodes.filter_map(|node| client.redlock.node(now, node));
        dropped += statuses.map(|status| status.counters.cleanup_dropped).sum::<u64>();
    }
    // A full cleanup list leaves keys to their ttls, and says so.
    let keys: usize = net.nodes.iter().map(|node| node.keys(net.now)).sum();
    assert!(dropped > 0 || keys == 0, "{keys} keys are left on the masters");
}

/// Once every ttl is over there is nothing to be looked for either.
pub(crate) fn nothing_remembered(net: &Net, clients: &[Client]) {
    for (index, client) in clients.iter().enumerate() {
        assert_eq!(client.redlock.cleanup(), 0, "client {index} looks for tokens for ever");
        let now = client.clock(net.now);
        for node in client.redlock.nodes() {
            let status = client.redlock.node(now, node).expect("a configured node");
            assert_eq!(status.in_flight, 0, "client {index} waits for {node:?} for ever");
        }
    }
}

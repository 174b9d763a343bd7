//! Masters that once were replicas: one promoted behind the same address, and one that turned and
//! came back.

use redbolt::redlock::{LONGEST_TTL, NodeError, QuarantineReason, RestartGuard};

use crate::guarded::{DURABLE, KEY, SHORT, deaf, declare, hold_on_two, owner, quarantined};
use crate::owner::{PATIENCE, TTL};
use crate::support::flavours::leave_out;
use crate::support::servers::{Cluster, Node};
use crate::support::until;
use crate::support::wire::Reply;

/// Makes a node follow the node at this address, by `REPLICAOF`.
pub(crate) fn follow(replica: &Node, master: &str) {
    let (host, port) = master.split_once(':').expect("an address has a port");
    let reply = replica.command(&[b"REPLICAOF", host.as_bytes(), port.as_bytes()]);
    assert_eq!(reply, Reply::Simple("OK".to_owned()));
}

pub(crate) fn promote(replica: &Node) {
    let reply = replica.command(&[b"REPLICAOF", b"NO", b"ONE"]);
    assert_eq!(reply, Reply::Simple("OK".to_owned()));
}

/// FAULTS 51: replication is asynchronous, so a promoted replica may lack what its master granted.
/// Neither the witness, which the replica has from its master, nor its file speaks for it.
#[test]
fn a_promoted_replica_behind_the_address_of_its_master_does_not_vote() {
    let mut cluster = Cluster::start_with(3, &DURABLE);
    declare(&cluster, TTL);
    let replica = Node::start_with(&DURABLE);
    let mut holder = owner(cluster.iter(), RestartGuard::Durable, TTL);
    holder.all_ready();
    // The first copy starts without the usual pause.
    cluster[0].command(&[b"CONFIG", b"SET", b"repl-diskless-sync-delay", b"0"]);
    follow(&replica, &cluster[0].addr());
    let lock = holder.hold(KEY);
    holder.all_answered();
    let arrived = || replica.info("master_link_status").as_deref() == Some("up");
    assert!(until(PATIENCE, || arrived() && replica.get(KEY).is_some()), "it does not follow");
    cluster[0].kill();
    promote(&replica);
    let addr = cluster[0].addr();
    let (_, port) = addr.split_once(':').expect("an address has a port");
    if let Reply::Error(why) = replica.command(&[b"CONFIG", b"SET", b"port", port.as_bytes()]) {
        return leave_out("a failover", &why);
    }
    let left = quarantined(&mut holder, 0, QuarantineReason::Restarted);
    assert!(left > TTL / 2, "{left:?}");
    let mut rival = owner(cluster.iter(), RestartGuard::Durable, TTL);
    let left = quarantined(&mut rival, 0, QuarantineReason::FirstContact);
    assert!(left > TTL / 2, "{left:?}");
    let asked = rival.status(0).counters.asked;
    rival.attempt(KEY);
    rival.not_acquired();
    assert_eq!(rival.status(0).counters.asked, asked, "it is asked");
    holder.let_go(lock);
    rival.finish([]);
    holder.finish(&cluster[1..]);
}

/// FAULTS 47: the process is the same, but may have had the data of another one in between.
#[test]
fn a_node_that_was_a_replica_in_between_does_not_vote() {
    let cluster = Cluster::start_with(3, &DURABLE);
    declare(&cluster, TTL);
    let mut owner = owner(cluster.iter(), RestartGuard::Durable, TTL);
    owner.all_ready();
    // Nobody listens at this address.
    follow(&cluster[2], "127.0.0.1:1");
    let lock = owner.hold(KEY);
    owner.poll_until("the refusal", |owner| owner.status(2).counters.failures > 0);
    promote(&cluster[2]);
    owner.poll_until("the reconnect", |owner| owner.status(2).counters.connects > 1);
    let left = quarantined(&mut owner, 2, QuarantineReason::StoppedServing);
    assert!(left > TTL / 2, "{left:?}");
    owner.extend(lock);
    owner.extended();
    owner.let_go(lock);
    owner.finish(cluster.iter());
}

/// FAULTS 47: the node has turned twice before any client sends a request.
#[test]
fn a_round_trip_that_nobody_saw_is_found_by_the_next_handshake() {
    let cluster = Cluster::start_with(3, &DURABLE);
    declare(&cluster, TTL);
    let mut owner = owner(cluster.iter(), RestartGuard::Durable, TTL);
    owner.all_ready();
    follow(&cluster[2], "127.0.0.1:1");
    promote(&cluster[2]);
    cluster[2].command(&[b"CLIENT", b"KILL", b"TYPE", b"normal"]);
    let left = quarantined(&mut owner, 2, QuarantineReason::NewReplicationId);
    assert!(left > TTL / 2, "{left:?}");
    owner.finish(cluster.iter());
}

/// FAULTS 47: the connections of clients survive the round trip. Node 1 comes back with the data of
/// another node, and has said so before it votes.
#[test]
fn a_round_trip_is_noticed_at_once_by_whoever_tracks() {
    let (cluster, empty) = (Cluster::start_with(3, &DURABLE), Node::start());
    // The next look is days away.
    declare(&cluster, LONGEST_TTL);
    let [mut holder, mut rival] =
        [(); 2].map(|()| owner(cluster.iter(), RestartGuard::Durable, LONGEST_TTL));
    holder.all_ready();
    rival.all_ready();
    let lock = hold_on_two(&cluster, &mut holder, TTL);
    exchange(&cluster[1], &empty);
    rival.attempt(KEY);
    rival.not_acquired();
    assert!(holder.engine.is_held(lock));
    rival.poll_until("a quarantine", |rival| rival.status(1).quarantine.is_some());
    holder.let_go(lock);
    rival.finish(cluster.iter());
    holder.finish(cluster.iter());
}

/// FAULTS 47, the limit of the guard: without the right to track, nothing reveals the round trip
/// until the next look.
#[test]
fn a_round_trip_between_two_looks_is_not_noticed_by_whoever_may_not_track() {
    let (cluster, empty) = (Cluster::start_with(3, &DURABLE), Node::start());
    // The next look is days away.
    declare(&cluster, LONGEST_TTL);
    let [mut holder, mut rival] =
        [(); 2].map(|()| deaf(&cluster, RestartGuard::Durable, LONGEST_TTL));
    holder.all_ready();
    rival.all_ready();
    let lock = hold_on_two(&cluster, &mut holder, TTL);
    exchange(&cluster[1], &empty);
    let second = rival.hold(KEY);
    assert!(holder.engine.is_held(lock) && rival.engine.is_held(second));
    rival.let_go(second);
    holder.let_go(lock);
    rival.finish([]);
    holder.finish(cluster.iter());
}

/// FAULTS 47: the next look reveals the round trip.
#[test]
fn a_round_trip_is_noticed_by_the_next_look() {
    let (cluster, empty) = (Cluster::start_with(3, &DURABLE), Node::start());
    declare(&cluster, SHORT);
    let mut owner = owner(cluster.iter(), RestartGuard::Durable, SHORT);
    owner.all_ready();
    exchange(&cluster[1], &empty);
    owner.poll_until("the next look", |owner| {
        // Between the two, the node may also have been seen as a replica.
        let error = owner.status(1).error;
        matches!(error, Some(NodeError::OtherData | NodeError::Replica | NodeError::Server(_)))
            || owner.status(1).quarantine.is_some()
    });
    owner.finish(cluster.iter());
}

/// Lets a node have the data of another one, without a break of its connections.
fn exchange(node: &Node, other: &Node) {
    other.command(&[b"CONFIG", b"SET", b"repl-diskless-sync-delay", b"0"]);
    node.command(&[b"SET", b"mark", b""]);
    follow(node, &other.addr());
    // A loading node answers with an error.
    let forgets = || node.command(&[b"GET", b"mark"]) == Reply::Null;
    assert!(until(PATIENCE, forgets), "it keeps its data");
    promote(node);
}

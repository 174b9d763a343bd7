//! Names that lead to another process than before: a spare that takes over, a former member that
//! comes back, a promoted replica, and a master with a past.
//!
//! A proxy stands for a name, and leads to one process after another.

use std::time::Duration;

use redbolt::NodeState;
use redbolt::redlock::{QuarantineReason, RestartGuard};

use crate::guarded::{KEY, declare, hold_on_two, owner, quarantined};
use crate::owner::{Owner, PATIENCE, TTL, config};
use crate::replicas::{follow, promote};
use crate::support::proxy::Proxy;
use crate::support::servers::{Cluster, Node};
use crate::support::until;
use crate::support::wire::Reply;

/// A longest ttl short enough for a test to wait, and long enough for a slow machine.
const SPAN: Duration = Duration::from_secs(4);

/// Gives each node a name.
fn names(nodes: &[Node]) -> Vec<Proxy> {
    nodes.iter().map(|node| Proxy::start(&node.addr())).collect()
}

/// Returns an owner that knows the nodes by these names.
fn by_name(names: &[Proxy], max_ttl: Duration) -> Owner {
    let mut config = config(names.iter().map(Proxy::addr));
    config.redlock.restart_guard = RestartGuard::On;
    config.redlock.max_ttl = max_ttl;
    Owner::new(config)
}

/// Waits until this server has been up for longer than a span.
fn warm_up(node: &Node, span: Duration) {
    let uptime = || node.info("uptime_in_seconds").and_then(|text| text.parse().ok());
    let is_warm = || uptime().is_some_and(|seconds| Duration::from_secs(seconds) > span);
    assert!(until(PATIENCE, is_warm), "{:?}", uptime());
}

/// The spare knows nothing of the lock, and a majority of it and of the node without the lock would
/// grant the lock again. Its uptime says nothing about its data.
#[test]
fn a_warm_spare_behind_the_name_of_a_master_does_not_vote() {
    let (mut cluster, spare) = (Cluster::start(3), Node::start());
    declare(&cluster, SPAN);
    let names = names(&cluster);
    let (mut holder, mut rival) = (by_name(&names, SPAN), by_name(&names, SPAN));
    holder.all_ready();
    rival.all_ready();
    warm_up(&spare, SPAN);
    let lock = hold_on_two(&cluster, &mut holder, SPAN);
    let wanted = rival.acquire_for(KEY, SPAN, PATIENCE);
    rival.poll_until("a refusal", |rival| rival.status(0).counters.refused > 0);
    cluster[1].kill();
    names[1].move_to(&spare.addr());
    assert_eq!(rival.acquired(), wanted);
    assert!(!holder.engine.is_held(lock), "two hold it");
    holder.lost();
    rival.let_go(wanted);
    rival.finish([]);
    holder.finish([&cluster[0], &cluster[2], &spare]);
}

/// The same with a long span, and what clients are told that wait, or that come later.
#[test]
fn a_warm_spare_is_in_quarantine_for_a_whole_span() {
    let (mut cluster, spare) = (Cluster::start(3), Node::start());
    declare(&cluster, TTL);
    let names = names(&cluster);
    let (mut holder, mut rival) = (by_name(&names, TTL), by_name(&names, TTL));
    holder.all_ready();
    rival.all_ready();
    let lock = hold_on_two(&cluster, &mut holder, TTL);
    let wanted = rival.acquire(KEY);
    rival.poll_until("a refusal", |rival| rival.status(0).counters.refused > 0);
    cluster[1].kill();
    names[1].move_to(&spare.addr());
    let left = quarantined(&mut rival, 1, QuarantineReason::Restarted);
    assert!(left > TTL / 2, "{left:?}");
    let mut late = by_name(&names, TTL);
    let left = quarantined(&mut late, 1, QuarantineReason::FirstContact);
    assert!(left > TTL / 2, "{left:?}");
    late.attempt(KEY);
    late.not_acquired();
    assert_eq!((late.status(1).counters.asked, spare.get(KEY)), (0, None));
    assert!(holder.engine.is_held(lock));
    rival.cancel(wanted);
    rival.not_acquired();
    holder.let_go(lock);
    late.finish([]);
    rival.finish([]);
    holder.finish([&cluster[0], &cluster[2], &spare]);
}

/// The name moves to a spare, which serves for so long that it grants locks, and back to the old
/// process. That has its witness still, and lacks what the spare has granted.
#[test]
fn a_former_member_is_not_credited_with_the_time_in_which_it_was_away() {
    let (mut cluster, mut other) = (Cluster::start(3), Node::start());
    declare(&cluster, SPAN);
    let names = names(&cluster);
    let mut holder = by_name(&names, SPAN);
    holder.all_ready();
    names[1].move_to(&other.addr());
    std::mem::swap(&mut cluster[1], &mut other);
    quarantined(&mut holder, 1, QuarantineReason::Restarted);
    holder.all_ready();
    let lock = hold_on_two(&cluster, &mut holder, SPAN);
    names[1].move_to(&other.addr());
    let mut rival = by_name(&names, SPAN);
    let wanted = rival.acquire_for(KEY, SPAN, PATIENCE);
    quarantined(&mut rival, 1, QuarantineReason::OutOfService);
    assert_eq!(rival.acquired(), wanted);
    assert!(!holder.engine.is_held(lock), "two hold it");
    holder.lost();
    rival.let_go(wanted);
    rival.finish([]);
    holder.finish([&cluster[0], &cluster[2], &other]);
}

/// A client that knew the spare credits nothing to the process that comes back.
#[test]
fn a_client_that_knew_the_spare_gives_the_former_member_no_credit() {
    let (cluster, spare) = (Cluster::start(3), Node::start());
    declare(&cluster, TTL);
    let names = names(&cluster);
    let mut owner = by_name(&names, TTL);
    owner.all_ready();
    for to in [&spare, &cluster[1]] {
        let connects = owner.status(1).counters.connects;
        names[1].move_to(&to.addr());
        owner.poll_until("the move", |owner| owner.status(1).counters.connects > connects);
        let left = quarantined(&mut owner, 1, QuarantineReason::Restarted);
        assert!(left > TTL / 2, "{left:?}");
    }
    owner.finish(cluster.iter());
}

/// A promoted replica forgets that it ever was one: `second_repl_offset` goes with the backlog.
#[test]
fn a_promoted_replica_that_hides_its_past_does_not_vote() {
    let (mut cluster, replica) = (Cluster::start(3), Node::start());
    declare(&cluster, TTL);
    cluster[1].command(&[b"CONFIG", b"SET", b"repl-diskless-sync-delay", b"0"]);
    replica.command(&[b"CONFIG", b"SET", b"repl-backlog-ttl", b"1"]);
    follow(&replica, &cluster[1].addr());
    // The witness comes to the replica too.
    assert!(until(PATIENCE, || replica.get(b"redbolt:witness").is_some()), "it does not follow");
    let names = names(&cluster);
    cluster[1].kill();
    promote(&replica);
    let is_hidden = || replica.info("second_repl_offset").as_deref() == Some("-1");
    assert!(until(PATIENCE, is_hidden), "{:?}", replica.info("second_repl_offset"));
    names[1].move_to(&replica.addr());
    let mut owner = by_name(&names, TTL);
    let left = quarantined(&mut owner, 1, QuarantineReason::FirstContact);
    assert!(left > TTL / 2, "{left:?}");
    owner.attempt(KEY);
    owner.acquired();
    assert_eq!(owner.status(1).counters.asked, 0);
}

/// A master that had a replica and was restarted from its file says so for ever. One client waits
/// for a span, and the programs that come later do not.
#[test]
fn a_restarted_master_that_once_had_a_replica_serves_one_program_after_another() {
    let mut nodes = [Node::start_with(&["--repl-diskless-sync-delay", "0"])];
    let replica = Node::start();
    follow(&replica, &nodes[0].addr());
    let is_up = || replica.info("master_link_status").as_deref() == Some("up");
    assert!(until(PATIENCE, is_up), "it does not follow");
    // The file must be a later one than that from which the replica was filled.
    nodes[0].command(&[b"SET", b"mark", b""]);
    // The file for the replica may still be written.
    let is_saved = || nodes[0].command(&[b"SAVE"]) == Reply::Simple("OK".to_owned());
    assert!(until(PATIENCE, is_saved), "it does not save");
    nodes[0].restart();
    nodes[0].command(&[b"DEL", b"mark"]);
    let past = nodes[0].info("second_repl_offset");
    assert_ne!(past.as_deref(), Some("-1"), "it has no past");
    let mut first = owner(&nodes, RestartGuard::On, SPAN);
    quarantined(&mut first, 0, QuarantineReason::FirstContact);
    first.all_ready();
    first.finish(&nodes);
    for _ in 0..3 {
        let mut program = owner(&nodes, RestartGuard::On, SPAN);
        let state = |owner: &Owner| owner.status(0).state;
        program.poll_until("the handshake", |owner| {
            matches!(state(owner), NodeState::Ready | NodeState::Quarantined)
        });
        assert_eq!(program.status(0).quarantine, None);
        let lock = program.acquire_for(KEY, SPAN, Duration::ZERO);
        assert_eq!(program.acquired(), lock);
        program.let_go(lock);
        program.finish(&nodes);
    }
}

//! Looks at real servers: what changes under connected clients, idle deployments, old clients, and
//! clients with other settings.

use std::time::Duration;

use redbolt::redlock::{NodeError, Quarantine, QuarantineReason, RestartGuard};
use redbolt::{AcquireError, NodeState};

use crate::guarded::{KEY, SHORT, declare, owner};
use crate::owner::{Owner, PATIENCE, TTL, config};
use crate::support::servers::{Cluster, Node};
use crate::support::until;
use crate::support::wire::Reply;

/// Returns whether the handshake with a node has ended.
fn is_known(owner: &Owner, index: usize) -> bool {
    matches!(owner.status(index).state, NodeState::Ready | NodeState::Quarantined)
}

/// Waits until nobody has looked at a node for longer than a span.
fn be_idle(node: &Node, span: Duration) {
    let number = |bytes: &[u8]| String::from_utf8_lossy(bytes).parse::<u128>().ok();
    let seen = || {
        let stamp = node.get(b"redbolt:seen")?;
        number(stamp.split(|byte| *byte == b' ').next()?)
    };
    let time = || match node.command(&[b"TIME"]) {
        Reply::Array(parts) => match &parts[..] {
            [Reply::Bulk(seconds), Reply::Bulk(micros)] => {
                Some(number(seconds)? * 1_000_000 + number(micros)?)
            }
            _ => None,
        },
        _ => None,
    };
    let is_idle = || {
        let (seen, time) = (seen().expect("somebody looked"), time().expect("a time"));
        time > seen + span.as_micros() * 3 / 2
    };
    assert!(until(PATIENCE, is_idle));
}

#[test]
fn a_flush_under_connected_clients_is_noticed_by_all_of_them() {
    let cluster = Cluster::start(3);
    declare(&cluster, SHORT);
    let mut owners = [(); 2].map(|()| owner(cluster.iter(), RestartGuard::On, SHORT));
    owners.iter_mut().for_each(Owner::all_ready);
    for node in cluster.iter() {
        assert_eq!(node.command(&[b"FLUSHALL"]), Reply::Simple("OK".to_owned()));
    }
    for owner in &mut owners {
        let mut noticed = [false; 3];
        owner.poll_until("a quarantine of each node", |owner| {
            for (index, noticed) in noticed.iter_mut().enumerate() {
                let reason = |quarantine: Quarantine| quarantine.reason;
                let why = owner.status(index).quarantine.map(reason);
                *noticed |= why == Some(QuarantineReason::DataLost);
            }
            noticed == [true; 3]
        });
    }
    owners.into_iter().for_each(|owner| owner.finish(cluster.iter()));
}

#[test]
fn a_node_that_is_told_to_evict_keys_ends_to_vote_under_its_clients() {
    let cluster = Cluster::start(3);
    declare(&cluster, SHORT);
    let mut owner = owner(cluster.iter(), RestartGuard::On, SHORT);
    owner.all_ready();
    let set = |index: usize, name: &[u8], value: &[u8]| {
        let reply = cluster[index].command(&[b"CONFIG", b"SET", name, value]);
        assert_eq!(reply, Reply::Simple("OK".to_owned()));
    };
    // The last of them has no limit of memory yet.
    for (index, policy) in
        [&b"allkeys-random"[..], b"volatile-ttl", b"allkeys-lru"].iter().enumerate()
    {
        set(index, b"maxmemory-policy", policy);
    }
    set(0, b"maxmemory", b"1gb");
    set(1, b"maxmemory", b"1gb");
    for index in 0..3 {
        owner.failed_with(index, NodeError::EvictsKeys);
    }
    owner.acquire_for(KEY, SHORT, Duration::ZERO);
    let error = owner.not_acquired();
    assert!(matches!(error, AcquireError::NoQuorum(_)), "{error}");
    owner.finish(cluster.iter());
}

/// One-shot programs that come more than a span apart find that nobody looked at any node
/// meanwhile, and need not wait.
#[test]
fn an_idle_deployment_serves_at_once() {
    let mut cluster = Cluster::start(3);
    declare(&cluster, SHORT);
    for down in [None, Some(2)] {
        if let Some(index) = down {
            cluster[index].kill();
        }
        be_idle(&cluster[0], SHORT);
        be_idle(&cluster[1], SHORT);
        let mut owner = owner(cluster.iter(), RestartGuard::On, SHORT);
        owner.poll_until("an answer or an error of each", |owner| {
            (0..3).all(|index| match down {
                Some(down) if down == index => owner.status(index).counters.failures > 0,
                _ => is_known(owner, index),
            })
        });
        for index in (0..3).filter(|index| Some(*index) != down) {
            assert_eq!(owner.status(index).quarantine, None, "node {index}, {down:?} is down");
        }
        let lock = owner.acquire_for(KEY, SHORT, Duration::ZERO);
        assert_eq!(owner.acquired(), lock);
        owner.let_go(lock);
        owner.finish(cluster.iter().take(2));
    }
}

/// A client of an older release knows nothing of a witness. During an upgrade, both kinds are
/// there.
#[test]
fn clients_with_and_without_a_witness_exclude_each_other() {
    let cluster = Cluster::start(3);
    let set = |node: &Node| node.command(&[b"SET", KEY, b"old", b"NX", b"PX", b"60000"]);
    let mut owner = owner(cluster.iter(), RestartGuard::On, SHORT);
    // The old one comes while the new one waits for its first span.
    for node in &cluster[..2] {
        assert_eq!(set(node), Reply::Simple("OK".to_owned()));
    }
    owner.all_ready();
    owner.acquire_for(KEY, SHORT, Duration::ZERO);
    let error = owner.not_acquired();
    assert!(matches!(error, AcquireError::Held { .. }), "{error}");
    for node in &cluster[..2] {
        assert_eq!(node.get(KEY).as_deref(), Some(&b"old"[..]));
        node.command(&[b"DEL", KEY]);
    }
    let lock = owner.acquire_for(KEY, SHORT, PATIENCE);
    assert_eq!(owner.acquired(), lock);
    owner.all_answered();
    let given = cluster.iter().filter(|node| set(node) == Reply::Simple("OK".to_owned())).count();
    assert!(given < 2 || !owner.engine.is_held(lock), "two hold it");
    for node in cluster.iter() {
        node.command(&[b"DEL", KEY]);
    }
    owner.release(lock);
    owner.released();
    owner.finish(cluster.iter());
}

#[test]
fn a_client_with_another_max_ttl_or_number_of_nodes_is_told_both_values() {
    let cluster = Cluster::start(3);
    declare(&cluster, SHORT);
    let mut longer = owner(cluster.iter(), RestartGuard::On, TTL);
    let [ours, recorded] = [TTL, SHORT].map(|ttl| ttl.as_millis() as u64);
    let error = NodeError::MaxTtlTooLong { ours, recorded };
    (0..3).for_each(|index| longer.failed_with(index, error));
    let text = error.to_string();
    assert!(text.contains("1m here") && text.contains("2s in the deployment"), "{text}");
    longer.finish(cluster.iter());
    let mut fewer = owner(&cluster[..2], RestartGuard::On, SHORT);
    let error = NodeError::OtherNodes { ours: 2, recorded: 3 };
    (0..2).for_each(|index| fewer.failed_with(index, error));
    fewer.finish(cluster.iter());
    // A shorter one is fine.
    let mut config = config(cluster.addrs());
    (config.redlock.restart_guard, config.redlock.max_ttl) = (RestartGuard::On, SHORT / 2);
    let mut shorter = Owner::new(config);
    shorter.all_ready();
    shorter.finish(cluster.iter());
}

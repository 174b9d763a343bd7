//! Few locks in flight are not kept waiting for each other. How long many are is tested where the
//! time is an input, in `src/net/lull.rs`.

use redbolt::Event;

use crate::owner::Owner;
use crate::support::proxy::{Proxy, Rule, Way};
use crate::support::servers::Cluster;

#[test]
fn a_lone_lock_waits_for_nobody() {
    let cluster = Cluster::start(5);
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    for number in 0..100 {
        let lock = owner.hold(format!("lone/{number}"));
        owner.let_go(lock);
    }
    assert_eq!(owner.engine.io_counters().pauses, 0);
    owner.finish(cluster.iter());
}

/// Replies let releases go that have waited for them, and make the owner ask for more: all of that
/// in one write, or a crowd would cost twice the system calls.
#[test]
fn in_a_crowd_what_replies_cause_leaves_with_what_the_owner_does_next() {
    let cluster = Cluster::start(1);
    let proxy = Proxy::start(&cluster.addrs()[0]);
    let mut owner = Owner::of(vec![proxy.addr()]);
    owner.all_ready();
    let wanted = |owner: &mut Owner, kind: &str| {
        (0..100).for_each(|number| _ = owner.attempt(format!("{kind}/{number}")));
    };
    wanted(&mut owner, "first");
    let locks: Vec<_> = (0..100).map(|_| owner.acquired()).collect();
    proxy.set(Way::Replies, Rule::Hold);
    let (first, others) = locks.split_at(50);
    first.iter().for_each(|lock| owner.release(*lock));
    owner.turn();
    // These wait for the answer to the first group.
    others.iter().for_each(|lock| owner.release(*lock));
    wanted(&mut owner, "second");
    owner.turn();
    let before = owner.engine.io_counters().writes;
    proxy.set(Way::Replies, Rule::Pass);
    let mut event = owner.next();
    assert_eq!(owner.engine.io_counters().writes, before, "the owner can add to what leaves");
    for _ in 0..299 {
        match event {
            Event::Acquired { lock, .. } => owner.release(lock),
            Event::Released { .. } => {}
            other => panic!("{other:?}"),
        }
        event = owner.next();
    }
    owner.finish(cluster.iter());
}

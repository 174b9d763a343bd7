//! Few locks in flight are not kept waiting for each other. How long many are is tested where the
//! time is an input, in `src/net/lull.rs`.

use std::time::Duration;

use redbolt::Event;

use crate::owner::{Owner, config};
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
fn in_a_crowd_releases_leave_with_what_the_owner_does_next() {
    let cluster = Cluster::start(1);
    let proxy = Proxy::start(&cluster.addrs()[0]);
    let mut config = config(vec![proxy.addr()]);
    // An engine looks at its node several times in this time, and a look is a write.
    config.redlock.max_ttl = Duration::from_secs(24 * 3600);
    let mut owner = Owner::new(config);
    owner.all_ready();
    // On a busy machine the owner may be away for too long.
    let has_waited = (0..20).any(|round| releases_wait(&mut owner, &proxy, round));
    assert!(has_waited, "the owner can add to what leaves");
    owner.finish(cluster.iter());
}

/// Returns whether the releases that a reply lets go have waited for their owner.
fn releases_wait(owner: &mut Owner, proxy: &Proxy, round: u32) -> bool {
    const MANY: usize = 300;
    let wanted = |owner: &mut Owner, kind: &str| {
        (0..MANY).for_each(|number| _ = owner.attempt(format!("{kind}/{round}/{number}")));
    };
    wanted(owner, "first");
    let locks: Vec<_> = (0..MANY).map(|_| owner.acquired()).collect();
    proxy.set(Way::Replies, Rule::Hold);
    let (first, others) = locks.split_at(50);
    first.iter().for_each(|lock| owner.release(*lock));
    owner.turn();
    // These wait for the answer to the first group.
    others.iter().for_each(|lock| owner.release(*lock));
    wanted(owner, "second");
    // The second turn follows the first at once.
    (0..2).for_each(|_| owner.turn());
    let before = owner.engine.io_counters().writes;
    proxy.set(Way::Replies, Rule::Pass);
    let mut event = owner.next();
    let have_waited = owner.engine.io_counters().writes == before;
    if have_waited {
        // The owner is told to be back at once.
        assert!(owner.engine.next_deadline().is_some_and(|at| at <= owner.engine.now()));
    }
    for _ in 1..3 * MANY {
        match event {
            Event::Acquired { lock, .. } => owner.release(lock),
            Event::Released { .. } => {}
            other => panic!("{other:?}"),
        }
        event = owner.next();
    }
    have_waited
}

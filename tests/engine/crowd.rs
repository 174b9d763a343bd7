//! Few locks in flight are not kept waiting for each other. How long many are is tested where the
//! time is an input, in `src/net/lull.rs`.

use crate::owner::Owner;
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

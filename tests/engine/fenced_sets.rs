//! Fencing numbers of locks on several resources, on real servers (S13).

use redbolt::Event;

use crate::owner::Owner;
use crate::support::servers::Cluster;

#[test]
fn a_number_of_a_set_is_larger_than_those_of_all_holders_of_any_of_its_resources() {
    let cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    let sets: [&[&str]; 6] = [&["a"], &["a", "b"], &["b"], &["c", "b"], &["c"], &["c", "a"]];
    let mut last = None;
    for round in 0..20 {
        for set in sets {
            let (lock, fence) = owner.hold_all_fenced(set);
            assert!(Some(fence) > last, "{set:?} in round {round}: {fence} behind {last:?}");
            owner.engine.draw_fence(lock).expect("the lock is held");
            let drawn = match owner.next() {
                Event::Fenced { fence, .. } => fence,
                other => panic!("{other:?}"),
            };
            assert!(drawn > fence, "{set:?} in round {round}");
            last = Some(drawn);
            owner.let_go(lock);
        }
    }
    owner.finish(cluster.iter());
}

/// One node has a larger number for one resource of the set than the others have.
#[test]
fn the_number_of_a_set_is_raised_above_the_stripes_of_all_nodes() {
    let mut cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    let (lock, before) = owner.hold_all_fenced(&["a", "b"]);
    owner.let_go(lock);
    // 3300 is the stripe of `b`.
    let ahead = (before.get() + 60_000_000).to_string();
    cluster[0].command(&[b"HSET", b"redbolt:fence", b"3300", ahead.as_bytes()]);
    cluster[1].kill();
    let (lock, fence) = owner.hold_all_fenced(&["a", "b"]);
    assert!(fence.get() > before.get() + 60_000_000, "behind the one that is ahead");
    assert!(owner.engine.counters().raised > 0);
    owner.let_go(lock);
    for resource in ["a", "b"] {
        let (lock, next) = owner.hold_fenced(resource);
        assert!(next > fence, "{resource}");
        owner.let_go(lock);
    }
    owner.finish([&cluster[0], &cluster[2]]);
}

//! Masters that are far away, with the default settings.

use std::time::Duration;

use redbolt::redlock::RestartGuard;
use redbolt::{AcquireError, Config, NodeState};

use crate::owner::{Owner, PATIENCE};
use crate::support::far::FarAway;
use crate::support::now;
use crate::support::servers::Cluster;

/// Returns an owner with the default settings, behind proxies with these ways in milliseconds.
fn owner(cluster: &Cluster, ways: &[u64]) -> (Owner, Vec<FarAway>) {
    let proxies = FarAway::start_all(&cluster.addrs(), ways);
    let mut config = Config::new(proxies.iter().map(FarAway::addr)).expect("addresses");
    // The servers have just been started.
    config.redlock.restart_guard = RestartGuard::Off;
    let mut owner = Owner::new(config);
    owner.all_ready();
    (owner, proxies)
}

/// Acquires, extends and releases some locks. Returns the median of how long the first took.
fn median(owner: &mut Owner) -> Duration {
    let mut times: Vec<_> = (0..5)
        .map(|_| {
            let start = now();
            let lock = owner.hold("r");
            let took = now() - start;
            owner.extend(lock);
            owner.extended();
            owner.let_go(lock);
            took
        })
        .collect();
    times.sort_unstable();
    times[2]
}

#[test]
fn locks_on_far_masters_are_granted_by_default() {
    for way in [15, 30, 75, 150] {
        let cluster = Cluster::start(3);
        let (mut owner, _proxies) = owner(&cluster, &[way; 3]);
        let took = median(&mut owner);
        assert!(took >= Duration::from_millis(2 * way), "{way} ms there and back: {took:?}");
        owner.finish(cluster.iter());
    }
}

#[test]
fn the_third_fastest_of_five_decides() {
    let cluster = Cluster::start(5);
    let (mut owner, _proxies) = owner(&cluster, &[0, 150, 30, 0, 75]);
    let took = median(&mut owner);
    assert!(took >= Duration::from_millis(60), "{took:?}");
    for index in 0..5 {
        assert_eq!(owner.status(index).state, NodeState::Ready);
        assert!(owner.status(index).counters.granted > 0, "node {index} takes part");
    }
    owner.finish(cluster.iter());
}

#[test]
fn a_ttl_that_is_too_short_for_the_distance_is_refused_with_both() {
    let cluster = Cluster::start(3);
    let (mut owner, _proxies) = owner(&cluster, &[75; 3]);
    owner.acquire_for("r", Duration::from_millis(100), Duration::ZERO);
    let error = owner.not_acquired();
    let AcquireError::TooFar { round_trip, limit, .. } = error else {
        panic!("another reason: {error}");
    };
    assert!(round_trip >= Duration::from_millis(150), "{round_trip:?}");
    assert_eq!(limit, Duration::from_millis(25));
    // With more of a ttl, the same nodes do.
    let lock = owner.acquire_for("r", Duration::from_secs(60), PATIENCE);
    assert_eq!(owner.acquired(), lock);
    owner.let_go(lock);
    owner.finish(cluster.iter());
}

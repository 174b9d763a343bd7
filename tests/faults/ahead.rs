//! Servers whose clocks run ahead of that of the client (S9). To the client a stop of its own
//! machine looks the same, because no clock of the machine tells.

use std::time::Duration;

use redbolt::redlock::RestartGuard;
use redbolt::{Client, Event, LostReason};

use crate::guarded::{KEY, declare, owner};
use crate::owner::{Owner, PATIENCE, config};
use crate::support::clocks::Clocks;
use crate::support::servers::Node;
use crate::support::until;

/// The longest ttl. The looks come each third of it.
const LONG: Duration = Duration::from_secs(15);

/// Starts three masters with the right time, and an owner who looks at them.
fn start() -> Option<(Clocks, Vec<Node>, Owner)> {
    let clocks = Clocks::new(3)?;
    let nodes = clocks.start_all();
    declare(&nodes, LONG);
    let mut owner = owner(&nodes, RestartGuard::On, LONG);
    owner.all_ready();
    Some((clocks, nodes, owner))
}

/// Waits for one more look at each node.
fn looked(owner: &mut Owner, nodes: &[Node]) {
    let looks = || nodes.iter().map(|node| node.calls("time"));
    let before: Vec<_> = looks().collect();
    owner.poll_until("looks", |_| looks().zip(&before).all(|(now, before)| now > *before));
    owner.all_answered();
}

#[test]
fn a_lock_is_lost_once_a_majority_of_the_clocks_is_seen_ahead() {
    let Some((clocks, nodes, mut owner)) = start() else { return };
    let lock = owner.acquire_for(KEY, LONG, PATIENCE);
    owner.acquired();
    (0..2).for_each(|node| clocks.set(node, LONG));
    assert_eq!(owner.lost(), LostReason::ClockBehind);
    assert!(!owner.engine.is_held(lock));
    owner.finish(&nodes);
}

#[test]
fn a_lock_is_shortened_and_can_be_extended_once_a_majority_of_the_clocks_is_seen_ahead() {
    const AHEAD: Duration = Duration::from_secs(4);
    let Some((clocks, nodes, mut owner)) = start() else { return };
    let lock = owner.acquire_for(KEY, LONG, PATIENCE);
    owner.acquired();
    let before = owner.engine.now() + owner.engine.remaining(lock);
    (0..3).for_each(|node| clocks.set(node, AHEAD));
    let Event::Shortened { valid_until, .. } = owner.next() else { panic!("{owner:?}") };
    assert!(valid_until + AHEAD <= before, "{valid_until:?}, {before:?}");
    owner.extend_for(lock, LONG);
    owner.extended();
    assert!(owner.engine.now() + owner.engine.remaining(lock) > valid_until);
    owner.let_go(lock);
    owner.finish(&nodes);
}

#[test]
fn the_clock_of_one_server_shortens_nothing() {
    let Some((clocks, nodes, mut owner)) = start() else { return };
    let lock = owner.acquire_for(KEY, LONG, PATIENCE);
    owner.acquired();
    let before = owner.engine.now() + owner.engine.remaining(lock);
    clocks.set(1, LONG);
    looked(&mut owner, &nodes);
    let counters = owner.engine.counters();
    assert_eq!((counters.shortened, counters.lost.clock_behind), (0, 0));
    let after = owner.engine.now() + owner.engine.remaining(lock);
    assert!(after + Duration::from_secs(1) > before, "{after:?}, {before:?}");
    owner.let_go(lock);
    owner.finish(&nodes);
}

/// The guard has a deadline of its own, which follows.
#[test]
fn a_guard_is_shortened_with_its_lock() {
    const AHEAD: Duration = Duration::from_secs(4);
    let Some((clocks, nodes, owner)) = start() else { return };
    owner.finish([]);
    let mut config = config(nodes.iter().map(Node::addr));
    config.redlock.restart_guard = RestartGuard::On;
    config.redlock.max_ttl = LONG;
    let client = Client::new(config).expect("a client can be made");
    let guard = client.lock(KEY).ttl(LONG).wait(PATIENCE).blocking_acquire().expect("it is free");
    let before = guard.valid_until();
    (0..2).for_each(|node| clocks.set(node, AHEAD));
    assert!(until(PATIENCE, || guard.valid_until() + AHEAD <= before));
    assert!(guard.is_held());
    let counters = client.counters().blocking_wait().expect("the client is open");
    assert_eq!(counters.locks.shortened, 1);
}

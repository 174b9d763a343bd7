//! The engine in somebody else's loop, and the ways to wait and to leave.

use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};
use redbolt::{AcquireError, Engine, Event, NodeState};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::owner::{Owner, PATIENCE, TTL, config, node};
use crate::support::fake::{Action, Fake};
use crate::support::master::Master;
use crate::support::servers::{Cluster, Node};
use crate::support::until;

/// A loop that knows nothing of the engine but its descriptor.
struct Loop {
    poll: Poll,
    events: Events,
}

impl Loop {
    fn around(owner: &Owner) -> Self {
        let poll = Poll::new().expect("an epoll");
        let fd = owner.engine.as_raw_fd();
        let mut source = SourceFd(&fd);
        poll.registry().register(&mut source, Token(0), Interest::READABLE).expect("registering");
        Self { poll, events: Events::with_capacity(1) }
    }

    /// Sleeps until the descriptor wakes it, then lets the engine work without waiting.
    fn turn(&mut self, owner: &mut Owner) {
        self.poll.poll(&mut self.events, Some(PATIENCE)).expect("polling works");
        assert!(!self.events.is_empty(), "the descriptor never became readable: {owner:?}");
        owner.engine.poll(Some(Duration::ZERO)).expect("polling works");
    }

    fn next(&mut self, owner: &mut Owner) -> Event {
        loop {
            if let Some(event) = owner.next_now() {
                return event;
            }
            self.turn(owner);
        }
    }
}

#[test]
fn a_foreign_loop_is_woken_for_replies() {
    let cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    let mut outer = Loop::around(&owner);
    // The first connections are opened by the first poll.
    owner.engine.poll(Some(Duration::ZERO)).expect("polling works");
    for round in 0..20_u8 {
        let lock = owner.acquire([round]);
        owner.flush();
        let event = outer.next(&mut owner);
        assert!(matches!(event, Event::Acquired { .. }), "{event:?}");
        owner.release(lock);
        owner.flush();
        let event = outer.next(&mut owner);
        assert!(matches!(event, Event::Released { .. }), "{event:?}");
    }
    owner.finish(cluster.iter());
}

/// Nothing but the deadline happens here: the nodes keep silent.
#[test]
fn a_foreign_loop_is_woken_for_the_end_of_an_attempt() {
    let silent = || Fake::after_handshake(Master::new(), |_| Action::Silence);
    let fakes = [silent(), silent(), silent()];
    let mut config = config(fakes.iter().map(Fake::addr));
    config.redlock.node_timeout = Some(Duration::from_millis(50));
    let mut owner = Owner::new(config);
    owner.all_ready();
    let mut outer = Loop::around(&owner);
    for resource in ["a", "b"] {
        owner.attempt(resource);
        owner.flush();
        let event = outer.next(&mut owner);
        let Event::AcquireFailed { error: AcquireError::NoQuorum(_), .. } = event else {
            panic!("{event:?}");
        };
    }
}

#[test]
fn a_foreign_loop_is_woken_for_the_end_of_a_validity_and_for_a_retry() {
    let cluster = Cluster::start(1);
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    let mut outer = Loop::around(&owner);
    let ttl = Duration::from_millis(300);
    let short = owner.acquire_for("short", ttl, PATIENCE);
    owner.flush();
    let event = outer.next(&mut owner);
    assert!(matches!(event, Event::Acquired { lock, .. } if lock == short), "{event:?}");
    let event = outer.next(&mut owner);
    assert!(matches!(event, Event::Lost { lock, .. } if lock == short), "{event:?}");

    // Each attempt is refused until the other's key expires; only the pauses between wake it.
    cluster[0].set_px(b"taken", b"somebody else's", ttl);
    let taken = owner.acquire("taken");
    owner.flush();
    let event = outer.next(&mut owner);
    assert!(matches!(event, Event::Acquired { lock, .. } if lock == taken), "{event:?}");
    owner.let_go(taken);
    owner.finish(cluster.iter());
}

/// Whether a level-triggered loop would wake now.
fn is_readable(engine: &Engine) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(engine.as_fd(), PollFlags::IN)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut fds, Some(&now)).expect("polling works") > 0
}

#[test]
fn a_level_triggered_loop_is_woken_until_it_polls_and_then_sleeps() {
    let cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    owner.all_answered();
    owner.poll_until("silence", |owner| !is_readable(&owner.engine));
    let lock = owner.acquire("resource");
    owner.flush();
    assert!(until(PATIENCE, || is_readable(&owner.engine)), "no answer");
    assert!(is_readable(&owner.engine), "nobody has polled");
    while owner.next_now().is_none() {
        owner.engine.poll(Some(Duration::ZERO)).expect("polling works");
    }
    owner.all_answered();
    owner.poll_until("silence", |owner| !is_readable(&owner.engine));
    owner.let_go(lock);
    owner.finish(cluster.iter());
}

#[test]
fn a_descriptor_stays_in_its_loop_while_nodes_come_and_go_and_the_engine_is_moved() {
    let mut cluster = Cluster::start(1);
    let mut owner = Owner::of(cluster.addrs());
    let fd = owner.engine.as_raw_fd();
    let mut outer = Loop::around(&owner);
    owner.engine.poll(Some(Duration::ZERO)).expect("polling works");
    for _ in 0..3 {
        let lock = owner.acquire("resource");
        owner.flush();
        let event = outer.next(&mut owner);
        assert!(matches!(event, Event::Acquired { .. }), "{event:?}");
        owner.release(lock);
        owner.flush();
        let event = outer.next(&mut owner);
        assert!(matches!(event, Event::Released { .. }), "{event:?}");
        cluster[0].restart();
        owner = *Box::new(owner);
        assert_eq!(owner.engine.as_raw_fd(), fd);
    }
    owner.finish(cluster.iter());
}

/// A loop with a timer of its own finds the deadline there.
#[test]
fn the_next_deadline_is_known() {
    let cluster = Cluster::start(1);
    let mut owner = Owner::of(cluster.addrs());
    let lock = owner.acquire_for("resource", Duration::from_secs(20), PATIENCE);
    let Event::Acquired { valid_until, .. } = owner.next() else { panic!("not acquired") };
    let deadline = owner.engine.next_deadline().expect("a validity has an end");
    assert!(deadline <= valid_until);
    owner.let_go(lock);
    owner.finish(cluster.iter());
}

#[test]
fn an_engine_that_polls_busily_does_the_same() {
    let cluster = Cluster::start(3);
    let mut config = config(cluster.addrs());
    config.busy_poll = Duration::from_millis(100);
    let mut owner = Owner::new(config);
    owner.all_ready();
    for round in 0..20_u8 {
        let lock = owner.hold([round]);
        owner.let_go(lock);
    }
    // Its patience must not keep it from a deadline, nor its sleep behind it.
    for ttl in [Duration::from_millis(50), Duration::from_millis(300)] {
        owner.acquire_for("resource", ttl, PATIENCE);
        while !matches!(owner.next(), Event::Lost { .. }) {
            owner.engine.poll(None).expect("polling works");
        }
    }
    owner.poll_until("the end of both", |owner| owner.engine.in_use() == 0);
    owner.all_answered();
    let before = owner.engine.io_counters().waits;
    owner.engine.poll(Some(Duration::from_millis(20))).expect("polling works");
    assert!(owner.engine.io_counters().waits > before + 1, "it looked only once");
    owner.finish(cluster.iter());
}

#[test]
fn settling_ends_with_a_quorum_or_when_every_node_was_tried() {
    let mut cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    assert!(owner.engine.settle(PATIENCE).expect("polling works") >= 2);
    owner.finish(cluster.iter());

    cluster[0].kill();
    cluster[1].kill();
    let mut owner = Owner::of(cluster.addrs());
    let start = owner.engine.now();
    assert!(owner.engine.settle(PATIENCE).expect("polling works") <= 1);
    assert!(owner.engine.now() - start < PATIENCE, "two nodes refuse at once");
    assert_eq!(owner.engine.settle(Duration::ZERO).expect("polling works"), 1);
    owner.finish([&cluster[2]]);
}

/// A node that has been silent for a while has been tried, whatever it says next.
#[test]
fn settling_does_not_wait_for_stopped_nodes() {
    let cluster = Cluster::start(3);
    let mut config = config(cluster.addrs());
    config.redlock.node_timeout = Some(Duration::from_millis(100));
    let mut owner = Owner::new(config);
    owner.all_ready();
    cluster[0].stop();
    cluster[1].stop();
    owner.attempt("resource");
    owner.not_acquired();
    owner.poll_until("the silence", |owner| {
        let is_stalled = |index| owner.status(index).state == NodeState::Stalled;
        is_stalled(0) && is_stalled(1) && owner.status(2).state == NodeState::Ready
    });
    let (start, timeout) = (owner.engine.now(), Duration::from_secs(10));
    assert_eq!(owner.engine.settle(timeout).expect("polling works"), 1);
    assert!(owner.engine.now() - start < timeout, "it waited for them");
    cluster[0].cont();
    cluster[1].cont();
    owner.finish(cluster.iter());
}

/// FAULTS 66: an orderly end.
#[test]
fn a_drained_engine_can_be_dropped_and_leaves_nothing() {
    let cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    let locks: Vec<_> = (0..50_u8).map(|number| owner.hold([number])).collect();
    assert!(!owner.engine.drain(Duration::ZERO).expect("polling works"), "they are held");
    for lock in locks {
        owner.release(lock);
    }
    assert!(owner.engine.drain(PATIENCE).expect("polling works"));
    drop(owner);
    assert!(cluster.iter().filter(|node| node.keys().is_empty()).count() >= 2);
    // What is left is on its way.
    assert!(until(PATIENCE, || cluster.iter().all(|node| node.keys().is_empty())));
}

/// FAULTS 66: a node that answers nothing keeps no program from its end; two of three do.
#[test]
fn a_drain_ends_with_a_quorum_and_says_where_something_is_left() {
    let cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    cluster[2].stop();
    let lock = owner.hold("resource");
    owner.let_go(lock);
    assert!(owner.engine.drain(PATIENCE).expect("polling works"));
    assert_eq!(owner.engine.owing().into_iter().collect::<Vec<_>>(), [node(2)]);
    assert_eq!(owner.engine.in_use(), 1);

    // With two of three nodes the end of this lock is not known.
    cluster[1].stop();
    let lock = owner.attempt("another");
    owner.flush();
    owner.cancel(lock);
    owner.not_acquired();
    assert!(!owner.engine.drain(Duration::from_millis(50)).expect("polling works"));
    assert_eq!(owner.engine.owing().into_iter().collect::<Vec<_>>(), [node(1), node(2)]);
    cluster[1].cont();
    assert!(owner.engine.drain(PATIENCE).expect("polling works"));
    cluster[2].cont();
    owner.finish(cluster.iter());
}

/// FAULTS 66: what nobody released is left to its ttl, as if the process had died.
#[test]
fn an_engine_dropped_with_a_lock_leaves_it_to_its_ttl() {
    let node = Node::start();
    let mut owner = Owner::of([node.addr()]);
    owner.hold("resource");
    drop(owner);
    let left = node.pttl(b"resource");
    assert!(left > 0 && left <= i64::try_from(TTL.as_millis()).expect("a minute"), "{left}");

    let mut heir = Owner::of([node.addr()]);
    heir.all_ready();
    heir.attempt("resource");
    assert!(matches!(heir.not_acquired(), AcquireError::Held { .. }));
    node.command(&[b"DEL", b"resource"]);
    heir.finish([&node]);
}

#[test]
fn a_node_can_be_looked_at() {
    let cluster = Cluster::start(3);
    let mut config = config(cluster.addrs());
    config.nodes.push("127.0.0.1:1".parse().expect("an address"));
    let mut owner = Owner::new(config);
    owner.poll_until("three nodes", |owner| {
        (0..3).all(|index| owner.status(index).state == NodeState::Ready)
            && owner.status(3).error.is_some()
    });
    assert!(owner.node_events >= 4, "each change was told");
    let lock = owner.hold("resource");
    let mut rival = Owner::of(cluster.addrs());
    rival.all_ready();
    rival.attempt("resource");
    rival.not_acquired();
    rival.all_answered();
    owner.extend(lock);
    owner.extended();
    owner.let_go(lock);
    owner.all_answered();
    for (id, address, status) in owner.engine.nodes() {
        assert_eq!(owner.engine.address(id), Some(address));
        let counters = status.counters;
        if id.index() == 3 {
            assert_eq!(address.to_string(), "127.0.0.1:1");
            assert_eq!((counters.connects, counters.asked), (0, 0));
            assert!(counters.failures > 0 && status.to_string().contains("connecting failed"));
            continue;
        }
        assert_eq!(status.to_string(), "ready");
        assert_eq!((counters.connects, counters.failures, counters.errors), (1, 0, 0));
        assert_eq!((counters.asked, counters.granted, counters.refused), (1, 1, 0));
        assert_eq!(counters.scripts, 2);
        assert_eq!((status.in_flight, status.cleanup), (0, 0));
        assert!(!status.round_trip.is_zero());
        assert_eq!(rival.engine.node(id).expect("configured").counters.refused, 1);
    }
    let io = owner.engine.io_counters();
    assert!(io.bytes_sent > 0 && io.bytes_received > 0 && io.system_calls() > 0);
    rival.finish([]);
    owner.finish(cluster.iter());
}

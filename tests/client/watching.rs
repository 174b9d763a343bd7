//! What can be seen: of a resource, and of the nodes.

use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use redbolt::redlock::MAX_RESOURCE;
use redbolt::{ClientError, LockErrorKind, LockNotice, NodeState, Occupancy, RequestError};

use crate::fixture::{Fixture, PATIENCE, TTL};
use crate::support::until;

#[test]
fn a_query_tells_who_holds_a_resource_and_changes_nothing() {
    let fixture = Fixture::new(3);
    let guard = fixture.client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free");
    let holder = fixture.client.query("a").blocking_wait().expect("the request is in bounds");
    assert_eq!(holder.token(), Some(guard.token()));
    assert!(holder.is_quorum && holder.remaining <= TTL, "{holder}");
    let nobody = fixture.client.query("b").blocking_wait().expect("the request is in bounds");
    assert_eq!((nobody.value(), nobody.occupancy), (None, Occupancy::Free));
    assert_eq!((holder.occupancy, nobody.to_string()), (Occupancy::Held, "nobody".to_owned()));
    assert!(guard.is_held());
}

/// "Nobody" would be an invitation to take what somebody may have.
#[test]
fn a_query_says_what_it_does_not_know_and_what_is_no_lock() {
    let mut fixture = Fixture::new(3);
    fixture.client.ready(PATIENCE).blocking_wait().expect("the nodes are there");
    let node = |fixture: &Fixture, index: usize| {
        fixture.client.nodes().blocking_wait().expect("the client runs")[index].is_ready()
    };
    assert!(until(PATIENCE, || (0..3).all(|index| node(&fixture, index))));
    let ask = |fixture: &Fixture, resource: &str| {
        fixture.client.query(resource).blocking_wait().expect("the request is in bounds")
    };
    let long = "x".repeat(100_000);
    for node in fixture.cluster.iter() {
        node.command(&[b"RPUSH", b"list", b"element"]);
        node.command(&[b"SET", b"text", long.as_bytes()]);
    }
    let list = ask(&fixture, "list");
    assert_eq!((list.occupancy, list.data.len()), (Occupancy::Blocked, 3));
    let said = "nobody, and the resource is not free; data that is not a lock at {0, 1, 2}";
    assert_eq!(list.to_string(), said);
    let text = ask(&fixture, "text");
    assert_eq!((text.occupancy, text.value().map(<[u8]>::len)), (Occupancy::Held, Some(40)));
    assert_eq!(text.to_string(), "xxxxxxxx… for ever (no ttl)");
    // Two of three nodes that are out may have anything.
    (0..2).for_each(|index| fixture.cluster[index].kill());
    assert!(until(PATIENCE, || (0..2).all(|index| !node(&fixture, index))));
    let unknown = ask(&fixture, "free");
    assert_eq!((unknown.occupancy, unknown.free.len()), (Occupancy::Unknown, 1));
    assert_eq!(unknown.to_string(), "unknown: no answer from {0, 1}");
}

#[test]
fn nodes_are_reported_when_asked_and_when_they_change() {
    let mut fixture = Fixture::new(3);
    drop(fixture.client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free"));
    let reports = fixture.client.nodes().blocking_wait().expect("the client runs");
    assert_eq!(reports.len(), 3);
    assert!(reports.iter().filter(|report| report.state == NodeState::Ready).count() >= 2);
    let (tell, told) = channel();
    let watch = fixture.client.on_node(move |report| {
        // The test may be over.
        let _ = tell.send((report.node.index(), report.state, report.to_string()));
    });
    watch.expect("the client runs");
    // An answer comes after the callback was taken over, and a node that was never up does not go
    // down.
    let node = |index: usize| {
        let nodes = fixture.client.nodes().blocking_wait().expect("the client runs");
        nodes[index].state
    };
    assert!(until(PATIENCE, || node(1) == NodeState::Ready));
    fixture.cluster[1].kill();
    loop {
        let (node, state, text) = told.recv_timeout(PATIENCE).expect("a change is told");
        if node == 1 && state == NodeState::Down {
            assert!(text.contains(&fixture.cluster[1].addr()), "{text}");
            break;
        }
    }
}

/// A callback that raises an alarm would raise it at every attempt to connect.
#[test]
fn a_node_that_stays_down_is_reported_once_however_often_it_is_tried() {
    let mut fixture =
        Fixture::with(3, |config| config.redlock.reconnect_max = Duration::from_millis(20));
    fixture.client.ready(PATIENCE).blocking_wait().expect("the nodes are there");
    let node = |index: usize| {
        let nodes = fixture.client.nodes().blocking_wait().expect("the client runs");
        nodes[index].clone()
    };
    assert!(until(PATIENCE, || node(1).is_ready()));
    let (tell, told) = channel();
    let watch = fixture.client.on_node(move |report| {
        if report.node.index() == 1 {
            // The test may be over.
            let _ = tell.send(report.state);
        }
    });
    watch.expect("the client runs");
    // The answer comes after the callback was taken over.
    assert!(node(1).is_ready());
    fixture.cluster[1].kill();
    assert!(until(PATIENCE, || node(1).counters.failures >= 20));
    fixture.cluster[1].restart();
    let next = || told.recv_timeout(PATIENCE).expect("a change is told");
    assert_eq!([next(), next(), next()], [NodeState::Ready, NodeState::Down, NodeState::Ready]);
}

/// Else a node that was down before would never be told of.
#[test]
fn a_callback_begins_with_the_state_of_every_node() {
    let mut fixture = Fixture::new(3);
    fixture.cluster[2].kill();
    let is_down = || {
        let nodes = fixture.client.nodes().blocking_wait().expect("the client runs");
        nodes[2].state == NodeState::Down
    };
    assert!(until(PATIENCE, is_down));
    let (tell, told) = channel();
    let watch = fixture.client.on_node(move |report| {
        // The test may be over.
        let _ = tell.send((report.node.index(), report.state));
    });
    watch.expect("the client runs");
    let first: Vec<_> = (0..3).map(|_| told.recv_timeout(PATIENCE).expect("told")).collect();
    assert_eq!(first.iter().map(|(node, _)| *node).collect::<Vec<_>>(), [0, 1, 2]);
    // Now and then the client tries whether the node is there again.
    assert!(matches!(first[2].1, NodeState::Down | NodeState::Connecting), "{first:?}");
}

/// The callback would wait for the thread on which it runs.
#[test]
fn a_callback_that_waits_for_a_client_is_told_and_holds_nobody_up() {
    let fixture = Fixture::new(3);
    let client = fixture.client.clone();
    let (tell, told) = channel();
    let waiting = move |_: LockNotice| {
        // The guard of the test outlives the callback.
        tell.send(()).expect("the test waits");
        drop(client.lock("b").blocking_acquire());
    };
    let request = fixture.client.lock("a").ttl(Duration::from_millis(50)).wait(PATIENCE);
    let guard = request.on_lost(waiting).blocking_acquire().expect("free");
    told.recv_timeout(PATIENCE).expect("the lock is lost");
    let counters = fixture.client.counters().blocking_wait().expect("the thread lives");
    assert_eq!(counters.panics, 1);
    assert!(!guard.is_held());
}

/// A callback may take what is there.
#[test]
fn a_callback_that_would_not_have_to_wait_is_let() {
    let fixture = Fixture::new(3);
    let client = fixture.client.clone();
    let held = client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free");
    let mut signal = held.lost();
    let answered = client.nodes();
    // Answers come in order.
    client.nodes().blocking_wait().expect("the thread lives");
    let (tell, told) = channel();
    let look = move |notice: LockNotice| {
        let nodes = answered.blocking_wait().map(|nodes| nodes.len());
        let late = signal.blocking_wait_timeout(Duration::ZERO).is_some();
        let refused = client.lock_all::<&str>([]).blocking_acquire().is_err();
        // The test may be over.
        let _ = tell.send((nodes, late, refused, notice.is_lost()));
        drop(signal.blocking_wait_timeout(PATIENCE));
    };
    let request = fixture.client.lock("b").ttl(Duration::from_millis(50)).wait(PATIENCE);
    let lost = request.on_lost(look).blocking_acquire().expect("free");
    assert_eq!(told.recv_timeout(PATIENCE), Ok((Ok(3), false, true, true)));
    let counters = fixture.client.counters().blocking_wait().expect("the thread lives");
    assert_eq!(counters.panics, 1, "the last call had to wait");
    drop((held, lost));
}

/// What anybody can hand in without end is refused at some point, and not kept.
#[test]
fn questions_and_callbacks_have_their_bounds() {
    let fixture = Fixture::with(1, |config| config.redlock.max_locks = 16);
    drop(fixture.client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free"));
    let long = vec![b'x'; MAX_RESOURCE + 1];
    let refused = fixture.client.query(&long).blocking_wait().expect_err("too long");
    let len = long.len();
    assert_eq!(refused.kind(), &LockErrorKind::Request(RequestError::ResourceTooLong { len }));
    assert_eq!(refused.resource(), long);

    let (let_go, lost) = fixture.hold_up();
    let open: Vec<_> = (0..16).map(|_| fixture.client.nodes()).collect();
    let busy = ClientError::Busy { max: 16 };
    assert_eq!(fixture.client.nodes().blocking_wait().err(), Some(busy.clone()));
    let refused = fixture.client.query("a").blocking_wait().expect_err("too much waits");
    assert_eq!(refused.kind(), &LockErrorKind::Busy { max: 16 });
    assert!(refused.to_string().starts_with("lock \"a\": 16 requests wait"), "{refused}");
    assert_eq!(fixture.client.on_node(|_| ()), Err(busy));
    let refused = fixture.client.lock("b").blocking_acquire().expect_err("too much waits");
    assert_eq!(refused.kind(), &LockErrorKind::Busy { max: 16 });
    assert!(refused.to_string().starts_with("lock \"b\": 16 requests wait"), "{refused}");
    drop(let_go);
    open.into_iter().for_each(|nodes| assert!(nodes.blocking_wait().is_ok()));
    drop(lost);

    let watching = (0..100).filter(|_| {
        loop {
            match fixture.client.on_node(|_| ()) {
                Ok(()) => break true,
                // Its thread has not looked yet.
                Err(ClientError::Busy { .. }) => thread::yield_now(),
                Err(refusal) => {
                    assert_eq!(refusal, ClientError::TooManyWatchers { max: 64 });
                    break false;
                }
            }
        }
    });
    assert_eq!(watching.count(), 64);
}

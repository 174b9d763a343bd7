//! What can be seen: of a resource, and of the nodes.

use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use redbolt::redlock::MAX_RESOURCE;
use redbolt::{ClientError, LockErrorKind, NodeState, RequestError};

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
    assert_eq!(nobody.value(), None);
    assert!(guard.is_held());
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
    fixture.cluster[1].kill();
    assert!(until(PATIENCE, || node(1).counters.failures >= 20));
    fixture.cluster[1].restart();
    let next = || told.recv_timeout(PATIENCE).expect("a change is told");
    assert_eq!((next(), next()), (NodeState::Down, NodeState::Ready));
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

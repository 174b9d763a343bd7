//! What can be seen: of a resource, and of the nodes.

use std::sync::mpsc::channel;

use redbolt::NodeState;

use crate::fixture::{Fixture, PATIENCE, TTL};

#[test]
fn a_query_tells_who_holds_a_resource_and_changes_nothing() {
    let fixture = Fixture::new(3);
    let guard = fixture.client.lock("a").ttl(TTL).wait(PATIENCE).acquire().expect("free");
    let holder = fixture.client.query("a").wait().expect("the request is in bounds");
    assert_eq!(holder.token(), Some(guard.token()));
    assert!(holder.is_quorum && holder.remaining <= TTL, "{holder}");
    let nobody = fixture.client.query("b").wait().expect("the request is in bounds");
    assert_eq!(nobody.value(), None);
    assert!(guard.is_held());
}

#[test]
fn nodes_are_reported_when_asked_and_when_they_change() {
    let mut fixture = Fixture::new(3);
    drop(fixture.client.lock("a").ttl(TTL).wait(PATIENCE).acquire().expect("free"));
    let reports = fixture.client.nodes().wait().expect("the client runs");
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

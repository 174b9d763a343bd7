//! Events as a log shows them: with the resource, and the nodes by their addresses.

use std::time::Duration;

use redbolt::{Config, Engine, Event, NodeState};

use crate::owner::{PATIENCE, TTL, config, node};
use crate::support::servers::{Cluster, Node};

/// Polls until an event is shown as a text that `is_wanted`, and returns the text.
fn shown(engine: &mut Engine, is_wanted: impl Fn(&Event, &str) -> bool) -> String {
    let end = engine.now() + PATIENCE;
    loop {
        engine.poll(Some(Duration::from_millis(20))).expect("polling works");
        while let Some(event) = engine.next_event() {
            let text = engine.display(&event).to_string();
            if is_wanted(&event, &text) {
                return text;
            }
        }
        assert!(engine.now() < end, "it never happens");
    }
}

fn engine(config: Config) -> Engine {
    Engine::new(config).expect("an engine can be made")
}

#[test]
fn an_event_of_a_lock_is_shown_with_the_resource_and_the_addresses_of_the_nodes() {
    let mut cluster = Cluster::start(3);
    let mut config = config(cluster.addrs());
    // A request that makes one attempt waits for so long for nodes that are away.
    config.redlock.node_timeout = Some(Duration::from_secs(1));
    let mut engine = engine(config);
    let lock = engine.acquire("orders/42", TTL, PATIENCE).expect("in bounds");
    assert_eq!(
        shown(&mut engine, |event, _| event.lock().is_some()),
        r#"lock "orders/42": acquired"#
    );
    engine.acquire("orders/42", TTL, Duration::ZERO).expect("in bounds");
    let text = shown(&mut engine, |event, _| event.lock().is_some());
    assert_eq!(text, r#"lock "orders/42": held by another lock of this client"#);
    engine.query("orders/42").expect("in bounds");
    let text = shown(&mut engine, |event, _| matches!(event, Event::Queried { .. }));
    assert!(text.starts_with(r#"holder of "orders/42": "#), "{text}");
    engine.release(lock).expect("held");
    let text = shown(&mut engine, |event, _| event.lock().is_some());
    assert!(text.starts_with(r#"lock "orders/42": released"#), "{text}");

    (1..3).for_each(|index| cluster[index].kill());
    let gone = [cluster[1].addr(), cluster[2].addr()];
    shown(&mut engine, |_, text| text.starts_with(&gone[0]) && text.contains("down: "));
    let is_down = |engine: &Engine| {
        (1..3).all(|index| engine.node(node(index)).is_some_and(|node| node.error.is_some()))
    };
    while !is_down(&engine) {
        engine.poll(Some(Duration::from_millis(20))).expect("polling works");
    }
    engine.acquire("orders/43", TTL, Duration::ZERO).expect("in bounds");
    let text = shown(&mut engine, |event, _| event.lock().is_some());
    assert!(text.starts_with(r#"lock "orders/43": no quorum of nodes ("#), "{text}");
    for addr in cluster.addrs() {
        assert!(text.contains(&format!("{addr}: ")), "{text}");
    }
}

#[test]
fn a_node_that_is_the_process_of_another_is_shown_with_the_address_of_the_other() {
    let server = Node::start();
    let other = server.addr().replace("127.0.0.1", "localhost");
    let mut engine = engine(config([server.addr(), other.clone()]));
    let text = shown(&mut engine, |_, text| text.contains("same server process"));
    let state = NodeState::Misconfigured;
    let expected =
        |one: &str, two: &str| format!("{one}: {state}: the same server process as {two}");
    let [first, second] = [server.addr(), other];
    // Behind it stands when the node is tried again.
    let rows = [expected(&first, &second), expected(&second, &first)];
    assert!(rows.iter().any(|row| text.starts_with(&format!("{row}, tried again in "))), "{text}");
}

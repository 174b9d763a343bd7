//! What the owner of an engine learns about its nodes.

use super::*;

/// Returns the nodes that changed, in the order of the events. All other events are dropped.
fn changes(rig: &mut Rig) -> Vec<usize> {
    let events = core::iter::from_fn(|| rig.redlock.poll_event());
    let nodes = events.filter_map(|event| match event {
        Event::Node(node) => Some(node.index()),
        _ => None,
    });
    nodes.collect()
}

#[test]
fn a_node_that_stalls_is_announced_and_again_when_it_has_caught_up() {
    let mut rig = Rig::new(3);
    let lock = rig.held("a");
    rig.advance(ms(10));
    rig.redlock.release(rig.now, lock).expect("held");
    for index in 0..3 {
        rig.sent(index);
    }
    rig.reply(0, ":1");
    rig.reply(1, ":1");
    let sent = rig.now;
    // From deadline to deadline, as a driver sleeps: the node sets a deadline for its own check.
    let mut changed = Vec::new();
    rig.until(|rig| {
        changed = changes(rig);
        !changed.is_empty()
    });
    assert_eq!((changed, rig.now - sent), (vec![2], ms(50)));
    assert_eq!(rig.state(2), NodeState::Stalled);
    rig.advance(ms(100));
    assert_eq!(changes(&mut rig), [0; 0], "that is known");
    rig.reply(2, ":1");
    assert_eq!((changes(&mut rig), rig.state(2)), (vec![2], NodeState::Ready));
}

#[test]
fn a_node_that_is_only_busy_is_not_announced() {
    let mut rig = Rig::new(1);
    rig.acquire("0", NO_WAIT);
    rig.sent(0);
    for step in 1..100 {
        rig.advance(ms(20));
        rig.acquire(&step.to_string(), NO_WAIT);
        rig.sent(0);
        // The first of two requests. The other one is 20 ms old by now.
        rig.reply(0, "+OK");
        assert_eq!(changes(&mut rig), [0; 0], "step {step}");
    }
}

#[test]
fn a_stalled_node_that_stays_silent_is_given_up_by_its_time() {
    let mut rig = Rig::with(1, |config| config.close_timeout = ms(300));
    rig.acquire("a", NO_WAIT);
    rig.sent(0);
    rig.advance(ms(50));
    assert_eq!((changes(&mut rig), rig.state(0)), (vec![0], NodeState::Stalled));
    rig.advance(ms(249));
    assert_eq!((changes(&mut rig), rig.state(0)), (vec![], NodeState::Stalled));
    rig.advance(ms(1));
    assert_eq!((changes(&mut rig), rig.state(0)), (vec![0], NodeState::Down));
    let status = rig.redlock.node(rig.now, node(0)).expect("it is there");
    assert_eq!(status.error, Some(NodeError::NoReply));
}

//! Fencing numbers of masters that come back without their data, with old data, or with another
//! clock (S13).

use std::time::Duration;

use redbolt::redlock::{ACQUIRE_FENCED, RestartGuard};
use redbolt::{AcquireOptions, Config, Event, Fence, FenceBar};

use crate::guarded::{SHORT, declare};
use crate::owner::{Owner, PATIENCE, config};
use crate::support::clocks::Clocks;
use crate::support::now;
use crate::support::servers::Node;
use crate::support::wire::Reply;

/// How far the clocks of masters may be from true time.
const SKEW: Duration = Duration::from_secs(3);

/// Where the clocks of masters begin, so that they can be set back.
const NOON: Duration = Duration::from_secs(1_000);

/// Three masters, and a client that has just had a number: as large a one as masters accept.
struct Story {
    clocks: Clocks,
    nodes: Vec<Node>,
    owner: Owner,
    last: Fence,
}

impl Story {
    /// Returns `None` where clocks cannot be stepped.
    fn start(guard: RestartGuard) -> Option<Self> {
        let clocks = Clocks::new(3)?;
        (0..3).for_each(|node| clocks.set(node, NOON));
        let nodes = clocks.start_all();
        declare(&nodes, SHORT);
        let mut owner = Owner::new(skewed(&nodes, guard));
        owner.all_ready();
        // Two of three are enough for a number, and the first call of a script can be in vain.
        let end = now() + PATIENCE;
        while !nodes.iter().all(has_one_number) {
            assert!(now() < end, "some node has drawn no number");
            number(&mut owner);
            owner.all_answered();
        }
        nodes.iter().for_each(|node| drop(node.command(&[b"SAVE"])));
        nodes.iter().for_each(draw_ahead);
        let last = number(&mut owner);
        Some(Self { clocks, nodes, owner, last })
    }

    /// Kills all masters, and starts them again when this was done to them.
    fn restart(&mut self, harm: impl Fn(usize, &Clocks, &Node)) {
        self.nodes.iter_mut().for_each(Node::kill);
        for (index, node) in self.nodes.iter_mut().enumerate() {
            harm(index, &self.clocks, node);
            node.restart();
        }
    }

    /// Asks for a number until there is one. Returns the last one from before the restart, too.
    fn before_and_after(mut self) -> (Fence, Fence) {
        let after = number(&mut self.owner);
        self.owner.finish(&self.nodes);
        (self.last, after)
    }
}

fn skewed(nodes: &[Node], guard: RestartGuard) -> Config {
    let mut config = config(nodes.iter().map(Node::addr));
    config.redlock.restart_guard = guard;
    config.redlock.max_ttl = SHORT;
    config.redlock.fence_skew = SKEW;
    config
}

/// Takes the lock with a number, and lets it go.
fn number(owner: &mut Owner) -> Fence {
    owner.ask_with("r", SHORT, PATIENCE, &AcquireOptions::new().fenced());
    match owner.next() {
        Event::Acquired { lock, fence: Some(fence), .. } => {
            owner.release(lock);
            owner.released();
            fence
        }
        other => panic!("not acquired with a number: {other:?}"),
    }
}

/// Returns whether a master has a number for one resource.
fn has_one_number(node: &Node) -> bool {
    node.command(&[b"HLEN", b"redbolt:fence"]) == Reply::Integer(1)
}

/// Draws a number a second ahead of the node's clock, which is as far as the script goes.
fn draw_ahead(node: &Node) {
    let Reply::Array(stripes) = node.command(&[b"HKEYS", b"redbolt:fence"]) else {
        panic!("a node that has drawn has numbers");
    };
    let Some(Reply::Bulk(stripe)) = stripes.first() else { panic!("{stripes:?}") };
    let call: [&[u8]; 5] =
        [b"EVAL", ACQUIRE_FENCED.text.as_bytes(), b"2", b"another", b"redbolt:fence"];
    let arguments: [&[u8]; 4] = [b"a token", stripe, b"9000000000000000", b"1"];
    let reply = node.command(&[&call[..], &arguments].concat());
    assert!(matches!(reply, Reply::Integer(_)), "{reply:?}");
}

/// FAULTS 26: an old file looks intact, and has smaller numbers.
#[test]
fn numbers_grow_when_all_masters_have_old_ones() {
    let Some(mut story) = Story::start(RestartGuard::On) else { return };
    story.restart(|_, _, _| ());
    assert!(story.nodes.iter().all(has_one_number));
    let (before, after) = story.before_and_after();
    assert!(after > before, "{after} behind {before}");
}

/// FAULTS 24, 32: as far behind as the configuration allows.
#[test]
fn numbers_grow_when_masters_forget_them_and_their_clocks_are_set_back() {
    let Some(mut story) = Story::start(RestartGuard::On) else { return };
    story.restart(|index, clocks, node| {
        clocks.set(index, NOON - SKEW);
        node.remove_snapshot();
    });
    let (before, after) = story.before_and_after();
    assert!(after > before, "{after} behind {before}");
}

/// FAULTS 24, 26, 32, one on each master.
#[test]
fn numbers_grow_when_each_master_comes_back_in_another_way() {
    let Some(mut story) = Story::start(RestartGuard::On) else { return };
    story.restart(|index, clocks, node| match index {
        0 => {}
        1 => node.remove_snapshot(),
        _ => {
            clocks.set(index, NOON - SKEW);
            node.remove_snapshot();
        }
    });
    let (before, after) = story.before_and_after();
    assert!(after > before, "{after} behind {before}");
}

/// The control: without the guard nobody waits until the clocks have caught up.
#[test]
fn without_the_guard_numbers_go_back_with_the_clocks() {
    let Some(mut story) = Story::start(RestartGuard::Off) else { return };
    story.restart(|index, clocks, node| {
        // By more than a machine can be slow.
        clocks.set(index, NOON - 100 * SKEW);
        node.remove_snapshot();
    });
    let (before, after) = story.before_and_after();
    assert!(after < before, "{after} behind {before}");
}

/// FAULTS 32: a clock beyond what the configuration allows. The other two draw.
#[test]
fn a_master_whose_clock_is_too_far_off_draws_no_numbers_and_says_why() {
    let Some(clocks) = Clocks::new(3) else { return };
    let behind = NOON - 2 * SKEW - Duration::from_secs(2);
    for (node, clock) in [NOON, NOON, behind].into_iter().enumerate() {
        clocks.set(node, clock);
    }
    let nodes = clocks.start_all();
    declare(&nodes, SHORT);
    let mut owner = Owner::new(skewed(&nodes, RestartGuard::On));
    owner.all_ready();
    owner.all_answered();
    let told = owner.node_events;
    let first = number(&mut owner);
    assert_eq!(owner.node_events, told + 1, "an event says that the node draws no numbers");
    let bars: Vec<_> = (0..3).map(|index| owner.status(index).fence_bar).collect();
    assert_eq!(bars, [None, None, Some(FenceBar::ClockOff)]);
    let words = "its clock is farther from those of a majority than fence_skew allows";
    assert!(owner.status(2).to_string().contains(words), "{}", owner.status(2));
    let drawn: Vec<_> = nodes.iter().map(has_one_number).collect();
    assert_eq!(drawn, [true, true, false]);
    // Locks without a number have its vote.
    let lock = owner.acquire_for("r", SHORT, PATIENCE);
    assert_eq!(owner.acquired(), lock);
    owner.all_answered();
    assert_eq!(owner.status(2).counters.granted, 1);
    owner.release(lock);
    owner.released();
    // As soon as a look finds that the clock is right, the node draws again.
    clocks.set(2, NOON);
    let (mut last, end) = (first, now() + PATIENCE);
    while owner.status(2).fence_bar.is_some() {
        assert!(now() < end, "{}", owner.status(2));
        let next = number(&mut owner);
        assert!(next > last, "{next} behind {last}");
        last = next;
    }
    owner.finish(&nodes);
}

//! A client that is full, and makes room at the cost of a slow node.

use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use redbolt::NodeState;

use crate::fixture::{Fixture, PATIENCE, TTL};
use crate::support::until;
use crate::support::wire::{Connection, Reply};

/// How long a node may owe a reply until it is passed over.
const NODE_TIMEOUT: Duration = Duration::from_millis(500);

/// The engine uses the place of a lock again in the same call in which it ends that lock, because
/// it gives up the one node that still owes an answer. Both events come after the call.
#[test]
fn a_release_is_answered_whose_place_is_taken_over_at_once() {
    let mut fixture = Fixture::with(5, |config| {
        config.redlock.max_locks = 2;
        // A look at the slow node, each third of this time, would end its session, and so make the
        // room that only the next lock is to make.
        config.redlock.max_ttl = Duration::from_secs(24 * 60 * 60);
        config.redlock.node_timeout = Some(NODE_TIMEOUT);
        config.redlock.close_timeout = PATIENCE;
        config.redlock.release_timeout = PATIENCE;
        config.redlock.repair = false;
    });
    let client = fixture.client.clone();
    let state = |index: usize| {
        let reports = client.nodes().blocking_wait().expect("the client runs");
        reports[index].state
    };
    assert!(until(PATIENCE, || (0..5).all(|index| state(index) == NodeState::Ready)));
    let held = client.lock("held").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("it is free");
    assert!(until(PATIENCE, || fixture.standing("held") == 5));

    // One node is slow. What was acquired and released without it has ended, and keeps its place.
    fixture.cluster[0].stop();
    let ended = client.lock("ended").ttl(TTL).wait(PATIENCE);
    let ended = ended.blocking_acquire().expect("four nodes are there");
    ended.release().blocking_wait().expect("four nodes are there");
    // One node is gone, and one can do nothing, so that the release needs the word of the slow one.
    fixture.cluster[1].kill();
    assert!(until(PATIENCE, || state(1) != NodeState::Ready));
    fixture.cluster[2].command(&[b"CONFIG", b"SET", b"busy-reply-threshold", b"1"]);
    let addr = fixture.cluster[2].addr();
    let endless = thread::spawn(move || {
        let mut connection = Connection::open(&addr, PATIENCE)?;
        connection.command(&[b"EVAL", b"while true do end", b"0"])
    });
    let is_busy = || {
        let reply = fixture.cluster[2].command(&[b"PING"]);
        matches!(reply, Reply::Error(_))
    };
    assert!(until(PATIENCE, is_busy));
    let release = held.release();
    assert!(until(PATIENCE, || state(0) == NodeState::Stalled));

    let next = client.lock("next").ttl(TTL).acquire();
    let (tell, told) = channel();
    thread::spawn(move || tell.send(release.blocking_wait()));
    let outcome = told.recv_timeout(PATIENCE / 3).expect("every request ends");
    let report = outcome.expect("the client runs");
    assert!(!report.outcome().released.is_empty(), "{report}");
    // The slow one, the dead one and the busy one.
    assert!(!report.is_complete() && report.to_string().matches("127.0.0.1").count() == 3);
    drop(next);

    fixture.cluster[2].command(&[b"SCRIPT", b"KILL"]);
    // It ended in an error, on purpose.
    let _ = endless.join().expect("the thread does not panic");
    fixture.cluster[0].cont();
    fixture.cluster[1].restart();
    fixture.expect_clean();
}

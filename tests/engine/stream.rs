//! Replies that come in pieces, late, cut off, or never.

use std::time::Duration;

use redbolt::redlock::NodeError;
use redbolt::{AcquireError, NodeState};

use crate::hostile::{on_set, reply};
use crate::owner::{Owner, PATIENCE, config};
use crate::support::fake::{Action, Fake};
use crate::support::master::Master;
use crate::support::servers::Cluster;

const SHORT: Duration = Duration::from_millis(100);

/// FAULTS 14.
#[test]
fn several_replies_and_a_half_in_one_segment() {
    let mut sets = 0;
    let fake = on_set(move |_| {
        sets += 1;
        match sets {
            1 => Action::Silence,
            2 => reply(b"+OK\r\n+OK\r\n+O"),
            _ => reply(b"K\r\n"),
        }
    });
    let mut owner = Owner::of([fake.addr()]);
    owner.all_ready();
    let locks = ["a", "b", "c"].map(|resource| owner.acquire(resource));
    for lock in locks {
        assert_eq!(owner.acquired(), lock);
    }
    for lock in locks {
        owner.let_go(lock);
    }
    owner.finish([]);
}

/// FAULTS 1, over a real socket.
#[test]
fn replies_in_pieces_are_put_together() {
    let piece = Duration::from_millis(1);
    let fake = Fake::after_handshake(Master::new(), move |request| {
        let bytes: &[u8] = if request.name() == "SET" { b"+OK\r\n" } else { b":1\r\n" };
        Action::Drip(piece, bytes.to_vec())
    });
    let mut owner = Owner::of([fake.addr()]);
    for round in 0..10_u8 {
        let lock = owner.hold([round]);
        owner.extend(lock);
        owner.extended();
        assert_eq!(owner.let_go(lock).released.len(), 1);
    }
    owner.finish([]);
}

/// FAULTS 15: what came before the end counts, what was cut off does not.
#[test]
fn a_reply_before_the_end_of_the_stream_counts_and_half_a_reply_does_not() {
    let ends = |bytes: &[u8], end: Action| {
        let mut actions = Some(Action::All(vec![reply(bytes), end]));
        on_set(move |_| actions.take().unwrap_or_else(|| reply(b"$-1\r\n")))
    };
    let whole = ends(b"+OK\r\n", Action::Close);
    let mut owner = Owner::of([whole.addr()]);
    owner.all_ready();
    let lock = owner.attempt("resource");
    assert_eq!(owner.acquired(), lock);
    owner.failed_with(0, NodeError::Closed);
    owner.all_ready();
    assert_eq!(owner.let_go(lock).released.len(), 1);
    owner.finish([]);

    for end in [Action::Close, Action::Reset] {
        let half = ends(b"+OK\r", end);
        let mut owner = Owner::of([half.addr()]);
        owner.all_ready();
        owner.attempt("resource");
        let error = owner.not_acquired();
        assert!(matches!(error, AcquireError::NoQuorum(_)), "{error}");
        owner.poll_until("the cleanup", |owner| {
            owner.status(0).state == NodeState::Ready && owner.status(0).cleanup == 0
        });
        owner.finish([]);
    }
}

/// FAULTS 3: a frame that never completes keeps neither the request nor the connection.
#[test]
fn a_reply_that_stops_in_the_middle_is_given_up() {
    // So long that no replies to a look, which a slow machine sends meanwhile, complete it.
    let fake = on_set(|_| reply(b"$60000\r\nabc"));
    let mut config = config([fake.addr()]);
    config.redlock.node_timeout = Some(SHORT);
    config.redlock.close_timeout = 2 * SHORT;
    let mut owner = Owner::new(config);
    owner.all_ready();
    owner.attempt("resource");
    let error = owner.not_acquired();
    assert!(matches!(error, AcquireError::NoQuorum(_)), "{error}");
    owner.failed_with(0, NodeError::NoReply);
    owner.poll_until("another connection", |owner| owner.status(0).counters.connects == 2);
    owner.finish([]);
}

/// FAULTS 2: the time counts from the sending; a byte now and then does not start it anew.
#[test]
fn a_reply_that_drips_does_not_hold_up_an_attempt() {
    let drip = || on_set(|_| Action::Drip(4 * SHORT, b"+OK\r\n".to_vec()));
    // Each pause is shorter than the timeout, all of them together are not.
    let fakes = [drip(), drip(), drip()];
    let mut config = config(fakes.iter().map(Fake::addr));
    config.redlock.node_timeout = Some(5 * SHORT);
    let mut owner = Owner::new(config);
    owner.all_ready();
    owner.attempt("resource");
    let error = owner.not_acquired();
    assert!(matches!(error, AcquireError::NoQuorum(_)), "{error}");
    drop(fakes);
    owner.finish([]);
}

/// FAULTS 2, FAULTS 65; PEERS 2.17: one slow node in three decides nothing and delays nobody.
#[test]
fn a_slow_node_is_not_waited_for() {
    let slow = on_set(|_| Action::Later(4 * SHORT, b"+OK\r\n".to_vec()));
    let cluster = Cluster::start(2);
    let mut config = config([cluster[0].addr(), slow.addr(), cluster[1].addr()]);
    config.redlock.node_timeout = Some(SHORT);
    config.redlock.max_locks = 100_000;
    let mut owner = Owner::new(config);
    owner.all_ready();
    let deadline = owner.engine.now() + PATIENCE;
    let mut cycles = 0;
    // Each time that it has kept silent for a node timeout, the others go on without it.
    while cycles < owner.status(1).counters.asked + 50 {
        let lock = owner.hold("resource");
        owner.let_go(lock);
        cycles += 1;
        assert!(owner.engine.now() < deadline, "{cycles} cycles, {owner:?}");
    }
    drop(slow);
    owner.finish(cluster.iter());
}

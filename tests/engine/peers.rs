//! Defects of other libraries, and complaints of their users, that no other file is about. The rows
//! are those of the list of peers.

use std::collections::HashSet;
use std::time::Duration;

use redbolt::redlock::NodeOutcome;
use redbolt::{AcquireError, Event, ExtendError, RequestError};

use crate::owner::{Owner, TTL, config};
use crate::support::fake::{Action, Fake};
use crate::support::master::Master;
use crate::support::servers::{Cluster, Node};
use crate::support::wire::Reply;

const FOREIGN: &[u8] = b"somebody else's";
const SHORT: Duration = Duration::from_millis(100);

/// PEERS 1c, node-redlock: a try ends only with q votes for it or q against it, which a tie of two
/// to two never brings.
#[test]
fn a_tie_is_an_answer() {
    for nodes in [2, 4] {
        let cluster = Cluster::start(nodes);
        let mut owner = Owner::of(cluster.addrs());
        owner.all_ready();
        for node in &cluster[..nodes / 2] {
            node.set_px(b"resource", FOREIGN, TTL);
        }
        owner.attempt("resource");
        assert!(matches!(owner.not_acquired(), AcquireError::Held { .. }));
        owner.all_answered();
        assert_eq!(cluster.holding(b"resource", FOREIGN), nodes / 2);
        for node in &cluster[nodes / 2..] {
            assert_eq!(node.get(b"resource"), None, "what the other half gave is given back");
        }
        for node in &cluster[..nodes / 2] {
            assert_eq!(node.command(&[b"DEL", b"resource"]), Reply::Integer(1));
        }
        owner.finish(cluster.iter());
    }
}

/// PEERS 1c, node-redlock: it keeps what a failed try got while its own script refuses an existing
/// key, and so blocks itself. PEERS 2.12: each attempt has a token of its own.
#[test]
fn what_a_failed_attempt_got_does_not_stand_in_the_way_of_the_next() {
    let cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    cluster[1].set_px(b"resource", FOREIGN, TTL);
    cluster[2].set_px(b"resource", FOREIGN, TTL);
    let lock = owner.acquire("resource");
    // All three answers: a node that has not refused yet could grant the first attempt after all.
    owner.poll_until("an attempt that failed", |owner| {
        let refused = |index| owner.status(index).counters.refused >= 1;
        owner.status(0).counters.granted >= 1 && refused(1) && refused(2)
    });
    cluster[1].command(&[b"DEL", b"resource"]);
    cluster[2].command(&[b"DEL", b"resource"]);
    assert_eq!(owner.acquired(), lock);
    // The other two are a quorum without the answer of node 0.
    owner.all_answered();
    let status = owner.status(0);
    assert!(status.counters.granted >= 2, "{status}");
    assert_eq!(status.counters.refused, 0, "node 0 never had another key than ours: {status}");
    owner.let_go(lock);
    owner.finish(cluster.iter());
}

/// PEERS 2.12: a retry with the token of the last attempt could take a late answer, or a late
/// release, for its own.
#[test]
fn no_two_attempts_have_the_same_token() {
    let mut asked = 0;
    let fake = Fake::after_handshake(Master::new(), move |request| {
        asked += usize::from(request.name() == "SET");
        Action::Reply(match request.name().as_str() {
            "SET" if asked <= 10 => b"$-1\r\n".to_vec(),
            "SET" => b"+OK\r\n".to_vec(),
            _ => b":1\r\n".to_vec(),
        })
    });
    let mut owner = Owner::of([fake.addr()]);
    for resource in ["a", "b"] {
        let lock = owner.hold(resource);
        owner.let_go(lock);
    }
    let requests = fake.requests();
    let sets: Vec<_> = requests.iter().filter(|request| request.name() == "SET").collect();
    let tokens: HashSet<_> = sets.iter().map(|set| set.part(2)).collect();
    assert_eq!((sets.len(), tokens.len()), (12, 12));
    owner.finish([]);
}

/// PEERS 1c, rslock: one extension that fails unlocks every node. PEERS 2.33.
#[test]
fn a_failed_extension_leaves_the_lock_as_it_was() {
    let cluster = Cluster::start(3);
    let mut config = config(cluster.addrs());
    config.redlock.node_timeout = Some(SHORT);
    let mut owner = Owner::new(config);
    owner.all_ready();
    let lock = owner.acquire("resource");
    let Event::Acquired { valid_until, .. } = owner.next() else { panic!("not acquired") };
    let token = owner.engine.token(lock);
    cluster[1].stop();
    cluster[2].stop();
    for _ in 0..3 {
        owner.extend(lock);
        let error = owner.not_extended();
        assert!(matches!(error, ExtendError::NoQuorum(_)), "{error}");
        assert!(owner.engine.is_held(lock) && owner.engine.token(lock) == token);
    }
    assert!(owner.engine.now() + owner.engine.remaining(lock) <= valid_until + SHORT);
    cluster[1].cont();
    cluster[2].cont();
    owner.all_ready();
    // On a busy machine one of them may be late.
    let end = owner.engine.now() + TTL;
    loop {
        owner.extend(lock);
        match owner.next() {
            Event::Extended { .. } => break,
            event => assert!(owner.engine.now() < end, "{event:?}"),
        }
    }
    owner.let_go(lock);
    owner.finish(cluster.iter());
}

/// PEERS 2.2: "why unlock nodes that said no?" Only a definite no makes it unnecessary.
#[test]
fn a_node_that_refused_gets_no_release_and_one_that_kept_silent_does() {
    let fake = |set: &'static [u8]| {
        Fake::after_handshake(Master::new(), move |request| match request.name().as_str() {
            "SET" if set.is_empty() => Action::Silence,
            "SET" => Action::Reply(set.to_vec()),
            _ => Action::Reply(b":1\r\n".to_vec()),
        })
    };
    let fakes = [fake(b"$-1\r\n"), fake(b"$-1\r\n"), fake(b"+OK\r\n"), fake(b""), fake(b"")];
    let mut config = config(fakes.iter().map(Fake::addr));
    config.redlock.node_timeout = Some(10 * SHORT);
    let mut owner = Owner::new(config);
    owner.all_ready();
    owner.attempt("resource");
    owner.not_acquired();
    let released =
        |fake: &Fake| fake.requests().iter().filter(|request| request.name() == "EVALSHA").count();
    // The silent ones answer the release with a number where +OK or nil is owed, which ends their
    // sessions. On a busy machine the sessions may have ended before, for want of a reply; then the
    // next ones carry the release.
    owner.poll_until("a release for each silent node", |_| {
        fakes[3..].iter().all(|fake| released(fake) > 0)
    });
    owner.all_answered();
    assert_eq!(fakes[..3].iter().map(released).collect::<Vec<_>>(), [0, 0, 1]);
    owner.finish([]);
}

/// PEERS 1c, redsync and PEERS 3.5: the release, and the `SET` of the next in line after it, leave
/// in one write on the connection that carried the first `SET`.
#[test]
fn a_release_and_the_next_attempt_leave_together_and_in_order() {
    let fake = Fake::after_handshake(Master::new(), |request| {
        let is_set = request.name() == "SET";
        Action::Reply(if is_set { b"+OK\r\n".to_vec() } else { b":1\r\n".to_vec() })
    });
    let mut owner = Owner::of([fake.addr()]);
    let first = owner.hold("resource");
    let first_token = owner.engine.token(first).expect("it is held");
    let second = owner.acquire("resource");
    let writes = owner.engine.io_counters().writes;
    owner.release(first);
    owner.flush();
    assert_eq!(owner.engine.io_counters().writes, writes + 1);
    assert!(matches!(owner.next(), Event::Released { lock, .. } if lock == first));
    assert_eq!(owner.acquired(), second);
    let second_token = owner.engine.token(second).expect("it is held");
    let requests = fake.requests();
    let [.., set, release, next] = &requests[..] else { panic!("{requests:?}") };
    assert_eq!((set.name().as_str(), set.part(2)), ("SET", first_token.as_ref()));
    assert_eq!((release.name().as_str(), release.part(4)), ("EVALSHA", first_token.as_ref()));
    assert_eq!((next.name().as_str(), next.part(2)), ("SET", second_token.as_ref()));
    assert!([release, next].iter().all(|request| request.connection == set.connection));
    owner.let_go(second);
    owner.finish([]);
}

/// PEERS 2.14: held by another, no nodes, cancelled are different things.
#[test]
fn the_reasons_for_not_getting_a_lock_are_told_apart() {
    let cluster = Cluster::start(3);
    let mut config = config(cluster.addrs());
    config.redlock.node_timeout = Some(SHORT);
    let mut owner = Owner::new(config);
    owner.all_ready();
    cluster.iter().for_each(|node| node.set_px(b"taken", FOREIGN, TTL));
    owner.acquire_for("taken", TTL, 3 * SHORT);
    assert!(matches!(owner.not_acquired(), AcquireError::Held { .. }));

    let lock = owner.hold("ours");
    owner.acquire_for("ours", TTL, SHORT);
    assert!(matches!(owner.not_acquired(), AcquireError::Held { .. }), "by ourselves");

    let cancelled = owner.acquire("taken");
    owner.cancel(cancelled);
    assert_eq!(owner.not_acquired(), AcquireError::Cancelled);

    cluster.iter().for_each(|node| _ = node.command(&[b"DEL", b"taken"]));
    cluster[0].stop();
    cluster[1].stop();
    owner.attempt("free");
    let error = owner.not_acquired();
    let AcquireError::NoQuorum(outcomes) = error else { panic!("{error}") };
    let silent =
        |outcome: &NodeOutcome| matches!(outcome, NodeOutcome::NoReply | NodeOutcome::Stalled);
    assert!(outcomes.as_slice()[..2].iter().all(silent), "{error}");
    // The first attempt has a minute of its own; who stands behind it has not.
    owner.poll_until("the silence to be noticed", |owner| {
        (0..2).all(|index| owner.status(index).state == redbolt::NodeState::Stalled)
    });
    let first = owner.acquire("queued");
    owner.acquire_for("queued", TTL, SHORT);
    // The one ahead lacks the nodes, and so does whoever stands behind it.
    let error = owner.not_acquired();
    assert!(matches!(error, AcquireError::NoQuorum(_)), "{error}");
    cluster[0].cont();
    cluster[1].cont();
    assert_eq!(owner.acquired(), first);
    owner.let_go(first);
    owner.let_go(lock);
    owner.finish(cluster.iter());
}

/// PEERS 2.32: etcd's retried unlock deletes a newer lock of the same session.
#[test]
fn a_second_release_does_not_touch_the_next_lock() {
    let cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    let first = owner.hold("resource");
    let old_token = owner.engine.token(first).expect("it is held");
    owner.let_go(first);
    let second = owner.hold("resource");
    assert_eq!(owner.engine.release(first), Err(RequestError::UnknownLock));
    let token = owner.engine.token(second).expect("it is held");
    assert_ne!(token, old_token, "a token is for one attempt, never for a client");
    assert!(owner.engine.is_held(second));
    assert!(cluster.holding(b"resource", token.as_ref()) >= 2);
    owner.let_go(second);
    owner.finish(cluster.iter());
}

/// PEERS 2.34: the resource is the name of somebody's data.
#[test]
fn data_under_the_name_of_a_resource_is_left_alone() {
    let cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    for node in cluster.iter() {
        node.command(&[b"SET", b"text", b"data"]);
        node.command(&[b"RPUSH", b"list", b"data"]);
    }
    for resource in ["text", "list"] {
        owner.attempt(resource);
        let error = owner.not_acquired();
        assert!(matches!(error, AcquireError::Held { .. }), "{error}");
    }
    for node in cluster.iter() {
        assert_eq!(node.get(b"text").as_deref(), Some(&b"data"[..]));
        assert_eq!(node.command(&[b"DEL", b"text", b"list"]), Reply::Integer(2));
    }
    owner.finish(cluster.iter());
}

/// PEERS 2.1: redlock-rb times out after the `SET` was written and forgets about it.
#[test]
fn a_timeout_is_not_a_no() {
    let cluster = Cluster::start(3);
    let mut config = config(cluster.addrs());
    config.redlock.node_timeout = Some(SHORT);
    let mut owner = Owner::new(config);
    owner.all_ready();
    cluster.iter().for_each(Node::stop);
    for round in 0..20_u8 {
        owner.acquire_for([round], TTL, SHORT);
    }
    for _ in 0..20 {
        owner.not_acquired();
    }
    cluster.iter().for_each(Node::cont);
    owner.all_answered();
    assert!(owner.status(0).counters.granted > 0, "the SETs were executed all the same");
    owner.finish(cluster.iter());
}

//! Nodes that answer with something else than Redis would: by mistake, by a broken proxy between,
//! or with intent. Alone, such a node must never make a lock; among others, it must not prevent
//! one.

use std::time::Duration;

use redbolt::redlock::{NodeError, ServerError};
use redbolt::{AcquireError, Event};

use crate::owner::{Owner, config};
use crate::support::fake::{Action, Fake, Request};
use crate::support::master::Master;
use crate::support::servers::Cluster;

const SHORT: Duration = Duration::from_millis(100);

/// A master that answers every `SET` with these bytes, and every script with 1.
fn answering(bytes: &[u8]) -> Fake {
    let bytes = bytes.to_vec();
    on_set(move |_| Action::Reply(bytes.clone()))
}

/// A master that answers every script with 1, and a `SET` as it is told.
pub(crate) fn on_set(mut answer: impl FnMut(&Request) -> Action + Send + 'static) -> Fake {
    Fake::after_handshake(Master::new(), move |request| match request.name().as_str() {
        "SET" => answer(request),
        _ => Action::Reply(b":1\r\n".to_vec()),
    })
}

pub(crate) fn reply(bytes: &[u8]) -> Action {
    Action::Reply(bytes.to_vec())
}

/// An owner that does not wait long for a node.
fn hasty(fake: &Fake) -> Owner {
    let mut config = config([fake.addr()]);
    config.redlock.node_timeout = Some(SHORT);
    let mut owner = Owner::new(config);
    owner.all_ready();
    owner
}

/// FAULTS 4, FAULTS 5, FAULTS 6, FAULTS 7, FAULTS 9, FAULTS 10: nothing but `+OK` is a vote (S4).
#[test]
fn only_ok_is_a_vote_and_whatever_is_not_a_reply_to_set_ends_the_connection() {
    let deep = [b"*1\r\n".repeat(100), b":1\r\n".to_vec()].concat();
    let long = [b"+".to_vec(), b"x".repeat(70_000)].concat();
    let huge = [b"$1000000\r\n".to_vec(), b"x".repeat(70_000)].concat();
    let protocol: [&[u8]; 11] = [
        b"\x00\x01\x02\xff\xfe\r\n",
        b"OK\r\n",
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"+OK\n\r\n",
        b"$-2\r\n",
        b"*-7\r\n",
        b"$999999999999\r\n",
        b":+1\r\n",
        b"$2\r\nOKxx",
        b"$?\r\n;2\r\nOK\r\n;0\r\n",
        &deep,
    ];
    for bytes in protocol {
        no_vote(bytes, |error| matches!(error, NodeError::Protocol(_)));
    }
    let unexpected: [&[u8]; 10] = [
        b":1\r\n",
        b"$2\r\nOK\r\n",
        b"+ok\r\n",
        b"+OK \r\n",
        b"+QUEUED\r\n",
        b"*1\r\n+OK\r\n",
        b"%0\r\n",
        b"#t\r\n",
        b"=6\r\ntxt:OK\r\n",
        b"$0\r\n\r\n",
    ];
    for bytes in unexpected {
        no_vote(bytes, |error| error == NodeError::UnexpectedReply);
    }
    for bytes in [long, huge] {
        no_vote(&bytes, |error| error == NodeError::ReplyTooLong);
    }
}

/// Answers a `SET` with these bytes: no lock, no vote, the session is over, another one begins, and
/// over that the token is taken back, because nobody knows what was executed (S6).
fn no_vote(bytes: &[u8], is_right: impl Fn(NodeError) -> bool) {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(40)]).into_owned();
    let fake = answering(bytes);
    let mut owner = Owner::of([fake.addr()]);
    owner.all_ready();
    owner.attempt("resource");
    let error = owner.not_acquired();
    assert!(matches!(error, AcquireError::NoQuorum(_)), "{text:?}: {error}");
    let status = owner.status(0);
    assert!(status.error.is_some_and(&is_right), "{text:?}: {status}");
    assert_eq!((status.counters.granted, status.counters.refused), (0, 0), "{text:?}");
    owner.poll_until("the cleanup", |owner| {
        owner.status(0).counters.connects == 2 && owner.status(0).cleanup == 0
    });
    let requests = fake.requests();
    let set = requests.iter().find(|request| request.name() == "SET").expect("it was asked");
    let release = requests.iter().rfind(|request| request.name() == "EVALSHA");
    let release = release.expect("it was cleaned up");
    assert_eq!((set.connection, release.connection), (0, 1));
    assert_eq!((release.part(3), release.part(4)), (set.part(1), set.part(2)), "{text:?}");
    owner.finish([]);
}

/// PEERS 1c, redlock-py: raises when a quorum agrees and any node fails.
#[test]
fn a_node_that_talks_nonsense_does_not_prevent_a_lock() {
    let cluster = Cluster::start(2);
    for bytes in [&b"\xff\xff\xff\xff\r\n"[..], b":1\r\n", b"-ERR odd\r\n", b"$-1\r\n", b""] {
        let fake = answering(bytes);
        let mut owner = Owner::of([fake.addr(), cluster[0].addr(), cluster[1].addr()]);
        owner.all_ready();
        for _ in 0..5 {
            let lock = owner.hold("resource");
            let token = owner.engine.token(lock).expect("it is held");
            assert_eq!(cluster.holding(b"resource", token.as_ref()), 2);
            owner.let_go(lock);
        }
        // A silent node still owes its replies.
        drop(fake);
        owner.finish(cluster.iter());
    }
}

/// FAULTS 10, the other way round: a script is answered with a number, never with `+OK`.
#[test]
fn only_a_number_from_minus_one_to_one_is_an_answer_to_a_script() {
    for bytes in [&b"+OK\r\n"[..], b"$-1\r\n", b":2\r\n", b":-2\r\n", b"$1\r\n1\r\n", b"*0\r\n"] {
        let fake = Fake::after_handshake(Master::new(), {
            let bytes = bytes.to_vec();
            move |request| match (request.name().as_str(), request.connection) {
                ("SET", _) => reply(b"+OK\r\n"),
                (_, 0) => Action::Reply(bytes.clone()),
                _ => reply(b":1\r\n"),
            }
        });
        let text = String::from_utf8_lossy(bytes);
        let mut owner = Owner::of([fake.addr()]);
        let lock = owner.hold("resource");
        owner.extend(lock);
        owner.not_extended();
        assert_eq!(owner.status(0).error, Some(NodeError::UnexpectedReply), "{text:?}");
        assert!(owner.engine.is_held(lock), "{text:?}: a failed extension leaves the validity");
        owner.all_ready();
        assert_eq!(owner.let_go(lock).released.len(), 1, "{text:?}");
        owner.finish([]);
    }
}

/// FAULTS 9: what RESP3 sends beside the replies is no reply, and nobody asked for RESP3.
#[test]
fn pushes_and_attributes_end_the_connection_of_who_has_not_asked_for_them() {
    let rows: [&[u8]; 3] = [
        b">2\r\n+invalidate\r\n*1\r\n$8\r\nresource\r\n+OK\r\n",
        b"|1\r\n+ttl\r\n:60\r\n+OK\r\n",
        b">1\r\n+OK\r\n$-1\r\n",
    ];
    for bytes in rows {
        let master = Master { refuses_resp3: true, ..Master::new() };
        let fake = Fake::after_handshake(master, move |request| match request.name().as_str() {
            "SET" => reply(bytes),
            _ => reply(b":1\r\n"),
        });
        let mut owner = Owner::of([fake.addr()]);
        owner.all_ready();
        owner.attempt("resource");
        let error = owner.not_acquired();
        assert!(matches!(error, AcquireError::NoQuorum(_)), "{error}");
        assert!(owner.status(0).counters.failures > 0);
        drop(fake);
        owner.finish([]);
    }
}

/// FAULTS 11, FAULTS 13: the reply too many belongs to nothing, and nothing comes after it.
#[test]
fn a_reply_too_many_ends_the_connection() {
    let mut sets = 0;
    let fake = on_set(move |_| {
        sets += 1;
        reply(if sets == 1 { b"$-1\r\n$-1\r\n" } else { b"+OK\r\n" })
    });
    let mut owner = Owner::of([fake.addr()]);
    owner.all_ready();
    owner.attempt("resource");
    assert!(matches!(owner.not_acquired(), AcquireError::Held { .. }));
    owner.failed_with(0, NodeError::UnsolicitedReply);
    // A new connection begins with a clean account.
    let lock = owner.hold("resource");
    assert_eq!(owner.status(0).counters.connects, 2);
    owner.let_go(lock);
    owner.finish([]);
}

/// FAULTS 11: replies of `SET` and of scripts have no value in common, so that a shift between them
/// shows at once.
#[test]
fn a_doubled_vote_is_not_taken_for_the_answer_to_a_release() {
    let fake = Fake::after_handshake(Master::new(), |request| {
        match (request.name().as_str(), request.connection) {
            ("SET", 0) => Action::Silence,
            ("SET", _) => reply(b"$-1\r\n"),
            // Now both replies to the one SET; the release itself stays without.
            (_, 0) => reply(b"+OK\r\n+OK\r\n"),
            _ => reply(b":1\r\n"),
        }
    });
    let mut owner = hasty(&fake);
    owner.attempt("resource");
    owner.not_acquired();
    owner.failed_with(0, NodeError::UnexpectedReply);
    owner.poll_until("the cleanup", |owner| {
        owner.status(0).counters.connects == 2 && owner.status(0).cleanup == 0
    });
    owner.finish([]);
}

/// FAULTS 12, FAULTS 13: one reply is missing, and the next one comes in its place.
#[test]
fn the_answer_to_a_release_is_not_taken_for_a_vote() {
    let fake = Fake::after_handshake(Master::new(), |request| match request.name().as_str() {
        "SET" if request.connection == 0 => Action::Silence,
        "SET" => reply(b"+OK\r\n"),
        _ => reply(b":1\r\n"),
    });
    let mut owner = hasty(&fake);
    let lock = owner.attempt("resource");
    let error = owner.not_acquired();
    assert!(matches!(error, AcquireError::NoQuorum(_)), "{error}");
    owner.failed_with(0, NodeError::UnexpectedReply);
    assert!(!owner.engine.is_held(lock));
    assert_eq!(owner.status(0).counters.granted, 0);
    owner.finish([]);
}

/// What answers on the port is not Redis, or does not let us in.
#[test]
fn a_stranger_on_the_port_is_told_apart() {
    let master = Master::new();
    let bye =
        |text: &[u8]| Fake::start(Action::All(vec![reply(text), Action::Close]), |_| Action::Close);
    let is_overloaded = NodeError::Server(ServerError::Overloaded);
    let is_denied = NodeError::Server(ServerError::Denied);
    let replica = Master { role: "slave".to_owned(), ..master.clone() };
    let cluster = Master { cluster: true, ..master.clone() };
    let loading = Master { loading: true, ..master };
    let rows = [
        (Fake::closing(), NodeError::Closed),
        (Fake::silent(), NodeError::HandshakeTimeout),
        (Fake::deaf(), NodeError::HandshakeTimeout),
        (Fake::repeating(b"+OK\r\n"), NodeError::UnexpectedReply),
        (Fake::dripping(b"+PONG\r\n"), NodeError::HandshakeTimeout),
        (bye(b"-ERR max number of clients reached\r\n"), is_overloaded),
        (bye(b"-DENIED Redis is running in protected mode\r\n"), is_denied),
        (Fake::after_handshake(replica, |_| Action::Silence), NodeError::Replica),
        (Fake::after_handshake(cluster, |_| Action::Silence), NodeError::NotStandalone),
        (Fake::after_handshake(loading, |_| Action::Silence), NodeError::Loading),
    ];
    for (fake, error) in rows {
        let mut config = config([fake.addr()]);
        config.redlock.node_timeout = Some(SHORT);
        // Dripping, the first reply takes longer than this.
        config.redlock.connect_timeout = 2 * SHORT;
        let mut owner = Owner::new(config);
        owner.failed_with(0, error);
        owner.attempt("resource");
        assert!(matches!(owner.next(), Event::AcquireFailed { .. }), "{error}");
        assert_eq!(owner.status(0).counters.asked, 0, "{error}");
        owner.finish([]);
    }
}

//! Connections: which nodes may vote, what a break leaves open, and how that is cleaned up.

use super::*;

/// S6: the reply will never come, so the token may exist. The token is deleted after the reconnect,
/// and looked for again, because the server may read the bytes of the dead connection later than
/// those of the new one. FAULTS 53: a `SET` without a reply is taken back, never sent again.
#[test]
fn a_set_that_died_with_its_connection_is_cleaned_up_after_the_reconnect() {
    let mut rig = Rig::new(3);
    rig.acquire("r", NO_WAIT);
    rig.sent(0);
    rig.close(0);
    rig.reply(1, "$-1");
    assert!(matches!(rig.event(), Event::AcquireFailed { .. }));
    rig.connect(0);
    assert_eq!(rig.sent(0), ["EVALSHA release 1 r #1"]);
    rig.reply(0, ":0");
    rig.until(|rig| rig.has_output(0));
    assert_eq!(rig.sent(0), ["EVALSHA release 1 r #1"], "it may have come to exist meanwhile");
    rig.reply(0, ":1");
    let status = rig.redlock.node(rig.now, node(0)).expect("the node is there");
    assert_eq!(status.cleanup, 0);
}

/// S6: while the lock is held its token is left alone, because somebody needs it.
#[test]
fn a_held_lock_is_not_cleaned_up_until_it_ends() {
    let mut rig = Rig::new(3);
    let lock = rig.acquire("r", NO_WAIT);
    rig.sent(2);
    rig.reply(0, "+OK");
    rig.close(2);
    rig.reply(1, "+OK");
    assert!(matches!(rig.event(), Event::Acquired { .. }));
    rig.connect(2);
    assert_eq!(rig.sent(2), [""; 0]);
    rig.redlock.release(rig.now, lock).expect("held");
    rig.until(|rig| rig.has_output(2));
    assert_eq!(rig.sent(2), ["EVALSHA release 1 r #1"]);
}

#[test]
fn a_release_for_a_node_that_is_down_waits_for_it() {
    let mut rig = Rig::new(3);
    let lock = rig.held("r");
    rig.close(1);
    rig.redlock.release(rig.now, lock).expect("held");
    rig.reply(0, ":1");
    rig.reply(2, ":1");
    let Event::Released { outcome, .. } = rig.event() else { panic!("not released") };
    assert_eq!(outcome.unconfirmed, nodes([1]));
    rig.connect(1);
    assert_eq!(rig.sent(1), ["EVALSHA release 1 r #1"]);
}

#[test]
fn a_release_that_died_with_its_connection_is_sent_again() {
    let mut rig = Rig::new(3);
    let lock = rig.held("r");
    rig.redlock.release(rig.now, lock).expect("held");
    rig.sent(1);
    rig.close(1);
    rig.connect(1);
    assert_eq!(rig.sent(1), ["EVALSHA release 1 r #1"]);
}

/// A `SET` and its release that die together leave one token to clean up, not two.
#[test]
fn an_abandoned_attempt_is_remembered_once() {
    let mut rig = Rig::new(3);
    let lock = rig.acquire("r", WAIT);
    rig.redlock.cancel(rig.now, lock).expect("not held");
    rig.close(1);
    let status = rig.redlock.node(rig.now, node(1)).expect("the node is there");
    assert_eq!(status.cleanup, 1);
    rig.close(0);
    rig.close(2);
    assert_eq!(rig.redlock.in_use(), 0, "no reply is owed any more");
}

#[test]
fn a_majority_that_breaks_ends_an_attempt_at_once() {
    let mut rig = Rig::new(3);
    rig.acquire("r", NO_WAIT);
    rig.close(0);
    assert_eq!(rig.events(), []);
    rig.close(1);
    let Event::AcquireFailed { error: AcquireError::NoQuorum(outcomes), .. } = rig.event() else {
        panic!("not for want of a quorum");
    };
    assert_eq!(outcomes.as_slice()[0], NodeOutcome::NoReply);
}

/// S10: the same process under two names would vote twice. FAULTS 50.
#[test]
fn the_same_process_twice_votes_once() {
    let mut rig = Rig::unconnected(3, |_| ());
    for (index, process) in [(0, 9), (1, 9), (2, 10)] {
        rig.masters[index] = Master::old(process, rig.now, Duration::from_secs(60), 3);
    }
    rig.connect_as(0, 9, "");
    rig.connect_as(1, 9, "");
    assert_eq!(rig.state(0), NodeState::Ready);
    let status = rig.redlock.node(rig.now, node(1)).expect("the node is there");
    assert_eq!(status.error, Some(NodeError::SameProcess(node(0))));
    assert_eq!(status.state, NodeState::Misconfigured);
    rig.connect_as(2, 10, "");
    rig.acquire("r", NO_WAIT);
    assert_eq!(rig.sent(0).len(), 1);
    assert_eq!(rig.sent(2).len(), 1);
}

/// S10: any doubt keeps a node out.
#[test]
fn a_node_that_may_not_vote_is_told_once_and_tried_again_slowly() {
    for (extra, error) in [
        ("role:slave\r\n", NodeError::Replica),
        ("loading:1\r\n", NodeError::Loading),
        ("redis_mode:cluster\r\n", NodeError::NotStandalone),
        ("maxmemory:5\r\nmaxmemory_policy:allkeys-lru\r\n", NodeError::EvictsKeys),
        ("maxmemory_policy:volatile-ttl\r\n", NodeError::EvictsKeys),
    ] {
        let mut rig = Rig::unconnected(1, |_| ());
        rig.connect_as(0, 0, extra);
        let status = rig.redlock.node(rig.now, node(0)).expect("the node is there");
        assert_eq!(status.error, Some(error));
        assert!(rig.closed.contains(node(0)), "{error}");
        let (at, _) = rig.redlock.poll_timeout().expect("it is tried again");
        let slow = at - rig.now >= Duration::from_secs(10);
        assert_eq!(slow, error.is_misconfiguration(), "{error}");
    }
}

#[test]
fn a_reply_to_nothing_closes_the_connection() {
    let mut rig = Rig::new(1);
    rig.reply(0, "+OK");
    assert!(rig.closed.contains(node(0)));
    let status = rig.redlock.node(rig.now, node(0)).expect("the node is there");
    assert_eq!(status.error, Some(NodeError::UnsolicitedReply));
}

/// Pushes and attributes belong to RESP3, which is not spoken. A flood of them would keep the loop
/// from other nodes.
#[test]
fn pushes_and_attributes_close_the_connection() {
    for value in [">2\r\n+invalidate\r\n*0", "|1\r\n+ttl\r\n:1", "|0"] {
        let mut rig = Rig::new(1);
        rig.acquire("r", NO_WAIT);
        rig.reply(0, value);
        assert!(rig.closed.contains(node(0)), "{value}");
        assert!(matches!(rig.event(), Event::AcquireFailed { .. }));
    }
}

#[test]
fn bytes_that_are_not_the_protocol_close_the_connection_without_a_vote() {
    let mut rig = Rig::new(1);
    let lock = rig.acquire("r", NO_WAIT);
    rig.sent(0);
    let garbage = b"HTTP/1.1 400 Bad Request\r\n+OK\r\n";
    assert_eq!(rig.redlock.handle_received(rig.now, node(0), garbage), garbage.len());
    assert!(matches!(rig.event(), Event::AcquireFailed { lock: failed, .. } if failed == lock));
    let status = rig.redlock.node(rig.now, node(0)).expect("the node is there");
    assert!(matches!(status.error, Some(NodeError::Protocol(_))));
    assert_eq!(status.cleanup, 1);
}

#[test]
fn a_reply_that_never_ends_is_cut_off() {
    let mut rig = Rig::new(1);
    rig.acquire("r", NO_WAIT);
    let mut bytes = b"$500000\r\n".to_vec();
    bytes.resize(MAX_REPLY - 1, b'x');
    assert_eq!(rig.redlock.handle_received(rig.now, node(0), &bytes), 0);
    bytes.push(b'x');
    rig.redlock.handle_received(rig.now, node(0), &bytes);
    let status = rig.redlock.node(rig.now, node(0)).expect("the node is there");
    assert_eq!(status.error, Some(NodeError::ReplyTooLong));
}

/// FAULTS 29, FAULTS 47.
#[test]
fn a_server_that_is_not_the_master_we_knew_loses_its_session() {
    for error in ["-LOADING Redis is loading", "-READONLY You can't write", "-MASTERDOWN Link"] {
        let mut rig = Rig::new(1);
        rig.acquire("r", NO_WAIT);
        rig.sent(0);
        rig.reply(0, error);
        assert!(rig.closed.contains(node(0)), "{error}");
        rig.connect(0);
        assert_eq!(rig.sent(0), [""; 0], "{error}: nothing was executed, nothing to clean up");
    }
}

#[test]
fn a_node_that_is_silent_for_too_long_is_closed() {
    let mut rig = Rig::new(1);
    rig.acquire("r", NO_WAIT);
    rig.sent(0);
    rig.advance(ms(4_999));
    assert!(!rig.closed.contains(node(0)));
    rig.advance(ms(1));
    assert!(rig.closed.contains(node(0)));
    assert_eq!(rig.redlock.in_use(), 0);
}

#[test]
fn a_connection_or_a_handshake_that_takes_too_long_is_given_up() {
    let mut rig = Rig::unconnected(2, |_| ());
    rig.redlock.handle_connected(rig.now, node(1));
    rig.advance(Duration::from_secs(1));
    let error = |rig: &Rig, index| rig.redlock.node(rig.now, node(index))?.error;
    assert_eq!(error(&rig, 0), Some(NodeError::ConnectTimeout));
    assert_eq!(error(&rig, 1), Some(NodeError::HandshakeTimeout));
}

#[test]
fn a_new_login_counts_from_the_next_handshake() {
    let mut rig = Rig::new(1);
    rig.redlock.set_login(node(0), Login::with_user("app", "second"));
    assert_eq!(rig.sent(0), Vec::<String>::new(), "the session goes on with the old login");
    rig.close(0);
    rig.until(|rig| rig.wanted.contains(node(0)));
    rig.redlock.handle_connected(rig.now, node(0));
    assert_eq!(rig.sent(0)[0], "AUTH app second");
}

#[test]
fn reconnecting_slows_down_and_never_stops() {
    let mut rig = Rig::unconnected(1, |_| ());
    let mut pauses = Vec::new();
    for _ in 0..20 {
        assert!(rig.wanted.contains(node(0)));
        rig.wanted = NodeSet::EMPTY;
        rig.close(0);
        let closed = rig.now;
        rig.until(|rig| rig.wanted.contains(node(0)));
        pauses.push(rig.now - closed);
    }
    assert!(pauses[0] <= ms(20), "{:?}", pauses[0]);
    assert!(pauses[12..].iter().all(|pause| *pause >= ms(1_000) && *pause <= ms(2_000)));
}

#[test]
fn the_words_of_the_server_are_kept_and_made_safe() {
    let mut rig = Rig::new(1);
    rig.acquire("r", NO_WAIT);
    rig.reply(0, &format!("-NOPERM no \x1b[31m{}", "x".repeat(300)));
    let status = rig.redlock.node(rig.now, node(0)).expect("the node is there");
    let text = status.to_string();
    assert!(
        text.starts_with("misconfigured: access is denied (NOPERM no \\u{1b}[31mxxx"),
        "{text}"
    );
    assert_eq!(status.message.chars().count(), 128);
}

/// A server whose `AUTH` was renamed, and who repeats what it was sent.
#[test]
fn the_arguments_that_a_server_repeats_are_not_kept() {
    for text in [
        "unknown command 'AUTH', with args beginning with: 'app' 'secret' ",
        "unknown command `AUTH`, with args beginning with: `app`, `secret`, ",
        "unknown command 'AUTH' with args 'app' 'secret'",
    ] {
        let mut rig = Rig::new(1);
        rig.redlock.set_login(node(0), Login::with_user("app", "secret"));
        rig.close(0);
        rig.until(|rig| rig.wanted.contains(node(0)));
        rig.redlock.handle_connected(rig.now, node(0));
        rig.sent(0);
        rig.reply(0, &format!("-ERR {text}"));
        let status = rig.redlock.node(rig.now, node(0)).expect("the node is there");
        assert!(status.message.starts_with("ERR unknown command"), "{status}");
        assert!(status.message.ends_with("AUTH'") || status.message.ends_with("AUTH`"), "{status}");
        assert!(!status.to_string().contains("secret"), "{status}");
    }
}

/// S4: found by the fuzz target `core`. A repeated reply was a vote for the next `SET`, whose bytes
/// the driver did not even have yet.
#[test]
fn a_reply_that_comes_before_its_request_can_have_left_is_no_vote() {
    let mut rig = Rig::new(1);
    let first = rig.acquire("first", NO_WAIT);
    rig.sent(0);
    let second = rig.acquire("second", NO_WAIT);
    rig.redlock.handle_received(rig.now, node(0), b"+OK\r\n+OK\r\n");
    assert!(rig.redlock.is_held(rig.now, first));
    assert!(!rig.redlock.is_held(rig.now, second));
    let status = rig.redlock.node(rig.now, node(0)).expect("the node is there");
    assert_eq!(status.error, Some(NodeError::UnsolicitedReply));
}

//! One attempt: which nodes are asked, which votes count, when the attempt is decided, and what is
//! cleaned up.

use super::*;

/// The error of a lock that these nodes have refused.
fn refused_by<const N: usize>(nodes: [usize; N]) -> AcquireError {
    AcquireError::Held { refused: nodes.into_iter().filter_map(NodeId::new).collect() }
}

#[test]
fn the_quorum_th_reply_decides_and_stragglers_come_behind() {
    let mut rig = Rig::new(5);
    let lock = rig.acquire("r", NO_WAIT);
    for index in 0..5 {
        assert_eq!(rig.sent(index), ["SET r #1 NX PX 10000"]);
    }
    rig.reply(4, "+OK");
    rig.reply(0, "$-1");
    rig.reply(2, "+OK");
    assert_eq!(rig.events(), []);
    rig.reply(3, "+OK");
    assert!(matches!(rig.event(), Event::Acquired { lock: held, .. } if held == lock));
    rig.reply(1, "+OK");
    assert_eq!(rig.events(), []);
    assert!(rig.redlock.is_held(rig.now, lock));
}

/// S2: the round trip comes off the validity, because the ttl counts from before the `SET` left.
#[test]
fn validity_counts_from_before_the_first_byte_left() {
    let mut rig = Rig::new(3);
    let start = rig.now;
    rig.acquire("r", NO_WAIT);
    rig.advance(ms(40));
    rig.reply(0, "+OK");
    rig.reply(1, "+OK");
    let Event::Acquired { valid_until, .. } = rig.event() else { panic!("not acquired") };
    assert_eq!(valid_until, start + TTL - ms(102));
}

/// S3: a quorum of votes is worth nothing if the votes took longer than the validity. FAULTS 36.
#[test]
fn votes_after_the_validity_do_not_count_and_are_released() {
    let mut rig = Rig::with(3, |config| {
        config.node_timeout = Some(Duration::from_secs(30));
        config.close_timeout = Duration::from_secs(60);
    });
    rig.acquire("r", NO_WAIT);
    rig.sent(0);
    rig.sent(1);
    // The process was suspended between the call and the replies.
    rig.now = rig.now + TTL - ms(102);
    rig.reply(0, "+OK");
    rig.reply(1, "+OK");
    assert!(matches!(rig.event(), Event::AcquireFailed { .. }));
    assert_eq!(rig.sent(0), ["EVALSHA release 1 r #1"]);
    assert_eq!(rig.sent(1), ["EVALSHA release 1 r #1"]);
}

/// S3: the majority is one of the configured nodes, not of the nodes that answer.
#[test]
fn two_of_five_are_no_majority_even_when_nobody_else_is_there() {
    let mut rig = Rig::unconnected(5, |_| ());
    rig.connect(0);
    rig.connect(1);
    rig.events();
    rig.acquire("r", WAIT);
    assert_eq!(rig.sent(0), [""; 0], "an attempt that cannot succeed is not made");
    rig.until(|rig| rig.redlock.in_use() == 0);
    let Event::AcquireFailed { error: AcquireError::NoQuorum(outcomes), .. } = rig.event() else {
        panic!("not for want of a quorum");
    };
    use NodeOutcome::{Connecting, NotAsked};
    assert_eq!(outcomes.as_slice()[..2], [NotAsked, NotAsked]);
    assert!(
        outcomes.as_slice()[2..]
            .iter()
            .all(|outcome| { matches!(outcome, Connecting | NodeOutcome::Down) })
    );
}

/// S1: the number of a token is never used again. FAULTS 53: nothing is sent twice.
#[test]
fn a_retry_has_a_new_token() {
    let mut rig = Rig::new(1);
    rig.acquire("r", WAIT);
    for expected in ["SET r #1 NX PX 10000", "SET r #2 NX PX 10000", "SET r #3 NX PX 10000"] {
        rig.until(|rig| rig.has_output(0));
        assert_eq!(rig.sent(0), [expected]);
        rig.reply(0, "$-1");
    }
}

/// S5: a nil reply is the only answer after which no release is needed.
#[test]
fn a_failed_attempt_is_released_wherever_it_was_not_refused() {
    let mut rig = Rig::new(5);
    rig.acquire("r", WAIT);
    rig.reply(0, "+OK");
    rig.reply(1, "$-1");
    rig.reply(2, "$-1");
    rig.reply(3, "$-1");
    // Node 4 has not answered: its release follows the `SET` in the same stream.
    let set = "SET r #1 NX PX 10000";
    let release = "EVALSHA release 1 r #1";
    assert_eq!(rig.sent(0), [set, release]);
    assert_eq!(rig.sent(1), [set]);
    assert_eq!(rig.sent(4), [set, release]);
}

#[test]
fn refusals_that_cannot_be_overcome_end_an_attempt_without_waiting_for_the_rest() {
    let mut rig = Rig::new(5);
    let lock = rig.acquire("r", NO_WAIT);
    for index in 0..3 {
        rig.reply(index, "$-1");
    }
    assert_eq!(rig.events(), [Event::AcquireFailed { lock, error: refused_by([0, 1, 2]) }]);
}

#[test]
fn a_tie_of_an_even_number_of_nodes_is_resolved() {
    let mut rig = Rig::new(4);
    let lock = rig.acquire("r", NO_WAIT);
    for (index, reply) in ["+OK", "+OK", "$-1", "$-1"].into_iter().enumerate() {
        rig.reply(index, reply);
    }
    assert_eq!(rig.events(), [Event::AcquireFailed { lock, error: refused_by([2, 3]) }]);
    assert_eq!(rig.sent(0).last().map(String::as_str), Some("EVALSHA release 1 r #1"));
}

#[test]
fn one_node_is_the_single_instance_lock() {
    let mut rig = Rig::new(1);
    let lock = rig.held("r");
    rig.redlock.release(rig.now, lock).expect("held");
    assert_eq!(rig.sent(0), ["EVALSHA release 1 r #1"]);
    rig.reply(0, ":1");
    let outcome =
        ReleaseOutcome { released: nodes([0]), is_quorum_free: true, ..ReleaseOutcome::default() };
    assert_eq!(rig.events(), [Event::Released { lock, outcome }]);
    assert_eq!(rig.redlock.in_use(), 0);
}

#[test]
fn more_than_a_majority_can_be_demanded() {
    let mut rig = Rig::with(3, |config| config.quorum = Some(3));
    rig.acquire("r", NO_WAIT);
    rig.reply(0, "+OK");
    rig.reply(1, "+OK");
    assert_eq!(rig.events(), []);
    rig.reply(2, "+OK");
    assert!(matches!(rig.event(), Event::Acquired { .. }));
}

/// S4: only `+OK` to our own `SET` is a vote.
#[test]
fn a_reply_of_the_wrong_type_poisons_the_connection() {
    for reply in [":1", "$2\r\nOK", "+QUEUED", "+ok", "*0", "#t", "%1\r\n+a\r\n+b"] {
        let mut rig = Rig::new(3);
        rig.acquire("r", WAIT);
        rig.reply(0, "+OK");
        rig.reply(1, reply);
        assert_eq!(rig.events(), [], "{reply}");
        assert!(rig.closed.contains(node(1)), "{reply}");
        rig.reply(2, "$-1");
        assert_eq!(rig.events(), [], "{reply}: one vote is none");
    }
}

#[test]
fn an_error_is_no_vote_and_only_some_mean_that_nothing_was_executed() {
    let rows = [
        ("-OOM command not allowed", true),
        ("-MISCONF Errors writing", true),
        ("-NOREPLICAS Not enough", true),
        ("-BUSY Redis is busy", true),
        ("-ERR something else", false),
    ];
    for (reply, ruled_out) in rows {
        let mut rig = Rig::new(3);
        rig.acquire("r", NO_WAIT);
        rig.sent(0);
        rig.reply(0, reply);
        rig.reply(1, "$-1");
        rig.reply(2, "+OK");
        assert!(matches!(rig.event(), Event::AcquireFailed { .. }), "{reply}");
        let released = !rig.sent(0).is_empty();
        assert_eq!(released, !ruled_out, "{reply}");
    }
}

#[test]
fn a_node_that_cannot_serve_for_the_moment_is_passed_over_for_a_while() {
    let mut rig = Rig::new(3);
    rig.held("a");
    rig.acquire("b", WAIT);
    rig.sent(0);
    rig.reply(0, "-OOM command not allowed");
    assert_eq!(rig.state(0), NodeState::Unhealthy);
    rig.acquire("c", WAIT);
    assert_eq!(rig.sent(0), [""; 0]);
    for index in 1..3 {
        rig.reply(index, "+OK");
        rig.reply(index, "+OK");
    }
    rig.advance(ms(250));
    assert_eq!(rig.state(0), NodeState::Ready);
    rig.acquire("d", WAIT);
    // The node gets the keys that it missed meanwhile, and is asked again.
    let sent = rig.sent(0);
    assert_eq!(sent[2], "SET d #4 NX PX 10000");
    for fill in ["SET b #2 NX PX ", "SET c #3 NX PX "] {
        assert!(sent[..2].iter().any(|sent| sent.starts_with(fill)), "{sent:?}");
    }
}

#[test]
fn nodes_that_do_not_answer_end_an_attempt_after_a_node_timeout() {
    let mut rig = Rig::new(3);
    rig.acquire("r", NO_WAIT);
    rig.reply(0, "+OK");
    rig.sent(1);
    rig.advance(ms(49));
    assert_eq!(rig.events(), []);
    rig.advance(ms(1));
    let Event::AcquireFailed { error: AcquireError::NoQuorum(outcomes), .. } = rig.event() else {
        panic!("not for want of a quorum");
    };
    use NodeOutcome::{Granted, NoReply};
    assert_eq!(outcomes.as_slice(), [Granted, NoReply, NoReply]);
    // The release is right behind the late `SET`.
    assert_eq!(rig.sent(1), ["EVALSHA release 1 r #1"]);
}

#[test]
fn the_pause_between_attempts_is_random_and_grows() {
    let mut rig = Rig::new(1);
    rig.redlock.acquire(rig.now, b"r", TTL, Duration::from_secs(60)).expect("in bounds");
    let mut pauses = Vec::new();
    for _ in 0..40 {
        assert_eq!(rig.sent(0).len(), 1);
        rig.now = rig.now + Duration::from_micros(100);
        rig.reply(0, "$-1");
        let refused = rig.now;
        rig.until(|rig| rig.has_output(0));
        pauses.push(rig.now - refused);
    }
    assert!(pauses[0] <= Duration::from_micros(400), "{:?}", pauses[0]);
    let late = &pauses[20..];
    assert!(late.iter().all(|pause| *pause >= ms(25) && *pause <= ms(100)), "{late:?}");
    assert!(late.iter().any(|pause| *pause != late[0]));
}

/// The last pause is cut short, so that the whole wait is used and nobody fails long before its
/// end.
#[test]
fn the_last_attempt_is_made_towards_the_end_of_the_wait() {
    for seed in 0..20 {
        let mut rig = Rig::seeded(1, seed);
        let lock = rig.acquire("r", ms(300));
        let start = rig.now;
        let mut last = start;
        while rig.redlock.in_use() > 0 {
            rig.until(|rig| rig.has_output(0));
            last = rig.now;
            rig.sent(0);
            rig.reply(0, "$-1");
        }
        assert!(last < start + ms(300) && last >= start + ms(200), "{:?}", last - start);
        assert_eq!(rig.events(), [Event::AcquireFailed { lock, error: refused_by([0]) }]);
    }
}

#[test]
fn a_cancelled_attempt_is_released() {
    let mut rig = Rig::new(3);
    let lock = rig.acquire("r", WAIT);
    rig.sent(0);
    rig.reply(0, "+OK");
    rig.redlock.cancel(rig.now, lock).expect("not held yet");
    assert_eq!(rig.events(), [Event::AcquireFailed { lock, error: AcquireError::Cancelled }]);
    assert_eq!(rig.sent(0), ["EVALSHA release 1 r #1"]);
    assert_eq!(rig.sent(1).last().map(String::as_str), Some("EVALSHA release 1 r #1"));
    // Votes come too late from now on.
    rig.reply(1, "+OK");
    rig.reply(2, "+OK");
    assert_eq!(rig.events(), []);
    assert_eq!(rig.redlock.cancel(rig.now, lock), Err(RequestError::UnknownLock));
    for (index, reply) in [(0, ":1"), (1, ":1"), (2, ":1")] {
        rig.reply(index, reply);
    }
    assert_eq!(rig.redlock.in_use(), 0);
}

/// The answer of a stopped server to an old attempt must not count for the new one.
#[test]
fn a_vote_for_an_older_attempt_does_not_count() {
    let mut rig = Rig::new(3);
    rig.acquire("r", WAIT);
    rig.reply(1, "$-1");
    rig.reply(2, "$-1");
    // Node 0 has not answered. The second attempt passes the node over only once it has stalled.
    rig.until(|rig| rig.redlock.counters().attempts == 2);
    rig.reply(0, "+OK");
    rig.reply(1, "+OK");
    assert_eq!(rig.events(), [], "node 0 granted attempt 1, node 1 attempt 2");
}

#[test]
fn bad_requests_are_refused_with_the_value_and_the_limit() {
    let mut rig = Rig::with(3, |config| {
        config.prefix = b"locks:".to_vec();
        config.max_locks = 2;
    });
    let now = rig.now;
    let mut error = |resource: &[u8], ttl| {
        rig.redlock.acquire(now, resource, ttl, WAIT).expect_err("out of bounds").to_string()
    };
    assert_eq!(error(b"", TTL), "the resource is empty");
    let long = "prefix and resource have 4097 bytes, at most 4096 are possible";
    assert_eq!(error(&[b'x'; 4091], TTL), long);
    assert_eq!(error(b"r", ms(9)), "the ttl is 9ms, at least 10ms is possible");
    assert_eq!(error(b"r", Duration::MAX), "the ttl is forever, at most max_ttl = 1m is possible");
    assert_eq!(rig.redlock.in_use(), 0);
    rig.acquire("a", WAIT);
    rig.acquire("b", WAIT);
    let full = rig.redlock.acquire(now, b"c", TTL, WAIT);
    assert_eq!(full, Err(RequestError::Full { max: 2 }));
    assert_eq!(rig.sent(0)[0], "SET locks:a #1 NX PX 10000");
}

#[test]
fn nobody_waits_for_votes_that_could_not_count_any_more() {
    let mut rig = Rig::with(3, |config| config.node_timeout = Some(Duration::from_secs(2)));
    rig.redlock.acquire(rig.now, b"r", ms(100), NO_WAIT).expect("in bounds");
    // A lock that is granted after half of its 97 ms would be more in the way than of use.
    rig.advance(ms(48));
    assert_eq!(rig.events(), []);
    rig.advance(ms(1));
    assert!(matches!(rig.event(), Event::AcquireFailed { .. }));
}

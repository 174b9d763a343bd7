//! Looks (S11): what a client finds out about the data of a node while it uses the node, and what a
//! witness tells of the time before.

use super::*;

pub(super) const SPAN: Duration = Duration::from_millis(10_102);

/// Creates a machine whose nodes have been in use for long, with ttls of at most ten seconds.
pub(super) fn rig(count: usize) -> Rig {
    Rig::with(count, |config| config.max_ttl = TTL)
}

pub(super) fn quarantine(rig: &Rig, index: usize) -> Option<QuarantineReason> {
    let status = rig.redlock.node(rig.now, node(index)).expect("the node is there");
    status.quarantine.map(|quarantine| quarantine.reason)
}

fn error(rig: &Rig, index: usize) -> Option<NodeError> {
    rig.redlock.node(rig.now, node(index)).expect("the node is there").error
}

impl Rig {
    /// Answers the first node's look without a witness.
    fn answer_info(&mut self) {
        for section in ["server", "replication", "memory", "stats", "persistence"] {
            self.reply(0, &info(&self.masters[0].section(section)));
        }
    }
}

#[test]
fn each_node_is_looked_at_each_third_of_a_span() {
    let mut rig = rig(3);
    let count = |rig: &Rig, index: usize| rig.masters[index].stamp.map_or(0, |stamp| stamp.3);
    let before = count(&rig, 1);
    rig.advance(SPAN * 10);
    assert_eq!(count(&rig, 1) - before, 30);
    let at = |rig: &Rig, index: usize| rig.masters[index].stamp.map(|stamp| stamp.0);
    assert_eq!(at(&rig, 0), at(&rig, 2), "all nodes together");
}

#[test]
fn a_look_goes_by_sha_and_by_text_if_the_script_is_forgotten() {
    let mut rig = rig(1);
    rig.answers_looks = false;
    rig.until(|rig| rig.has_output(0));
    assert!(rig.sent(0)[0].starts_with("EVALSHA look 2 redbolt:witness redbolt:seen 0 "));
    rig.reply(0, "-NOSCRIPT No matching script. Please use EVAL.");
    assert!(rig.sent(0)[0].starts_with("EVAL look-text 2 redbolt:witness redbolt:seen 0 "));
    assert_eq!(rig.state(0), NodeState::Ready);
}

#[test]
fn a_node_that_does_not_answer_looks_ends_to_vote_and_begins_again_with_an_answer() {
    let mut rig = Rig::with(1, |config| {
        (config.max_ttl, config.close_timeout) = (TTL, Duration::from_secs(600));
        config.node_timeout = Some(Duration::from_secs(60));
    });
    rig.answers_looks = false;
    let start = rig.now;
    rig.until(|rig| rig.state(0) != NodeState::Ready);
    assert!(rig.now - start >= SPAN / 3 && rig.now - start <= SPAN);
    assert_eq!(quarantine(&rig, 0), Some(QuarantineReason::Unseen));
    let status = rig.redlock.node(rig.now, node(0)).expect("the node is there").to_string();
    assert_eq!(status, "quarantined: it has not answered a look at its data");
    rig.acquire("r", NO_WAIT);
    assert!(!rig.sent(0).iter().any(|command| command.starts_with("SET ")));
    rig.answers_looks = true;
    rig.close(0);
    rig.connect(0);
    assert_eq!(rig.state(0), NodeState::Ready);
}

/// The answer that matters is the one in time: a driver that slept does not ask a node which nobody
/// has looked at meanwhile.
#[test]
fn a_node_is_not_asked_after_a_sleep_until_it_was_looked_at() {
    let mut rig = rig(1);
    rig.answers_looks = false;
    rig.now = rig.now + SPAN * 3 / 4;
    rig.acquire("r", WAIT);
    assert_eq!(rig.sent(0), [""; 0]);
}

#[test]
fn a_flush_is_noticed_by_the_next_look() {
    let mut rig = rig(1);
    rig.masters[0].flush();
    rig.until(|rig| error(rig, 0) == Some(NodeError::OtherData));
    assert!(rig.closed.contains(node(0)));
    rig.connect(0);
    assert_eq!(quarantine(&rig, 0), Some(QuarantineReason::DataLost));
    rig.advance(SPAN);
    assert_eq!(rig.state(0), NodeState::Ready);
}

#[test]
fn a_vote_behind_a_look_that_found_other_data_does_not_count() {
    let mut rig = rig(1);
    rig.answers_looks = false;
    rig.until(|rig| rig.has_output(0));
    rig.sent(0);
    let lock = rig.acquire("r", NO_WAIT);
    assert_eq!(rig.sent(0).len(), 1);
    let look = rig.masters[0].flushed_look(rig.now);
    let bytes = format!("{look}\r\n+OK\r\n");
    rig.redlock.handle_received(rig.now, node(0), bytes.as_bytes());
    assert!(!rig.redlock.is_held(rig.now, lock));
    assert!(matches!(rig.event(), Event::AcquireFailed { .. }));
}

/// The keys may have been flushed while this client was away: nothing else would tell.
#[test]
fn a_witness_that_is_not_shown_any_more_proves_nothing() {
    let refusals = ["-NOPERM No permissions to access a key", "-ERR something went wrong"];
    for (refusal, is_away) in refusals.into_iter().flat_map(|text| [(text, true), (text, false)]) {
        let mut rig = rig(1);
        rig.masters[0].flush();
        rig.masters[0].refusal = Some(refusal);
        if is_away {
            rig.close(0);
            rig.connect(0);
        } else {
            rig.until(|rig| rig.has_output(0));
            assert_eq!(rig.sent(0).len(), 5, "looks by INFO alone");
            rig.answer_info();
        }
        assert_eq!(quarantine(&rig, 0), Some(QuarantineReason::WitnessDenied), "{refusal}");
        // The quarantine is not begun anew by each session.
        rig.advance(SPAN / 2);
        rig.close(0);
        rig.connect(0);
        rig.advance(SPAN / 2);
        assert_eq!(quarantine(&rig, 0), None, "{refusal}");
        // The witness that is shown again tells of the flush.
        rig.close(0);
        rig.masters[0].refusal = None;
        rig.connect(0);
        assert_eq!(quarantine(&rig, 0), Some(QuarantineReason::DataLost), "{refusal}");
    }
}

/// Somebody restores a copy: the identity is the same, and the witness has seen fewer looks.
#[test]
fn data_that_went_back_is_noticed() {
    let mut rig = rig(1);
    let copy = rig.masters[0].clone();
    rig.advance(SPAN);
    rig.masters[0] = copy;
    rig.close(0);
    rig.connect(0);
    assert_eq!(quarantine(&rig, 0), Some(QuarantineReason::DataLost));
}

#[test]
fn what_a_look_finds_on_a_live_session_ends_the_session() {
    use QuarantineReason::{
        EvictedKeys, EvictingPolicy, NewReplicationId, NotStandalone, StoppedServing,
    };

    let rows = [
        (
            "maxmemory:5\r\nmaxmemory_policy:allkeys-random\r\n",
            NodeError::EvictsKeys,
            EvictingPolicy,
        ),
        ("maxmemory_policy:volatile-lru\r\n", NodeError::EvictsKeys, EvictingPolicy),
        ("role:slave\r\n", NodeError::Replica, StoppedServing),
        ("loading:1\r\n", NodeError::Loading, StoppedServing),
        ("redis_mode:cluster\r\n", NodeError::NotStandalone, NotStandalone),
        ("evicted_keys:1\r\n", NodeError::OtherData, EvictedKeys),
        (
            "master_replid:89abcdef0123456789abcdef0123456789abcdef\r\n",
            NodeError::OtherData,
            NewReplicationId,
        ),
    ];
    for (extra, expected, reason) in rows {
        for guard in [RestartGuard::On, RestartGuard::Strict, RestartGuard::Durable] {
            let change = |config: &mut RedlockConfig| {
                (config.max_ttl, config.restart_guard) = (TTL, guard);
            };
            let mut rig = Rig::with(1, change);
            rig.masters[0].extra = extra.to_owned();
            rig.until(|rig| error(rig, 0) == Some(expected));
            assert!(rig.closed.contains(node(0)), "{extra}");
            let why = quarantine(&rig, 0).expect("in quarantine");
            assert_eq!(why, reason, "{extra}");
        }
    }
}

#[test]
fn without_a_guard_live_nodes_are_looked_at_all_the_same() {
    let mut rig = Rig::with(1, |config| config.restart_guard = RestartGuard::Off);
    rig.until(|rig| rig.has_output(0));
    let sections = ["server", "replication", "memory", "stats", "persistence"];
    assert_eq!(rig.sent(0), sections.map(|section| format!("INFO {section}")));
    for section in sections {
        let policy = "maxmemory_policy:allkeys-lru\r\n";
        rig.reply(0, &info(&(rig.masters[0].section(section) + policy)));
    }
    assert_eq!(error(&rig, 0), Some(NodeError::EvictsKeys));
}

/// A node that forbids the witness serves, and each client waits for a span of its own.
#[test]
fn a_node_that_allows_no_witness_is_judged_strictly_and_says_so() {
    let refusals = [
        "-NOPERM this user has no permissions to access one of the keys used as arguments",
        "-ERR The user executing the script can't run this command or subcommand",
        NO_STRING,
        "-ERR unknown command 'EVAL'",
    ];
    for refusal in refusals {
        let mut rig = Rig::unconnected(1, |config| config.max_ttl = TTL);
        rig.masters[0].refusal = Some(refusal);
        rig.connect(0);
        assert_eq!(quarantine(&rig, 0), Some(QuarantineReason::FirstContact), "{refusal}");
        let status = rig.redlock.node(rig.now, node(0)).expect("the node is there");
        assert!(status.lacks_witness && status.error.is_none(), "{status}");
        assert_eq!(status.message, &refusal[1..], "{refusal}");
        rig.until(|rig| rig.has_output(0));
        assert_eq!(rig.sent(0).len(), 5, "looks by INFO alone");
        rig.answer_info();
        rig.close(0);
        rig.advance(SPAN * 9 / 10);
        rig.connect(0);
        assert_eq!(rig.state(0), NodeState::Ready, "the same process, seen in time: {refusal}");
    }
}

#[test]
fn a_node_that_cannot_answer_a_look_for_the_moment_is_asked_again_before_it_votes() {
    for refusal in ["-OOM command not allowed", "-MISCONF Redis is configured to save"] {
        let mut rig = Rig::unconnected(1, |config| config.max_ttl = TTL);
        rig.masters[0].refusal = Some(refusal);
        rig.connect(0);
        assert_eq!(quarantine(&rig, 0), Some(QuarantineReason::Unseen), "{refusal}");
        rig.masters[0].refusal = None;
        rig.advance(SPAN / 10);
        assert_eq!(rig.state(0), NodeState::Ready, "{refusal}");
    }
}

/// What an earlier session has seen says nothing of a process that cannot be looked at yet.
#[test]
fn a_process_behind_a_new_connection_does_not_vote_on_the_word_of_the_last_one() {
    for is_new in [true, false] {
        let mut rig = rig(1);
        assert_eq!(rig.state(0), NodeState::Ready);
        rig.close(0);
        rig.masters[0].refusal = Some("-NOREPLICAS Not enough good replicas to write.");
        rig.advance(ms(100));
        if is_new {
            rig.connect_as(0, 9, "")
        } else {
            rig.connect(0)
        }
        assert_eq!(quarantine(&rig, 0), Some(QuarantineReason::Unseen), "new: {is_new}");
        rig.masters[0].refusal = None;
        rig.advance(SPAN / 10);
        let expected = is_new.then_some(QuarantineReason::Restarted);
        assert_eq!(quarantine(&rig, 0), expected, "new: {is_new}");
    }
}

#[test]
fn a_reply_that_no_look_can_have_ends_the_session() {
    let mut rig = rig(1);
    rig.masters[0].refusal = Some("+OK");
    rig.until(|rig| error(rig, 0) == Some(NodeError::UnexpectedReply));
    assert!(rig.closed.contains(node(0)));
}

#[test]
fn the_constants_of_the_deployment_must_agree() {
    let ours =
        |rig: &Rig| rig.masters[0].witness.clone().expect("the masters of the rig are in use");
    let rows = [
        (20_000, 1, None),
        (9_999, 1, Some(NodeError::MaxTtlTooLong { ours: 10_000, recorded: 9_999 })),
        (10_000, 3, Some(NodeError::OtherNodes { ours: 1, recorded: 3 })),
    ];
    for (max_ttl, nodes, expected) in rows {
        let mut rig = Rig::unconnected(1, |config| config.max_ttl = TTL);
        rig.masters[0].witness = Some(looked_at::Witness { max_ttl, nodes, ..ours(&rig) });
        rig.connect(0);
        assert_eq!(error(&rig, 0), expected);
        let is_out = rig.state(0) == NodeState::Misconfigured;
        assert_eq!(is_out, expected.is_some());
    }
}

/// The locks of a client with a longer `max_ttl` last longer, and so does every quarantine.
#[test]
fn a_longer_ttl_that_a_witness_tells_makes_every_quarantine_longer() {
    let mut rig = Rig::unconnected(3, |config| config.max_ttl = TTL);
    for (index, master) in rig.masters.iter_mut().enumerate() {
        let witness = master.witness.as_mut().expect("the masters of the rig are in use");
        (witness.born, witness.wall) = (witness.born + 880_000_000, witness.wall + 880_000_000);
        witness.max_ttl = if index == 2 { 60_000 } else { 10_000 };
    }
    rig.connect(0);
    rig.connect(1);
    assert_eq!(rig.state(0), NodeState::Ready, "twenty seconds are enough for ten");
    rig.connect(2);
    for index in 0..3 {
        assert_eq!(rig.state(index), NodeState::Quarantined, "node {index}");
    }
    rig.advance(Duration::from_secs(41));
    assert_eq!(rig.state(0), NodeState::Ready);
}

/// Else one node after the other would keep out the clients with the longer ttl.
#[test]
fn a_new_witness_has_the_longest_ttl_that_the_others_tell() {
    let mut rig = Rig::unconnected(3, |config| config.max_ttl = TTL);
    for master in &mut rig.masters {
        master.witness.as_mut().expect("the masters of the rig are in use").max_ttl = 60_000;
    }
    rig.connect_all(3);
    rig.close(0);
    rig.masters[0].witness = None;
    rig.connect_as(0, 50, "");
    let told = rig.masters[0].witness.as_ref().map(|witness| witness.max_ttl);
    assert_eq!(told, Some(60_000));
}

#[test]
fn reserved_names_are_refused() {
    let mut rig = rig(1);
    let error = RequestError::ReservedResource;
    let token = Token::from_bytes([7; 20]);
    for resource in ["redbolt:", "redbolt:witness", "redbolt:orders"] {
        let one = rig.redlock.acquire(rig.now, resource.as_bytes(), TTL, WAIT);
        assert_eq!(one, Err(error.clone()), "{resource}");
        let set = rig.redlock.acquire_all(rig.now, &["a", resource], TTL, WAIT);
        assert_eq!(set, Err(error.clone()), "{resource}");
        let adopted = rig.redlock.adopt(rig.now, &[resource], token, TTL, WAIT);
        assert_eq!(adopted, Err(error.clone()), "{resource}");
        let asked = rig.redlock.query(rig.now, resource.as_bytes());
        assert_eq!(asked, Err(error.clone()), "{resource}");
    }
    assert!(rig.redlock.acquire(rig.now, b"redbolt", TTL, WAIT).is_ok());
}

/// The hash with the fencing numbers has no prefix before its name, and must not become a lock.
#[test]
fn a_prefix_and_a_resource_make_no_reserved_name_together() {
    for (prefix, resource, is_free) in [
        ("redbolt", ":fence", false),
        ("red", "bolt:fence", false),
        ("r", "edbolt:", false),
        ("redbolt", "redbolt:fence", false),
        ("redbolt", "fence", true),
        ("redbolt", "", false),
        ("bolt", ":fence", true),
        ("redbolt-", ":fence", true),
    ] {
        let mut rig = Rig::with(1, |config| config.prefix = prefix.as_bytes().to_vec());
        let found = rig.redlock.acquire(rig.now, resource.as_bytes(), TTL, WAIT);
        assert_eq!(found.is_ok(), is_free, "{prefix} {resource}: {found:?}");
    }
}

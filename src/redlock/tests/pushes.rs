//! Pushes (S11): what follows when a node says by itself that its keys may be gone.

use super::*;

const SPAN: Duration = Duration::from_millis(10_102);

const FLUSHED: &str = ">2\r\n$10\r\ninvalidate\r\n_";
const FLUSHED_BEFORE_6_0_6: &str = ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\n\0";
const WRITTEN: &str = ">2\r\n$10\r\ninvalidate\r\n*1\r\n$15\r\nredbolt:witness";

/// Creates a machine with `count` nodes, all ready, that tell what happens to the witness.
fn rig(count: usize) -> Rig {
    let mut rig = unconnected(count);
    rig.connect_all(count);
    rig
}

fn unconnected(count: usize) -> Rig {
    let mut rig = Rig::unconnected(count, |config| config.max_ttl = TTL);
    rig.masters.iter_mut().for_each(|master| master.tracks = true);
    rig
}

impl Rig {
    /// Lets a node send bytes that answer no request, and then answer what has left for it.
    fn push(&mut self, index: usize, push: &str) {
        let bytes = format!("{push}\r\n");
        let done = self.redlock.handle_received(self.now, node(index), bytes.as_bytes());
        assert_eq!(done, bytes.len());
        self.run_actions();
        if self.answers_looks {
            self.answer_looks(index);
        }
    }

    /// Returns how often a node was looked at.
    fn looks(&self, index: usize) -> u64 {
        self.masters[index].stamp.map_or(0, |stamp| stamp.3)
    }

    fn status(&self, index: usize) -> NodeStatus<'_> {
        self.redlock.node(self.now, node(index)).expect("the node is there")
    }

    fn reason(&self, index: usize) -> Option<QuarantineReason> {
        self.status(index).quarantine.map(|quarantine| quarantine.reason)
    }
}

#[test]
fn a_flush_is_noticed_at_once() {
    for push in [FLUSHED, FLUSHED_BEFORE_6_0_6] {
        let mut rig = rig(1);
        assert!(rig.status(0).tracks_witness);
        rig.masters[0].flush();
        rig.push(0, push);
        assert_eq!(rig.status(0).error, Some(NodeError::OtherData));
        assert!(rig.closed.contains(node(0)));
        rig.connect(0);
        assert_eq!(rig.reason(0), Some(QuarantineReason::DataLost));
        rig.advance(SPAN);
        assert_eq!(rig.state(0), NodeState::Ready);
    }
}

/// The node executes the second `SET` after the flush, and says so before its answer.
#[test]
fn a_vote_behind_a_push_does_not_count_and_is_released() {
    for push in [FLUSHED, WRITTEN] {
        let mut rig = rig(3);
        rig.answers_looks = false;
        let lock = rig.acquire("r", NO_WAIT);
        (0..3).for_each(|index| _ = rig.sent(index));
        rig.reply(0, "+OK");
        let bytes = format!("{push}\r\n+OK\r\n");
        rig.redlock.handle_received(rig.now, node(1), bytes.as_bytes());
        assert_eq!(rig.events(), [], "one vote of two");
        assert_eq!(rig.reason(1), Some(QuarantineReason::Unseen));
        rig.reply(2, "+OK");
        assert!(matches!(rig.event(), Event::Acquired { lock: held, .. } if held == lock));
        assert!(rig.sent(1)[0].starts_with("EVALSHA look "));
        rig.redlock.release(rig.now, lock).expect("it is held");
        assert_eq!(rig.sent(1), ["EVALSHA release 1 r #1"], "the token may be there");
    }
}

/// As above, for a set whose script the node has forgotten with its keys.
#[test]
fn a_set_is_not_sent_again_behind_a_push() {
    let mut rig = rig(1);
    rig.answers_looks = false;
    rig.redlock.acquire_all(rig.now, &["a", "b"], TTL, NO_WAIT).expect("it is in bounds");
    rig.sent(0);
    rig.push(0, FLUSHED);
    rig.reply(0, "-NOSCRIPT No matching script. Please use EVAL.");
    assert_eq!(rig.sent(0).len(), 1, "the look");
    assert!(matches!(rig.event(), Event::AcquireFailed { .. }));
}

#[test]
fn a_vote_before_a_push_counts() {
    let mut rig = rig(1);
    let lock = rig.acquire("r", NO_WAIT);
    rig.sent(0);
    let bytes = format!("+OK\r\n{FLUSHED}\r\n");
    rig.owed[0].pop_front();
    rig.redlock.handle_received(rig.now, node(0), bytes.as_bytes());
    assert!(rig.redlock.is_held(rig.now, lock));
}

#[test]
fn an_extension_that_is_answered_behind_a_push_does_not_count() {
    let mut rig = rig(1);
    let lock = rig.held("r");
    rig.answers_looks = false;
    rig.redlock.extend(rig.now, lock, TTL).expect("it is held");
    rig.sent(0);
    rig.push(0, FLUSHED);
    rig.reply(0, ":1");
    assert!(!rig.events().iter().any(|event| matches!(event, Event::Extended { .. })));
}

/// An operator has raised `max_ttl`, or emptied another database of the server.
#[test]
fn a_node_whose_witness_is_the_same_goes_on_to_vote() {
    for push in [FLUSHED, WRITTEN] {
        let mut rig = rig(1);
        let before = rig.looks(0);
        rig.push(0, push);
        assert_eq!((rig.looks(0) - before, rig.state(0)), (1, NodeState::Ready), "{push}");
        let lock = rig.held("r");
        assert!(rig.redlock.is_held(rig.now, lock));
    }
}

/// Nobody knows whether the node answers that look with what was there before the push.
#[test]
fn a_push_during_a_look_asks_for_one_more() {
    let mut rig = rig(1);
    rig.answers_looks = false;
    rig.push(0, FLUSHED);
    let first = rig.sent(0);
    assert_eq!(first.len(), 1);
    for _ in 0..5 {
        rig.push(0, FLUSHED);
        rig.push(0, WRITTEN);
    }
    assert_eq!(rig.sent(0), [""; 0], "one look is under way");
    let look = rig.masters[0].usual_look(rig.now);
    rig.reply(0, &look);
    assert_eq!(rig.reason(0), Some(QuarantineReason::Unseen), "that look has left too early");
    rig.until(|rig| rig.has_output(0));
    assert_eq!(rig.sent(0).len(), 1);
    let look = rig.masters[0].usual_look(rig.now);
    rig.reply(0, &look);
    assert_eq!(rig.state(0), NodeState::Ready);
    rig.advance(ms(500));
    assert_eq!(rig.sent(0), [""; 0], "and no more than one");
}

#[test]
fn a_node_that_pushes_without_end_is_looked_at_now_and_then() {
    let mut rig = rig(1);
    let before = rig.looks(0);
    for _ in 0..1_000 {
        rig.push(0, FLUSHED);
        rig.advance(ms(2));
        let (at, _) = rig.redlock.poll_timeout().expect("a look is due some day");
        assert!(at > rig.now, "the loop rests");
    }
    let looks = rig.looks(0) - before;
    assert!((10..=21).contains(&looks), "{looks} looks in two seconds");
    rig.advance(ms(200));
    assert_eq!(rig.state(0), NodeState::Ready);
}

#[test]
fn a_flood_of_pushes_ends_the_session() {
    for push in [FLUSHED, ">0", ">2\r\n$7\r\nmessage\r\n:1"] {
        let mut rig = rig(1);
        let bytes = format!("{push}\r\n").repeat(1_001);
        rig.redlock.handle_received(rig.now, node(0), bytes.as_bytes());
        rig.run_actions();
        assert!(rig.closed.contains(node(0)), "{push}");
        assert_eq!(rig.status(0).error, Some(NodeError::UnexpectedReply));
    }
}

#[test]
fn a_node_that_pushes_and_does_not_answer_is_closed() {
    let mut rig = rig(1);
    rig.acquire("r", NO_WAIT);
    rig.answers_looks = false;
    rig.sent(0);
    let start = rig.now;
    while !rig.closed.contains(node(0)) {
        rig.push(0, WRITTEN);
        rig.advance(ms(10));
        assert!(rig.now - start < Duration::from_secs(60), "the node has not answered anything");
    }
    assert_eq!(rig.status(0).error, Some(NodeError::NoReply));
}

#[test]
fn pushes_about_other_things_are_ignored() {
    let mut rig = rig(1);
    let (before, lock) = (rig.looks(0), rig.held("r"));
    for push in [">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nm", ">0", ">2\r\n+invalidate\r\n*0"] {
        rig.push(0, push);
    }
    assert_eq!((rig.looks(0), rig.state(0)), (before, NodeState::Ready));
    assert!(rig.redlock.is_held(rig.now, lock));
}

#[test]
fn attributes_end_the_session_in_resp3_too() {
    let mut rig = rig(1);
    rig.push(0, "|1\r\n+ttl\r\n:1");
    assert!(rig.closed.contains(node(0)));
}

/// Redis 5, a user without the right, a proxy: what a session cannot hear, the next look finds.
#[test]
fn a_node_that_cannot_push_serves_and_is_looked_at() {
    let rows = [
        ("HELLO", "-ERR unknown command 'HELLO', with args beginning with: '3' "),
        ("HELLO", "-NOPERM this user has no permissions to run the 'hello' command"),
        ("HELLO", "-NOPROTO unsupported protocol version"),
        ("HELLO", "*4\r\n+server\r\n+redis\r\n+proto\r\n:2"),
        ("CLIENT", "-NOPERM User a has no permissions to run the 'client|tracking' command"),
        ("CLIENT", "-ERR unknown subcommand 'TRACKING'. Try CLIENT HELP."),
    ];
    for mute in rows {
        let mut rig = unconnected(1);
        rig.masters[0].mute = Some(mute);
        rig.connect(0);
        assert_eq!(rig.state(0), NodeState::Ready, "{mute:?}");
        assert!(!rig.status(0).tracks_witness, "{mute:?}");
        assert_eq!((rig.status(0).error, rig.status(0).message), (None, ""), "{mute:?}");
        rig.masters[0].flush();
        rig.until(|rig| rig.status(0).error == Some(NodeError::OtherData));
    }
}

/// A session without tracking for the rest of its life is not worth the moment that is saved.
#[test]
fn a_node_that_is_not_well_when_it_is_asked_for_pushes_is_asked_again() {
    for mute in [
        ("HELLO", "-LOADING Redis is loading the dataset in memory"),
        ("CLIENT", "-BUSY Redis is busy running a script."),
        ("HELLO", "+OK"),
        ("CLIENT", ":1"),
    ] {
        let mut rig = unconnected(1);
        rig.masters[0].mute = Some(mute);
        rig.connect(0);
        assert_eq!(rig.state(0), NodeState::Down, "{mute:?}");
        rig.masters[0].mute = None;
        rig.connect(0);
        assert!(rig.status(0).tracks_witness, "{mute:?}");
    }
}

#[test]
fn without_a_guard_a_push_raises_no_doubt() {
    let mut rig = Rig::unconnected(1, |config| config.restart_guard = RestartGuard::Off);
    rig.masters[0].tracks = true;
    rig.connect(0);
    assert_eq!((rig.state(0), rig.status(0).tracks_witness), (NodeState::Ready, false));
    let lock = rig.acquire("r", NO_WAIT);
    rig.sent(0);
    for push in [FLUSHED, WRITTEN] {
        let bytes = format!("{push}\r\n");
        rig.redlock.handle_received(rig.now, node(0), bytes.as_bytes());
    }
    rig.reply(0, "+OK");
    assert!(rig.redlock.is_held(rig.now, lock));
}

/// Where the client has no right to the witness, nothing can take the doubt away.
#[test]
fn a_flush_of_a_node_that_allows_no_witness_begins_a_quarantine() {
    let mut rig = unconnected(1);
    rig.masters[0].refusal = Some("-NOPERM No permissions to access a key");
    rig.connect(0);
    rig.answers_looks = false;
    let look = |rig: &mut Rig| {
        rig.until(|rig| rig.has_output(0));
        assert_eq!(rig.sent(0).len(), 5, "looks by INFO alone");
        for section in ["server", "replication", "memory", "stats", "persistence"] {
            rig.reply(0, &info(&rig.masters[0].section(section)));
        }
    };
    (0..4).for_each(|_| look(&mut rig));
    assert_eq!(rig.state(0), NodeState::Ready);
    rig.push(0, WRITTEN);
    assert_eq!(rig.state(0), NodeState::Ready, "nothing rests on the witness");
    rig.push(0, FLUSHED);
    assert_eq!(rig.reason(0), Some(QuarantineReason::Unseen));
    look(&mut rig);
    assert_eq!(rig.reason(0), Some(QuarantineReason::DataLost));
    (0..4).for_each(|_| look(&mut rig));
    assert_eq!(rig.state(0), NodeState::Ready);
}

/// The look of the handshake left before the push came.
#[test]
fn a_push_during_the_handshake_asks_for_a_look_behind_it() {
    let mut rig = unconnected(1);
    rig.answers_looks = false;
    rig.connect(0);
    rig.push(0, FLUSHED);
    let look = rig.masters[0].usual_look(rig.now);
    rig.reply(0, &look);
    assert_eq!(rig.reason(0), Some(QuarantineReason::Unseen));
    rig.advance(Duration::ZERO);
    assert!(rig.sent(0).iter().any(|command| command.starts_with("EVALSHA look ")));
    let look = rig.masters[0].usual_look(rig.now);
    rig.reply(0, &look);
    assert_eq!(rig.state(0), NodeState::Ready);
}

/// The words of RESP3 for what the stories say in RESP2.
#[test]
fn a_refusal_is_a_null_of_resp3() {
    let mut rig = rig(1);
    rig.acquire("r", NO_WAIT);
    rig.sent(0);
    rig.reply(0, "_");
    let event = rig.event();
    let Event::AcquireFailed { error, .. } = event else { panic!("{event:?}") };
    assert_eq!(error, AcquireError::Held { refused: nodes([0]) });
}

/// A session that ends does not answer for the keys either.
#[test]
fn a_doubt_outlives_its_session() {
    for (refusal, reason) in [
        (None, None),
        (Some("-NOPERM No permissions to access a key"), Some(QuarantineReason::WitnessDenied)),
        (Some("-BUSY Redis is busy running a script."), Some(QuarantineReason::Unseen)),
    ] {
        let mut rig = rig(1);
        rig.answers_looks = false;
        rig.push(0, FLUSHED);
        rig.close(0);
        rig.answers_looks = true;
        rig.masters[0].refusal = refusal;
        rig.connect(0);
        assert_eq!(rig.reason(0), reason, "{refusal:?}");
    }
}

//! Fencing numbers (S13): what a fenced attempt asks, which numbers make a fence, and which nodes
//! take part.

use super::*;
use crate::redlock::node::error::NodeError;

impl Rig {
    fn fenced_for(&mut self, resource: &str, wait: Duration) -> LockId {
        let options = AcquireOptions::new().fenced();
        let lock = self.redlock.acquire_with(self.now, &[resource], TTL, wait, &options);
        lock.expect("the request is in bounds")
    }

    fn fenced(&mut self, resource: &str) -> LockId {
        self.fenced_for(resource, NO_WAIT)
    }

    /// Lets the node answer with the number that is so much above the time, which is the first
    /// proposal.
    fn draw(&mut self, index: usize, above: u64) {
        self.sent(index);
        let number = micros(self.now) + above;
        self.reply(index, &format!(":{number}"));
    }

    /// Returns the fence in the one event, as so much above the time.
    #[track_caller]
    fn fence(&mut self) -> u64 {
        match self.event() {
            Event::Acquired { fence: Some(fence), lock, .. } => {
                assert_eq!(self.redlock.fence(lock), Some(fence));
                fence.get() - micros(self.now)
            }
            other => panic!("no fence: {other:?}"),
        }
    }

    #[track_caller]
    fn no_lock(&mut self) -> AcquireError {
        match self.event() {
            Event::AcquireFailed { error, .. } => error,
            other => panic!("{other:?}"),
        }
    }

    fn bar(&self, index: usize) -> Option<FenceBar> {
        self.redlock.node(self.now, node(index)).expect("the node is there").fence_bar
    }

    /// The call that takes the key `r` by the attempt with this serial.
    fn call(&self, serial: u64, above: u64) -> String {
        let number = micros(self.now) + above;
        format!("EVALSHA acquire-fenced 2 r redbolt:fence #{serial} 7893 {number} 10000")
    }

    fn raise(&self, serial: u64, above: u64) -> String {
        let number = micros(self.now) + above;
        format!("EVALSHA raise 2 r redbolt:fence #{serial} 7893 {number}")
    }
}

#[test]
fn a_quorum_that_has_drawn_the_proposal_is_enough() {
    let mut rig = Rig::new(5);
    rig.fenced("r");
    for index in 0..5 {
        assert_eq!(rig.sent(index), [rig.call(1, 0)]);
    }
    rig.draw(0, 0);
    rig.draw(1, 0);
    assert_eq!(rig.events(), []);
    rig.draw(3, 0);
    assert_eq!(rig.fence(), 0);
    assert_eq!(rig.sent(0), [""; 0], "one trip");
    rig.draw(2, 9);
    rig.draw(4, 7);
    assert_eq!((rig.events(), rig.redlock.counters().raised), (vec![], 0));
}

#[test]
fn a_request_without_a_number_says_nothing_of_numbers() {
    let mut rig = Rig::new(3);
    rig.fenced("other");
    let lock = rig.acquire("r", NO_WAIT);
    assert_eq!(rig.sent(0)[1], "SET r #2 NX PX 10000");
    for index in 0..3 {
        rig.draw(index, 0);
        rig.reply(index, "+OK");
    }
    let events = rig.events();
    assert!(matches!(events[1], Event::Acquired { fence: None, .. }), "{events:?}");
    assert_eq!(rig.redlock.fence(lock), None);
}

#[test]
fn numbers_that_differ_are_raised_above_the_largest_at_once() {
    let mut rig = Rig::new(3);
    rig.fenced("r");
    rig.draw(0, 0);
    rig.draw(1, 7);
    assert_eq!(rig.events(), []);
    assert_eq!((rig.sent(0), rig.sent(1)), (vec![rig.raise(1, 8)], vec![rig.raise(1, 8)]));
    rig.reply(0, ":1");
    assert_eq!(rig.events(), []);
    rig.reply(1, ":1");
    assert_eq!((rig.fence(), rig.redlock.counters().raised), (8, 1));
    rig.draw(2, 3);
    assert_eq!(rig.sent(2), [""; 0], "a lock that has its number asks for nothing more");
}

#[test]
fn a_late_vote_is_raised_or_completes_what_it_has() {
    for (late, replies, fence) in [(3, true, 8), (0, false, 0), (7, false, 7), (8, false, 8)] {
        let mut rig = Rig::new(3);
        rig.fenced("r");
        rig.draw(0, 0);
        rig.draw(1, 7);
        rig.sent(0);
        rig.reply(0, ":1");
        rig.draw(2, late);
        if replies {
            assert_eq!(rig.sent(2), [rig.raise(1, 8)]);
            rig.reply(2, ":1");
        }
        assert_eq!(rig.fence(), fence, "{late}");
    }
}

#[test]
fn a_node_that_is_ahead_is_no_yes_and_is_raised_above() {
    let mut rig = Rig::new(3);
    rig.fenced("r");
    rig.draw(0, 0);
    rig.draw(1, 7);
    rig.reply(2, "$-1");
    let ahead = micros(rig.now) + 20;
    rig.reply(0, ":1");
    rig.reply(1, &format!(":-{ahead}"));
    assert_eq!(rig.events(), [], "one has accepted, the other is ahead");
    rig.sent(1);
    assert_eq!(rig.sent(0)[1], rig.raise(1, 21));
    rig.reply(1, ":1");
    rig.reply(0, ":1");
    assert_eq!(rig.fence(), 21);
}

#[test]
fn a_raise_that_fails_releases_everywhere_and_the_next_try_is_above_all() {
    let mut rig = Rig::new(3);
    rig.fenced_for("r", WAIT);
    rig.draw(0, 0);
    rig.draw(1, 70_000_000);
    rig.reply(2, "$-1");
    rig.reply(0, ":0");
    rig.reply(1, "-ERR anything");
    rig.sent(2);
    rig.until(|rig| rig.has_output(2));
    let sent = rig.sent(0).join(" ");
    let place = |words: &str| sent.find(words).unwrap_or_else(|| panic!("{words}: {sent}"));
    assert!(place("EVALSHA release 1 r #1") < place("EVALSHA acquire-fenced 2 r redbolt:fence #3"));
    let above = micros(rig.now);
    let words: Vec<_> = rig.sent(2)[0].split(' ').map(str::to_owned).collect();
    let number: u64 = words[7].parse().expect("a number");
    assert!(number > above + 60_000_000, "{number} is above what was raised to");
}

#[test]
fn a_raise_that_comes_too_late_makes_no_lock() {
    let mut rig = Rig::with(3, |config| config.close_timeout = Duration::from_secs(60));
    rig.fenced("r");
    rig.draw(0, 0);
    rig.draw(1, 7);
    rig.sent(0);
    rig.sent(1);
    rig.reply(0, ":1");
    // The process was suspended.
    rig.now = rig.now + TTL - ms(102);
    rig.reply(1, ":1");
    assert!(matches!(rig.events()[..], [Event::AcquireFailed { .. }]));
    assert_eq!(rig.sent(0), ["EVALSHA release 1 r #1"]);
}

#[test]
fn nodes_that_answer_nothing_to_a_raise_end_the_attempt() {
    let mut rig = Rig::new(3);
    rig.fenced("r");
    rig.draw(0, 0);
    rig.draw(1, 7);
    rig.sent(0);
    rig.until(|rig| rig.redlock.has_event());
    assert!(matches!(rig.events()[..], [Event::AcquireFailed { .. }]));
    assert_eq!(rig.sent(0), ["EVALSHA release 1 r #1"]);
    // Late answers do nothing.
    rig.reply(0, ":1");
    rig.reply(1, ":1");
    rig.reply(0, ":1");
    rig.reply(1, ":1");
    assert_eq!(rig.events(), []);
}

#[test]
fn a_connection_that_dies_takes_its_answer_with_it() {
    let mut rig = Rig::new(3);
    rig.fenced("r");
    rig.draw(0, 0);
    rig.draw(1, 7);
    rig.sent(0);
    rig.close(0);
    rig.reply(1, ":1");
    assert_eq!(rig.events(), [], "the third may still draw");
    rig.draw(2, 8);
    assert_eq!(rig.fence(), 8);
    // One that dies before its vote.
    let mut rig = Rig::new(3);
    rig.fenced("r");
    rig.draw(0, 0);
    rig.sent(1);
    rig.close(1);
    rig.close(2);
    rig.no_lock();
    assert_eq!(rig.sent(0), ["EVALSHA release 1 r #1"]);
}

/// S5: an error of a command behind the `SET` leaves the key there.
#[test]
fn an_error_behind_the_first_write_leaves_a_key_that_is_released() {
    let rows = [
        ("-WRONGTYPE Operation against a key holding the wrong kind of value", true),
        ("-ERR The user executing the script can't run this command or subcommand", true),
        ("-ERR Unknown command called from script", true),
        ("-ERR user_script:1: attempt to compare number with nil", true),
        ("-OOM command not allowed when used memory > 'maxmemory'.", false),
        ("-NOPERM No permissions to access a key", false),
    ];
    for (error, is_left) in rows {
        let mut rig = Rig::new(1);
        rig.fenced("r");
        rig.sent(0);
        rig.reply(0, error);
        rig.no_lock();
        let release = ["EVALSHA release 1 r #1"];
        assert_eq!(rig.sent(0) == release, is_left, "{error}");
        assert!(!rig.closed.contains(node(0)), "{error}: a lock without a number needs the node");
    }
}

#[test]
fn a_missing_right_bars_the_node_from_numbers_alone() {
    let mut rig = Rig::new(3);
    rig.fenced("r");
    rig.sent(0);
    rig.reply(0, "-ERR The user executing the script can't run this command or subcommand");
    rig.draw(1, 0);
    rig.draw(2, 0);
    assert_eq!(rig.fence(), 0);
    rig.sent(0);
    rig.fenced("r2");
    assert_eq!((rig.bar(0), rig.bar(1)), (Some(FenceBar::Denied), None));
    assert_eq!(rig.sent(0), [""; 0]);
    rig.acquire("r3", NO_WAIT);
    assert_eq!(rig.sent(0), ["SET r3 #3 NX PX 10000"]);
    let status = rig.redlock.node(rig.now, node(0)).expect("the node is there").to_string();
    assert!(status.contains("no part in fencing numbers: no right to hget"), "{status}");
}

#[test]
fn a_node_that_does_not_know_the_script_gets_its_text() {
    let mut rig = Rig::new(3);
    rig.fenced("r");
    rig.sent(0);
    rig.reply(0, "-NOSCRIPT No matching script. Please use EVAL.");
    let text = rig.call(1, 0).replace("EVALSHA acquire-fenced", "EVAL acquire-fenced-text");
    assert_eq!(rig.sent(0), [text]);
    rig.draw(0, 0);
    rig.draw(1, 7);
    rig.reply(0, "-NOSCRIPT No matching script. Please use EVAL.");
    let text = rig.raise(1, 8).replace("EVALSHA raise", "EVAL raise-text");
    assert_eq!(rig.sent(0).last(), Some(&text));
    rig.reply(0, ":1");
    rig.reply(1, ":1");
    assert_eq!(rig.fence(), 8);
}

/// S4: no other reply is a vote, so a reply that has slipped by one place shows.
#[test]
fn a_reply_that_no_script_has_ends_the_session() {
    for reply in ["+OK", ":1", ":0", ":-1", ":4294967295", "$2\r\nOK", "*0"] {
        let mut rig = Rig::new(3);
        rig.fenced("r");
        rig.sent(0);
        rig.reply(0, reply);
        assert!(rig.closed.contains(node(0)), "{reply}");
        let status = rig.redlock.node(rig.now, node(0)).expect("the node is there");
        assert_eq!(status.error, Some(NodeError::UnexpectedReply), "{reply}");
        rig.draw(1, 0);
        rig.draw(2, 0);
        assert_eq!(rig.fence(), 0, "{reply}");
    }
    for reply in ["+OK", "$-1", ":2", ":4294967296", ":-4294967295"] {
        let mut rig = Rig::new(3);
        rig.fenced("r");
        rig.draw(0, 0);
        rig.draw(1, 7);
        rig.sent(0);
        rig.reply(0, reply);
        assert!(rig.closed.contains(node(0)), "{reply} to a raise");
    }
}

#[test]
fn a_number_that_is_too_large_is_no_vote_but_leaves_a_key() {
    let mut rig = Rig::new(1);
    rig.fenced("r");
    rig.sent(0);
    rig.reply(0, ":9007199254740992");
    rig.no_lock();
    assert_eq!(rig.sent(0), ["EVALSHA release 1 r #1"]);
}

/// S11: what a node says behind a push that its keys are gone does not count.
#[test]
fn what_a_node_says_in_doubt_is_no_vote_and_no_acceptance() {
    let gone = ">2\r\n$10\r\ninvalidate\r\n_";
    let mut rig = Rig::unconnected(1, |_| ());
    rig.masters[0].tracks = true;
    rig.connect_all(1);
    rig.answers_looks = false;
    rig.fenced("r");
    rig.sent(0);
    rig.redlock.handle_received(rig.now, node(0), format!("{gone}\r\n").as_bytes());
    rig.draw(0, 0);
    rig.no_lock();
    assert!(rig.sent(0).contains(&"EVALSHA release 1 r #1".to_owned()));
}

#[test]
fn a_node_whose_clock_is_wrong_takes_no_part_and_an_event_says_so() {
    let mut rig = Rig::unconnected(3, |_| ());
    // 11 s: more than twice the skew.
    rig.masters[2].ahead = 11_000_000;
    rig.connect_all(3);
    rig.fenced("r");
    assert_eq!(rig.bar(2), Some(FenceBar::ClockOff));
    assert!(rig.redlock.poll_event().is_some_and(|event| event == Event::Node(node(2))));
    assert_eq!((rig.sent(0).len(), rig.sent(1).len(), rig.sent(2).len()), (1, 1, 0));
    rig.draw(0, 0);
    rig.draw(1, 0);
    assert_eq!(rig.fence(), 0);
    rig.acquire("plain", NO_WAIT);
    assert_eq!(rig.sent(2), ["SET plain #2 NX PX 10000"], "a lock needs no such clock");
}

#[test]
fn no_majority_of_clocks_means_no_number_at_all() {
    let mut rig = Rig::unconnected(3, |_| ());
    rig.masters[1].ahead = 20_000_000;
    rig.masters[2].ahead = 40_000_000;
    rig.connect_all(3);
    rig.fenced("r");
    rig.advance(ms(1));
    let AcquireError::NoQuorum(outcomes) = rig.no_lock() else { panic!("another error") };
    assert_eq!(outcomes.as_slice(), [NodeOutcome::NoFences; 3]);
    // Who has given up the guard has given up this promise too.
    let mut rig = Rig::unconnected(3, |config| config.restart_guard = RestartGuard::Off);
    rig.masters[1].ahead = 20_000_000;
    rig.masters[2].ahead = 40_000_000;
    rig.connect_all(3);
    rig.fenced("r");
    rig.draw(0, 0);
    rig.draw(1, 0);
    assert_eq!(rig.fence(), 0);
}

#[test]
fn a_node_that_may_have_forgotten_numbers_takes_no_part_for_longer_than_for_locks() {
    let mut rig = Rig::with(3, |config| config.max_ttl = Duration::from_secs(10));
    rig.close(0);
    rig.masters[0].flush();
    rig.connect_as(0, 9, "");
    // Locks are safe again after 10 s and their drift; numbers after 12 s.
    rig.advance(Duration::from_millis(10_200));
    assert_eq!(rig.state(0), NodeState::Ready);
    rig.fenced("r");
    assert!(matches!(rig.bar(0), Some(FenceBar::TooYoung { .. })), "{:?}", rig.bar(0));
    assert_eq!(rig.sent(0), [""; 0]);
    rig.draw(1, 0);
    rig.draw(2, 0);
    rig.advance(Duration::from_secs(2));
    rig.events();
    rig.fenced("r2");
    assert_eq!(rig.bar(0), None);
    assert!(rig.sent(0).iter().any(|sent| sent.contains(" r2 redbolt:fence ")));
}

#[test]
fn sets_and_adoptions_have_no_number() {
    let mut rig = Rig::new(3);
    let fenced = AcquireOptions::new().fenced();
    let found = rig.redlock.acquire_with(rig.now, &["a", "b"], TTL, NO_WAIT, &fenced);
    assert_eq!(found, Err(RequestError::FenceUnavailable));
    let token = Token::from_bytes([7; 20]);
    let found = rig.redlock.adopt_with(rig.now, &["a"], token, TTL, NO_WAIT, &fenced);
    assert_eq!(found, Err(RequestError::FenceUnavailable));
    assert_eq!(rig.redlock.in_use(), 0);
}

#[test]
fn a_held_lock_draws_a_new_number() {
    let mut rig = Rig::new(3);
    let lock = rig.held("r");
    assert_eq!(rig.redlock.draw_fence(rig.now, lock), Ok(()));
    assert_eq!(rig.redlock.draw_fence(rig.now, lock), Err(RequestError::DrawPending));
    let number = micros(rig.now);
    assert_eq!(rig.sent(0), [format!("EVALSHA draw 2 r redbolt:fence #1 7893 {number}")]);
    rig.draw(0, 0);
    rig.draw(1, 7);
    assert_eq!(rig.sent(0), [rig.raise(1, 8)]);
    rig.reply(0, ":1");
    rig.reply(1, ":1");
    let fence = Fence::new(number + 8).expect("in range");
    assert_eq!(rig.event(), Event::Fenced { lock, fence });
    assert_eq!(rig.redlock.fence(lock), Some(fence));
    rig.draw(2, 3);
    assert_eq!(rig.events(), []);
}

#[test]
fn a_draw_that_fails_leaves_the_number_and_the_lock() {
    let mut rig = Rig::new(3);
    let lock = rig.fenced("r");
    (0..3).for_each(|index| rig.draw(index, 0));
    assert_eq!(rig.fence(), 0);
    let before = rig.redlock.fence(lock);
    rig.redlock.draw_fence(rig.now, lock).expect("held");
    rig.draw(0, 9);
    rig.sent(1);
    rig.reply(1, ":0");
    rig.sent(2);
    rig.close(2);
    let Event::FenceFailed { error: DrawError::NoQuorum(outcomes), .. } = rig.event() else {
        panic!("another event")
    };
    use NodeOutcome::{Granted, NoReply, Refused};
    assert_eq!(outcomes.as_slice(), [Granted, Refused, NoReply]);
    assert!(rig.redlock.is_held(rig.now, lock));
    assert_eq!(rig.redlock.fence(lock), before);
    rig.redlock.release(rig.now, lock).expect("held");
    assert_eq!(rig.redlock.fence(lock), None);
}

//! Requests with options: tries, pauses, a node timeout, and a token of the caller's own.

use std::sync::{Arc, Mutex};

use super::*;

const OWN: Token = Token::from_bytes(*b"a-token-of-my-making");
const SET: &str = "SET r a-token-of-my-making NX PX 10000";
const RELEASE: &str = "EVALSHA release 1 r a-token-of-my-making";

impl Rig {
    fn ask(
        &mut self,
        resources: &[&str],
        wait: Duration,
        options: &AcquireOptions,
    ) -> Result<LockId, RequestError> {
        self.redlock.acquire_with(self.now, resources, TTL, wait, options)
    }

    /// Requests a lock under the token of the caller.
    fn own(&mut self, resources: &[&str]) -> Result<LockId, RequestError> {
        self.ask(resources, NO_WAIT, &AcquireOptions::new().token(OWN))
    }

    fn refusal(&mut self, resources: &[&str]) -> Option<TokenRefusal> {
        let before = self.redlock.in_use();
        match self.own(resources) {
            Err(RequestError::Token(refusal)) => {
                assert_eq!(self.redlock.in_use(), before, "nothing is left of a refused request");
                Some(refusal)
            }
            asked => {
                let lock = asked.expect("the request is in bounds");
                self.redlock.cancel(self.now, lock).expect("nobody has answered");
                self.events();
                None
            }
        }
    }

    /// Requests a lock under the token of the caller, which all nodes grant.
    fn own_held(&mut self) -> LockId {
        let lock = self.own(&["r"]).expect("the request is in bounds");
        self.all_reply("+OK");
        assert!(matches!(self.event(), Event::Acquired { lock: held, .. } if held == lock));
        lock
    }

    /// Lets every node answer its oldest request, and shows nothing.
    fn all_reply(&mut self, reply: &str) {
        for index in 0..self.redlock.nodes().len() {
            self.sent(index);
            self.reply(index, reply);
        }
    }

    /// Lets a retry start, and returns the time that has passed until then.
    fn until_next_set(&mut self) -> Duration {
        let before = self.now;
        self.until(|rig| rig.has_output(0));
        self.now - before
    }

    /// Lets all nodes refuse every `SET`, and answer every release behind one.
    fn all_refuse(&mut self) {
        for index in 0..self.redlock.nodes().len() {
            while self.has_output(index) {
                for command in self.sent(index) {
                    let is_set = command.starts_with("SET");
                    self.reply(index, if is_set { "$-1" } else { ":0" });
                }
            }
        }
    }
}

fn is_held_by_another(event: &Event) -> bool {
    matches!(event, Event::AcquireFailed { error: AcquireError::Held { .. }, .. })
}

#[test]
fn no_more_attempts_are_made_than_tries() {
    for tries in 1..5 {
        let mut rig = Rig::new(3);
        rig.ask(&["r"], WAIT, &AcquireOptions::new().tries(tries)).expect("in bounds");
        for attempt in 1..=tries {
            assert_eq!(rig.events(), [], "attempt {attempt} of {tries}");
            rig.all_refuse();
            if attempt < tries {
                rig.until_next_set();
            }
        }
        assert!(is_held_by_another(&rig.event()), "{tries}");
        assert_eq!(rig.redlock.counters().attempts, u64::from(tries));
    }
}

#[test]
fn a_wait_can_end_before_the_tries_do() {
    let mut rig = Rig::new(3);
    let asked = rig.now;
    rig.ask(&["r"], WAIT, &AcquireOptions::new().tries(u32::MAX)).expect("in bounds");
    loop {
        rig.all_refuse();
        if !rig.redlock.has_event() {
            rig.until(|rig| rig.has_output(0) || rig.redlock.has_event());
        }
        if rig.redlock.has_event() {
            break;
        }
    }
    assert!(is_held_by_another(&rig.event()));
    assert!(rig.now - asked <= WAIT);
}

#[test]
fn time_in_line_is_no_try() {
    let mut rig = Rig::new(3);
    let first = rig.held("r");
    let second = rig.ask(&["r"], WAIT, &AcquireOptions::new().tries(1)).expect("in bounds");
    rig.advance(ms(100));
    assert_eq!(rig.events(), []);
    rig.release_on_nodes(first);
    for index in 0..3 {
        assert_eq!(rig.sent(index).len(), 2, "a release and a SET behind it");
        rig.reply(index, ":1");
        rig.reply(index, "+OK");
    }
    let events = rig.events();
    let is_acquired =
        |event: &Event| matches!(event, Event::Acquired { lock, .. } if *lock == second);
    assert!(events.iter().any(is_acquired), "{events:?}");
}

#[test]
fn an_adoption_has_tries_as_well() {
    let mut rig = Rig::new(3);
    let options = AcquireOptions::new().tries(2);
    let lock = rig.redlock.adopt_with(rig.now, &["r"], OWN, TTL, WAIT, &options);
    lock.expect("in bounds");
    for attempt in 0..2 {
        assert_eq!(rig.events(), [], "attempt {attempt}");
        rig.until_next_set();
        rig.all_reply("-BUSY not now");
        rig.advance(ms(300));
        rig.advance(Duration::ZERO);
    }
    assert!(matches!(rig.event(), Event::AcquireFailed { error: AcquireError::NoQuorum(_), .. }));
}

#[test]
fn a_function_of_the_caller_chooses_the_pauses() {
    let mut rig = Rig::new(3);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let options = AcquireOptions::new().retry_delay(move |retry| {
        assert!(retry.engine_pause() > Duration::ZERO);
        log.lock().expect("no thread has died").push(retry.failed());
        ms(10) * retry.failed()
    });
    rig.ask(&["r"], WAIT, &options).expect("in bounds");
    for failed in 1..=4 {
        rig.all_refuse();
        assert_eq!(rig.until_next_set(), ms(10) * failed);
    }
    assert_eq!(*seen.lock().expect("no thread has died"), [1, 2, 3, 4]);
}

#[test]
fn random_pauses_of_the_caller_differ() {
    let mut rig = Rig::new(3);
    let options = AcquireOptions::new().retry_delay(|retry| retry.random_between(ms(10), ms(100)));
    rig.ask(&["r"], WAIT, &options).expect("in bounds");
    let pauses = [(); 8].map(|()| {
        rig.all_refuse();
        rig.until_next_set()
    });
    assert!(pauses.iter().all(|pause| (ms(10)..=ms(100)).contains(pause)), "{pauses:?}");
    assert!(pauses.iter().any(|pause| *pause != pauses[0]), "{pauses:?}");
}

/// Without the bound, a retry in the far future would have no moment at all.
#[test]
fn a_pause_beyond_the_wait_leaves_one_last_try() {
    for (wait, expected) in [(WAIT, WAIT / 2), (Duration::MAX, Duration::from_secs(3600))] {
        let mut rig = Rig::new(3);
        let options = AcquireOptions::new().retry_delay(|_| Duration::MAX);
        rig.ask(&["r"], wait, &options).expect("in bounds");
        rig.all_refuse();
        assert_eq!(rig.until_next_set(), expected);
        rig.all_refuse();
        assert_eq!(rig.redlock.has_event(), wait == WAIT, "it was the last");
    }
}

#[test]
fn a_request_has_a_node_timeout_of_its_own() {
    let mut rig = Rig::with(3, |config| config.close_timeout = Duration::from_secs(60));
    let asked = rig.now;
    let options = AcquireOptions::new().node_timeout(ms(700));
    let lock = rig.ask(&["r"], NO_WAIT, &options).expect("in bounds");
    rig.reply(0, "+OK");
    rig.advance(ms(699));
    assert_eq!(rig.events(), []);
    rig.reply(1, "+OK");
    assert!(matches!(rig.event(), Event::Acquired { .. }));
    rig.reply(2, "+OK");
    rig.redlock.extend(rig.now, lock, TTL).expect("it is held");
    rig.advance(ms(699));
    assert_eq!(rig.events(), []);
    rig.advance(ms(1));
    assert!(matches!(rig.event(), Event::ExtendFailed { .. }));
    assert_eq!(rig.now - asked, ms(1399));
}

#[test]
fn the_token_of_a_caller_is_the_value_of_the_key() {
    let mut rig = Rig::new(3);
    let lock = rig.own(&["r"]).expect("in bounds");
    for index in 0..3 {
        assert_eq!(rig.sent(index), [SET]);
        rig.reply(index, "+OK");
    }
    assert!(matches!(rig.event(), Event::Acquired { .. }));
    assert_eq!(rig.redlock.token(lock), Some(OWN));
    rig.redlock.release(rig.now, lock).expect("it is held");
    assert_eq!(rig.sent(0), [RELEASE]);
}

#[test]
fn a_token_of_a_caller_has_one_attempt() {
    let mut rig = Rig::new(3);
    rig.ask(&["r"], WAIT, &AcquireOptions::new().token(OWN)).expect("in bounds");
    rig.all_refuse();
    assert!(is_held_by_another(&rig.event()));
    assert_eq!(rig.redlock.counters().attempts, 1);
}

/// Its wait is for the line and for the nodes.
#[test]
fn a_token_of_a_caller_can_wait_in_line() {
    let mut rig = Rig::new(3);
    let first = rig.held("r");
    rig.ask(&["r"], WAIT, &AcquireOptions::new().token(OWN)).expect("in bounds");
    rig.redlock.release(rig.now, first).expect("it is held");
    assert_eq!(rig.sent(0).last().map(String::as_str), Some(SET));
}

#[test]
fn a_token_in_use_is_refused_until_every_reply_is_here() {
    let mut rig = Rig::new(3);
    let lock = rig.own_held();
    assert_eq!(rig.refusal(&["r"]), Some(TokenRefusal::InUse));
    assert_eq!(rig.refusal(&["q", "r"]), Some(TokenRefusal::InUse), "a set with the resource");
    rig.redlock.release(rig.now, lock).expect("it is held");
    for index in 0..3 {
        rig.sent(index);
        assert_eq!(rig.refusal(&["r"]), Some(TokenRefusal::InUse), "before reply {index}");
        rig.reply(index, ":1");
    }
    rig.events();
    assert_eq!(rig.refusal(&["r"]), None, "nothing is on its way");
}

#[test]
fn a_token_is_free_for_another_resource() {
    let mut rig = Rig::new(3);
    rig.own_held();
    assert_eq!(rig.refusal(&["q"]), None);
}

/// S6: the `SET` of the first lock may still be executed, and its cleanup would delete the key of
/// a second lock.
#[test]
fn a_token_whose_set_died_on_its_way_is_spent() {
    let mut rig = Rig::new(3);
    rig.own(&["r"]).expect("in bounds");
    rig.sent(2);
    rig.close(2);
    rig.all_refuse();
    assert!(is_held_by_another(&rig.event()));
    assert_eq!(rig.redlock.in_use(), 0);
    assert_eq!(rig.refusal(&["r"]), Some(TokenRefusal::Spent));
    rig.connect(2);
    rig.until(|rig| rig.has_output(2));
    assert_eq!(rig.sent(2), [RELEASE], "it is cleaned up under the token of the caller");
    rig.reply(2, ":1");
    assert_eq!(rig.redlock.cleanup(), 0);
    // The release of the dead connection may arrive as late as it likes.
    assert_eq!(rig.refusal(&["r"]), Some(TokenRefusal::Spent));
    assert_eq!(rig.refusal(&["q"]), None);
}

/// The release may be executed when a second lock has the token.
#[test]
fn a_token_whose_release_died_on_its_way_is_spent() {
    let mut rig = Rig::new(3);
    let lock = rig.own_held();
    rig.redlock.release(rig.now, lock).expect("it is held");
    for index in 0..3 {
        rig.sent(index);
        if index < 2 {
            rig.reply(index, ":1");
        } else {
            rig.close(index);
        }
    }
    rig.events();
    assert_eq!(rig.redlock.in_use(), 0);
    assert_eq!(rig.refusal(&["r"]), Some(TokenRefusal::Spent));
}

#[test]
fn a_token_that_another_process_knows_is_spent() {
    let mut rig = Rig::new(3);
    let lock = rig.own_held();
    assert_eq!(rig.redlock.disown(rig.now, lock), Ok(OWN));
    assert_eq!(rig.refusal(&["r"]), Some(TokenRefusal::Spent));
    let mut rig = Rig::new(3);
    let lock = rig.redlock.adopt(rig.now, &["r"], OWN, TTL, NO_WAIT).expect("in bounds");
    assert_eq!(rig.refusal(&["r"]), Some(TokenRefusal::InUse));
    rig.redlock.cancel(rig.now, lock).expect("it is not held");
    rig.events();
    rig.all_reply(":0");
    assert_eq!(rig.redlock.in_use(), 0);
    assert_eq!(rig.refusal(&["r"]), Some(TokenRefusal::Spent));
}

#[test]
fn tokens_that_cannot_be_told_apart_are_refused() {
    let mut rig = Rig::new(3);
    let mut refusal = |token, tries| {
        let options = AcquireOptions::new().token(token).tries(tries);
        rig.ask(&["r"], WAIT, &options)
    };
    let drawn = Token::of_attempt(&NONCE, 1_000);
    assert_eq!(refusal(drawn, 1), Err(RequestError::Token(TokenRefusal::Drawn)));
    assert_eq!(refusal(Token::NONE, 1), Err(RequestError::Token(TokenRefusal::Zero)));
    let tries = TokenRefusal::Tries { tries: 2 };
    assert_eq!(refusal(OWN, 2), Err(RequestError::Token(tries)));
    let options = AcquireOptions::new().token(OWN);
    let adoption = rig.redlock.adopt_with(rig.now, &["r"], OWN, TTL, WAIT, &options);
    assert_eq!(adoption, Err(RequestError::Token(TokenRefusal::Adoption)));
    assert_eq!(rig.redlock.in_use(), 0);
    rig.sent(0);
}

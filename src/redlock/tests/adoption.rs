//! Adoption: locks whose token another process hands over.

use super::*;

const TOKEN: Token = Token::from_bytes(*b"nonce-nonce-\0\0\0\0\0\0\x03\xe7");

impl Rig {
    fn adopt(&mut self, wait: Duration) -> LockId {
        let lock = self.redlock.adopt(self.now, &["r"], TOKEN, TTL, wait);
        lock.expect("the request is in bounds")
    }
}

#[test]
fn a_majority_that_has_the_token_makes_it_ours() {
    let mut rig = Rig::new(3);
    let lock = rig.adopt(NO_WAIT);
    let started = rig.now;
    for index in 0..2 {
        assert_eq!(rig.sent(index), ["EVALSHA extend 1 r #999 10000"]);
        assert_eq!(rig.events(), []);
        rig.reply(index, ":1");
    }
    let valid_until = Drift::default().valid_until(started, TTL);
    assert_eq!(rig.event(), Event::Acquired { lock, valid_until });
    assert_eq!(rig.redlock.token(lock), Some(TOKEN));
    rig.redlock.release(rig.now, lock).expect("it is held");
    // The third node may have the token as well.
    for index in 0..3 {
        assert_eq!(rig.sent(index).last().map(String::as_str), Some("EVALSHA release 1 r #999"));
    }
}

#[test]
fn a_token_that_a_majority_does_not_have_is_gone_and_nothing_is_released() {
    let mut rig = Rig::new(3);
    rig.adopt(WAIT);
    for (index, reply) in [":1", ":0", ":-1"].into_iter().enumerate() {
        rig.sent(index);
        rig.reply(index, reply);
    }
    assert!(matches!(rig.event(), Event::AcquireFailed { error: AcquireError::Gone, .. }));
    for index in 0..3 {
        assert_eq!(rig.sent(index), [""; 0]);
    }
}

#[test]
fn nodes_that_do_not_answer_are_asked_again_while_there_is_time() {
    let mut rig = Rig::new(3);
    rig.adopt(WAIT);
    rig.sent(0);
    rig.reply(0, ":1");
    rig.until(|rig| rig.sent(0).iter().any(|sent| sent == "EVALSHA extend 1 r #999 10000"));
    let events = rig.wait();
    let failed =
        matches!(events[..], [Event::AcquireFailed { error: AcquireError::NoQuorum(_), .. }]);
    assert!(failed, "{events:?}");
}

#[test]
fn a_node_in_quarantine_has_no_say() {
    let mut rig = Rig::new(3);
    rig.close(2);
    rig.connect_as(2, 9, "uptime_in_seconds:0\r\n");
    rig.adopt(NO_WAIT);
    assert_eq!(rig.sent(2), [""; 0]);
    rig.sent(0);
    rig.reply(0, ":1");
    assert_eq!(rig.events(), []);
}

#[test]
fn a_lock_that_is_disowned_is_left_on_the_nodes() {
    let mut rig = Rig::new(3);
    let lock = rig.held("r");
    let token = rig.redlock.token(lock);
    assert_eq!(rig.redlock.counters().held_now(), 1);
    assert_eq!(rig.redlock.disown(rig.now, lock).ok(), token);
    let counters = rig.redlock.counters();
    assert_eq!((counters.held_now(), counters.disowned), (0, 1));
    assert!(!rig.redlock.is_held(rig.now, lock));
    rig.advance(2 * TTL);
    assert_eq!(rig.events(), []);
    for index in 0..3 {
        assert_eq!(rig.sent(index), [""; 0]);
    }
    assert_eq!(rig.redlock.in_use(), 0);
}

#[test]
fn an_adopted_lock_that_is_cancelled_leaves_the_keys_alone() {
    let mut rig = Rig::new(3);
    let lock = rig.adopt(WAIT);
    rig.sent(0);
    rig.redlock.cancel(rig.now, lock).expect("it is not held");
    assert!(matches!(rig.event(), Event::AcquireFailed { error: AcquireError::Cancelled, .. }));
    assert_eq!(rig.sent(0), [""; 0]);
}

#[test]
fn an_adopted_lock_is_cleaned_up_under_its_own_token() {
    let mut rig = Rig::new(3);
    let lock = rig.adopt(NO_WAIT);
    for index in 0..2 {
        rig.sent(index);
        rig.reply(index, ":1");
    }
    rig.events();
    rig.close(0);
    rig.redlock.release(rig.now, lock).expect("it is held");
    rig.connect(0);
    rig.until(|rig| rig.has_output(0));
    assert_eq!(rig.sent(0), ["EVALSHA release 1 r #999"]);
}

/// S6: the `SET` of the former owner is still on its way to node 2.
#[test]
fn a_node_that_says_last_that_it_misses_an_adopted_key_is_cleaned_up() {
    let mut rig = Rig::new(3);
    let lock = rig.adopt(NO_WAIT);
    for (index, reply) in [":1", ":1", ":0"].into_iter().enumerate() {
        rig.sent(index);
        rig.reply(index, reply);
    }
    assert!(matches!(rig.event(), Event::Acquired { .. }));
    rig.advance(ms(50));
    assert_eq!(rig.sent(2), [""; 0], "to be given the key it would have to be known to miss it");
    rig.redlock.release(rig.now, lock).expect("it is held");
    assert_eq!(rig.sent(2), ["EVALSHA release 1 r #999"]);
    rig.reply(2, ":0");
    assert!(rig.redlock.cleanup() > 0, "it may still come");
}

/// S6: as above, but node 2 has not answered the adoption when the lock is released.
#[test]
fn a_node_that_has_not_answered_an_adoption_is_cleaned_up() {
    let mut rig = Rig::new(3);
    let lock = rig.adopt(NO_WAIT);
    for index in 0..2 {
        rig.sent(index);
        rig.reply(index, ":1");
    }
    assert!(matches!(rig.event(), Event::Acquired { .. }));
    rig.sent(2);
    rig.redlock.release(rig.now, lock).expect("it is held");
    rig.reply(2, ":0");
    rig.sent(2);
    rig.reply(2, ":0");
    assert!(rig.redlock.cleanup() > 0, "the SET of its former owner may still come");
}

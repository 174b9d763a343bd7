//! Repair: nodes that lack the key of a held lock.

use super::*;

/// Acquires a lock over three nodes, of which node 2 refuses.
fn held_without_one(rig: &mut Rig) -> LockId {
    let lock = rig.acquire("r", NO_WAIT);
    for (index, reply) in ["+OK", "+OK", "$-1"].into_iter().enumerate() {
        rig.sent(index);
        rig.reply(index, reply);
    }
    assert!(matches!(rig.event(), Event::Acquired { .. }));
    lock
}

#[test]
fn a_node_that_refused_is_given_the_key_soon_after() {
    let mut rig = Rig::new(3);
    let lock = held_without_one(&mut rig);
    rig.advance(ms(50));
    // The key lives no longer than the lock can last: the rest of the validity and its drift.
    assert_eq!(rig.sent(2), ["SET r #1 NX PX 9948"]);
    assert_eq!(rig.sent(0), [""; 0]);
    rig.reply(2, "+OK");
    assert_eq!(rig.events(), [], "it is no vote");
    rig.redlock.release(rig.now, lock).expect("it is held");
    assert_eq!(rig.sent(2), ["EVALSHA release 1 r #1"]);
}

#[test]
fn a_node_that_refuses_again_is_asked_again_and_not_sent_a_release() {
    let mut rig = Rig::new(3);
    let lock = held_without_one(&mut rig);
    rig.advance(ms(50));
    rig.sent(2);
    rig.reply(2, "$-1");
    rig.until(|rig| rig.has_output(2));
    assert!(rig.sent(2)[0].starts_with("SET r #1 NX PX "));
    rig.reply(2, "$-1");
    rig.redlock.release(rig.now, lock).expect("it is held");
    assert_eq!(rig.sent(2), [""; 0]);
}

#[test]
fn a_node_that_came_back_empty_is_given_the_key_once_a_majority_has_confirmed() {
    let mut rig = Rig::new(3);
    let lock = rig.held("r");
    rig.redlock.extend(rig.now, lock, TTL).expect("it is held");
    rig.sent(0);
    rig.reply(0, ":0");
    assert_eq!(rig.sent(0), [""; 0], "nobody has confirmed yet");
    for index in 1..3 {
        rig.sent(index);
        rig.reply(index, ":1");
    }
    assert!(matches!(rig.event(), Event::Extended { .. }));
    assert_eq!(rig.sent(0), ["SET r #1 NX PX 9998"]);
}

#[test]
fn a_node_that_came_back_empty_and_says_so_last_is_given_the_key_soon_after() {
    let mut rig = Rig::new(3);
    let lock = rig.held("r");
    rig.redlock.extend(rig.now, lock, TTL).expect("it is held");
    for (index, reply) in [":1", ":1", ":0"].into_iter().enumerate() {
        rig.sent(index);
        rig.reply(index, reply);
    }
    assert!(matches!(rig.event(), Event::Extended { .. }));
    rig.advance(ms(50));
    assert_eq!(rig.sent(2), ["SET r #1 NX PX 9948"]);
}

#[test]
fn a_node_in_quarantine_is_given_the_key_and_does_not_confirm_before_its_end() {
    let mut rig = Rig::new(3);
    let young = "uptime_in_seconds:0\r\n";
    rig.close(2);
    rig.connect_as(2, 9, young);
    assert_eq!(rig.state(2), NodeState::Quarantined);
    let lock = rig.acquire("r", NO_WAIT);
    for index in 0..2 {
        rig.sent(index);
        rig.reply(index, "+OK");
    }
    assert!(matches!(rig.event(), Event::Acquired { .. }));
    rig.advance(ms(50));
    let sent = rig.sent(2);
    assert!(sent[0].starts_with("SET r #1 NX PX "), "{sent:?}");
    rig.reply(2, "+OK");
    rig.redlock.extend(rig.now, lock, TTL).expect("it is held");
    for index in [0, 2] {
        rig.sent(index);
        rig.reply(index, ":1");
    }
    assert_eq!(rig.events(), [], "one of two has confirmed");
}

/// The answer to an extension that was sent before the repair says nothing about the repair.
#[test]
fn an_older_answer_does_not_make_a_repair_forgotten() {
    let mut rig = Rig::new(3);
    let lock = held_without_one(&mut rig);
    rig.advance(ms(50));
    rig.redlock.extend(rig.now, lock, TTL).expect("it is held");
    let sent: Vec<_> = (0..3).map(|index| rig.sent(index).len()).collect();
    assert_eq!(sent, [1, 1, 2], "the third is given the key and then asked");
    rig.reply(2, "$-1");
    rig.reply(0, ":1");
    rig.reply(1, ":1");
    assert!(matches!(rig.event(), Event::Extended { .. }));
    assert!(rig.sent(2)[0].starts_with("SET r #1 NX"), "it is given the key once more");
    rig.reply(2, ":0");
    rig.redlock.release(rig.now, lock).expect("it is held");
    assert_eq!(rig.sent(2), ["EVALSHA release 1 r #1"]);
}

#[test]
fn nothing_is_repaired_when_repair_is_turned_off() {
    let mut rig = Rig::with(3, |config| config.repair = false);
    held_without_one(&mut rig);
    rig.until(|rig| rig.events().iter().any(|event| matches!(event, Event::Lost { .. })));
    assert_eq!(rig.sent(2), [""; 0]);
}

#[test]
fn a_repair_that_died_with_its_connection_is_cleaned_up_after_the_release() {
    let mut rig = Rig::new(3);
    let lock = held_without_one(&mut rig);
    rig.advance(ms(50));
    assert_eq!(rig.sent(2).len(), 1);
    rig.close(2);
    rig.redlock.release(rig.now, lock).expect("it is held");
    rig.connect(2);
    rig.until(|rig| rig.has_output(2));
    assert_eq!(rig.sent(2), ["EVALSHA release 1 r #1"]);
}

//! Sets: many resources as one lock.

use super::*;

impl Rig {
    fn acquire_all(&mut self, resources: &[&str], wait: Duration) -> LockId {
        let lock = self.redlock.acquire_all(self.now, resources, TTL, wait);
        lock.expect("the request is in bounds")
    }

    fn held_set(&mut self, resources: &[&str]) -> LockId {
        let lock = self.acquire_all(resources, NO_WAIT);
        for index in 0..self.redlock.nodes().len() {
            self.sent(index);
            self.reply(index, "+OK");
        }
        assert!(matches!(self.event(), Event::Acquired { lock: held, .. } if held == lock));
        lock
    }
}

#[test]
fn a_set_is_taken_kept_and_given_back_by_one_call_per_node() {
    let mut rig = Rig::new(3);
    let lock = rig.acquire_all(&["b", "a", "b"], NO_WAIT);
    for index in 0..3 {
        assert_eq!(rig.sent(index), ["EVALSHA acquire-set 2 a b #1 10000"]);
        rig.reply(index, "+OK");
    }
    assert!(matches!(rig.event(), Event::Acquired { .. }));
    rig.redlock.extend(rig.now, lock, TTL).expect("it is held");
    for index in 0..3 {
        assert_eq!(rig.sent(index), ["EVALSHA extend-set 2 a b #1 10000"]);
        rig.reply(index, ":1");
    }
    assert!(matches!(rig.event(), Event::Extended { .. }));
    rig.redlock.release(rig.now, lock).expect("it is held");
    for index in 0..3 {
        assert_eq!(rig.sent(index), ["EVALSHA release-set 2 a b #1"]);
        rig.reply(index, ":1");
    }
    assert!(matches!(rig.event(), Event::Released { .. }));
}

#[test]
fn a_set_of_one_is_a_lock_like_any_other() {
    let mut rig = Rig::new(1);
    rig.acquire_all(&["a", "a"], NO_WAIT);
    assert_eq!(rig.sent(0), ["SET a #1 NX PX 10000"]);
}

#[test]
fn sets_that_are_bad_are_refused_with_the_value_and_the_limit() {
    let mut rig = Rig::new(1);
    let many: Vec<_> = (0..=MAX_SET).map(|number| number.to_string()).collect();
    let error = |rig: &mut Rig, resources: &[String]| {
        let found = rig.redlock.acquire_all(rig.now, resources, TTL, NO_WAIT);
        found.expect_err("out of bounds").to_string()
    };
    assert_eq!(error(&mut rig, &[]), "0 resources for one lock, between 1 and 64 are possible");
    assert_eq!(error(&mut rig, &many), "65 resources for one lock, between 1 and 64 are possible");
    assert_eq!(error(&mut rig, &["a".into(), String::new()]), "the resource is empty");
}

#[test]
fn an_attempt_for_a_set_that_fails_is_released_where_it_was_not_refused() {
    let mut rig = Rig::new(3);
    rig.acquire_all(&["a", "b"], NO_WAIT);
    for (index, reply) in ["+OK", "$-1", "$-1"].into_iter().enumerate() {
        rig.sent(index);
        rig.reply(index, reply);
    }
    assert!(matches!(rig.event(), Event::AcquireFailed { error: AcquireError::Held { .. }, .. }));
    assert_eq!(rig.sent(0), ["EVALSHA release-set 2 a b #1"]);
    assert_eq!(rig.sent(1), [""; 0]);
}

#[test]
fn equal_sets_stand_in_line_and_hand_over_in_one_write() {
    let mut rig = Rig::new(1);
    let first = rig.held_set(&["a", "b"]);
    rig.acquire_all(&["b", "a"], WAIT);
    assert_eq!(rig.sent(0), [""; 0]);
    rig.release_on_nodes(first);
    let expected = ["EVALSHA release-set 2 a b #1", "EVALSHA acquire-set 2 a b #2 10000"];
    assert_eq!(rig.sent(0), expected);
}

#[test]
fn releases_that_gather_leave_before_a_set_that_wants_their_resource() {
    let mut rig = Rig::new(1);
    let locks = ["x", "a"].map(|resource| rig.held(resource));
    locks.into_iter().for_each(|lock| rig.redlock.release(rig.now, lock).expect("it is held"));
    rig.acquire_all(&["a", "b"], NO_WAIT);
    let sent = rig.sent(0);
    assert_eq!(sent, ["EVALSHA release-many 2 x a #1 #2", "EVALSHA acquire-set 2 a b #3 10000"]);
}

#[test]
fn sets_and_single_locks_are_released_in_their_order_and_answered_each() {
    let mut rig = Rig::new(1);
    let single = rig.held("x");
    let set = rig.held_set(&["a", "b"]);
    let other = rig.held("y");
    let native = rig.held("z");
    for lock in [single, set, other, native] {
        rig.redlock.release(rig.now, lock).expect("it is held");
    }
    let expected = ["EVALSHA release 1 x #1", "EVALSHA release-set 2 a b #2"];
    assert_eq!(rig.sent(0), expected);
    rig.reply(0, ":1");
    rig.reply(0, ":0");
    assert_eq!(rig.sent(0), ["EVALSHA release-many 2 y z #3 #4"]);
    rig.reply(0, "*2\r\n:1\r\n:-1");
    let absent: Vec<_> = rig.events().iter().map(absent_nodes).collect();
    assert_eq!(absent, [0, 1, 0, 0]);
}

fn absent_nodes(event: &Event) -> usize {
    let Event::Released { outcome, .. } = event else { panic!("{event:?}") };
    outcome.absent.len()
}

#[test]
fn a_script_that_is_not_loaded_goes_by_its_text_while_the_attempt_lasts() {
    let mut rig = Rig::new(3);
    rig.acquire_all(&["a", "b"], NO_WAIT);
    for index in 0..3 {
        rig.sent(index);
    }
    rig.reply(0, "-NOSCRIPT No matching script.");
    assert_eq!(rig.sent(0), ["EVAL acquire-set-text 2 a b #1 10000"]);
    rig.reply(0, "+OK");
    rig.reply(1, "+OK");
    assert!(matches!(rig.event(), Event::Acquired { .. }));
}

/// Where the others have decided meanwhile, the keys of the last node end with the lock.
#[test]
fn keys_that_a_node_gets_by_a_text_end_with_the_validity() {
    let mut rig = Rig::new(3);
    rig.acquire_all(&["a", "b"], NO_WAIT);
    (0..3).for_each(|index| drop(rig.sent(index)));
    rig.now = rig.now + ms(40);
    rig.reply(1, "+OK");
    rig.reply(2, "+OK");
    let Event::Acquired { valid_until, .. } = rig.event() else { panic!("no lock") };
    rig.reply(0, "-NOSCRIPT No matching script.");
    let sent = rig.sent(0).remove(0);
    let ttl: u64 = sent.rsplit(' ').next().and_then(|ttl| ttl.parse().ok()).expect("a ttl");
    let left = valid_until - rig.now;
    let most = left + rig.redlock.config().drift.of(left) + ms(1);
    assert!(Duration::from_millis(ttl) >= left && Duration::from_millis(ttl) < most, "{ttl}");
}

#[test]
fn a_script_that_is_not_loaded_is_not_tried_behind_its_release() {
    let mut rig = Rig::new(3);
    let lock = rig.acquire_all(&["a", "b"], NO_WAIT);
    rig.sent(0);
    rig.redlock.cancel(rig.now, lock).expect("it is not held");
    assert_eq!(rig.sent(0), ["EVALSHA release-set 2 a b #1"]);
    rig.reply(0, "-NOSCRIPT No matching script.");
    assert_eq!(rig.sent(0), [""; 0]);
}

#[test]
fn a_broken_connection_leaves_a_set_to_be_cleaned_up() {
    let mut rig = Rig::new(3);
    let lock = rig.acquire_all(&["a", "b"], NO_WAIT);
    rig.sent(0);
    rig.close(0);
    rig.redlock.cancel(rig.now, lock).expect("it is not held");
    rig.connect(0);
    rig.until(|rig| rig.has_output(0));
    assert_eq!(rig.sent(0), ["EVALSHA release-set 2 a b #1"]);
}

#[test]
fn a_set_that_a_majority_has_lost_in_part_is_lost() {
    let mut rig = Rig::new(3);
    let lock = rig.held_set(&["a", "b"]);
    rig.redlock.extend(rig.now, lock, TTL).expect("it is held");
    for index in 0..2 {
        rig.sent(index);
        rig.reply(index, ":-1");
    }
    let lost = Event::Lost { lock, reason: LostReason::Majority };
    assert_eq!(rig.events().last(), Some(&lost));
}

/// A set is repaired like a single lock.
#[test]
fn a_set_is_given_to_a_node_that_came_back_empty() {
    let mut rig = Rig::new(3);
    let lock = rig.held_set(&["a", "b"]);
    rig.redlock.extend(rig.now, lock, TTL).expect("it is held");
    for (index, reply) in [":0", ":1", ":1"].into_iter().enumerate() {
        rig.sent(index);
        rig.reply(index, reply);
    }
    assert!(matches!(rig.event(), Event::Extended { .. }));
    let sent = rig.sent(0);
    assert!(matches!(&sent[..], [set] if set.contains("acquire-set")), "{sent:?}");
}

/// The rest of the set on that node would refuse us, and is released in the end.
#[test]
fn a_set_is_not_given_to_a_node_that_has_lost_a_part_of_it() {
    let mut rig = Rig::new(3);
    let lock = rig.held_set(&["a", "b"]);
    rig.redlock.extend(rig.now, lock, TTL).expect("it is held");
    for (index, reply) in [":-1", ":1", ":1"].into_iter().enumerate() {
        rig.sent(index);
        rig.reply(index, reply);
    }
    assert!(matches!(rig.event(), Event::Extended { .. }));
    rig.advance(ms(50));
    assert_eq!(rig.sent(0), [""; 0]);
    rig.redlock.release(rig.now, lock).expect("it is held");
    assert!(rig.sent(0)[0].starts_with("EVALSHA release-set "));
}

/// The node gets the keys only after it has compared for an extension: the script was not known at
/// first.
#[test]
fn an_answer_from_before_a_set_that_is_resent_takes_no_node_out() {
    let mut rig = Rig::new(3);
    let lock = rig.acquire_all(&["a", "b"], NO_WAIT);
    for index in 0..3 {
        rig.sent(index);
    }
    rig.reply(1, "+OK");
    rig.reply(2, "+OK");
    assert!(matches!(rig.event(), Event::Acquired { .. }));
    rig.redlock.extend(rig.now, lock, TTL).expect("it is held");
    assert!(rig.sent(0)[0].starts_with("EVALSHA extend-set "));
    rig.reply(0, "-NOSCRIPT No matching script.");
    assert!(rig.sent(0)[0].starts_with("EVAL "), "the set, by its text");
    rig.reply(0, ":0");
    for index in 1..3 {
        rig.sent(index);
        rig.reply(index, ":1");
    }
    assert!(matches!(rig.event(), Event::Extended { .. }));
    rig.advance(ms(50));
    assert_eq!(rig.sent(0), [""; 0], "our own keys would refuse us");
    rig.reply(0, "+OK");
    rig.redlock.release(rig.now, lock).expect("it is held");
    assert!(rig.sent(0)[0].starts_with("EVALSHA release-set "));
}

//! Locks that are passed on inside the engine, and those that are not.

use super::*;

/// Releases a lock that is passed on. Returns the validity of the next owner, and checks that the
/// nodes hear nothing.
fn pass(rig: &mut Rig, from: LockId, to: LockId) -> Instant {
    rig.redlock.release(rig.now, from).expect("it is held");
    let outcome = ReleaseOutcome { is_passed_on: true, ..ReleaseOutcome::default() };
    let events = rig.events();
    let [released, Event::Acquired { lock, valid_until, fence: None }] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!((released, *lock), (&Event::Released { lock: from, outcome }, to));
    let nodes = rig.redlock.nodes().len();
    (0..nodes).for_each(|index| assert_eq!(rig.sent(index), [""; 0], "node {index}"));
    *valid_until
}

/// Checks that a release goes to the nodes, and not to the next in line.
fn released_on_nodes(rig: &mut Rig, lock: LockId) {
    rig.redlock.release(rig.now, lock).expect("it is held");
    assert!(rig.sent(0)[0].contains("release"), "the nodes are told");
    let is_granted = |event: &Event| matches!(event, Event::Acquired { .. });
    assert!(!rig.events().iter().any(is_granted));
}

#[test]
fn a_lock_goes_to_the_next_in_line_with_the_validity_that_a_majority_has_confirmed() {
    let mut rig = Rig::new(3);
    let first = rig.held("r");
    let end = rig.redlock.remaining(rig.now, first);
    let [second, third] = [(); 2].map(|()| rig.acquire("r", WAIT));
    rig.advance(ms(7));
    assert_eq!(pass(&mut rig, first, second) - rig.now, end - ms(7));
    assert_eq!(rig.redlock.peek_token(first), None);
    rig.advance(ms(7));
    assert_eq!(pass(&mut rig, second, third) - rig.now, end - ms(14));
    assert_eq!(rig.redlock.counters().passed_on, 2);
    assert_eq!(rig.redlock.in_use(), 1);
    // The keys are those of the first attempt, and the last owner deletes them.
    rig.redlock.release(rig.now, third).expect("it is held");
    assert_eq!(rig.sent(1), ["EVALSHA release 1 r #1"]);
}

#[test]
fn late_votes_and_lost_connections_reach_the_lock_that_was_passed_on() {
    let mut rig = Rig::new(5);
    let first = rig.acquire("r", NO_WAIT);
    (0..3).for_each(|index| rig.reply(index, "+OK"));
    assert!(matches!(rig.event(), Event::Acquired { .. }));
    (0..5).for_each(|index| _ = rig.sent(index));
    let second = rig.acquire("r", WAIT);
    pass(&mut rig, first, second);
    rig.reply(3, "+OK");
    rig.close(4);
    assert!(rig.redlock.is_held(rig.now, second));
    rig.redlock.release(rig.now, second).expect("it is held");
    (0..4).for_each(|index| assert_eq!(rig.sent(index), ["EVALSHA release 1 r #1"]));
    let cleanup = rig.redlock.node(rig.now, node(4)).expect("it is there").cleanup;
    assert_eq!(cleanup, 1, "the fate of that SET is open (S6)");
}

#[test]
fn an_id_and_its_index_stay_those_of_one_owner() {
    let mut rig = Rig::new(3);
    let first = rig.held("r");
    let second = rig.acquire("r", WAIT);
    pass(&mut rig, first, second);
    assert_ne!(first.index(), second.index());
    assert!(rig.redlock.resources(second).eq([b"r"]));
    assert_eq!(rig.redlock.release(rig.now, first), Err(RequestError::UnknownLock));
    // The index of the first is free again, and the next lock that gets it is another one.
    let third = rig.held("s");
    assert_eq!(third.index(), first.index());
    assert_ne!(third, first);
    assert!(rig.redlock.is_held(rig.now, second) && rig.redlock.is_held(rig.now, third));
}

#[test]
fn an_extension_of_the_former_owner_extends_nothing_for_the_next() {
    let mut rig = Rig::new(3);
    let first = rig.held("r");
    let second = rig.acquire("r", WAIT);
    rig.advance(ms(100));
    rig.redlock.extend(rig.now, first, TTL).expect("it is held");
    (0..3).for_each(|index| _ = rig.sent(index));
    rig.redlock.release(rig.now, first).expect("it is held");
    let events = rig.events();
    let error = ExtendError::Released;
    assert_eq!(events[0], Event::ExtendFailed { lock: first, error });
    let Event::Acquired { lock, valid_until, .. } = events[2] else { panic!("{events:?}") };
    assert_eq!(lock, second);
    (0..3).for_each(|index| rig.reply(index, ":1"));
    assert_eq!(rig.events(), [], "nobody waits for that extension");
    assert_eq!(rig.now + rig.redlock.remaining(rig.now, second), valid_until);
    // A key that one node has lost since then is missed nevertheless.
    rig.redlock.extend(rig.now, second, TTL).expect("it is held");
    let asked = rig.sent(0);
    assert_eq!(asked, ["EVALSHA extend 1 r #1 10000"]);
}

#[test]
fn keep_alive_ends_with_its_owner_and_max_hold_begins_with_the_next() {
    let mut rig = Rig::with(3, |config| config.max_hold = TTL + TTL / 2);
    let first = rig.held("r");
    rig.redlock.keep_alive(rig.now, first, TTL, TTL + TTL / 2).expect("within max_hold");
    let second = rig.acquire("r", WAIT);
    rig.advance(ms(400));
    let end = pass(&mut rig, first, second);
    // Counted from its own grant, this is just within the bound; from the first one, too long.
    rig.redlock.extend(rig.now, second, TTL + TTL / 2).expect("its own max_hold");
    (0..3).for_each(|index| {
        rig.sent(index);
        rig.reply(index, ":1");
    });
    let Event::Extended { lock, valid_until } = rig.event() else { panic!("not extended") };
    assert!(lock == second && valid_until > end);
    rig.advance(TTL);
    assert_eq!(rig.sent(0), [""; 0], "nobody renews");
}

#[test]
fn a_lock_with_a_token_or_a_number_that_others_know_is_released_on_the_nodes() {
    let own = AcquireOptions::new().token(Token::from_bytes([7; 20]));
    let fenced = AcquireOptions::new().fenced();
    type Prepare = fn(&mut Rig, LockId);
    let rows: [(&str, Prepare); 2] = [
        ("token", |rig, lock| _ = rig.redlock.token(lock).expect("it is held")),
        ("draw", |rig, lock| {
            rig.redlock.draw_fence(rig.now, lock).expect("it is held");
            (0..3).for_each(|index| _ = rig.sent(index));
        }),
    ];
    for (what, prepare) in rows {
        let mut rig = Rig::new(3);
        let first = rig.held("r");
        rig.acquire("r", WAIT);
        prepare(&mut rig, first);
        rig.redlock.release(rig.now, first).expect("it is held");
        assert!(rig.sent(0).iter().any(|sent| sent.contains("release")), "{what}");
        assert_eq!(rig.redlock.counters().passed_on, 0, "{what}");
    }
    for options in [own, fenced] {
        let mut rig = Rig::new(3);
        let first = rig.held("r");
        rig.redlock.acquire_with(rig.now, &["r"], TTL, WAIT, &options).expect("in bounds");
        released_on_nodes(&mut rig, first);
    }
}

/// What is known stays known while the lock is extended and repaired.
#[test]
fn a_known_token_stays_known_through_an_extension() {
    let mut rig = Rig::new(3);
    let first = rig.held("r");
    rig.redlock.token(first).expect("it is held");
    rig.redlock.extend(rig.now, first, TTL).expect("it is held");
    for index in 0..3 {
        rig.sent(index);
        rig.reply(index, ":1");
    }
    assert!(matches!(rig.event(), Event::Extended { .. }));
    rig.acquire("r", WAIT);
    released_on_nodes(&mut rig, first);
}

/// A peek is no reason: nobody acts upon what it shows.
#[test]
fn a_look_at_the_token_changes_nothing() {
    let mut rig = Rig::new(3);
    let first = rig.held("r");
    let second = rig.acquire("r", WAIT);
    let token = rig.redlock.peek_token(first);
    pass(&mut rig, first, second);
    assert_eq!(rig.redlock.peek_token(second), token);
    let third = rig.acquire("r", WAIT);
    pass(&mut rig, second, third);
}

#[test]
fn a_lock_of_which_little_is_left_or_which_lives_longer_is_released_on_the_nodes() {
    let mut rig = Rig::with(3, |config| config.tenure = Duration::MAX);
    let first = rig.held("r");
    rig.acquire("r", WAIT);
    rig.advance(TTL / 2);
    released_on_nodes(&mut rig, first);

    let mut rig = Rig::new(3);
    let first = rig.held("r");
    let shorter = TTL - ms(1);
    rig.redlock.acquire(rig.now, b"r", shorter, WAIT).expect("in bounds");
    released_on_nodes(&mut rig, first);
}

#[test]
fn a_tenure_that_is_over_ends_on_the_nodes() {
    let mut rig = Rig::with(3, |config| config.tenure = ms(100));
    let first = rig.held("r");
    let [second, _] = [(); 2].map(|()| rig.acquire("r", WAIT));
    rig.advance(ms(99));
    pass(&mut rig, first, second);
    rig.advance(ms(1));
    released_on_nodes(&mut rig, second);
}

#[test]
fn equal_sets_are_passed_on_as_one_lock() {
    let mut rig = Rig::new(1);
    let acquire = |rig: &mut Rig, names: &[&str]| {
        rig.redlock.acquire_all(rig.now, names, TTL, WAIT).expect("in bounds")
    };
    let first = acquire(&mut rig, &["a", "b"]);
    rig.sent(0);
    rig.reply(0, "+OK");
    rig.event();
    let second = acquire(&mut rig, &["b", "a"]);
    pass(&mut rig, first, second);
    rig.redlock.release(rig.now, second).expect("it is held");
    assert_eq!(rig.sent(0), ["EVALSHA release-set 2 a b #1"]);
}

/// The first renewal of a lock that was passed on comes before the warning, as for any other lock.
#[test]
fn a_lock_of_which_half_is_left_is_renewed_before_its_owner_is_warned() {
    let mut rig = Rig::with(3, |config| config.tenure = Duration::MAX);
    let first = rig.held("r");
    let second = rig.acquire("r", 2 * TTL);
    rig.advance(TTL * 9 / 20);
    pass(&mut rig, first, second);
    rig.redlock.keep_alive(rig.now, second, TTL, 6 * TTL).expect("within max_hold");
    rig.redlock.warn(rig.now, second, TTL / 2).expect("it is held");
    for _ in 0..5 {
        rig.until(|rig| rig.has_output(0));
        (0..3).for_each(|index| {
            rig.sent(index);
            rig.reply(index, ":1");
        });
        assert!(matches!(rig.event(), Event::Extended { lock, .. } if lock == second));
    }
}

/// The renewals would have repaired the lock, and end with their owner.
#[test]
fn a_node_without_the_key_waits_no_longer_because_the_former_owner_had_renewals() {
    let repaired_after = |is_kept_alive: bool| {
        let mut rig = Rig::new(3);
        let first = rig.acquire("r", NO_WAIT);
        for (index, vote) in ["+OK", "+OK", "$-1"].into_iter().enumerate() {
            rig.sent(index);
            rig.reply(index, vote);
        }
        assert!(matches!(rig.event(), Event::Acquired { .. }));
        if is_kept_alive {
            rig.redlock.keep_alive(rig.now, first, TTL, TTL).expect("within max_hold");
        }
        let second = rig.acquire("r", WAIT);
        pass(&mut rig, first, second);
        let passed = rig.now;
        rig.until(|rig| rig.has_output(2));
        assert!(rig.sent(2)[0].starts_with("SET r #1 "));
        rig.now - passed
    };
    assert_eq!(repaired_after(true), repaired_after(false));
}

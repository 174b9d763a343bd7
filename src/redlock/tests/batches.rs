//! Group commit: how releases and extensions leave.

mod answers;

use super::*;

/// Acquires the locks `a`, `b`, `c`, … on one node, with tokens #1, #2, #3, ….
fn held(rig: &mut Rig, count: u8) -> Vec<LockId> {
    (0..count).map(|i| rig.held(&char::from(b'a' + i).to_string())).collect()
}

fn release(rig: &mut Rig, locks: &[LockId]) {
    for lock in locks {
        rig.redlock.release(rig.now, *lock).expect("held");
    }
}

#[test]
fn what_waits_for_a_node_leaves_as_one_call() {
    let mut rig = Rig::new(1);
    let locks = held(&mut rig, 3);
    release(&mut rig, &locks);
    assert_eq!(rig.sent(0), ["EVALSHA release-many 3 a b c #1 #2 #3"]);
    rig.reply(0, "*3\r\n:1\r\n:0\r\n:-1");
    let outcomes: Vec<_> = rig.events().into_iter().zip(&locks).collect();
    for (index, (event, lock)) in outcomes.into_iter().enumerate() {
        let Event::Released { lock: released, outcome } = event else { panic!("{event:?}") };
        assert_eq!(released, *lock);
        let said = [outcome.released, outcome.absent, outcome.foreign];
        let expected: Vec<_> =
            (0..3).map(|i| if i == index { nodes([0]) } else { NodeSet::EMPTY }).collect();
        assert_eq!(said[..], expected);
    }
    assert_eq!(rig.redlock.in_use(), 0);
}

/// The bytes for one node are copied to the next only if the next is sent the same.
#[test]
fn nodes_that_are_asked_different_things_are_sent_different_things() {
    let mut rig = Rig::unconnected(2, |_| ());
    rig.connect(0);
    rig.native = "*2\r\n*1\r\n+delifeq\r\n*-1";
    rig.connect(1);
    rig.events();
    // One lock, in two forms.
    let lock = rig.held("a");
    release(&mut rig, &[lock]);
    assert_eq!(rig.sent(0), ["EVALSHA release 1 a #1"]);
    assert_eq!(rig.sent(1), ["DELIFEQ a #1"]);
    rig.reply(1, ":1");
    rig.reply(0, ":1");
    rig.event();
    // A second lock, in the slot of the first.
    let lock = rig.held("b");
    assert_eq!(lock.index, 0);
    release(&mut rig, &[lock]);
    assert_eq!(rig.sent(1), ["DELIFEQ b #2"]);
    assert_eq!(rig.sent(0), ["EVALSHA release 1 b #2"]);
    rig.reply(1, ":1");
    rig.reply(0, ":1");
    rig.event();
    // Two rounds of one lock, with two ttls.
    let lock = rig.held("c");
    for (ttl, command) in
        [(ms(20_000), "EVALSHA extend 1 c #3 20000"), (ms(30_000), "EVALSHA extend 1 c #3 30000")]
    {
        rig.redlock.extend(rig.now, lock, ttl).expect("held");
        for index in [0, 1] {
            assert_eq!(rig.sent(index), [command]);
            rig.reply(index, ":1");
        }
        assert!(matches!(rig.event(), Event::Extended { .. }));
    }
}

/// One place on two cleanup lists has two tokens.
#[test]
fn nodes_that_owe_different_cleanups_are_sent_different_cleanups() {
    let mut rig = Rig::new(5);
    for (index, resource) in [(0, "a"), (1, "b")] {
        let lock = rig.acquire(resource, NO_WAIT);
        rig.sent(index);
        rig.close(index);
        (index + 1..5).for_each(|other| rig.reply(other, "+OK"));
        assert!(matches!(rig.event(), Event::Acquired { .. }));
        release(&mut rig, &[lock]);
        (index + 1..5).for_each(|other| rig.reply(other, ":1"));
        assert!(matches!(rig.event(), Event::Released { .. }));
    }
    rig.connect(0);
    rig.connect(1);
    assert_eq!(rig.sent(0), ["EVALSHA release 1 a #1"]);
    assert_eq!(rig.sent(1), ["EVALSHA release 1 b #2"]);
}

#[test]
fn a_lone_release_leaves_at_once_and_the_next_gather_behind_it() {
    let mut rig = Rig::new(1);
    let locks = held(&mut rig, 4);
    release(&mut rig, &locks[..1]);
    assert_eq!(rig.sent(0), ["EVALSHA release 1 a #1"]);
    release(&mut rig, &locks[1..3]);
    assert_eq!(rig.sent(0), [""; 0]);
    release(&mut rig, &locks[3..]);
    assert_eq!(rig.sent(0), [""; 0]);
    rig.reply(0, ":1");
    assert_eq!(rig.sent(0), ["EVALSHA release-many 3 b c d #2 #3 #4"]);
}

#[test]
fn acquisitions_are_not_held_up_by_a_group_on_its_way() {
    let mut rig = Rig::new(1);
    let locks = held(&mut rig, 1);
    release(&mut rig, &locks);
    rig.sent(0);
    rig.acquire("z", NO_WAIT);
    assert_eq!(rig.sent(0), ["SET z #2 NX PX 10000"]);
}

#[test]
fn a_group_has_at_most_64_keys() {
    let mut rig = Rig::new(1);
    let locks: Vec<_> = (0..130).map(|i| rig.held(&format!("r{i}"))).collect();
    release(&mut rig, &locks);
    let sent = rig.sent(0);
    let counts: Vec<_> = sent.iter().map(|command| command.split(' ').nth(2)).collect();
    assert_eq!(counts, [Some("64"), Some("64"), Some("2")]);
    for count in [64, 64, 2] {
        rig.reply(0, &format!(":{count}"));
    }
    assert_eq!(rig.events().len(), 130);
    assert_eq!(rig.redlock.in_use(), 0);
}

/// The release of the last holder must run before the `SET` of the next, even if the release would
/// wait.
#[test]
fn a_handover_does_not_wait_for_the_group_on_its_way() {
    let mut rig = Rig::new(1);
    let locks = held(&mut rig, 2);
    rig.acquire("b", WAIT);
    release(&mut rig, &locks[..1]);
    assert_eq!(rig.sent(0), ["EVALSHA release 1 a #1"]);
    rig.release_on_nodes(locks[1]);
    assert_eq!(rig.sent(0), ["EVALSHA release 1 b #2", "SET b #3 NX PX 10000"]);
}

/// The same without a line: a new request for a resource must not be refused because the engine's
/// own release of that resource still waits.
#[test]
fn a_new_request_does_not_overtake_a_release_that_waits() {
    let mut rig = Rig::new(1);
    let locks = held(&mut rig, 2);
    release(&mut rig, &locks[..1]);
    rig.sent(0);
    release(&mut rig, &locks[1..]);
    assert_eq!(rig.sent(0), [""; 0]);
    rig.acquire("b", NO_WAIT);
    assert_eq!(rig.sent(0), ["EVALSHA release 1 b #2", "SET b #3 NX PX 10000"]);
}

/// A retry must not be refused by the keys of its own last attempt.
#[test]
fn a_retry_does_not_overtake_the_release_of_the_last_attempt() {
    let mut rig = Rig::new(3);
    let lock = rig.held("a");
    rig.acquire("b", WAIT);
    release(&mut rig, &[lock]);
    rig.sent(0);
    for (index, reply) in [(0, "+OK"), (1, "$-1"), (2, "$-1")] {
        rig.transmit(index);
        rig.reply(index, reply);
    }
    assert_eq!(rig.sent(0), [""; 0], "the release of b waits for that of a");
    rig.until(|rig| rig.has_output(0));
    assert_eq!(rig.sent(0), ["EVALSHA release 1 b #2", "SET b #3 NX PX 10000"]);
}

#[test]
fn extensions_leave_as_one_call_with_a_ttl_each() {
    let mut rig = Rig::new(1);
    let locks = held(&mut rig, 2);
    rig.redlock.extend(rig.now, locks[0], ms(20_000)).expect("held");
    rig.redlock.extend(rig.now, locks[1], ms(30_000)).expect("held");
    assert_eq!(rig.sent(0), ["EVALSHA extend-many 2 a b #1 #2 20000 30000"]);
    rig.reply(0, "*2\r\n:1\r\n:0");
    let events = rig.events();
    assert!(matches!(events[0], Event::Extended { lock, .. } if lock == locks[0]));
    let lost = Event::Lost { lock: locks[1], reason: LostReason::Majority };
    assert_eq!(events.last(), Some(&lost));
}

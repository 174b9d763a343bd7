//! The names of a lock, as far as the owner of an engine can ask for them.

use super::*;

fn names(rig: &Rig, lock: LockId) -> Vec<String> {
    let resources = rig.redlock.resources(lock);
    resources.map(|name| String::from_utf8_lossy(name).into_owned()).collect()
}

/// A log line about the end of a lock is written when the event is read, and not before.
#[test]
fn a_lock_has_its_name_until_its_last_event_is_read() {
    let mut rig = Rig::with(3, |config| config.prefix = b"p:".to_vec());
    let lock = rig.held("a");
    assert_eq!(names(&rig, lock), ["a"]);
    rig.redlock.release(rig.now, lock).expect("held");
    for index in 0..3 {
        rig.sent(index);
        rig.reply(index, ":1");
    }
    // The place of the lock is free already.
    assert_eq!(rig.redlock.in_use(), 0);
    assert!(matches!(rig.event(), Event::Released { lock: released, .. } if released == lock));
    assert_eq!(names(&rig, lock), ["a"]);

    let next = rig.acquire("b", WAIT);
    assert_eq!(next.index(), lock.index());
    assert_eq!((names(&rig, lock), names(&rig, next)), (vec![], vec!["b".to_owned()]));
}

/// A log line that names another lock is worse than one without a name.
#[test]
fn requests_between_two_events_take_no_name_from_an_event_that_waits() {
    let mut rig = Rig::with(3, |config| config.max_locks = 4);
    let first = rig.held("a");
    let second = rig.held("b");
    rig.redlock.release(rig.now, first).expect("held");
    // No event says that this one has ended, and the owner has not read that it was ever extended.
    rig.redlock.extend(rig.now, second, TTL).expect("held");
    rig.redlock.disown(rig.now, second).expect("held");
    for index in 0..3 {
        rig.sent(index);
        rig.reply(index, ":1");
        rig.reply(index, ":1");
    }
    assert_eq!(rig.redlock.in_use(), 0);
    let others: Vec<_> = ["c", "d"].map(|name| rig.acquire(name, WAIT)).into();
    let wait = (TTL, WAIT);
    let refused = rig.redlock.acquire(rig.now, b"e", wait.0, wait.1);
    assert_eq!(refused, Err(RequestError::Full { max: 4 }), "the other places have a name to keep");

    let mut told = Vec::new();
    while let Some(event) = rig.redlock.poll_event() {
        told.extend(event.lock().map(|lock| (lock, names(&rig, lock))));
    }
    let expected = [(second, vec!["b".to_owned()]), (first, vec!["a".to_owned()])];
    assert!(expected.iter().all(|known| told.contains(known)), "{told:?}");
    let next = ["e", "f"].map(|name| rig.acquire(name, WAIT));
    for (lock, name) in others.into_iter().chain(next).zip(["c", "d", "e", "f"]) {
        assert_eq!(names(&rig, lock), [name]);
    }
}

#[test]
fn a_request_that_fails_at_once_has_its_name_too() {
    let mut rig = Rig::new(3);
    rig.held("a");
    let refused = rig.acquire("a", NO_WAIT);
    assert_eq!((rig.redlock.in_use(), names(&rig, refused)), (1, vec!["a".to_owned()]));
    assert_eq!(
        rig.events(),
        [Event::AcquireFailed { lock: refused, error: AcquireError::HELD_HERE }]
    );
    let cancelled = rig.acquire("a", WAIT);
    rig.redlock.cancel(rig.now, cancelled).expect("it waits");
    assert_eq!(names(&rig, cancelled), ["a"]);
}

#[test]
fn a_set_has_all_its_names_in_order_and_long_ones_only_while_it_lives() {
    let mut rig = Rig::with(3, |config| config.prefix = b"p:".to_vec());
    let mut set = |names: &[&str]| {
        let lock = rig.redlock.acquire_all(rig.now, names, TTL, WAIT).expect("in bounds");
        rig.redlock.cancel(rig.now, lock).expect("it is not held");
        lock
    };
    let (short, long) = (set(&["b", "a", "b"]), "x".repeat(3_000));
    // The other place is in use as long as the nodes owe replies.
    let large = set(&[&long, "y", &long[1..]]);
    assert_eq!(names(&rig, short), ["a", "b"]);
    assert_eq!(names(&rig, large).len(), 3);
    for index in 0..3 {
        rig.redlock.handle_closed(rig.now, node(index), NodeError::Closed);
    }
    assert_eq!(rig.redlock.in_use(), 0);
    let short_names = vec!["a".to_owned(), "b".to_owned()];
    for (lock, count) in [(short, 2), (large, 3)] {
        assert_eq!(rig.redlock.poll_event().and_then(|event| event.lock()), Some(lock));
        assert_eq!((names(&rig, lock).len(), names(&rig, short)), (count, short_names.clone()));
    }
    // The three nodes have changed.
    assert!(rig.redlock.poll_event().is_some());
    assert_eq!((names(&rig, short), names(&rig, large).len()), (short_names, 0));
}

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
    assert_eq!((names(&rig, short), names(&rig, large).len()), (vec!["a".into(), "b".into()], 0));
}

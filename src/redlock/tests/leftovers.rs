//! What is left when an owner is about to stop, and whether the rest can be left to its ttl.

use super::*;

#[test]
fn a_quorum_that_owes_nothing_is_enough() {
    let mut rig = Rig::new(3);
    let lock = rig.held("r");
    assert!(!rig.redlock.is_drained(), "a lock is held");
    rig.redlock.release(rig.now, lock).expect("it is held");
    assert_eq!(rig.redlock.owing(), nodes([0, 1, 2]));
    rig.reply(0, ":1");
    assert!(!rig.redlock.is_drained(), "one of three is no quorum");
    rig.reply(2, ":1");
    assert!(rig.redlock.is_drained());
    assert_eq!((rig.redlock.owing(), rig.redlock.in_use()), (nodes([1]), 1));
    rig.reply(1, ":1");
    assert_eq!((rig.redlock.owing(), rig.redlock.in_use()), (NodeSet::EMPTY, 0));
}

#[test]
fn tokens_to_be_cleaned_up_count_where_they_may_be() {
    let mut rig = Rig::new(3);
    rig.acquire("r", NO_WAIT);
    (0..3).for_each(|index| drop(rig.sent(index)));
    rig.reply(0, "$-1");
    rig.close(1);
    rig.close(2);
    assert!(matches!(rig.event(), Event::AcquireFailed { .. }));
    assert_eq!((rig.redlock.in_use(), rig.redlock.cleanup()), (0, 2));
    assert_eq!(rig.redlock.owing(), nodes([1, 2]));
    assert!(!rig.redlock.is_drained(), "the token may be on a majority");
    rig.connect(1);
    rig.until(|rig| rig.has_output(1));
    rig.reply(1, ":1");
    assert_eq!(rig.redlock.owing(), nodes([2]));
    assert!(rig.redlock.is_drained());
}

#[test]
fn who_still_waits_is_not_done() {
    let mut rig = Rig::unconnected(3, |_| ());
    assert!(rig.redlock.is_drained(), "nothing was ever asked");
    let lock = rig.acquire("r", WAIT);
    assert_eq!(rig.redlock.owing(), NodeSet::EMPTY);
    assert!(!rig.redlock.is_drained());
    rig.redlock.cancel(rig.now, lock).expect("it is not held");
    assert!(rig.redlock.is_drained());
}

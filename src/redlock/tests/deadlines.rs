//! What is due although no reply comes: a driver that leaves replies unread must not sleep through
//! such a moment.

use super::*;

/// The time from now until the first thing is due for a lock that no reply can change, within two
/// seconds.
fn due(rig: &Rig) -> Option<Duration> {
    rig.redlock.first_due_without_reply(rig.now + ms(2_000)).map(|at| at - rig.now)
}

#[test]
fn an_attempt_waits_for_replies_and_a_pause_for_none() {
    let mut rig = Rig::new(1);
    rig.acquire("a", WAIT);
    assert_eq!(due(&rig), None, "the attempt ends with its replies");
    rig.sent(0);
    rig.reply(0, "$-1");
    let pause = due(&rig).expect("the next look comes after a pause");
    assert!(pause < ms(2), "{pause:?}");
}

#[test]
fn the_loss_of_a_lock_is_due_before_its_end_and_its_release_is_not() {
    let mut rig = Rig::new(1);
    let lock = rig.redlock.acquire(rig.now, b"a", ms(1_000), NO_WAIT).expect("it is in bounds");
    rig.sent(0);
    rig.reply(0, "+OK");
    let left = rig.redlock.remaining(rig.now, lock);
    assert_eq!(due(&rig), Some(left - rig.redlock.config().lost_lead));
    rig.redlock.release(rig.now, lock).expect("it is held");
    assert_eq!(due(&rig), None, "the timer of the lock that was held means nothing now");
}

#[test]
fn the_earliest_of_several_moments_counts() {
    let mut rig = Rig::new(1);
    for (resource, ttl) in [("a", 1_500), ("b", 700), ("c", 1_100)] {
        rig.redlock.acquire(rig.now, resource.as_bytes(), ms(ttl), NO_WAIT).expect("in bounds");
        rig.sent(0);
        rig.reply(0, "+OK");
    }
    assert!(due(&rig).is_some_and(|due| due > ms(600) && due < ms(700)), "{:?}", due(&rig));
}

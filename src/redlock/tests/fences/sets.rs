//! One number for a lock on several resources.

use super::*;

/// The call of a script for the keys `a` and `b`.
fn call(script: &str, serial: u64, rest: &str) -> String {
    format!("EVALSHA {script} 3 a b redbolt:fence #{serial} 15495 3300 {rest}")
}

impl Rig {
    fn fenced_set(&mut self) -> LockId {
        let options = AcquireOptions::new().fenced();
        let lock = self.redlock.acquire_with(self.now, &["b", "a"], TTL, NO_WAIT, &options);
        lock.expect("the request is in bounds")
    }
}

#[test]
fn a_set_has_one_number_for_all_its_stripes() {
    let mut rig = Rig::new(3);
    let lock = rig.fenced_set();
    let number = micros(rig.now);
    for index in 0..3 {
        let expected = call("acquire-fenced-set", 1, &format!("{number} 10000"));
        assert_eq!(rig.sent(index), [expected]);
    }
    rig.draw(0, 0);
    rig.draw(2, 0);
    assert_eq!(rig.fence(), 0);
    rig.redlock.release(rig.now, lock).expect("held");
    assert_eq!(rig.sent(0), ["EVALSHA release-set 2 a b #1"]);
}

#[test]
fn the_number_of_a_set_is_raised_in_all_its_stripes() {
    let mut rig = Rig::new(3);
    rig.fenced_set();
    rig.draw(0, 0);
    rig.draw(1, 7);
    let raise = call("raise-set", 1, &format!("{}", micros(rig.now) + 8));
    assert_eq!((rig.sent(0), rig.sent(1)), (vec![raise.clone()], vec![raise.clone()]));
    rig.reply(0, "-NOSCRIPT No matching script. Please use EVAL.");
    assert_eq!(rig.sent(0), [raise.replace("EVALSHA raise-set", "EVAL raise-set-text")]);
    rig.reply(0, ":1");
    rig.reply(1, ":1");
    assert_eq!(rig.fence(), 8);
}

#[test]
fn a_set_that_is_held_draws_a_new_number() {
    let mut rig = Rig::new(3);
    let lock = rig.fenced_set();
    (0..3).for_each(|index| rig.draw(index, 0));
    assert_eq!(rig.fence(), 0);
    rig.redlock.draw_fence(rig.now, lock).expect("held");
    let number = micros(rig.now) + 1;
    assert_eq!(rig.sent(0), [call("draw-set", 1, &format!("{number}"))]);
    rig.draw(0, 1);
    rig.draw(1, 1);
    let fence = Fence::new(number).expect("in range");
    assert_eq!(rig.event(), Event::Fenced { lock, fence });
}

/// S5: the keys may be there although the script has failed.
#[test]
fn an_error_behind_the_first_write_leaves_keys_that_are_released() {
    let mut rig = Rig::new(1);
    rig.fenced_set();
    rig.sent(0);
    rig.reply(0, NO_STRING);
    rig.no_lock();
    assert_eq!(rig.sent(0), ["EVALSHA release-set 2 a b #1"]);
}

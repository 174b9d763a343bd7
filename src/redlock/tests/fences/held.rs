//! New numbers for a lock that is held.

use super::*;

#[test]
fn a_held_lock_draws_a_new_number() {
    let mut rig = Rig::new(3);
    let lock = rig.held("r");
    assert_eq!(rig.redlock.draw_fence(rig.now, lock), Ok(()));
    assert_eq!(rig.redlock.draw_fence(rig.now, lock), Err(RequestError::DrawPending));
    let number = micros(rig.now);
    assert_eq!(rig.sent(0), [format!("EVALSHA draw 2 r redbolt:fence #1 7893 {number}")]);
    rig.draw(0, 0);
    rig.draw(1, 7);
    assert_eq!(rig.sent(0), [rig.raise(1, 8)]);
    rig.reply(0, ":1");
    rig.reply(1, ":1");
    let fence = Fence::new(number + 8).expect("in range");
    assert_eq!(rig.event(), Event::Fenced { lock, fence });
    assert_eq!(rig.redlock.fence(lock), Some(fence));
    rig.draw(2, 3);
    assert_eq!(rig.events(), []);
}

/// Two nodes are enough for a number, and the third answers nothing. The questions that it owes an
/// answer to must not become more and more.
#[test]
fn numbers_that_are_drawn_again_and_again_fill_no_pipeline() {
    let bound = |config: &mut RedlockConfig| {
        (config.max_pipeline, config.max_locks) = (8, 2);
    };
    let mut rig = Rig::with(3, bound);
    let lock = rig.held("r");
    for round in 0..50 {
        rig.redlock.draw_fence(rig.now, lock).expect("held");
        rig.draw(0, round);
        rig.draw(1, round);
        assert!(matches!(rig.event(), Event::Fenced { .. }), "{round}");
    }
    assert_eq!(rig.sent(2).len(), 10);
    rig.close(2);
    rig.connect(2);
    rig.events();
    rig.redlock.draw_fence(rig.now, lock).expect("held");
    assert!(rig.sent(2).iter().any(|call| call.starts_with("EVALSHA draw ")));
}

#[test]
fn a_draw_that_fails_leaves_the_number_and_the_lock() {
    let mut rig = Rig::new(3);
    let lock = rig.fenced("r");
    (0..3).for_each(|index| rig.draw(index, 0));
    assert_eq!(rig.fence(), 0);
    let before = rig.redlock.fence(lock);
    rig.redlock.draw_fence(rig.now, lock).expect("held");
    rig.draw(0, 9);
    rig.sent(1);
    rig.reply(1, ":0");
    rig.sent(2);
    rig.close(2);
    let Event::FenceFailed { error: DrawError::NoQuorum(outcomes), .. } = rig.event() else {
        panic!("another event")
    };
    use NodeOutcome::{Granted, NoReply, Refused};
    assert_eq!(outcomes.as_slice(), [Granted, Refused, NoReply]);
    assert!(rig.redlock.is_held(rig.now, lock));
    assert_eq!(rig.redlock.fence(lock), before);
    rig.redlock.release(rig.now, lock).expect("held");
    assert_eq!(rig.redlock.fence(lock), None);
}

/// The end of the lock is the answer to a draw that is still open.
#[test]
fn a_draw_ends_with_its_lock() {
    let drawing = || {
        // Silence is no answer.
        let mut rig = Rig::with(3, |config| config.close_timeout = Duration::from_secs(60));
        let lock = rig.fenced("r");
        (0..3).for_each(|index| rig.draw(index, 0));
        assert_eq!(rig.fence(), 0);
        rig.redlock.draw_fence(rig.now, lock).expect("held");
        rig.draw(0, 1);
        rig.sent(1);
        (rig, lock)
    };
    let (mut rig, lock) = drawing();
    rig.redlock.release(rig.now, lock).expect("held");
    assert_eq!(rig.redlock.fence(lock), None);
    rig.draw(1, 1);
    rig.draw(2, 1);
    (0..3).for_each(|index| rig.reply(index, ":1"));
    assert!(matches!(rig.events()[..], [Event::Released { .. }]));

    let (mut rig, lock) = drawing();
    assert_eq!(rig.wait(), [Event::Lost { lock, reason: LostReason::Expired }]);
    rig.draw(1, 1);
    rig.draw(2, 1);
    assert_eq!(rig.events(), [], "an answer behind the end says nothing");

    let (mut rig, lock) = drawing();
    rig.redlock.disown(rig.now, lock).expect("held");
    rig.draw(1, 1);
    rig.draw(2, 1);
    assert_eq!((rig.events(), rig.redlock.fence(lock)), (vec![], None));
}

#[test]
fn an_adopted_lock_keeps_the_number_that_it_brings_until_it_draws_another() {
    // Whatever a caller brings, nodes are asked for numbers near their clocks only.
    for ahead in [9, 1 << 52] {
        let mut rig = Rig::new(3);
        let brought = Fence::new(micros(rig.now) + ahead).expect("in range");
        let (token, options) =
            (Token::from_bytes([7; 20]), AcquireOptions::new().with_fence(brought));
        let adopted = rig.redlock.adopt_with(rig.now, &["r"], token, TTL, NO_WAIT, &options);
        let lock = adopted.expect("the request is in bounds");
        for index in 0..3 {
            rig.sent(index);
            rig.reply(index, ":1");
        }
        let event = rig.event();
        let is_told = matches!(event, Event::Acquired { fence: Some(it), .. } if it == brought);
        assert!(is_told, "{event:?}");
        assert_eq!(rig.redlock.fence(lock), Some(brought));
        rig.redlock.draw_fence(rig.now, lock).expect("held");
        let call = rig.sent(0).remove(0);
        let number = micros(rig.now);
        assert!(call.ends_with(&format!(" 7893 {number}")), "{call}");
        rig.draw(0, 10);
        rig.draw(1, 20);
        let call = rig.sent(0).remove(0);
        assert!(call.ends_with(&format!(" 7893 {}", number + 21)), "{call}");
        rig.reply(0, ":1");
        rig.reply(1, ":1");
        let fence = Fence::new(number + 21).expect("in range");
        assert_eq!(rig.event(), Event::Fenced { lock, fence });
    }
}

#[test]
fn a_number_goes_with_an_adoption_only() {
    let mut rig = Rig::new(3);
    let fenced = AcquireOptions::new().fenced();
    let token = Token::from_bytes([7; 20]);
    let found = rig.redlock.adopt_with(rig.now, &["a"], token, TTL, NO_WAIT, &fenced);
    assert_eq!(found, Err(RequestError::Fence(FenceRefusal::Adoption)));
    let brings = AcquireOptions::new().with_fence(Fence::new(1 << 40).expect("in range"));
    let found = rig.redlock.acquire_with(rig.now, &["a"], TTL, NO_WAIT, &brings);
    assert_eq!(found, Err(RequestError::Fence(FenceRefusal::NewLock)));
    assert_eq!(rig.redlock.in_use(), 0);
}

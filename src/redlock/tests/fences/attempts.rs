//! What a fenced attempt asks, and which numbers make a fence.

use super::*;

#[test]
fn a_quorum_that_has_drawn_the_proposal_is_enough() {
    let mut rig = Rig::new(5);
    rig.fenced("r");
    for index in 0..5 {
        assert_eq!(rig.sent(index), [rig.call(1, 0)]);
    }
    rig.draw(0, 0);
    rig.draw(1, 0);
    assert_eq!(rig.events(), []);
    rig.draw(3, 0);
    assert_eq!(rig.fence(), 0);
    assert_eq!(rig.sent(0), [""; 0], "one trip");
    rig.draw(2, 9);
    rig.draw(4, 7);
    assert_eq!((rig.events(), rig.redlock.counters().raised), (vec![], 0));
}

#[test]
fn a_request_without_a_number_says_nothing_of_numbers() {
    let mut rig = Rig::new(3);
    rig.fenced("other");
    let lock = rig.acquire("r", NO_WAIT);
    assert_eq!(rig.sent(0)[0], "SET r #2 NX PX 10000");
    for index in 0..3 {
        rig.sent(index);
        rig.reply(index, "+OK");
        rig.draw(index, 0);
    }
    let events = rig.events();
    assert!(matches!(events[0], Event::Acquired { fence: None, .. }), "{events:?}");
    assert_eq!(rig.redlock.fence(lock), None);
}

#[test]
fn numbers_that_differ_are_raised_above_the_largest_at_once() {
    let mut rig = Rig::new(3);
    rig.fenced("r");
    rig.draw(0, 0);
    rig.draw(1, 7);
    assert_eq!(rig.events(), []);
    assert_eq!((rig.sent(0), rig.sent(1)), (vec![rig.raise(1, 8)], vec![rig.raise(1, 8)]));
    rig.reply(0, ":1");
    assert_eq!(rig.events(), []);
    rig.reply(1, ":1");
    assert_eq!((rig.fence(), rig.redlock.counters().raised), (8, 1));
    rig.draw(2, 3);
    assert_eq!(rig.sent(2), [""; 0], "a lock that has its number asks for nothing more");
}

/// Others who share the stripe draw on while the second trip is on its way. What they draw is near
/// the time.
#[test]
fn a_number_is_raised_above_what_others_draw_meanwhile() {
    for (round_trip, ahead) in [(ms(20), 40_000), (ms(400), 800_000), (ms(900), 1_390_000)] {
        let mut rig = Rig::new(3);
        let options = AcquireOptions::new().fenced().node_timeout(Duration::from_secs(2));
        rig.redlock.acquire_with(rig.now, &["r"], TTL, NO_WAIT, &options).expect("in bounds");
        (0..3).for_each(|index| drop(rig.sent(index)));
        let start = micros(rig.now);
        rig.advance(round_trip);
        rig.reply(0, &format!(":{start}"));
        rig.reply(1, &format!(":{}", start + 7));
        let sent = rig.sent(0).remove(0);
        let number = sent.rsplit(' ').next().and_then(|word| word.parse::<u64>().ok());
        let number = number.expect("a number");
        assert!(number >= start + ahead, "{} us: {sent}", number - start);
        assert!(number <= micros(rig.now) + 1_000_000, "the scripts draw no farther ahead: {sent}");
        rig.reply(0, ":1");
        rig.reply(1, ":1");
        assert!(matches!(rig.event(), Event::Acquired { fence: Some(_), .. }));
    }
}

#[test]
fn a_late_vote_is_raised_or_completes_what_it_has() {
    for (late, replies, fence) in [(3, true, 8), (0, false, 0), (7, false, 7), (8, false, 8)] {
        let mut rig = Rig::new(3);
        rig.fenced("r");
        rig.draw(0, 0);
        rig.draw(1, 7);
        rig.sent(0);
        rig.reply(0, ":1");
        rig.draw(2, late);
        if replies {
            assert_eq!(rig.sent(2), [rig.raise(1, 8)]);
            rig.reply(2, ":1");
        }
        assert_eq!(rig.fence(), fence, "{late}");
    }
}

#[test]
fn a_node_that_is_ahead_is_no_yes_and_is_raised_above() {
    let mut rig = Rig::new(3);
    rig.fenced("r");
    rig.draw(0, 0);
    rig.draw(1, 7);
    rig.reply(2, "$-1");
    let ahead = micros(rig.now) + 20;
    rig.reply(0, ":1");
    rig.reply(1, &format!(":-{ahead}"));
    assert_eq!(rig.events(), [], "one has accepted, the other is ahead");
    rig.sent(1);
    assert_eq!(rig.sent(0)[1], rig.raise(1, 21));
    rig.reply(1, ":1");
    rig.reply(0, ":1");
    assert_eq!(rig.fence(), 21);
}

#[test]
fn a_raise_that_fails_releases_everywhere_and_the_next_try_is_above_all() {
    let mut rig = Rig::new(3);
    rig.fenced_for("r", WAIT);
    rig.draw(0, 0);
    rig.draw(1, 70_000_000);
    rig.reply(2, "$-1");
    rig.reply(0, ":0");
    rig.reply(1, "-ERR anything");
    rig.sent(2);
    rig.until(|rig| rig.has_output(2));
    let sent = rig.sent(0).join(" ");
    let place = |words: &str| sent.find(words).unwrap_or_else(|| panic!("{words}: {sent}"));
    assert!(place("EVALSHA release 1 r #1") < place("EVALSHA acquire-fenced 2 r redbolt:fence #3"));
    let above = micros(rig.now);
    let words: Vec<_> = rig.sent(2)[0].split(' ').map(str::to_owned).collect();
    let number: u64 = words[7].parse().expect("a number");
    assert!(number > above + 60_000_000, "{number} is above what was raised to");
}

#[test]
fn a_raise_that_comes_too_late_makes_no_lock() {
    let mut rig = Rig::with(3, |config| config.close_timeout = Duration::from_secs(60));
    rig.fenced("r");
    rig.draw(0, 0);
    rig.draw(1, 7);
    rig.sent(0);
    rig.sent(1);
    rig.reply(0, ":1");
    // The process was suspended.
    rig.now = rig.now + TTL - ms(102);
    rig.reply(1, ":1");
    assert!(matches!(rig.events()[..], [Event::AcquireFailed { .. }]));
    assert_eq!(rig.sent(0), ["EVALSHA release 1 r #1"]);
}

#[test]
fn nodes_that_answer_nothing_to_a_raise_end_the_attempt() {
    let mut rig = Rig::new(3);
    rig.fenced("r");
    rig.draw(0, 0);
    rig.draw(1, 7);
    rig.sent(0);
    rig.until(|rig| rig.redlock.has_event());
    assert!(matches!(rig.events()[..], [Event::AcquireFailed { .. }]));
    assert_eq!(rig.sent(0), ["EVALSHA release 1 r #1"]);
    // Late answers do nothing.
    rig.reply(0, ":1");
    rig.reply(1, ":1");
    rig.reply(0, ":1");
    rig.reply(1, ":1");
    assert_eq!(rig.events(), []);
}

#[test]
fn a_connection_that_dies_takes_its_answer_with_it() {
    let mut rig = Rig::new(3);
    rig.fenced("r");
    rig.draw(0, 0);
    rig.draw(1, 7);
    rig.sent(0);
    rig.close(0);
    rig.reply(1, ":1");
    assert_eq!(rig.events(), [], "the third may still draw");
    rig.draw(2, 8);
    assert_eq!(rig.fence(), 8);
    // One that dies before its vote.
    let mut rig = Rig::new(3);
    rig.fenced("r");
    rig.draw(0, 0);
    rig.sent(1);
    rig.close(1);
    rig.close(2);
    rig.no_lock();
    assert_eq!(rig.sent(0), ["EVALSHA release 1 r #1"]);
}

/// A node whose clock is wrong can be the only one whose time is known for a moment.
#[test]
fn a_clock_that_was_far_ahead_once_spoils_no_later_proposals() {
    let mut rig = Rig::new(3);
    // No node has been without a look for long.
    rig.masters[2].ahead = 30_000_000;
    rig.advance(Duration::from_secs(70));
    rig.close(0);
    rig.fenced("r");
    rig.advance(ms(1));
    assert!(matches!(rig.no_lock(), AcquireError::NoQuorum(_)), "no majority of clocks");
    rig.connect(0);
    rig.events();
    rig.sent(1);
    rig.fenced("r2");
    let call = rig.sent(1).remove(0);
    let number = call.split(' ').nth(7).and_then(|word| word.parse::<u64>().ok());
    let ahead = number.expect("a number") - micros(rig.now);
    assert!(ahead < 1_000_000, "{ahead} us ahead: {call}");
}

/// One stripe that is far ahead must not spoil the proposals for all others.
#[test]
fn a_number_far_ahead_is_proposed_for_its_own_lock_only() {
    let mut rig = Rig::new(3);
    rig.fenced_for("r", WAIT);
    rig.draw(0, 3_600_000_000);
    rig.reply(1, "$-1");
    rig.sent(1);
    rig.reply(2, "$-1");
    rig.sent(2);
    rig.until(|rig| rig.has_output(2));
    let number = |call: &str| call.split(' ').nth(7).and_then(|word| word.parse::<u64>().ok());
    let again = rig.sent(2).remove(0);
    assert!(number(&again) > Some(micros(rig.now) + 3_000_000_000), "{again}");
    rig.fenced("other");
    let other = rig.sent(2).remove(0);
    assert!(number(&other) < Some(micros(rig.now) + 1_000), "{other}");
}

//! Stories of a machine whose clock stands still for a while, or of nodes whose clocks are set
//! (S9).

use super::*;

const SECOND: Duration = Duration::from_secs(1);

/// Creates a machine whose nodes have been in use for long, with ttls of at most ten seconds.
fn rig(count: usize) -> Rig {
    Rig::with(count, |config| config.max_ttl = TTL)
}

/// Lets the clocks of some nodes run ahead, as all do when the clock of the client stands still.
fn run_ahead<const N: usize>(rig: &mut Rig, indexes: [usize; N], by: Duration) {
    for index in indexes {
        rig.masters[index].ahead += by.as_micros() as u64;
    }
}

/// Waits for the next look at all nodes. Returns the events.
fn look(rig: &mut Rig) -> Vec<Event> {
    rig.advance(rig.redlock.config().quarantine() / 3);
    rig.events()
}

/// Returns whether a validity ends at `expected`, or earlier by no more than clocks drift between
/// two looks.
fn is_about(rig: &Rig, valid_until: Instant, expected: Instant) -> bool {
    let drift = rig.redlock.config().drift.of(TTL);
    valid_until <= expected && valid_until + drift >= expected
}

/// Checks that there is one event: the lock is shortened to about `valid_until`. Returns the time
/// in the event.
fn shortened(rig: &Rig, events: &[Event], lock: LockId, valid_until: Instant) -> Instant {
    let [Event::Shortened { lock: found, valid_until: until }] = events else {
        panic!("no shortening: {events:?}")
    };
    assert!(*found == lock && is_about(rig, *until, valid_until), "{until:?}, {valid_until:?}");
    *until
}

#[test]
fn a_lock_is_shortened_by_what_a_majority_of_the_nodes_is_ahead() {
    let mut rig = rig(3);
    let lock = rig.held("r");
    let before = rig.now + rig.redlock.remaining(rig.now, lock);
    run_ahead(&mut rig, [0, 2], 3 * SECOND);
    let events = look(&mut rig);
    let valid_until = shortened(&rig, &events, lock, before - 3 * SECOND);
    assert_eq!(rig.now + rig.redlock.remaining(rig.now, lock), valid_until);
    assert_eq!(rig.redlock.counters().shortened, 1);
    // The third node is late with its word, which says the same.
    run_ahead(&mut rig, [1], 3 * SECOND);
    assert_eq!(look(&mut rig), []);
    assert_eq!(rig.wait(), [Event::Lost { lock, reason: LostReason::Expired }]);
    assert_eq!(rig.now, valid_until - rig.redlock.config().lost_lead);
}

#[test]
fn the_clocks_of_a_minority_shorten_nothing() {
    for (count, set) in [(3, 1), (4, 2), (5, 2)] {
        let mut rig = rig(count);
        let lock = rig.held("r");
        let valid_until = rig.now + rig.redlock.remaining(rig.now, lock);
        (0..set).for_each(|index| run_ahead(&mut rig, [index], 3600 * SECOND));
        assert_eq!(look(&mut rig), [], "{set} of {count}");
        assert_eq!(rig.now + rig.redlock.remaining(rig.now, lock), valid_until);
    }
}

/// The word of a node whose clock was set must not hide the next loss from another node. A node
/// that was away tells of both losses at once, which shortens the lock by more than need be.
#[test]
fn a_clock_that_was_set_hides_no_loss_from_another_node() {
    let mut rig = rig(3);
    rig.advance(60 * SECOND);
    rig.close(2);
    run_ahead(&mut rig, [0], 2 * SECOND);
    run_ahead(&mut rig, [0, 1, 2], 2 * SECOND);
    assert_eq!(look(&mut rig), []);
    let lock = rig.acquire("r", NO_WAIT);
    (0..2).for_each(|index| assert_eq!(rig.sent(index).len(), 1));
    (0..2).for_each(|index| rig.reply(index, "+OK"));
    assert!(matches!(rig.event(), Event::Acquired { .. }));
    let before = rig.now + rig.redlock.remaining(rig.now, lock);
    run_ahead(&mut rig, [0, 1, 2], 2 * SECOND);
    rig.close(1);
    rig.connect(2);
    // A node that was not looked at lately is looked at when another one is connected.
    rig.advance(Duration::ZERO);
    let events = look(&mut rig);
    shortened(&rig, &events, lock, before - 4 * SECOND);
}

#[test]
fn clocks_that_were_set_back_shorten_nothing() {
    let mut rig = rig(3);
    run_ahead(&mut rig, [0, 1, 2], 3600 * SECOND);
    look(&mut rig);
    rig.held("r");
    rig.masters.iter_mut().for_each(|master| master.ahead = 0);
    assert_eq!(look(&mut rig), []);
}

#[test]
fn a_lock_that_may_have_ended_at_the_nodes_is_lost_and_released() {
    let mut rig = rig(3);
    let lock = rig.held("r");
    run_ahead(&mut rig, [0, 1, 2], TTL);
    let lost = Event::Lost { lock, reason: LostReason::ClockBehind };
    assert_eq!(look(&mut rig), [lost]);
    assert!(!rig.redlock.is_held(rig.now, lock));
    assert_eq!(rig.redlock.counters().lost.clock_behind, 1);
    assert_eq!(rig.sent(0), ["EVALSHA release 1 r #1"]);
}

#[test]
fn a_lock_that_is_kept_alive_is_renewed_at_once() {
    let mut rig = rig(3);
    let lock = rig.held("r");
    rig.redlock.keep_alive(rig.now, lock, TTL, 60 * SECOND).expect("held");
    run_ahead(&mut rig, [0, 1, 2], 3 * SECOND);
    // The wall clock is corrected soon after the stop, long before the renewal is due.
    rig.wall_ahead = 3 * SECOND;
    rig.advance(ms(1));
    assert!(matches!(rig.event(), Event::Shortened { .. }));
    rig.advance(ms(0));
    (0..3).for_each(|index| assert_eq!(rig.sent(index), ["EVALSHA extend 1 r #1 10000"]));
    (0..2).for_each(|index| rig.reply(index, ":1"));
    let valid_until = rig.redlock.config().drift.valid_until(rig.now, TTL);
    assert_eq!(rig.event(), Event::Extended { lock, valid_until });
}

/// The other nodes are given the key ahead of the renewal, and not instead.
#[test]
fn a_lock_of_a_majority_that_is_kept_alive_is_renewed_at_once() {
    let mut rig = Rig::with(3, |config| (config.max_ttl, config.ask) = (TTL, Ask::Majority));
    let lock = rig.acquire("r", NO_WAIT);
    let has_been_asked = |index: &usize| !rig.sent(*index).is_empty();
    let asked: Vec<_> = (0..3).filter(has_been_asked).collect();
    asked.iter().for_each(|index| rig.reply(*index, "+OK"));
    assert!(matches!(rig.event(), Event::Acquired { .. }));
    rig.redlock.keep_alive(rig.now, lock, TTL, 60 * SECOND).expect("held");
    run_ahead(&mut rig, [0, 1, 2], 3 * SECOND);
    rig.wall_ahead = 3 * SECOND;
    rig.advance(ms(1));
    assert!(matches!(rig.event(), Event::Shortened { .. }));
    rig.advance(ms(0));
    for index in 0..3 {
        let sent = rig.sent(index);
        assert_eq!(sent.len(), if asked.contains(&index) { 1 } else { 2 }, "{index}: {sent:?}");
        assert_eq!(sent.last().map(String::as_str), Some("EVALSHA extend 1 r #1 10000"));
    }
}

#[test]
fn an_attempt_that_began_before_the_loss_counts_from_earlier() {
    for (lost, is_granted) in [(3 * SECOND, true), (TTL, false)] {
        let mut rig = Rig::with(3, |config| {
            (config.max_ttl, config.node_timeout) = (TTL, Some(5 * SECOND));
        });
        let lock = rig.acquire("r", NO_WAIT);
        let valid_until = rig.redlock.config().drift.valid_until(rig.now, TTL);
        (0..3).for_each(|index| assert_eq!(rig.sent(index).len(), 1));
        rig.reply(0, "+OK");
        run_ahead(&mut rig, [0, 1, 2], lost);
        rig.wall_ahead = lost;
        rig.advance(ms(1));
        // The looks of the others stand behind the `SET`.
        rig.reply(1, "+OK");
        rig.reply(2, "+OK");
        let events = rig.events();
        let acquired = Event::Acquired { lock, valid_until, fence: None };
        match is_granted {
            // The second vote comes before the second word.
            true => {
                assert_eq!(events[0], acquired);
                shortened(&rig, &events[1..], lock, valid_until - lost);
            }
            false => {
                let lost = Event::Lost { lock, reason: LostReason::ClockBehind };
                assert_eq!(events, [acquired, lost]);
            }
        }
    }
}

/// Starts an extension, and lets three nodes tell of a loss of three seconds before the last two
/// answer. Returns the end of the extension without the loss.
fn extend_before_loss(rig: &mut Rig, lock: LockId) -> Instant {
    rig.redlock.extend(rig.now, lock, TTL).expect("held");
    let extended = rig.redlock.config().drift.valid_until(rig.now, TTL);
    (0..5).for_each(|index| assert_eq!(rig.sent(index).len(), 1));
    run_ahead(rig, [0, 1, 2, 3, 4], 3 * SECOND);
    // Two new connections bring the news, and a look behind the answer of the third node.
    for index in [0, 1] {
        rig.close(index);
        rig.connect(index);
    }
    rig.reply(2, ":1");
    rig.wall_ahead = 3 * SECOND;
    rig.advance(ms(1));
    extended
}

/// Then the clock cannot show when the extension would have had to begin.
#[test]
fn a_loss_of_more_than_the_time_since_boot_ends_an_extension_and_its_lock() {
    let mut rig = rig(5);
    let lock = rig.held("r");
    rig.advance(SECOND);
    extend_before_loss(&mut rig, lock);
    let reason = LostReason::ClockBehind;
    let error = ExtendError::Lost(reason);
    assert_eq!(rig.events(), [Event::ExtendFailed { lock, error }, Event::Lost { lock, reason }]);
}

#[test]
fn an_extension_that_began_before_the_loss_counts_from_earlier() {
    let mut rig = rig(5);
    rig.advance(60 * SECOND);
    let lock = rig.held("r");
    rig.advance(SECOND);
    let extended = extend_before_loss(&mut rig, lock);
    let events = rig.events();
    shortened(&rig, &events, lock, extended - SECOND - 3 * SECOND);
    rig.reply(3, ":1");
    rig.reply(4, ":1");
    let events = rig.events();
    let [Event::Extended { valid_until, .. }] = events[..] else { panic!("{events:?}") };
    assert!(is_about(&rig, valid_until, extended - 3 * SECOND), "{valid_until:?}");
}

#[test]
fn a_wall_clock_that_was_set_forward_makes_looks_but_not_all_the_time() {
    let rows = [
        // set forward by, looked at
        (ms(0), false),
        (ms(10), false),
        (ms(100), true),
        (3600 * SECOND, true),
    ];
    for (by, is_looked_at) in rows {
        let mut rig = rig(3);
        let count = |rig: &Rig| rig.masters[2].stamp.map_or(0, |stamp| stamp.3);
        rig.advance(ms(1));
        let before = count(&rig);
        rig.wall_ahead = by;
        rig.advance(ms(1));
        assert_eq!(count(&rig) - before, u64::from(is_looked_at), "{by:?}");
        rig.advance(ms(1));
        assert_eq!(count(&rig) - before, u64::from(is_looked_at), "{by:?}");
    }
    // A clock that is set all the time: every look waits for a twelfth of a span.
    let mut rig = rig(3);
    let before = rig.masters[2].stamp.map_or(0, |stamp| stamp.3);
    for _ in 0..1_000 {
        rig.wall_ahead += 20 * SECOND;
        rig.advance(rig.redlock.config().quarantine() / 300);
    }
    let after = rig.masters[2].stamp.map_or(0, |stamp| stamp.3);
    assert!((30..=60).contains(&(after - before)), "{}", after - before);
}

#[test]
fn a_hint_during_a_look_is_followed_by_another_look() {
    let mut rig = rig(1);
    rig.answers_looks = false;
    rig.until(|rig| rig.has_output(0));
    assert_eq!(rig.sent(0).len(), 1);
    rig.wall_ahead = SECOND;
    rig.advance(ms(1));
    assert_eq!(rig.sent(0).len(), 0, "one look at a time");
    let words = ["", "", "", "", "", "0", "1", "10000", "1", "10102000"].map(str::to_owned);
    let answer = rig.masters[0].answer(rig.now, &words);
    rig.receive(0, &answer);
    rig.advance(ms(0));
    assert_eq!(rig.sent(0).len(), 1);
}

#[test]
fn a_hint_during_a_handshake_is_followed_by_a_look() {
    let mut rig = Rig::unconnected(1, |_| ());
    rig.open(0);
    rig.transmit(0);
    rig.wall_ahead = SECOND;
    rig.advance(ms(1));
    rig.shake_hands(0);
    let count = |rig: &Rig| rig.masters[0].stamp.map_or(0, |stamp| stamp.3);
    let before = count(&rig);
    rig.advance(ms(1));
    assert_eq!(count(&rig) - before, 1, "the handshake may have been answered before the stop");
}

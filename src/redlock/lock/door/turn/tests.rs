use super::super::tests::{NOW, after, token};
use super::*;
use crate::redlock::lock::engines::Engines;

#[test]
fn who_has_just_had_the_lock_looks_seldom_and_who_waits_for_long_often() {
    let usual = Duration::from_millis(100);
    // others, how long each has the lock, waited for so long, the longest pause; milliseconds
    let rows = [
        (0, 50, 0, 100_000),
        (1, 50, 0, 50_000),
        (1, 50, 30, 20_000),
        (1, 50, 48, 10_000),
        (1, 50, 50, 10_000),
        (1, 500, 0, 500_000),
        (1, 500, 500, 100_000),
        (1, 500, 1_000, 6_250),
        (1, 500, 1_100, 5_000),
        (1, 500, 600, 47_656),
        (1, 5_000, 0, 600_000),
        (1, 5_000, 100_000, 5_000),
        (1, 0, 100_000, 5_000),
    ];
    for (others, held, waited, pause) in rows {
        let mut door = Door::default();
        let known = if others == 0 { Engines::default() } else { Engines::SOMEBODY };
        door.await_turn(NOW, known, Duration::from_millis(held));
        let found = door.longest_pause(after(waited), usual);
        assert_eq!(found.as_micros(), pause, "{others} {held} {waited}");
    }
}

#[test]
fn what_is_seen_of_turns_counts_more_than_the_last_turn() {
    let usual = Duration::from_secs(60);
    let waiting = || {
        let mut door = Door::default();
        door.await_turn(NOW, Engines(1 << 100), Duration::from_secs(10));
        door
    };
    let mut door = waiting();
    for serial in '1'..='3' {
        door.saw(after(100), token('a', serial).as_bytes());
        door.saw(after(100), token('b', serial).as_bytes());
    }
    // Three others, who have the lock for 20 ms at a time.
    assert_eq!(door.company(), 3, "the one who was known, and these two");
    assert!(door.turn_length(after(100), Duration::from_millis(100)) == Duration::from_millis(20));
    assert!(waiting().longest_pause(after(100), usual) > door.longest_pause(after(100), usual));
    // Nobody has looked for long, so the last of them may have gone.
    let later = door.turn_length(after(30_000), Duration::from_millis(100));
    assert_eq!(later, Duration::from_millis(20));
    // The last of them is still there.
    door.saw(after(30_000), token('b', '3').as_bytes());
    let later = door.turn_length(after(30_000), Duration::from_secs(30));
    assert_eq!(later, Duration::from_millis(29_900));
}

#[test]
fn a_turn_comes_one_round_of_the_others_after_the_last_one() {
    // others, milliseconds waited; whether the engine is next, and whether its turn has come
    let rows = [
        (1, 9, false, false),
        (1, 10, true, false),
        (1, 30, true, true),
        (4, 129, false, false),
        (4, 130, true, false),
        (4, 149, true, false),
        (4, 150, true, true),
        (4, 999, true, true),
    ];
    for (others, waited, is_next, has_come) in rows {
        let mut door = Door::default();
        let known = (0..others).fold(Engines::default(), |mut known, engine| {
            known.insert(engine);
            known
        });
        door.await_turn(NOW, known, Duration::from_millis(40));
        let turn = door.turn_among_few(after(waited)).expect("they are few");
        let found = (turn.is_next(after(waited)), turn.has_come(after(waited)));
        assert_eq!(found, (is_next, has_come), "{others} {waited}");
        let (from, until) = turn.look_between(NOW);
        assert!(turn.is_next(from) && !turn.has_come(until) && from < until);
    }
}

#[test]
fn nobody_knows_its_turn_among_many_or_before_it_has_had_one() {
    let mut door = Door::default();
    door.await_turn(NOW, Engines(u128::MAX >> 100), Duration::from_millis(40));
    assert_eq!(door.turn_among_few(after(999)), None);
    let mut door = Door::default();
    for engine in ['a', 'b'] {
        for serial in ['1', '2', '3'] {
            door.saw(NOW, token(engine, serial).as_bytes());
        }
    }
    assert_eq!(door.turn_among_few(after(999)), None);
    door.saw(after(40), token('a', '3').as_bytes());
    let turn = door.turn_among_few(after(50)).expect("a has had the lock again after b");
    assert!(turn.has_come(after(50)));
    assert_eq!(turn.lasts, Duration::from_millis(25), "two turns have gone in 50 ms");
}

#[test]
fn an_owner_has_a_turn_as_long_as_those_before() {
    let mut door = Door::default();
    door.await_turn(NOW, Engines::SOMEBODY, Duration::from_millis(3_000));
    door.saw(after(10), token('a', '1').as_bytes());
    assert_eq!(door.expected_end(after(400)), after(3_010));
    door.saw(after(5_000), token('a', '1').as_bytes());
    assert_eq!(door.expected_end(after(5_000)), after(5_000), "this turn is longer");
}

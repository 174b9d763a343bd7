use super::*;

pub(super) const NOW: Instant = Instant::from_nanos(1);

pub(super) fn after(millis: u64) -> Instant {
    NOW + Duration::from_millis(millis)
}

/// A token of the engine with this letter.
pub(super) fn token(engine: char, serial: char) -> String {
    [engine.to_string().repeat(12), serial.to_string().repeat(8)].concat()
}

#[test]
fn engines_are_told_apart_by_the_nonces_of_their_tokens() {
    let mut door = Door::default();
    assert_eq!((door.company(), door.is_wary(), door.elsewhere(4)), (0, false, None));
    let rows =
        [('a', '1', 1, 1), ('a', '1', 1, 1), ('a', '2', 1, 1), ('b', '2', 2, 2), ('a', '1', 3, 2)];
    for (engine, serial, runs, engines) in rows {
        door.saw(NOW, token(engine, serial).as_bytes());
        let found = (door.runs, door.seen.0.count_ones());
        assert_eq!(found, (runs, engines), "{engine}{serial}");
    }
}

/// The owner can lack the key there, and each look at a node without one leads to an attempt.
#[test]
fn a_look_elsewhere_that_shows_nobody_is_followed_by_one_at_the_usual_node() {
    let mut door = Door::default();
    for _ in 0..4 {
        door.look(NOW, 0, false, false);
        door.saw(NOW, b"a");
    }
    assert!(door.elsewhere(3).is_some());
    door.look(NOW, 0, false, false);
    assert_eq!(door.elsewhere(3), None);
    door.look(NOW, 0, false, false);
    assert!(door.elsewhere(3).is_some());
}

/// The request asks again at once, to listen there, and the owner can be gone by then.
#[test]
fn a_look_elsewhere_is_repeated_once() {
    for is_there in [true, false] {
        let mut door = Door::default();
        for _ in 0..5 {
            door.look(NOW, 0, false, false);
            door.saw(NOW, b"a");
        }
        assert!(door.is_elsewhere);
        door.look_again();
        assert!(door.elsewhere(3).is_some());
        door.look(NOW, 0, true, false);
        if is_there {
            door.saw(NOW, b"a");
        }
        assert_eq!((door.same, door.elsewhere(3)), (5, None));
    }
}

#[test]
fn every_fourth_look_that_shows_the_same_token_is_followed_by_one_elsewhere() {
    let mut door = Door::default();
    let mut look = |token: &str| {
        door.look(NOW, 0, false, false);
        door.saw(NOW, token.as_bytes());
        door.elsewhere(3)
    };
    let mut looks = [(); 9].map(|()| look("a"));
    let second = Some(0);
    assert_eq!(looks[..4], [None, None, None, second]);
    assert_eq!(looks[4..], [None, None, None, second, None]);
    // Two nodes show different tokens, and then a third one does.
    for expected in [Some(1), Some(2), Some(0)] {
        assert_eq!(["b", "a", "a", "a", "a"].map(&mut look), [None, None, None, None, expected]);
    }
    looks = [(); 9].map(|()| look("c"));
    assert_eq!((looks[3], looks[7]), (second, second), "another owner is no return");
    assert_eq!(door.elsewhere(0), None);
}

#[test]
fn a_tenure_ends_when_those_have_had_their_turn_who_stood_in_line() {
    let mut door = Door::default();
    door.passed();
    assert!(!door.is_tenure_over(), "nobody else is known to wait");
    door.begin_tenure(2);
    for is_over in [false, true, true] {
        door.passed();
        assert_eq!(door.is_tenure_over(), is_over);
    }
    let mut next = Door::default();
    next.go_on(&door);
    assert!(next.is_tenure_over());
}

#[test]
fn the_next_in_line_goes_on_with_the_wait_of_one_who_has_not_had_the_lock() {
    let mut before = Door::default();
    before.await_turn(NOW, Engines::SOMEBODY, Duration::from_secs(1));
    before.saw(after(100), b"a");
    before.begin_tenure(3);
    let mut next = Door::default();
    next.go_on_waiting(&before);
    let usual = Duration::from_secs(60);
    let [pause, expected] = [next, before].map(|door| door.longest_pause(after(500), usual));
    assert_eq!(pause, expected);
    assert!(next.knows(b"a") && !next.is_tenure_over());
}

/// Whoever loses against an owner leaves a token for a moment, which says nothing of turns.
#[test]
fn an_engine_is_alone_although_others_lose_now_and_then() {
    let tenure = Duration::from_secs(1);
    // engines whose tokens follow one another, and whether one of them counts as alone
    let rows = [
        ("aaaaaaaaab", true),
        ("aaab", true),
        ("aaabc", true),
        ("aabaaac", true),
        ("aabb", false),
        ("ab", false),
        ("abc", false),
        ("aabc", false),
        ("aaabcd", false),
    ];
    for (engines, is_alone) in rows {
        let mut door = Door::default();
        let turns = engines.chars().cycle().zip(0..300_u64);
        let marks = turns.filter(|(engine, turn)| {
            let now = after(10 * turn);
            door.saw(now, token(*engine, char::from(b'0' + (turn % 10) as u8)).as_bytes());
            door.is_kept_out(now, tenure, Duration::from_secs(600)).is_some()
        });
        assert_eq!(marks.count() > 0, is_alone, "{engines}");
    }
}

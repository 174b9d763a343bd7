use super::*;

const OTHER: u32 = 7 + PLACES as u32;

/// Runs with a gap of 50 ms and a tenure of 4 s, so with a question each 500 ms.
fn runs() -> Runs {
    Runs::new(Duration::from_millis(50), Duration::from_secs(4))
}

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(10_000 + millis)
}

/// Notes a lock from `started` to `released`, in milliseconds.
fn lock(runs: &mut Runs, hash: u32, started: u64, released: u64) -> Follow {
    runs.released(at(released), hash, at(started))
}

fn is_asked(follow: Follow) -> bool {
    matches!(follow, Follow::Ask { .. })
}

#[test]
fn an_engine_asks_eight_times_in_a_tenure_and_seldom_enough() {
    // tenure, time from one question to the next; microseconds
    let rows = [(500_000, 62_500), (400_000, 50_000), (100_000, 50_000), (1_000, 1_000)];
    for (tenure, expected) in rows {
        assert_eq!(ask_every(Duration::from_micros(tenure)), Duration::from_micros(expected));
    }
    assert!(ask_every(Duration::MAX) > Duration::from_secs(1 << 60), "no limit has none");
}

#[test]
fn locks_that_follow_one_another_ask_once_in_a_while() {
    let mut runs = runs();
    let asks = |index: &u64| is_asked(lock(&mut runs, 7, index * 100, index * 100 + 90));
    let asked: Vec<u64> = (0..30).filter(asks).collect();
    assert_eq!(asked, [5, 10, 15, 20, 25], "each 500 ms, from a release on");
}

#[test]
fn every_third_question_goes_to_another_node() {
    let mut runs = runs();
    let asks = |index: u64| match lock(&mut runs, 7, index * 100, index * 100 + 90) {
        Follow::Ask { place } => Some(place),
        _ => None,
    };
    let asked: Vec<_> = (0..46).filter_map(asks).collect();
    assert_eq!(asked, [0, 0, 1, 0, 0, 2, 0, 0, 3]);
}

#[test]
fn a_break_in_which_others_have_their_moment_ends_the_run() {
    let mut runs = runs();
    for index in 0..100 {
        assert_eq!(lock(&mut runs, 7, index * 100, index * 100 + 50), Follow::Nothing);
    }
    let single = lock(&mut runs, 7, 20_000, 29_000);
    assert_eq!(single, Follow::Nothing, "a single lock, however long");
    assert!(is_asked(lock(&mut runs, 7, 29_049, 29_050)));
}

#[test]
fn a_pause_of_the_engine_itself_ends_no_run() {
    let mut runs = runs();
    assert_eq!(lock(&mut runs, 7, 0, 400), Follow::Nothing);
    runs.pauses(OTHER, at(450));
    runs.pauses(7, at(450));
    runs.wanted(7);
    assert_eq!(lock(&mut runs, 7, 451, 460), Follow::Leave);
    runs.pauses(7, at(500));
    runs.wanted(7);
    assert_eq!(lock(&mut runs, 7, 700, 710), Follow::Leave, "a pause that has ended late");
    runs.pauses(7, at(750));
    runs.wanted(7);
    assert_eq!(lock(&mut runs, 7, 4_751, 4_760), Follow::Nothing, "nobody came any more");
}

#[test]
fn an_engine_comes_back_once_from_a_pause_and_for_its_resource() {
    let mut runs = runs();
    lock(&mut runs, 7, 0, 1);
    assert!(!runs.comes_back(7));
    runs.pauses(7, at(50));
    assert!(!runs.comes_back(OTHER));
    assert!(runs.comes_back(7) && !runs.comes_back(7));
    runs.pauses(7, at(100));
    assert_eq!(lock(&mut runs, 7, 9_000, 9_001), Follow::Nothing);
    assert!(!runs.comes_back(7), "that was long ago");
}

#[test]
fn a_resource_takes_the_place_of_one_that_rests_and_of_no_other() {
    let mut runs = runs();
    for index in 0..10 {
        let follow = lock(&mut runs, 7, index * 60, index * 60 + 40);
        assert_eq!(is_asked(follow), index == 8, "{index}");
        assert_eq!(lock(&mut runs, OTHER, index * 60 + 1, index * 60 + 41), Follow::Nothing);
    }
    assert_eq!(lock(&mut runs, OTHER, 1_000, 1_001), Follow::Nothing, "the place is free");
    assert_eq!(lock(&mut runs, 7, 1_002, 1_003), Follow::Nothing, "and taken");
    assert!(is_asked(lock(&mut runs, OTHER, 1_004, 1_501)));
}

#[test]
fn what_others_want_is_told_once_and_for_the_resource() {
    let mut runs = runs();
    lock(&mut runs, 7, 0, 1);
    runs.wanted(OTHER);
    assert_eq!(lock(&mut runs, 7, 1, 2), Follow::Nothing);
    runs.wanted(7);
    assert_eq!(lock(&mut runs, 7, 2, 3), Follow::Leave);
    assert_eq!(lock(&mut runs, 7, 3, 4), Follow::Nothing);
    runs.wanted(7);
    assert_eq!(lock(&mut runs, 7, 100, 101), Follow::Nothing, "that was long ago");
    assert_eq!(lock(&mut runs, 7, 102, 103), Follow::Nothing);
}

/// Two resources share a place, and both are released all the time.
#[test]
fn a_resource_that_rests_as_seldom_as_another_has_its_place_in_turn() {
    let mut runs = runs();
    let mut asked = [0, 0];
    for index in 0..10_000 {
        for (which, hash) in [7, OTHER].into_iter().enumerate() {
            let started = index * 40 + which as u64;
            asked[which] += u32::from(is_asked(lock(&mut runs, hash, started, started + 39)));
        }
    }
    assert!(asked.iter().all(|asked| *asked >= 100), "{asked:?}");
}

/// A crowd is no rival.
#[test]
fn many_resources_drive_out_none() {
    let mut runs = runs();
    let mut asked = 0;
    for index in 0..100 {
        asked += u32::from(is_asked(lock(&mut runs, 7, index * 40, index * 40 + 39)));
        for other in 1..100 {
            lock(&mut runs, 7 + PLACES as u32 * other, index * 40, index * 40 + 39);
        }
    }
    assert!(asked >= 7, "{asked}");
}

/// One of two sets in turn has both resources, so that one of these follows itself, and the other
/// has breaks. That one kept the place for ever.
#[test]
fn a_resource_with_breaks_keeps_the_place_from_no_other() {
    let mut runs = runs();
    let mut asked = Vec::new();
    for turn in 0..200 {
        let (started, released) = (turn * 90, turn * 90 + 90);
        if turn % 2 == 0 {
            lock(&mut runs, OTHER, started, released);
        }
        if is_asked(lock(&mut runs, 7, started, released)) {
            asked.push(released);
        }
    }
    let longest = asked.windows(2).map(|pair| pair[1] - pair[0]).max();
    assert!(longest.is_some_and(|longest| longest <= 2_500), "{asked:?}");
    assert!(asked.last().is_some_and(|last| *last > 15_000), "{asked:?}");
}

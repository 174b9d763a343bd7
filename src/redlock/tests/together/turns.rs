//! Who has turns, and how many.

use super::*;

/// A fair queue would give each of them four turns. Whoever has just had one lets others knock. In
/// two of these worlds two had up to 18 that knew only each other, and were always called.
#[test]
fn everybody_has_turns_where_many_keep_the_lock_for_long() {
    for seed in [0, 16, 37] {
        let mut together = Together::new(20, seed);
        (0..20).for_each(|engine| together.ask(engine));
        let mut turns = [0; 20];
        for _ in 0..80 {
            let (owner, lock) = together.next();
            turns[owner] += 1;
            together.pass(ms(10_000));
            together.release(owner, lock);
            together.ask(owner);
        }
        assert!(turns.iter().all(|turns| (2..=8).contains(turns)), "{turns:?}");
    }
}

/// Few who take turns are called, each when its turn comes, and a knock loses against a call. One
/// that came later and only knocked had no turn in a thousand.
#[test]
fn who_comes_later_has_a_turn_among_few_who_take_turns() {
    for others in [1, 2, 3, 4, 6, 9, 11] {
        for (seed, jitter) in [(0, 1), (1, 1), (2, 1), (3, JITTER), (4, JITTER), (11, JITTER)] {
            let mut together = Together::new(others + 1, seed);
            together.jitter = jitter;
            let turns = turns_before_the_last(together, ms(100));
            assert!(turns <= 4 * others + 16, "{turns} turns of {others}, seed {seed}");
        }
    }
}

/// The same where each keeps the lock for long, so that all who wait are told. Where knocks and
/// calls take equally long, one that came later and only knocked had no turn in a thousand.
#[test]
fn who_comes_later_has_a_turn_among_few_who_keep_the_lock_for_long() {
    for others in [2, 3, 4] {
        for (seed, jitter) in (0..12).zip([1, 2_000, JITTER].into_iter().cycle()) {
            let mut together = Together::new(others + 1, seed);
            together.jitter = jitter;
            let turns = turns_before_the_last(together, ms(1_000));
            assert!(turns <= 4 * others + 8, "{turns} turns of {others}, seed {seed}");
        }
    }
}

/// Lets all but one take turns for some time, and then that one ask. Returns how many turns come
/// before its own.
fn turns_before_the_last(mut together: Together, hold: Duration) -> usize {
    let last = together.engines.len() - 1;
    (0..last).for_each(|engine| together.ask(engine));
    let asked = 10 * last;
    for turn in 0..asked + 1_000 {
        let (owner, lock) = together.next();
        if owner == last {
            return turn - asked;
        }
        together.pass(hold / 2);
        if turn == asked {
            together.ask(last);
        }
        together.pass(hold / 2);
        together.release(owner, lock);
        together.ask(owner);
    }
    1_000
}

/// Who is told a little later than the others loses to whoever is called at the same time, one
/// after the other, whose turns all come in time. One that came later had no turn in a thousand.
#[test]
fn who_is_told_later_than_others_has_turns_too() {
    for others in [2, 3, 4, 6, 9] {
        for seed in 0..4 {
            let mut together = Together::new(others + 1, seed);
            (together.jitter, together.late) = (20_000, (others, Duration::from_micros(50)));
            let turns = turns_before_the_last(together, ms(100));
            assert!(turns <= 10 * (others + 1), "{turns} turns of {others}, seed {seed}");
        }
    }
}

/// Lines that are served sooner than a gap ends. Whoever comes back from one learns only by a mark
/// that others were there. Without marks one of two had 54 of 1,900 grants.
#[test]
fn lines_that_are_served_within_a_gap_share_with_others() {
    for (engines, line, hold) in [(2, 2, 5), (2, 3, 5), (2, 5, 5), (3, 3, 5), (3, 5, 2)] {
        for seed in 0..3 {
            let grants = grants_of_lines(Together::new(engines, seed), line, hold);
            let (least, most) = (grants.iter().min(), grants.iter().max());
            assert!(least.map(|least| least * 2) >= most.copied(), "{grants:?}, lines of {line}");
            // Who comes back late leaves the resource to nobody.
            let (all, possible) = (grants.iter().sum::<usize>(), 10_000 / hold as usize);
            assert!(4 * all >= 3 * possible, "{all} of {possible}, lines of {line}");
        }
    }
}

/// Lets engines with lines contend for ten seconds. Returns the grants of each.
fn grants_of_lines(mut together: Together, line: usize, hold: u64) -> Vec<usize> {
    let mut grants = vec![0; together.engines.len()];
    for engine in 0..grants.len() {
        (0..line).for_each(|_| together.ask(engine));
    }
    let end = together.now + Duration::from_secs(10);
    let mut passed = None;
    while together.now < end {
        let (owner, lock) = passed.take().unwrap_or_else(|| together.next());
        grants[owner] += 1;
        together.pass(ms(hold));
        passed = together.release(owner, lock).map(|next| (owner, next));
        together.ask(owner);
    }
    grants
}

/// At the start nobody knows of others. The first owner asks again in the same write as it
/// releases, so that nobody comes in between. With one question in a tenure, half of these waited
/// for more than a tenure.
#[test]
fn those_who_wait_at_the_start_are_seen_soon() {
    for (engines, hold) in [(2, 5), (3, 5), (4, 5), (4, 20)] {
        let longest = |seed| {
            let mut together = Together::new(engines, seed);
            together.jitter = 1;
            longest_wait(together, ms(hold), Duration::from_secs(2))
        };
        let mut waits: Vec<_> = (0..7).map(longest).collect();
        waits.sort();
        println!("{engines} engines, hold {hold} ms: {waits:.0?}");
        assert!(waits[3] < ms(450) && waits[6] < ms(900), "{engines} engines: {waits:?}");
    }
}

/// Nobody who comes later waits for many rounds of others who keep the lock for long. And far nodes
/// are waited for: where looks ended before the answer, two engines waited for up to 32 holds of
/// the other.
#[test]
fn who_waits_for_long_owners_has_turns_at_near_and_at_far_nodes() {
    for (way, engines, most) in [(250_000, 3, 8), (5_000_000, 3, 8), (50_000_000, 2, 6)] {
        for seed in 0..6 {
            let mut together = Together::new(engines, seed);
            (together.way, together.jitter) = (way, way / 20);
            let fair = (ms(1_000) + Duration::from_nanos(2 * way)) * (engines as u32 - 1);
            let longest = longest_wait(together, ms(1_000), Duration::from_secs(150));
            assert!(longest <= fair * most, "{longest:?}, fair {fair:?}, seed {seed}");
        }
    }
}

/// Lets engines contend for some time, each with one request at a time. Returns the longest wait.
fn longest_wait(mut together: Together, hold: Duration, time: Duration) -> Duration {
    let began = together.now;
    let mut asked = vec![began; together.engines.len()];
    (0..asked.len()).for_each(|engine| together.ask(engine));
    let mut longest = Duration::ZERO;
    while together.now - began < time {
        let (owner, lock) = together.next();
        longest = longest.max(together.now - asked[owner]);
        together.pass(hold);
        together.release(owner, lock);
        asked[owner] = together.now;
        together.ask(owner);
    }
    asked.into_iter().map(|since| together.now - since).fold(longest, Duration::max)
}

/// A line of which nobody was refused knows of nobody. Without marks for a token that stays, and
/// without questions of a line, the other one waited for a whole tenure.
#[test]
fn a_line_that_knows_of_nobody_makes_room_for_one_who_had_turns() {
    for seed in 0..7 {
        let mut together = Together::new(2, seed);
        together.ask(1);
        let (first, lock) = together.next();
        together.ask(0);
        together.pass(ms(100));
        together.release(first, lock);
        let (second, lock) = together.next();
        assert_eq!((first, second), (1, 0));
        together.pass(ms(5));
        together.release(0, lock);
        (0..4).for_each(|_| together.ask(1));
        let (mut owner, mut lock) = together.next();
        let asked = together.now;
        together.ask(0);
        while owner == 1 && together.now - asked < Duration::from_secs(2) {
            together.pass(ms(5));
            let passed = together.release(owner, lock);
            together.ask(owner);
            (owner, lock) = passed.map(|lock| (1, lock)).unwrap_or_else(|| together.next());
        }
        let waited = together.now - asked;
        assert!(waited < ms(300), "{waited:?}, seed {seed}");
    }
}

/// Requests whose waits end before a gap would be over leave less, and no more than half of their
/// waits. Where they left nothing, nobody else ever had the lock.
#[test]
fn requests_with_short_waits_leave_the_resource_to_others_too() {
    for (line, wait) in [(1, 10), (1, 40), (3, 10), (3, 40), (3, 60)] {
        for seed in 0..3 {
            let waited = wait_beside(Together::new(2, seed), line, ms(wait), Duration::ZERO);
            assert!(waited < ms(1_500), "{waited:?} beside {line} that wait for {wait} ms");
        }
    }
}

/// One of the two does not see the node at which the other asks for marks, or leaves them. The
/// owner asks again too late for a tenure, and too soon for anybody else.
#[test]
fn marks_are_found_where_two_do_not_see_the_same_voters() {
    let pause = Duration::from_nanos(2 * WAY) + Duration::from_micros(20);
    for master in 0..5 {
        for (engine, seed) in [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)] {
            let mut together = Together::new(2, seed);
            together.engines[engine].close(master);
            let waited = wait_beside(together, 1, LONG, pause);
            assert!(waited < ms(1_000), "{waited:?} where {engine} lacks {master}, seed {seed}");
        }
    }
}

/// Lets so many requests of one engine come again and again, each with this wait and this long
/// behind the release. Returns how long another engine waits, 3 s at the most.
fn wait_beside(mut together: Together, line: usize, wait: Duration, pause: Duration) -> Duration {
    together.jitter = 1;
    let began = together.now;
    (0..line).for_each(|_| together.ask_for(0, wait));
    together.ask(1);
    let mut events = Vec::new();
    while together.now - began < Duration::from_secs(3) {
        for (engine, event) in mem::take(&mut events) {
            match event {
                Event::Acquired { .. } if engine == 1 => return together.now - began,
                Event::Acquired { lock, valid_until, .. } => {
                    events.extend(together.pass(ms(5)));
                    if let Some(lock) = together.release(engine, lock) {
                        events.push((engine, Event::Acquired { lock, valid_until, fence: None }));
                    }
                    events.extend(together.pass(pause));
                    together.ask_for(0, wait);
                }
                Event::AcquireFailed { .. } => together.ask_for(0, wait),
                _ => {}
            }
        }
        if events.is_empty() {
            events = together.step();
        }
    }
    together.now - began
}

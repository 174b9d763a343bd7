use smallvec::smallvec;

use super::*;

fn micros(count: u64) -> Duration {
    Duration::from_micros(count)
}

type NoWay = fn(usize) -> Duration;
type NothingDue = fn(Instant) -> Option<Instant>;

/// A wait with so many requests unanswered at one near node.
fn wait(unanswered: usize) -> Wait<NoWay, NothingDue> {
    Wait {
        queues: smallvec![unanswered],
        has_written: true,
        most: Duration::MAX,
        round_trip: |_| Duration::ZERO,
        due_by: |_| None,
    }
}

/// What the driver does: looks at the sockets, and asks at once for the pause before the next
/// look.
fn turn(lull: &mut Lull, now: Instant, unanswered: usize) -> Duration {
    lull.looked(now);
    lull.pause(wait(unanswered), || now)
}

/// A crowd for which the pause is so long from the returned moment on, which is also that of
/// the last look.
fn crowd(pause: Duration) -> (Lull, Instant) {
    let mut lull = Lull::new(1);
    let start = Instant::ZERO + Duration::from_secs(1);
    turn(&mut lull, start, 600);
    lull.answered(0, 600);
    let now = start + 2 * pause;
    assert_eq!(turn(&mut lull, now, 600), pause);
    (lull, now)
}

#[test]
fn a_pause_follows_the_answers_of_the_last_window() {
    let mut lull = Lull::new(1);
    let mut now = Instant::ZERO + Duration::from_secs(1);
    let mut after = |lull: &mut Lull, passed: u64, answers: u32| {
        lull.answered(0, answers);
        now = now + micros(passed);
        turn(lull, now, 600)
    };
    assert_eq!(after(&mut lull, 0, 0), Duration::ZERO, "nothing has been counted");
    assert_eq!(after(&mut lull, 999, 500), Duration::ZERO, "the window is not over");
    assert_eq!(after(&mut lull, 1, 100), micros(500));
    // Each answer has taken a millisecond, so the next window lasts for four.
    assert_eq!(after(&mut lull, 3_999, 1_000), micros(500), "until the next window is over");
    assert_eq!(after(&mut lull, 1, 200), micros(1_000));
    assert_eq!(after(&mut lull, 8_000, 0), Duration::ZERO, "no answer has come");
    assert_eq!(after(&mut lull, 31_999, 0), Duration::ZERO, "so the next window is longer");
    assert_eq!(after(&mut lull, 1, 19_200), micros(500));
    let busy = now + micros(100);
    assert_eq!(lull.pause(wait(600), || busy), micros(400), "100 µs are over");
    let busier = now + micros(700);
    assert_eq!(lull.pause(wait(600), || busier), Duration::ZERO);
}

#[test]
fn a_pause_is_a_part_of_the_time_that_the_caller_waits() {
    let (mut lull, now) = crowd(micros(1_000));
    let wait = Wait { most: micros(600), ..wait(600) };
    assert_eq!(lull.pause(wait, || now), micros(600));
}

#[test]
fn a_pause_ends_with_what_is_due_and_needs_no_reply() {
    // Microseconds since the look, when something is due from the look on, the pause.
    let rows = [
        (0, None, 1_000),
        (300, None, 700),
        (0, Some(1_000), 1_000),
        (0, Some(1_400), 1_000),
        (0, Some(800), 800),
        (300, Some(800), 500),
        // Deadlines can be so late in a crowd.
        (0, Some(500), 500),
        (0, Some(100), 500),
        (0, Some(0), 500),
        (300, Some(100), 200),
        (600, Some(100), 0),
    ];
    for (passed, due, expected) in rows {
        let (mut lull, looked) = crowd(micros(1_000));
        let due = due.map(|due| looked + micros(due));
        let none = wait(600);
        let wait = Wait {
            queues: none.queues,
            has_written: true,
            most: none.most,
            round_trip: none.round_trip,
            due_by: |at| due.filter(|due| *due <= at),
        };
        let pause = lull.pause(wait, || looked + micros(passed));
        assert_eq!(pause.as_micros(), expected, "{passed} µs, {due:?}");
    }
}

#[test]
fn a_look_that_made_nothing_leave_is_followed_by_a_pause_only_in_a_flood() {
    let rows = [(255, true, 0), (256, true, 500), (383, false, 0), (384, false, 500)];
    for (unanswered, has_written, expected) in rows {
        let (mut lull, now) = crowd(micros(500));
        let wait = Wait { has_written, ..wait(unanswered) };
        let pause = lull.pause(wait, || now).as_micros();
        assert_eq!(pause, expected, "{unanswered}, {has_written}");
    }
}

#[test]
fn a_caller_is_brisk_who_is_back_within_the_longest_pause_in_a_crowd() {
    let rows = [(256, 1_999, true), (256, 2_000, false), (255, 0, false), (0, 0, false)];
    for (unanswered, away, expected) in rows {
        let (mut lull, now) = crowd(micros(500));
        lull.pause(wait(unanswered), || now + micros(away));
        assert_eq!(lull.is_brisk(), expected, "{unanswered}, {away} µs");
    }
}

#[test]
fn servers_that_answer_in_turns_are_a_crowd_all_the_time() {
    let (mut lull, mut now) = crowd(micros(500));
    for round in 0..40 {
        // Half of the time without a request, and half of it with 1,200.
        for unanswered in [0, 1_200] {
            let pause = turn(&mut lull, now, unanswered);
            assert_eq!(pause, if unanswered == 0 { Duration::ZERO } else { micros(500) });
            assert_eq!(lull.is_brisk(), unanswered > 0, "{round}");
            assert!(lull.estimate.has_crowd(), "{round}");
            now = now + micros(500);
            lull.answered(0, 300);
        }
    }
}

#[test]
fn pauses_end_with_the_crowd_and_where_there_is_no_time() {
    for (unanswered, most) in [(63, Duration::MAX), (600, micros(499))] {
        let (mut lull, now) = crowd(micros(500));
        assert_eq!(turn(&mut lull, now, 255), Duration::ZERO, "a pause outlives no crowd");
        assert_eq!(lull.round(now, || now), now + LATENESS);
        let far = now + micros(1_000);
        assert_eq!(lull.round(far, || now), far);
        let later = now + Duration::from_secs(9);
        turn(&mut lull, now, unanswered);
        let none = Wait { most, ..wait(unanswered) };
        assert_eq!(lull.pause(none, || later), Duration::ZERO);
        assert!(!lull.estimate.has_crowd());
        assert_eq!(lull.round(now, || now), now, "deadlines are what they are");
        lull.answered(0, 1);
        let later = later + Duration::from_secs(9);
        let pause = turn(&mut lull, later, 600);
        assert_eq!(pause, Duration::ZERO, "the time between says nothing");
        lull.answered(0, 600);
        assert_eq!(turn(&mut lull, later + micros(1_000), 600), micros(500));
    }
}

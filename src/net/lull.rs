//! For how long the sockets are left alone while many requests are on their way.
//!
//! A client that reads each reply as soon as it comes decides a few locks at a time. So a few
//! requests leave, and wake a server for a few commands. Both sides then spend most of their time
//! in system calls, and the servers answer less than they could. After a pause that is short beside
//! the time of an answer, replies of several nodes are there together, and the next requests leave
//! together.
//!
//! The time of an answer is what Little's law makes of the unanswered requests and of the answers
//! that come in a while. A smoothed round trip would not do: of a flight of hundreds of requests
//! the last ones wait least, and such an estimate follows them.
//!
//! Only the part of this time that requests spend in queues makes a pause longer. The rest is the
//! way there and back: requests that gather on this side would only come later.

use core::time::Duration;

use crate::time::Instant;

/// The number of unanswered requests, at all nodes together, from which on one of the deadlines is
/// always near.
const CROWD: usize = 64;

/// The number of unanswered requests from which on there are pauses. With fewer, each lock counts
/// for more than the system calls.
const MANY: usize = 256;

/// Which part of the time in queues a pause is. The servers have the rest of it to work through.
const PART: u32 = 2;

/// The shortest pause. What comes in a shorter one is not worth the call that sleeps.
const SHORTEST: Duration = Duration::from_micros(100);

/// The longest pause. A request of another thread can wait for as long.
const LONGEST: Duration = Duration::from_millis(2);

/// By how much a deadline that no reply can change may be late in a crowd: half of the time by
/// which a loss is told ahead of the end, if nothing else is configured.
pub(super) const LATENESS: Duration = Duration::from_micros(500);

/// For how long answers are counted, at least.
const WINDOW: Duration = Duration::from_millis(1);

/// The pauses of one driver.
pub(super) struct Lull {
    /// The time since which answers are counted; `None` without a crowd of requests.
    since: Option<Instant>,
    answers: u32,
    /// The time of the last look at the sockets.
    looked: Instant,
    pause: Duration,
}

impl Lull {
    pub(super) const fn new() -> Self {
        Self { since: None, answers: 0, looked: Instant::ZERO, pause: Duration::ZERO }
    }

    /// Counts answers.
    pub(super) fn answered(&mut self, count: usize) {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        self.answers = self.answers.saturating_add(count);
    }

    /// Returns when the timer goes off for this deadline: in a crowd not too soon, or the timer
    /// would be armed again in each turn.
    #[inline]
    pub(super) fn round(&self, deadline: Instant, clock: impl FnOnce() -> Instant) -> Instant {
        if self.since.is_none() { deadline } else { deadline.max(clock() + LATENESS) }
    }

    /// Notes the time of a look at the sockets.
    #[inline]
    pub(super) fn looked(&mut self, now: Instant) {
        self.looked = now;
    }

    /// Forgets the crowd, and ends the pauses.
    pub(super) fn end(&mut self) {
        (self.since, self.pause) = (None, Duration::ZERO);
    }

    /// Returns how long to leave the sockets alone before a wait. What the caller has done since
    /// the last look at the sockets is a part of the pause.
    #[inline]
    pub(super) fn pause(&mut self, wait: &Wait, clock: impl FnOnce() -> Instant) -> Duration {
        if wait.unanswered < CROWD || wait.most < LATENESS {
            self.end();
            return Duration::ZERO;
        }
        let now = clock();
        self.count(now, wait);
        self.pause.saturating_sub(now - self.looked).min(wait.most)
    }

    /// Chooses the pause anew if the window is over.
    fn count(&mut self, now: Instant, wait: &Wait) {
        let elapsed = match self.since {
            Some(since) if now - since < WINDOW => return,
            Some(since) => now - since,
            // The crowd has just come.
            None => Duration::ZERO,
        };
        self.pause = match self.answers {
            0 => Duration::ZERO,
            _ if wait.unanswered < MANY => Duration::ZERO,
            answers => pause_of(elapsed, wait, answers),
        };
        (self.since, self.answers) = (Some(now), 0);
    }
}

/// What is known of a wait before it begins.
pub(super) struct Wait {
    /// How many requests have no answer, at all nodes together.
    pub(super) unanswered: usize,
    /// How long an answer takes that meets no queue.
    pub(super) distance: Duration,
    /// For how long pause and wait last together, at most.
    pub(super) most: Duration,
}

/// Returns how many unanswered requests all nodes would have together if each had as many as the
/// node in the middle, given those of each. So a few nodes that are far away, or have stopped, make
/// nobody wait for the others.
pub(super) fn usual(queues: &mut [usize]) -> usize {
    middle(queues) * queues.len()
}

/// Returns the value in the middle; of an even number of them, the lesser one.
pub(super) fn middle<T: Ord + Copy + Default>(values: &mut [T]) -> T {
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or_default()
}

/// Returns the pause before a wait, where so many answers came in `elapsed`.
fn pause_of(elapsed: Duration, wait: &Wait, answers: u32) -> Duration {
    let unanswered = u32::try_from(wait.unanswered).unwrap_or(u32::MAX);
    let answer = elapsed.saturating_mul(unanswered) / answers;
    let pause = (answer.saturating_sub(wait.distance) / PART).min(LONGEST);
    if pause < SHORTEST { Duration::ZERO } else { pause }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(count: u64) -> Duration {
        Duration::from_micros(count)
    }

    fn wait(unanswered: usize) -> Wait {
        Wait { unanswered, distance: Duration::ZERO, most: Duration::MAX }
    }

    #[test]
    fn a_pause_is_half_of_the_time_in_queues() {
        // Microseconds, unanswered requests, microseconds of the way, answers, microseconds.
        let rows = [
            (1_000, 600, 0, 600, 500),
            (2_000, 600, 0, 600, 1_000),
            (4_000, 600, 0, 600, 2_000),
            (1_000, 1_500, 0, 900, 833),
            (1_000, 1_500, 600, 900, 533),
            (1_000, 256, 50, 1_024, 100),
            // Too short to be worth it.
            (1_000, 256, 52, 1_024, 0),
            (1_000, 320, 0, 2_000, 0),
            // Nodes that are far away, and answer at once: nothing waits in a queue.
            (60_000, 512, 60_000, 512, 0),
            (62_000, 512, 60_000, 512, 1_000),
            (60_000, 512, 900_000, 512, 0),
            // Servers that are slow, or have stopped.
            (1_000, 1_000, 0, 200, 2_000),
            (100_000, 5_000, 0, 1, 2_000),
            (10_000_000_000, usize::MAX, 0, 1, 2_000),
            (1_000, 0, 0, 600, 0),
            (1_000, 600, 0, u32::MAX, 0),
        ];
        for (elapsed, unanswered, distance, answers, expected) in rows {
            let wait = Wait { distance: micros(distance), ..wait(unanswered) };
            let pause = pause_of(micros(elapsed), &wait, answers);
            assert_eq!(pause.as_micros(), expected, "{elapsed} µs, {unanswered}, {answers}");
        }
    }

    #[test]
    fn a_minority_of_long_queues_makes_no_crowd() {
        let rows: [(&[usize], usize); 7] = [
            (&[], 0),
            (&[300], 300),
            (&[300, 20], 40),
            (&[300, 20, 280], 840),
            (&[20, 300, 20, 20, 300], 100),
            (&[300, 300, 20, 20, 300], 1_500),
            (&[0, 0, 9, 9], 0),
        ];
        for (queues, expected) in rows {
            assert_eq!(usual(&mut queues.to_vec()), expected, "{queues:?}");
        }
    }

    /// What the driver does: looks at the sockets, and asks at once for the pause before the next
    /// look.
    fn turn(lull: &mut Lull, now: Instant, unanswered: usize) -> Duration {
        lull.looked(now);
        lull.pause(&wait(unanswered), || now)
    }

    /// A crowd for which the pause is half a millisecond from the returned moment on, which is also
    /// that of the last look.
    fn crowd() -> (Lull, Instant) {
        let mut lull = Lull::new();
        let start = Instant::ZERO + Duration::from_secs(1);
        turn(&mut lull, start, 600);
        lull.answered(600);
        assert_eq!(turn(&mut lull, start + WINDOW, 600), micros(500));
        (lull, start + WINDOW)
    }

    #[test]
    fn a_pause_follows_the_answers_of_the_last_window() {
        let mut lull = Lull::new();
        let mut now = Instant::ZERO + Duration::from_secs(1);
        let mut after = |lull: &mut Lull, passed: u64, answers: usize| {
            lull.answered(answers);
            now = now + micros(passed);
            turn(lull, now, 600)
        };
        assert_eq!(after(&mut lull, 0, 0), Duration::ZERO, "nothing has been counted");
        assert_eq!(after(&mut lull, 999, 500), Duration::ZERO, "the window is not over");
        assert_eq!(after(&mut lull, 1, 100), micros(500));
        assert_eq!(after(&mut lull, 500, 1), micros(500), "until the next window is over");
        assert_eq!(after(&mut lull, 500, 299), micros(1_000));
        assert_eq!(after(&mut lull, 2_000, 0), Duration::ZERO, "no answer has come");
        assert_eq!(after(&mut lull, 1_000, 600), micros(500));
        assert_eq!(after(&mut lull, 1_000, 600), micros(500));
        let busy = now + micros(100);
        assert_eq!(lull.pause(&wait(600), || busy), micros(400), "100 µs are over");
        let busier = now + micros(700);
        assert_eq!(lull.pause(&wait(600), || busier), Duration::ZERO);
    }

    #[test]
    fn a_pause_is_a_part_of_the_time_that_the_caller_waits() {
        let (mut lull, now) = crowd();
        lull.answered(300);
        let now = now + WINDOW;
        lull.looked(now);
        let wait = Wait { most: micros(600), ..wait(600) };
        assert_eq!(lull.pause(&wait, || now), micros(600));
    }

    #[test]
    fn pauses_end_with_the_crowd_and_where_there_is_no_time() {
        for (unanswered, most) in [(63, Duration::MAX), (600, micros(499))] {
            let (mut lull, now) = crowd();
            assert_eq!(lull.round(now, || now), now + LATENESS);
            assert_eq!(lull.round(now + WINDOW, || now), now + WINDOW);
            let none = Wait { most, ..wait(unanswered) };
            assert_eq!(lull.pause(&none, || now), Duration::ZERO);
            assert_eq!(lull.round(now, || now), now, "deadlines are what they are");
            lull.answered(1);
            let later = now + Duration::from_secs(9);
            let pause = turn(&mut lull, later, 600);
            assert_eq!(pause, Duration::ZERO, "the time between says nothing");
            lull.answered(600);
            assert_eq!(turn(&mut lull, later + WINDOW, 600), micros(500));
            lull.answered(600);
            let at_last = later + 2 * WINDOW;
            assert_eq!(turn(&mut lull, at_last, 255), Duration::ZERO, "these are few");
            assert_eq!(lull.round(at_last, || at_last), at_last + LATENESS);
        }
    }
}

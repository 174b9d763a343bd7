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

use core::time::Duration;

use crate::time::Instant;

/// The number of unanswered requests, at all nodes together, from which on one of the deadlines is
/// always near.
const CROWD: usize = 64;

/// The number of unanswered requests from which on there are pauses. With fewer, each lock counts
/// for more than the system calls.
const MANY: usize = 256;

/// Which part of the time of an answer a pause is.
const PART: u32 = 4;

/// The shortest pause. What comes in a shorter one is not worth the call that sleeps.
const SHORTEST: Duration = Duration::from_micros(100);

/// The longest pause, and by how much a deadline can be late in a crowd: half of the time by which
/// a loss is told ahead of the end, if nothing else is configured.
const LONGEST: Duration = Duration::from_micros(500);

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
        if self.since.is_none() { deadline } else { deadline.max(clock() + LONGEST) }
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

    /// Returns how long to leave the sockets alone before the next wait, with so many unanswered
    /// requests, where pause and wait last for `most` together. What the caller has done since the
    /// last look at the sockets is a part of the pause.
    #[inline]
    pub(super) fn pause(
        &mut self,
        unanswered: usize,
        most: Duration,
        clock: impl FnOnce() -> Instant,
    ) -> Duration {
        if unanswered < CROWD || most < LONGEST {
            self.end();
            return Duration::ZERO;
        }
        let now = clock();
        self.count(now, unanswered);
        self.pause.saturating_sub(now - self.looked)
    }

    /// Chooses the pause anew if the window is over.
    fn count(&mut self, now: Instant, unanswered: usize) {
        let elapsed = match self.since {
            Some(since) if now - since < WINDOW => return,
            Some(since) => now - since,
            // The crowd has just come.
            None => Duration::ZERO,
        };
        self.pause = match self.answers {
            0 => Duration::ZERO,
            _ if unanswered < MANY => Duration::ZERO,
            answers => pause_of(elapsed, unanswered, answers),
        };
        (self.since, self.answers) = (Some(now), 0);
    }
}

/// Returns how many unanswered requests all nodes would have together if each had as many as the
/// node in the middle, given those of each. So a few nodes that are far away, or have stopped, make
/// nobody wait for the others.
pub(super) fn usual(queues: &mut [usize]) -> usize {
    queues.sort_unstable();
    let middle = queues.len().saturating_sub(1) / 2;
    queues.get(middle).map_or(0, |queue| queue * queues.len())
}

/// Returns the pause with so many unanswered requests, where so many answers came in `elapsed`.
fn pause_of(elapsed: Duration, unanswered: usize, answers: u32) -> Duration {
    let unanswered = u32::try_from(unanswered).unwrap_or(u32::MAX);
    let answer = elapsed.saturating_mul(unanswered) / answers;
    let pause = (answer / PART).min(LONGEST);
    if pause < SHORTEST { Duration::ZERO } else { pause }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(count: u64) -> Duration {
        Duration::from_micros(count)
    }

    #[test]
    fn a_pause_is_a_fourth_of_the_time_of_an_answer() {
        // Microseconds, unanswered requests, answers, microseconds.
        let rows = [
            (1_000, 600, 600, 250),
            (2_000, 600, 600, 500),
            (1_000, 600, 300, 500),
            (1_000, 1_500, 900, 416),
            (1_000, 128, 320, 100),
            // Too short to be worth it.
            (1_000, 128, 321, 0),
            (1_000, 320, 2_000, 0),
            // Servers that are far away, or have stopped.
            (1_000, 1_000, 200, 500),
            (100_000, 5_000, 1, 500),
            (10_000_000_000, usize::MAX, 1, 500),
            (1_000, 0, 600, 0),
            (1_000, 600, u32::MAX, 0),
        ];
        for (elapsed, unanswered, answers, expected) in rows {
            let pause = pause_of(micros(elapsed), unanswered, answers);
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
        lull.pause(unanswered, Duration::MAX, || now)
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
        assert_eq!(after(&mut lull, 1, 100), micros(250));
        assert_eq!(after(&mut lull, 500, 1), micros(250), "until the next window is over");
        assert_eq!(after(&mut lull, 500, 299), micros(500));
        assert_eq!(after(&mut lull, 2_000, 0), Duration::ZERO, "no answer has come");
        assert_eq!(after(&mut lull, 1_000, 600), micros(250));
        assert_eq!(after(&mut lull, 1_000, 600), micros(250));
        let busy = now + micros(100);
        assert_eq!(lull.pause(600, Duration::MAX, || busy), micros(150), "100 µs are over");
        let busier = now + micros(400);
        assert_eq!(lull.pause(600, Duration::MAX, || busier), Duration::ZERO);
    }

    #[test]
    fn pauses_end_with_the_crowd_and_where_there_is_no_time() {
        for (unanswered, most) in [(63, Duration::MAX), (600, micros(499))] {
            let mut lull = Lull::new();
            let start = Instant::ZERO + Duration::from_secs(1);
            turn(&mut lull, start, 600);
            lull.answered(600);
            let now = start + WINDOW;
            assert_eq!(turn(&mut lull, now, 600), micros(250));
            assert_eq!(lull.round(now, || now), now + LONGEST);
            assert_eq!(lull.round(now + WINDOW, || now), now + WINDOW);
            assert_eq!(lull.pause(unanswered, most, || now), Duration::ZERO);
            assert_eq!(lull.round(now, || now), now, "deadlines are what they are");
            lull.answered(1);
            let later = now + Duration::from_secs(9);
            assert_eq!(
                turn(&mut lull, later, 600),
                Duration::ZERO,
                "the time between says nothing"
            );
            lull.answered(600);
            assert_eq!(turn(&mut lull, later + WINDOW, 600), micros(250));
            lull.answered(600);
            let at_last = later + 2 * WINDOW;
            assert_eq!(turn(&mut lull, at_last, 255), Duration::ZERO, "these are few");
            assert_eq!(lull.round(at_last, || at_last), at_last + LONGEST);
        }
    }
}

//! For how long the sockets are left alone while many requests are on their way.
//!
//! A client that reads each reply as soon as it comes decides a few locks at a time. So a few
//! requests leave, and wake a server for a few commands. Both sides then spend most of their time
//! in system calls, and the servers answer less than they could. After a pause that is short beside
//! the time of an answer, replies of several nodes are there together, and the next requests leave
//! together.
//!
//! The time of an answer is what Little's law makes of the unanswered requests of a node and of its
//! answers in a while. A smoothed round trip would not do: of a flight of hundreds of requests the
//! last ones wait least, and such an estimate follows them. Nor would the requests of one moment:
//! servers that share a processor answer in turns, so each node has none and hundreds by turns.
//!
//! Only the part of this time that requests spend in queues makes a pause longer. The rest is the
//! way there and back: requests that gather on this side would only come later. Replies that lie
//! here unread count as queued, so a pause makes the next estimate longer. A pause is half of the
//! estimate, so pauses do not keep themselves alive.
//!
//! The node in the middle counts: a few nodes that are far away, or have stopped, make nobody wait
//! for the others.

use core::time::Duration;

use smallvec::{SmallVec, smallvec};

use crate::redlock::MAX_NODES;
use crate::time::Instant;

/// The number of unanswered requests, at all nodes together, from which on one of the deadlines is
/// always near.
const CROWD: usize = 64;

/// The number of unanswered requests from which on a pause follows a write. With fewer, each lock
/// counts for more than the system calls.
const MANY: usize = 256;

/// The number of unanswered requests from which on there are pauses after each look, also where the
/// look has made nothing leave. With fewer, such a look has seen replies that decide nothing, and
/// those that do are near: a pause would only be longer than their way.
const FLOOD: usize = 384;

/// Which part of the time in queues a pause is. The servers have the rest of it to work through.
const PART: u32 = 2;

/// The shortest pause. What comes in a shorter one is not worth the call that sleeps.
const SHORTEST: Duration = Duration::from_micros(100);

/// The longest pause. A request of another thread can wait for as long.
const LONGEST: Duration = Duration::from_millis(2);

/// By how much a deadline that no reply can change may be late in a crowd: half of the time by
/// which a loss is told ahead of the end, if nothing else is configured. The other half is for what
/// has to be read before.
const LATENESS: Duration = Duration::from_micros(500);

/// For how long answers of near nodes are counted, at least and at most. In between, for the time
/// of some answers, and for some round trips at least: in less a node answers by chance, because
/// the node is far away, or because servers that share a processor answer in turns, each for
/// hundreds of requests at a time.
const SHORTEST_WINDOW: Duration = Duration::from_millis(1);
const LONGEST_WINDOW: Duration = Duration::from_millis(100);

/// For the time of how many answers of a node they are counted.
const ANSWERS: u32 = 4;

/// The pauses of one driver.
pub(super) struct Lull {
    /// The time since which answers are counted; `None` without a crowd of requests.
    since: Option<Instant>,
    /// For how long they are counted.
    window: Duration,
    /// The answers of each node.
    answers: SmallVec<[u32; MAX_NODES]>,
    /// For how long the requests of each node have waited, all of them together.
    waited: SmallVec<[Duration; MAX_NODES]>,
    /// The time of the last wait, and how many requests of each node had no answer then.
    seen: Instant,
    queues: SmallVec<[usize; MAX_NODES]>,
    /// The time of the last look at the sockets.
    looked: Instant,
    /// How long after a look the last wait began.
    away: Duration,
    /// The time from a look to the next.
    pause: Duration,
}

/// What is known of a wait before it begins. The functions are called where their answers matter.
pub(super) struct Wait<L, D> {
    /// How many requests have no answer, at each node.
    pub(super) queues: SmallVec<[usize; MAX_NODES]>,
    /// Whether anything was written since the wait before that could have a pause.
    pub(super) has_written: bool,
    /// For how long pause and wait last together, at most.
    pub(super) most: Duration,
    /// How long an answer of this node takes that meets no queue.
    pub(super) round_trip: L,
    /// The first moment, up to the given one, at which something is due that no reply can change.
    pub(super) due_by: D,
}

impl Lull {
    pub(super) fn new(nodes: usize) -> Self {
        Self {
            since: None,
            window: SHORTEST_WINDOW,
            answers: smallvec![0; nodes],
            waited: smallvec![Duration::ZERO; nodes],
            seen: Instant::ZERO,
            queues: smallvec![0; nodes],
            looked: Instant::ZERO,
            away: Duration::ZERO,
            pause: Duration::ZERO,
        }
    }

    /// Counts answers of a node.
    #[inline]
    pub(super) fn answered(&mut self, node: usize, count: u32) {
        let answers = &mut self.answers[node];
        *answers = answers.saturating_add(count);
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

    /// Returns whether so many requests were on their way before the last wait that there are
    /// pauses, and the caller was back from the look before within the longest pause.
    pub(super) fn is_brisk(&self) -> bool {
        let is_crowd = self.since.is_some() && self.queues.iter().sum::<usize>() >= MANY;
        is_crowd && self.away < LONGEST
    }

    /// Forgets the crowd, and ends the pauses.
    pub(super) fn end(&mut self) {
        (self.since, self.pause) = (None, Duration::ZERO);
    }

    /// Returns how long to leave the sockets alone before a wait. What the caller has done since
    /// the last look at the sockets is a part of the pause. A pause is shorter where something is
    /// due in between that needs no reply.
    #[inline]
    pub(super) fn pause(
        &mut self,
        wait: Wait<impl Fn(usize) -> Duration, impl FnOnce(Instant) -> Option<Instant>>,
        clock: impl FnOnce() -> Instant,
    ) -> Duration {
        let unanswered = middle(&mut wait.queues.clone()).saturating_mul(wait.queues.len());
        if wait.most < LATENESS {
            self.end();
            return Duration::ZERO;
        }
        if unanswered < CROWD && self.since.is_none() {
            return Duration::ZERO;
        }
        let now = clock();
        self.away = now - self.looked;
        self.count(now, &wait.queues, wait.round_trip);
        // A pause must not outlive its crowd.
        let may_pause = unanswered >= if wait.has_written { MANY } else { FLOOD };
        let longest = if may_pause { self.pause } else { Duration::ZERO };
        let mut end = self.looked + longest;
        if longest > LATENESS && end > now {
            let due = (wait.due_by)(end).unwrap_or(end);
            end = due.max(self.looked + LATENESS).min(end);
        }
        (end - now).min(wait.most)
    }

    /// Counts the time since the last wait. If the window is over, chooses the pause anew, or
    /// forgets a crowd that has gone meanwhile.
    fn count(&mut self, now: Instant, queues: &[usize], round_trip: impl Fn(usize) -> Duration) {
        for (waited, unanswered) in self.waited.iter_mut().zip(&self.queues) {
            *waited = waited.saturating_add(times(now - self.seen, *unanswered));
        }
        self.seen = now;
        self.queues.clear();
        self.queues.extend_from_slice(queues);
        let Some(since) = self.since else {
            // A crowd that has just come has waited for nothing.
            self.begin(now);
            return self.choose(Duration::ZERO, round_trip);
        };
        let elapsed = now - since;
        if elapsed < self.window {
            return;
        }
        let waited = middle(&mut self.waited.clone());
        if times(waited, queues.len()) < times(elapsed, CROWD) {
            return self.end();
        }
        self.choose(elapsed, round_trip);
        self.begin(now);
    }

    /// Begins to count.
    fn begin(&mut self, now: Instant) {
        self.since = Some(now);
        self.answers.fill(0);
        self.waited.fill(Duration::ZERO);
    }

    /// Chooses the pause, and the next window, by what was counted in `elapsed`.
    fn choose(&mut self, elapsed: Duration, round_trip: impl Fn(usize) -> Duration) {
        let mut pauses: SmallVec<[Duration; MAX_NODES]> = SmallVec::new();
        let (mut times, mut ways) = (pauses.clone(), pauses.clone());
        for (node, (waited, answers)) in self.waited.iter().zip(&self.answers).enumerate() {
            let (time, way) = (answer_of(*waited, *answers), round_trip(node));
            pauses.push(time.map_or(Duration::ZERO, |time| pause_of(time, way)));
            times.push(time.unwrap_or(elapsed));
            ways.push(way);
        }
        self.pause = middle(&mut pauses);
        let shortest = SHORTEST_WINDOW.max(ANSWERS * middle(&mut ways));
        let window = middle(&mut times).saturating_mul(ANSWERS);
        self.window = window.min(LONGEST_WINDOW).max(shortest);
    }
}

/// Returns the value in the middle; of an even number of them, the lesser one.
fn middle<T: Ord + Copy + Default>(values: &mut [T]) -> T {
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or_default()
}

/// Returns a time so many times.
fn times(time: Duration, count: usize) -> Duration {
    time.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX))
}

/// Returns how long an answer of a node takes, which has given so many to requests that have waited
/// for so long, all of them together. A node that answers nothing says nothing.
fn answer_of(waited: Duration, answers: u32) -> Option<Duration> {
    if waited.is_zero() { Some(Duration::ZERO) } else { waited.checked_div(answers) }
}

/// Returns the pause for a node whose answers take so long. The way there and back counts a fourth
/// more than the shortest one, because it is not always the same.
fn pause_of(answer: Duration, round_trip: Duration) -> Duration {
    let way = round_trip.saturating_add(round_trip / 4);
    let pause = (answer.saturating_sub(way) / PART).min(LONGEST);
    if pause < SHORTEST { Duration::ZERO } else { pause }
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn a_pause_is_half_of_the_time_in_queues() {
        // Microseconds, unanswered requests, microseconds of the way, answers, microseconds.
        let rows = [
            (1_000, 600, 0, 600, 500),
            (2_000, 600, 0, 600, 1_000),
            (4_000, 600, 0, 600, 2_000),
            (1_000, 1_500, 0, 900, 833),
            (1_000, 1_500, 600, 900, 458),
            (1_000, 256, 40, 1_024, 100),
            // Too short to be worth it.
            (1_000, 256, 44, 1_024, 0),
            (1_000, 320, 0, 2_000, 0),
            // Nodes that are far away, and answer at once: nothing waits in a queue.
            (60_000, 512, 60_000, 512, 0),
            (60_000, 512, 60_000, 410, 0),
            (80_000, 512, 60_000, 512, 2_000),
            (60_000, 512, 900_000, 512, 0),
            // Servers that are slow, or have stopped.
            (1_000, 1_000, 0, 200, 2_000),
            (100_000, 5_000, 0, 1, 2_000),
            (10_000_000_000, usize::MAX, 0, 1, 2_000),
            (1_000, 600, 0, 0, 0),
            (1_000, 0, 0, 600, 0),
            (1_000, 600, 0, u32::MAX, 0),
        ];
        for (elapsed, unanswered, way, answers, expected) in rows {
            let answer = answer_of(times(micros(elapsed), unanswered), answers);
            let pause = answer.map_or(Duration::ZERO, |answer| pause_of(answer, micros(way)));
            assert_eq!(pause.as_micros(), expected, "{elapsed} µs, {unanswered}, {way}, {answers}");
        }
    }

    #[test]
    fn a_minority_of_nodes_decides_nothing() {
        // Requests without an answer and answers in a millisecond for each node; microseconds.
        let rows: [(&[(usize, u32)], u128); 7] = [
            (&[(300, 300)], 500),
            (&[(300, 300), (0, 0)], 0),
            (&[(300, 300), (300, 300), (0, 0)], 500),
            // Two nodes have stopped, or are gone: the others have their own time.
            (&[(900, 0), (300, 300), (300, 300), (900, 0), (300, 300)], 500),
            (&[(0, 0), (300, 300), (300, 300), (0, 0), (300, 300)], 500),
            // Two nodes are slow.
            (&[(300, 300), (900, 10), (300, 300), (900, 10), (300, 300)], 500),
            (&[(300, 300), (900, 600), (900, 600), (900, 600), (300, 300)], 750),
        ];
        for (nodes, expected) in rows {
            let mut lull = Lull::new(nodes.len());
            let queues: SmallVec<[usize; MAX_NODES]> =
                nodes.iter().map(|(unanswered, _)| *unanswered).collect();
            let start = Instant::ZERO + Duration::from_secs(1);
            lull.count(start, &queues, |_| Duration::ZERO);
            for (node, (_, answers)) in nodes.iter().enumerate() {
                lull.answered(node, *answers);
            }
            lull.count(start + SHORTEST_WINDOW, &queues, |_| Duration::ZERO);
            assert_eq!(lull.pause.as_micros(), expected, "{nodes:?}");
        }
    }

    #[test]
    fn far_nodes_are_counted_for_some_round_trips() {
        let mut lull = Lull::new(1);
        let far = |_| Duration::from_millis(20);
        let start = Instant::ZERO + Duration::from_secs(1);
        lull.count(start, &[600], far);
        lull.answered(0, 10);
        // So few answers in so short a time would make an answer take 60 ms.
        lull.count(start + Duration::from_millis(1), &[600], far);
        lull.answered(0, 2_390);
        lull.count(start + Duration::from_millis(79), &[600], far);
        assert_eq!((lull.since, lull.pause), (Some(start), Duration::ZERO));
        lull.count(start + Duration::from_millis(80), &[600], far);
        assert_ne!(lull.since, Some(start));
        assert_eq!(lull.pause, Duration::ZERO, "every answer took 20 ms");
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
                assert_ne!(lull.since, None, "{round}");
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
            assert_eq!(lull.round(now + SHORTEST_WINDOW, || now), now + SHORTEST_WINDOW);
            let later = now + Duration::from_secs(9);
            turn(&mut lull, now, unanswered);
            let none = Wait { most, ..wait(unanswered) };
            assert_eq!(lull.pause(none, || later), Duration::ZERO);
            assert_eq!(lull.since, None);
            assert_eq!(lull.round(now, || now), now, "deadlines are what they are");
            lull.answered(0, 1);
            let later = later + Duration::from_secs(9);
            let pause = turn(&mut lull, later, 600);
            assert_eq!(pause, Duration::ZERO, "the time between says nothing");
            lull.answered(0, 600);
            assert_eq!(turn(&mut lull, later + SHORTEST_WINDOW, 600), micros(500));
        }
    }
}

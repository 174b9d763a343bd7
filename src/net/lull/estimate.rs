//! How long a pause is: a part of the time that requests spend in the queues of nodes.
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
pub(super) const CROWD: usize = 64;

/// Which part of the time in queues a pause is. The servers have the rest of it to work through.
const PART: u32 = 2;

/// The shortest pause. What comes in a shorter one is not worth the call that sleeps.
const SHORTEST: Duration = Duration::from_micros(100);

/// The longest pause. A request of another thread can wait for as long.
pub(super) const LONGEST: Duration = Duration::from_millis(2);

/// For how long answers of near nodes are counted, at least and at most. In between, for the time
/// of some answers, and for some round trips at least: in less a node answers by chance, because
/// the node is far away, or because servers that share a processor answer in turns, each for
/// hundreds of requests at a time.
const SHORTEST_WINDOW: Duration = Duration::from_millis(1);
const LONGEST_WINDOW: Duration = Duration::from_millis(100);

/// For the time of how many answers of a node they are counted.
const ANSWERS: u32 = 4;

/// What requests and answers in a while say of the queues.
pub(super) struct Estimate {
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
    /// The time from a look to the next.
    pause: Duration,
}

impl Estimate {
    pub(super) fn new(nodes: usize) -> Self {
        Self {
            since: None,
            window: SHORTEST_WINDOW,
            answers: smallvec![0; nodes],
            waited: smallvec![Duration::ZERO; nodes],
            seen: Instant::ZERO,
            queues: smallvec![0; nodes],
            pause: Duration::ZERO,
        }
    }

    /// Returns the pause that was chosen last; zero without a crowd.
    #[inline]
    pub(super) fn pause(&self) -> Duration {
        self.pause
    }

    /// Returns whether there is a crowd of requests, or was one a window ago.
    #[inline]
    pub(super) fn has_crowd(&self) -> bool {
        self.since.is_some()
    }

    /// Returns how many requests had no answer before the last wait with a crowd.
    pub(super) fn unanswered(&self) -> usize {
        self.queues.iter().sum()
    }

    /// Counts answers of a node.
    #[inline]
    pub(super) fn answered(&mut self, node: usize, count: u32) {
        let answers = &mut self.answers[node];
        *answers = answers.saturating_add(count);
    }

    /// Forgets the crowd.
    pub(super) fn end(&mut self) {
        (self.since, self.pause) = (None, Duration::ZERO);
    }

    /// Counts the time since the last wait. If the window is over, chooses the pause anew, or
    /// forgets a crowd that has gone meanwhile.
    pub(super) fn count(
        &mut self,
        now: Instant,
        queues: &[usize],
        round_trip: impl Fn(usize) -> Duration,
    ) {
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
pub(super) fn middle<T: Ord + Copy + Default>(values: &mut [T]) -> T {
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
            let mut estimate = Estimate::new(nodes.len());
            let queues: SmallVec<[usize; MAX_NODES]> =
                nodes.iter().map(|(unanswered, _)| *unanswered).collect();
            let start = Instant::ZERO + Duration::from_secs(1);
            estimate.count(start, &queues, |_| Duration::ZERO);
            for (node, (_, answers)) in nodes.iter().enumerate() {
                estimate.answered(node, *answers);
            }
            estimate.count(start + SHORTEST_WINDOW, &queues, |_| Duration::ZERO);
            assert_eq!(estimate.pause.as_micros(), expected, "{nodes:?}");
        }
    }

    #[test]
    fn far_nodes_are_counted_for_some_round_trips() {
        let mut estimate = Estimate::new(1);
        let far = |_| Duration::from_millis(20);
        let start = Instant::ZERO + Duration::from_secs(1);
        estimate.count(start, &[600], far);
        estimate.answered(0, 10);
        // So few answers in so short a time would make an answer take 60 ms.
        estimate.count(start + Duration::from_millis(1), &[600], far);
        estimate.answered(0, 2_390);
        estimate.count(start + Duration::from_millis(79), &[600], far);
        assert_eq!((estimate.since, estimate.pause), (Some(start), Duration::ZERO));
        estimate.count(start + Duration::from_millis(80), &[600], far);
        assert_ne!(estimate.since, Some(start));
        assert_eq!(estimate.pause, Duration::ZERO, "every answer took 20 ms");
    }
}

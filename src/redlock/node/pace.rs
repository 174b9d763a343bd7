//! The clock of a node against the clock of this client: whether the node's has run ahead.
//!
//! A validity is counted on the clock of this machine, and the ttl of a key on the clock of a node.
//! A hypervisor that stops this machine stops the first clock alone. Each look brings the time of
//! the node, so two looks show how far each clock has gone in between. Everything here is a pure
//! function of the times of two looks.

use core::time::Duration;

use super::identity::RunId;
use crate::redlock::validity::Drift;
use crate::time::Instant;

/// What the looks at one node have shown of its clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// The last answered look, and the process that has answered.
    last: Option<(RunId, Reading)>,
    /// By how much the clock of the node has run ahead, and until when that matters.
    ahead: Option<(Duration, Instant)>,
}

/// The time of a node, in microseconds since 1970, and the times of this client between which the
/// node has read its clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    pub(crate) time: u64,
    pub(crate) sent: Instant,
    pub(crate) answered: Instant,
}

impl Reading {
    /// Returns how long, at most, our clock has stood still since `earlier`: the clock of the node
    /// may have been slow, or set back, in that time. Returns `None` if the drift alone can be why
    /// the clock of the node has run ahead.
    ///
    /// Take a lock that was requested at `earlier` for exactly the time that has passed at the
    /// node. There the lock has ended. The drift allows what has passed here if the lock has ended
    /// here too.
    fn ahead_of(&self, earlier: &Self, drift: Drift) -> Option<Duration> {
        let passed = Duration::from_micros(self.time.saturating_sub(earlier.time));
        let least = self.sent - earlier.answered;
        let is_within = drift.valid_until(earlier.sent, passed) <= self.answered;
        (!is_within).then(|| passed.saturating_add(drift.of(passed)).saturating_sub(least))
    }
}

impl Pace {
    pub(crate) const fn new() -> Self {
        Self { last: None, ahead: None }
    }

    /// Takes over the time that a node has told at a look. What the node is ahead matters for
    /// `span`: no lock of today is believed for longer.
    pub(crate) fn read(&mut self, process: RunId, reading: Reading, drift: Drift, span: Duration) {
        let last = self.last.replace((process, reading));
        // Another process may run on another machine.
        let Some((_, last)) = last.filter(|(other, _)| *other == process) else { return };
        let Some(by) = reading.ahead_of(&last, drift) else { return };
        let before = self.ahead(reading.answered).unwrap_or_default();
        self.ahead = Some((before.saturating_add(by), reading.answered + span));
    }

    /// Returns by how much the clock of the node has run ahead of ours within the last span.
    pub(crate) fn ahead(&self, now: Instant) -> Option<Duration> {
        self.ahead.filter(|(_, until)| now < *until).map(|(by, _)| by)
    }

    /// Takes note that what the node was ahead is known.
    ///
    /// A node that has not told yet will tell of the same loss. Such nodes are a minority, so this
    /// matters only if there is another loss within a span, of which more is taken off then. To
    /// take them to know would be wrong for a node that was first read after the loss: the next
    /// loss would be hidden.
    pub(crate) fn caught_up(&mut self) {
        self.ahead = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPAN: Duration = Duration::from_secs(60);
    const DRIFT: Drift = Drift::new(5_000, Duration::from_millis(50));

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(1_000_000_000_000) + ms(millis)
    }

    /// A look that leaves and is answered at these times of ours, and what the node tells.
    fn look((sent, answered): (u64, u64), time: u64) -> Reading {
        Reading {
            time: 1_700_000_000_000_000 + time * 1_000,
            sent: at(sent),
            answered: at(answered),
        }
    }

    #[test]
    fn a_node_is_ahead_if_its_clock_shows_more_than_the_drift_allows() {
        // Of 20,000 ms at the node, the drift takes 200 + 50 + 2.
        let rows = [
            // sent and answered by our clock, time of the node, ahead by
            ((20_000, 20_004), 20_002, None),
            ((20_000, 20_004), 20_257, None),
            ((20_000, 20_004), 20_260, Some(264)),
            ((20_000, 20_004), 21_000, Some(1_004)),
            ((20_000, 20_004), 90_000, Some(70_004)),
            // The machine has stood still while the look was on its way.
            ((10, 19), 5_000, Some(4_994)),
            // The answer came late: the node may have read its clock just before.
            ((20_000, 29_000), 29_000, None),
            ((20_000, 29_000), 30_000, Some(10_004)),
            // The clock of the node stands still, or was set back.
            ((20_000, 20_004), 0, None),
            ((20_000, 20_004), 19_000, None),
        ];
        for (times, time, ahead) in rows {
            let found = look(times, time).ahead_of(&look((0, 4), 0), DRIFT);
            let expected = ahead.map(|ahead| ms(ahead) + DRIFT.of(ms(time)));
            assert_eq!(found, expected, "{times:?}, {time}");
        }
        let back = Reading { time: 0, ..look((20_000, 20_004), 0) };
        assert_eq!(back.ahead_of(&look((0, 4), 0), DRIFT), None);
    }

    const ONE: RunId = RunId([1; 40]);
    const OTHER: RunId = RunId([2; 40]);

    /// A drift of next to nothing: what is ahead is found to two milliseconds.
    const LITTLE: Drift = Drift::new(0, Duration::ZERO);

    fn read(pace: &mut Pace, process: RunId, ours: u64, time: u64) -> Option<Duration> {
        pace.read(process, look((ours, ours), time), LITTLE, SPAN);
        pace.ahead(at(ours))
    }

    #[test]
    fn only_times_of_one_process_are_compared() {
        let mut pace = Pace::new();
        assert_eq!(read(&mut pace, ONE, 0, 0), None);
        assert_eq!(read(&mut pace, OTHER, 20_000, 90_000), None);
        assert_eq!(read(&mut pace, ONE, 40_000, 200_000), None);
        assert_eq!(read(&mut pace, ONE, 60_000, 230_000), Some(ms(10_002)));
    }

    #[test]
    fn what_a_node_is_ahead_adds_up_and_is_forgotten_after_a_span() {
        let mut pace = Pace::new();
        read(&mut pace, ONE, 0, 0);
        assert_eq!(read(&mut pace, ONE, 20_000, 21_000), Some(ms(1_002)));
        assert_eq!(read(&mut pace, ONE, 40_000, 41_000), Some(ms(1_002)));
        assert_eq!(read(&mut pace, ONE, 60_000, 63_000), Some(ms(3_004)));
        assert_eq!(pace.ahead(at(119_999)), Some(ms(3_004)));
        assert_eq!(pace.ahead(at(120_000)), None);
    }

    #[test]
    fn a_loss_is_told_once_by_each_node() {
        let (mut told, mut late) = (Pace::new(), Pace::new());
        read(&mut told, ONE, 0, 0);
        read(&mut late, OTHER, 0, 0);
        assert_eq!(read(&mut told, ONE, 20_000, 30_000), Some(ms(10_002)));
        for pace in [&mut told, &mut late] {
            pace.caught_up();
            assert_eq!(pace.ahead(at(20_000)), None);
        }
        assert_eq!(read(&mut late, OTHER, 20_001, 30_001), Some(ms(10_002)), "the same loss");
        assert_eq!(read(&mut told, ONE, 40_000, 50_000), None);
        assert_eq!(read(&mut told, ONE, 60_000, 75_000), Some(ms(5_002)), "another loss");
    }

    #[test]
    fn a_node_that_was_first_read_after_a_loss_tells_of_the_next() {
        let mut pace = Pace::new();
        read(&mut pace, ONE, 20_000, 30_000);
        pace.caught_up();
        assert_eq!(read(&mut pace, ONE, 40_000, 55_000), Some(ms(5_002)));
    }
}

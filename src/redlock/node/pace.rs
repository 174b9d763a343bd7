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
mod tests;

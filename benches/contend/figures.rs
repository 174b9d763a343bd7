//! What follows from records: who got how much, how long the waits were, who overtook whom.
//!
//! Percentiles are samples, the nearest from above. Nothing is smoothed or put into buckets.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::record::Record;

/// Samples in order, in nanoseconds.
#[derive(Default)]
pub(crate) struct Samples(Vec<u64>);

impl FromIterator<u64> for Samples {
    fn from_iter<I: IntoIterator<Item = u64>>(samples: I) -> Self {
        let mut samples: Vec<_> = samples.into_iter().collect();
        samples.sort_unstable();
        Self(samples)
    }
}

impl Samples {
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the sample that this percentage of all samples do not exceed; NaN without samples.
    pub(crate) fn percentile(&self, percent: f64) -> f64 {
        let rank = (self.0.len() as f64 * percent / 100.0).ceil() as usize;
        self.0.get(rank.max(1) - 1).map_or(f64::NAN, |&sample| sample as f64)
    }

    pub(crate) fn least(&self) -> u64 {
        self.0.first().copied().unwrap_or(0)
    }

    pub(crate) fn most(&self) -> u64 {
        self.0.last().copied().unwrap_or(0)
    }
}

/// What a window of time has seen.
pub(crate) struct Figures {
    pub(crate) grants: usize,
    /// The grants of each process, and of each contender, those without any included.
    pub(crate) by_process: Samples,
    pub(crate) by_thread: Samples,
    /// The waits of requests that began in the window, those that ended later included.
    pub(crate) waits: Samples,
    /// Those that had begun before the window and ended in it, or later: of one who starves there
    /// is no other.
    pub(crate) waits_before: Samples,
    /// How many of the waits were given up: they would have been longer.
    pub(crate) unfinished: usize,
    /// From the drop of a guard to the next guard, where the next had been asked for before.
    pub(crate) hand_over: Samples,
    /// The same where the two are of different processes.
    pub(crate) across: Samples,
    /// Grants of one client before which another request of the client had been in line.
    pub(crate) overtaken: usize,
    /// Guards that were there before the one before was dropped. There must be none.
    pub(crate) overlaps: usize,
}

impl Figures {
    /// Looks at a window. `contenders` are pairs of process and thread.
    pub(crate) fn new(
        records: &[Record],
        window: Range<u64>,
        contenders: impl IntoIterator<Item = (u32, u32)>,
    ) -> Self {
        let mut threads: BTreeMap<_, u64> = contenders.into_iter().map(|who| (who, 0)).collect();
        let mut granted: Vec<_> = records.iter().filter(|record| record.is_granted()).collect();
        granted.sort_unstable_by_key(|record| record.ended);
        let inside: Vec<_> =
            granted.into_iter().filter(|record| window.contains(&record.ended)).collect();
        for record in &inside {
            *threads.entry((record.process, record.thread)).or_default() += 1;
        }
        let mut processes: BTreeMap<_, u64> = BTreeMap::new();
        for (&(process, _), count) in &threads {
            *processes.entry(process).or_default() += count;
        }
        let pairs = || inside.windows(2).map(|pair| (pair[0], pair[1]));
        let gaps: Vec<_> = pairs().filter(|(one, next)| next.queued < one.released).collect();
        let gap = |(one, next): &(&Record, &Record)| next.ended.saturating_sub(one.released);
        let begun: Vec<_> =
            records.iter().filter(|record| window.contains(&record.asked)).collect();
        let before = |record: &&Record| record.asked < window.start && record.ended >= window.start;
        Self {
            grants: inside.len(),
            by_process: processes.into_values().collect(),
            by_thread: threads.into_values().collect(),
            waits: begun.iter().map(|record| record.wait()).collect(),
            waits_before: records.iter().filter(before).map(Record::wait).collect(),
            unfinished: begun.iter().filter(|record| !record.is_granted()).count(),
            hand_over: gaps.iter().map(gap).collect(),
            across: gaps.iter().filter(|(a, b)| a.process != b.process).map(gap).collect(),
            overtaken: overtaken(&inside),
            overlaps: pairs().filter(|(one, next)| next.ended < one.released).count(),
        }
    }
}

/// Counts grants that came before that of a request which had been in line before this one was
/// asked for. Requests that were made at the same time have no order.
pub(crate) fn overtaken(granted: &[&Record]) -> usize {
    let mut count = 0;
    let mut earliest = u64::MAX;
    for record in granted.iter().rev() {
        count += usize::from(earliest < record.asked);
        earliest = earliest.min(record.queued);
    }
    count
}

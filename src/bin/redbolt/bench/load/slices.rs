//! The parts of the measured time, each with its own count and latencies.
//!
//! A histogram takes some 200 kB, and a run of an hour has thousands of slices. A slice that is
//! over therefore keeps only the values that occurred, each with its count.

use std::time::Duration;

use redbolt::time::Instant;

use super::latencies::Latencies;

/// The slices of a step, unless they would be shorter or longer than the two bounds.
const SLICES: u32 = 20;
const SHORTEST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(1);

/// One part of the measured time.
#[derive(Default)]
pub(crate) struct Part {
    pub(crate) from: Instant,
    pub(crate) to: Instant,
    pub(crate) cycles: u64,
    pub(crate) failed: u64,
    /// The latencies that occurred, in nanoseconds, each with its count.
    pub(crate) acquire: Vec<(u64, u64)>,
}

/// The slices so far. Their number is bounded by the length of a run.
#[derive(Default)]
pub(crate) struct Slices {
    pub(crate) parts: Vec<Part>,
    /// The latencies of what was granted outside of all slices.
    pub(crate) late: Vec<(u64, u64)>,
    from: Instant,
    /// The cycles and failures at the beginning of this slice.
    cycles: u64,
    failed: u64,
}

/// How long a slice of a step is.
pub(crate) fn length(seconds: Duration) -> Duration {
    (seconds / SLICES).clamp(SHORTEST, LONGEST)
}

impl Slices {
    /// Starts with an empty slice.
    pub(crate) fn start(&mut self, now: Instant) {
        *self = Self { from: now, ..Self::default() };
    }

    /// Ends a slice with these latencies, when all slices together have these counts.
    pub(crate) fn close(&mut self, now: Instant, cycles: u64, failed: u64, acquire: &Latencies) {
        self.parts.push(Part {
            from: self.from,
            to: now,
            cycles: cycles - self.cycles,
            failed: failed - self.failed,
            acquire: acquire.values().collect(),
        });
        (self.from, self.cycles, self.failed) = (now, cycles, failed);
    }

    /// Adds the slices of a load that was measured at the same time.
    pub(crate) fn merge(&mut self, other: Self) {
        let mut others = other.parts.into_iter();
        for (part, other) in self.parts.iter_mut().zip(others.by_ref()) {
            part.to = part.to.max(other.to);
            part.cycles += other.cycles;
            part.failed += other.failed;
            part.acquire.extend(other.acquire);
        }
        self.parts.extend(others);
        self.late.extend(other.late);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_is_a_twentieth_within_bounds() {
        let rows = [(100, 50), (1_000, 50), (5_000, 250), (20_000, 1_000), (3_600_000, 1_000)];
        for (run, slice) in rows {
            assert_eq!(length(Duration::from_millis(run)), Duration::from_millis(slice));
        }
    }

    #[test]
    fn slices_of_two_engines_are_added_one_by_one() {
        let at = |millis| Instant::ZERO + Duration::from_millis(millis);
        let slices = |ends: &[(u64, u64)]| {
            let mut slices = Slices::default();
            let latencies = Latencies::new();
            ends.iter().for_each(|&(end, cycles)| slices.close(at(end), cycles, 0, &latencies));
            slices
        };
        let mut both = slices(&[(50, 3), (100, 8)]);
        both.merge(slices(&[(51, 10), (99, 11), (140, 12)]));
        let cycles: Vec<_> = both.parts.iter().map(|part| (part.to, part.cycles)).collect();
        assert_eq!(cycles, [(at(51), 13), (at(100), 6), (at(140), 1)]);
    }
}

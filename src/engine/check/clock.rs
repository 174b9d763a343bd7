//! The clocks of the nodes, compared with each other and with ours.

use core::fmt;
use core::time::Duration;

use crate::net::Sample;
use crate::time::format_rounded;

/// By how many microseconds a clock may be off before a note says so. Redlock needs clocks that run
/// evenly, not clocks that agree.
const TOLERANCE: i64 = 1_000_000;

/// By how much one clock is ahead of another.
///
/// `Display` writes a sign and two or three digits: `+0.3ms`, `-1.0h`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct CheckOffset(i64);

/// The clock of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct CheckClock {
    /// How far the clock is ahead of the wall clock of this machine.
    pub offset: CheckOffset,
    /// The offset can be this much larger or smaller: half of the shortest round trip.
    pub uncertainty: Duration,
    /// How far the clock is ahead of the median of the other nodes; `None` without others.
    pub from_others: Option<CheckOffset>,
}

impl CheckOffset {
    /// Returns the offset in microseconds; negative if the clock is behind.
    pub fn as_micros(self) -> i64 {
        self.0
    }

    pub(super) fn is_large(self, uncertainty: Duration) -> bool {
        let uncertainty = i64::try_from(uncertainty.as_micros()).unwrap_or(i64::MAX);
        self.0.saturating_abs() > TOLERANCE.saturating_add(uncertainty)
    }

    /// Returns the offset in words: `1h ahead of`.
    pub(super) fn in_words(self) -> String {
        let side = if self.0 < 0 { "behind" } else { "ahead of" };
        // Nobody needs the milliseconds of a clock that is hours off.
        let whole = self.0.unsigned_abs() / 100_000 * 100_000;
        let shown = if whole < 60_000_000 { whole } else { rounded(whole) };
        let length = Duration::from_micros(shown);
        format!("{} {side}", format_rounded(length))
    }
}

/// Rounds microseconds to whole minutes from an hour on, else to whole seconds.
fn rounded(micros: u64) -> u64 {
    let step = if micros < 3_599_000_000 { 1_000_000 } else { 60_000_000 };
    (micros + step / 2) / step * step
}

impl fmt::Display for CheckOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(f64, &str); 5] =
            [(86_400e6, "d"), (3_600e6, "h"), (60e6, "m"), (1e6, "s"), (1e3, "ms")];
        let micros = self.0 as f64;
        // From a tenth below a unit on, the unit is shown.
        let unit = UNITS.iter().find(|(length, _)| micros.abs() >= 0.95 * length);
        let (length, name) = unit.unwrap_or(&UNITS[4]);
        let value = micros / length;
        let value = if value.abs() < 0.05 { 0.0 } else { value };
        if value.abs() < 9.95 {
            write!(f, "{value:+.1}{name}")
        } else {
            write!(f, "{value:+.0}{name}")
        }
    }
}

/// Compares all clocks. There is one list of samples for each node.
pub(super) fn compare(samples: &[&[Sample]]) -> Vec<Option<CheckClock>> {
    let measured: Vec<_> = samples.iter().map(|samples| measure(samples)).collect();
    let clock = |(place, measured_here): (usize, &Option<(i64, Duration)>)| {
        let (offset, uncertainty) = (*measured_here)?;
        let others = measured.iter().enumerate().filter(|(other, _)| *other != place);
        let others = others.filter_map(|(_, other)| other.map(|(offset, _)| offset));
        let from_others = median(others.collect()).map(|median| offset.saturating_sub(median));
        Some(CheckClock {
            offset: CheckOffset(offset),
            uncertainty,
            from_others: from_others.map(CheckOffset),
        })
    };
    measured.iter().enumerate().map(clock).collect()
}

/// Returns how far the clock of this machine is ahead of the median of all nodes, and the largest
/// uncertainty.
pub(super) fn of_this_machine(clocks: &[Option<CheckClock>]) -> Option<(CheckOffset, Duration)> {
    let clocks = || clocks.iter().flatten();
    let median = median(clocks().map(|clock| clock.offset.0).collect())?;
    let uncertainty = clocks().map(|clock| clock.uncertainty).max()?;
    Some((CheckOffset(median.saturating_neg()), uncertainty))
}

/// Returns how far the clock of a node is ahead of ours, in microseconds, and the uncertainty: of
/// the shortest round trip, and half of that.
fn measure(samples: &[Sample]) -> Option<(i64, Duration)> {
    let told = samples.iter().filter_map(|sample| Some((sample, sample.theirs?)));
    let (sample, theirs) = told.min_by_key(|(sample, _)| sample.round_trip)?;
    let offset = i128::from(theirs) - i128::from(sample.ours);
    let limit = i128::from(i64::MAX);
    Some((offset.clamp(-limit, limit) as i64, sample.round_trip / 2))
}

/// Returns the median; of an even number the one nearer to zero.
fn median(mut values: Vec<i64>) -> Option<i64> {
    values.sort_unstable();
    let upper = *values.get(values.len() / 2)?;
    let lower = values[(values.len() - 1) / 2];
    Some(if lower.unsigned_abs() <= upper.unsigned_abs() { lower } else { upper })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(round_trip: u64, ours: u64, theirs: u64) -> Sample {
        Sample { round_trip: Duration::from_micros(round_trip), ours, theirs: Some(theirs) }
    }

    #[test]
    fn one_wrong_clock_is_wrong_against_the_others_and_not_they_against_it() {
        let hour = 3_600_000_000;
        let right = [sample(100, 5, 15), sample(300, 5, 1_000)];
        let wrong = [sample(200, 5, 5 + hour)];
        let silent = [Sample { theirs: None, ..right[0] }];
        let clocks = compare(&[&right, &wrong, &right, &silent, &right]);
        let found = |place: usize| clocks[place].map(|clock| clock.from_others.map(|it| it.0));
        assert_eq!(found(0), Some(Some(0)));
        assert_eq!(found(1), Some(Some(hour as i64 - 10)));
        assert_eq!(found(3), None);
        assert_eq!(clocks[0].map(|clock| clock.uncertainty), Some(Duration::from_micros(50)));
        assert_eq!(of_this_machine(&clocks).map(|(offset, _)| offset.0), Some(-10));
        assert_eq!(compare(&[&right])[0].and_then(|clock| clock.from_others), None);
        assert_eq!(of_this_machine(&[None]), None);
    }

    #[test]
    fn an_offset_is_shown_in_few_characters() {
        let rows = [
            (0, "+0.0ms", "0s ahead of"),
            (-30, "+0.0ms", "0s behind"),
            (312, "+0.3ms", "0s ahead of"),
            (-12_345, "-12ms", "0s behind"),
            (3_200_000, "+3.2s", "3.2s ahead of"),
            (-61_000_000, "-1.0m", "61s behind"),
            (3_600_001_000, "+1.0h", "1h ahead of"),
            (3_599_999_000, "+1.0h", "1h ahead of"),
            (-90_000_000_000, "-1.0d", "25h behind"),
        ];
        for (micros, short, words) in rows {
            let offset = CheckOffset(micros);
            assert_eq!((offset.to_string().as_str(), offset.in_words().as_str()), (short, words));
        }
    }

    #[test]
    fn only_more_than_a_second_and_the_uncertainty_is_worth_a_word() {
        let rows = [(0, 0, false), (1_000_000, 0, false), (-1_000_001, 0, true)];
        for (micros, uncertainty, expected) in rows {
            let uncertainty = Duration::from_micros(uncertainty);
            assert_eq!(CheckOffset(micros).is_large(uncertainty), expected, "{micros}");
        }
        assert!(!CheckOffset(1_500_000).is_large(Duration::from_millis(500)));
        assert!(!CheckOffset(i64::MIN).is_large(Duration::MAX));
    }
}

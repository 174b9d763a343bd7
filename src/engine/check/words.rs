//! Lengths of time in sentences.

use core::time::Duration;

use crate::time::format_rounded;

/// Returns a duration for a reader: rounded up to a second from ten seconds on. So nodes that were
/// asked at the same time say the same.
pub(super) fn about(duration: Duration) -> String {
    let seconds = duration.as_secs();
    if seconds < 10 {
        return format_rounded(duration);
    }
    let more = u64::from(duration.subsec_nanos() > 0);
    format_rounded(Duration::from_secs(seconds.saturating_add(more)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tenths_of_a_second_count_only_where_there_are_few_seconds() {
        let rows = [(0, "0s"), (9_912, "10s"), (9_812, "9.9s"), (42_000, "42s"), (60_301, "61s")];
        for (millis, expected) in rows {
            assert_eq!(about(Duration::from_millis(millis)), expected);
        }
    }
}

//! The time of day, as logs have it. Nothing is decided by this time.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The first second of the year 10000, since 1970. RFC 3339 has four digits for a year.
const YEAR_10000: u64 = 253_402_300_800;

/// Returns the time since 1970, by the wall clock.
#[expect(clippy::disallowed_methods, reason = "nothing but messages has this time")]
pub(crate) fn now() -> Duration {
    // Only a wall clock that is set to a time before 1970 has no such duration.
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Returns a time since 1970 in the form of RFC 3339, with milliseconds, in UTC. The last time that
/// has this form stands for all later ones.
pub(crate) fn rfc3339(since_1970: Duration) -> String {
    let last = Duration::from_millis(YEAR_10000 * 1_000 - 1);
    humantime::format_rfc3339_millis(UNIX_EPOCH + since_1970.min(last)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_has_a_form() {
        let rows = [
            (Duration::ZERO, "1970-01-01T00:00:00.000Z"),
            (Duration::from_millis(951_868_799_999), "2000-02-29T23:59:59.999Z"),
            (Duration::from_millis(1_709_210_096_007), "2024-02-29T12:34:56.007Z"),
            (Duration::from_secs(YEAR_10000), "9999-12-31T23:59:59.999Z"),
            (Duration::MAX, "9999-12-31T23:59:59.999Z"),
        ];
        for (time, expected) in rows {
            assert_eq!(rfc3339(time), expected);
        }
    }
}

//! The time of messages: since boot, and the time of day as logs have it. Nothing is decided by
//! these times.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Returns the time since 1970, by the wall clock.
pub(super) fn now() -> Duration {
    read(ClockId::Realtime)
}

/// Returns the time since boot. The library's own clock counts the same, but hides the count.
pub(super) fn since_boot() -> Duration {
    read(ClockId::Boottime)
}

#[expect(clippy::disallowed_methods, reason = "nothing but messages has this time")]
fn read(clock: ClockId) -> Duration {
    // Only a wall clock that is set to a time before 1970 is negative.
    Duration::try_from(clock_gettime(clock)).unwrap_or_default()
}

/// Returns a time since 1970 in the form of RFC 3339, with milliseconds, in UTC.
pub(super) fn rfc3339(since_1970: Duration) -> String {
    let seconds = since_1970.as_secs();
    let (year, month, day) = date(seconds / 86_400);
    let [hour, minute, second] = [seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60];
    let ms = since_1970.subsec_millis();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

/// Returns the year, the month and the day of the month of a day since 1970.
///
/// Years begin with March here, so that the leap day is the last of its year. The lengths of the
/// months from March on repeat every five months, which are 153 days.
fn date(days: u64) -> (u64, u64, u64) {
    // Days since the first of March of the year 0. Four hundred years always have 146,097 days.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let from_march = (5 * day + 2) / 153;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = 400 * era + year + u64::from(month <= 2);
    (year, month, day - (153 * from_march + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_of_leap_years_and_ends_of_years_are_where_the_calendar_has_them() {
        let rows = [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_799_999, "2000-02-29T23:59:59.999Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (1_709_210_096_007, "2024-02-29T12:34:56.007Z"),
            (1_735_689_599_999, "2024-12-31T23:59:59.999Z"),
            (1_735_689_600_000, "2025-01-01T00:00:00.000Z"),
            (4_107_542_399_000, "2100-02-28T23:59:59.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ];
        for (ms, expected) in rows {
            assert_eq!(rfc3339(Duration::from_millis(ms)), expected);
        }
    }

    #[test]
    fn every_day_follows_the_one_before() {
        let mut before = date(0);
        for day in 1..150_000 {
            let (year, month, of_month) = date(day);
            let (last_year, last_month, last) = before;
            let is_next = (year, month, of_month) == (last_year, last_month, last + 1)
                || (of_month == 1 && last >= 28 && month == last_month % 12 + 1);
            assert!(is_next, "{before:?}, then {:?}", (year, month, of_month));
            before = (year, month, of_month);
        }
    }
}

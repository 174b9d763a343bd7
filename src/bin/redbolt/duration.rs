//! Durations as people write them, within bounds.

use std::borrow::Cow;
use std::time::Duration;

pub(crate) use redbolt::time::format_duration as written;
use redbolt::time::{DurationError, parse_duration};

/// Returns a parser of durations from `least` to `most`, for an option. The error continues
/// `--option is "text", …`.
pub(crate) fn between(
    least: Duration,
    most: Duration,
) -> impl Fn(&str) -> Result<Duration, String> + Clone + Send + Sync + 'static {
    move |text| within(&with_unit(text), least, most)
}

/// Parses a duration from `least` to `most` that has a unit, as variables need one. The error
/// continues `VARIABLE is "text", …`.
pub(crate) fn within(text: &str, least: Duration, most: Duration) -> Result<Duration, String> {
    let possible = || format!("between {} and {} is possible", written(least), written(most));
    match parse_duration(text) {
        Ok(value) if (least..=most).contains(&value) => Ok(value),
        Ok(_) | Err(DurationError::TooLong) => Err(possible()),
        Err(error) => Err(error.to_string()),
    }
}

/// Returns a parser as [`between`] does, which reads `forever` as well.
pub(crate) fn between_or_forever(
    least: Duration,
    most: Duration,
) -> impl Fn(&str) -> Result<Duration, String> + Clone + Send + Sync + 'static {
    move |text| within_or_forever(&with_unit(text), least, most)
}

/// Parses a duration as [`within`] does, or `forever`, which is [`Duration::MAX`].
pub(crate) fn within_or_forever(
    text: &str,
    least: Duration,
    most: Duration,
) -> Result<Duration, String> {
    match parse_duration(text) {
        Ok(Duration::MAX) => Ok(Duration::MAX),
        Ok(value) if (least..=most).contains(&value) => Ok(value),
        Ok(_) | Err(DurationError::TooLong) => {
            let [least, most] = [least, most].map(written);
            Err(format!("between {least} and {most}, or forever, is possible"))
        }
        Err(error @ DurationError::NotADuration) => Err(format!("{error}, or forever")),
        Err(error) => Err(error.to_string()),
    }
}

/// Returns the text of an option with its unit: a bare number is in seconds, as for `timeout` and
/// `flock`.
pub(crate) fn with_unit(text: &str) -> Cow<'_, str> {
    match parse_duration(text) {
        Err(DurationError::NoUnit) => Cow::Owned(format!("{text}s")),
        _ => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_belong_to_what_is_possible() {
        let parse = between(Duration::from_millis(10), Duration::from_secs(7 * 24 * 3600));
        assert!(parse("10ms").is_ok() && parse("168h").is_ok());
        for text in ["9ms", "169h", "0", "forever", "99999999999999999999s"] {
            assert_eq!(parse(text), Err("between 10ms and 168h is possible".to_owned()), "{text}");
        }
        let wait = between_or_forever(Duration::ZERO, Duration::from_secs(7 * 24 * 3600));
        let week = Duration::from_secs(7 * 24 * 3600);
        assert_eq!(
            (wait("forever"), wait("7d"), wait("0")),
            (Ok(Duration::MAX), Ok(week), Ok(Duration::ZERO))
        );
        for text in ["8d", "99999999999999999999s"] {
            let error = "between 0s and 168h, or forever, is possible".to_owned();
            assert_eq!(wait(text), Err(error), "{text}");
        }
        let error = "which is not a duration such as 250us, 20ms, 30s, 1.5m or 1h".to_owned();
        assert_eq!(wait("never"), Err(format!("{error}, or forever")));
        assert_eq!(parse("soon"), Err(error));
    }

    #[test]
    fn an_option_without_a_unit_is_in_seconds_and_a_variable_is_refused() {
        let (least, most) = (Duration::ZERO, Duration::from_secs(60));
        for (text, seconds) in [("5", 5.0), ("0.5", 0.5), ("5s", 5.0), ("0", 0.0)] {
            let expected = Duration::from_secs_f64(seconds);
            assert_eq!(between(least, most)(text), Ok(expected), "{text}");
        }
        let error = Err("between 0s and 1m is possible".to_owned());
        assert_eq!(between(least, most)("60000"), error);
        let error = Err("which needs a unit, as in 60s or 60000ms".to_owned());
        assert_eq!((within("5", least, most), within("0", least, most)), (error, Ok(least)));
    }
}

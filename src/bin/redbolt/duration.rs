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
mod tests;

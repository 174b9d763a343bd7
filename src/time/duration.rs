//! Lengths of time as people write them.

use core::fmt;
use core::time::Duration;

/// The units, from the largest, with their length in nanoseconds.
const UNITS: [(&str, u64); 6] = [
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// Other ways to write a unit. A number alone is in seconds.
const ALIASES: [(&str, &str); 3] = [("", "s"), ("min", "m"), ("µs", "us")];

/// [`Duration::MAX`], which stands for "without end".
const FOREVER: &str = "forever";

/// How many digits of a fraction count: those behind are less than a nanosecond in every unit.
const FRACTION: usize = 13;

/// Parses a duration: a number and one of the units `ns`, `us`, `ms`, `s`, `m` and `h`.
///
/// The number may have a fraction; what is less than a nanosecond is left out. A number without a
/// unit is in seconds. `forever` is [`Duration::MAX`]. Configuration files, the environment and the
/// command line of redbolt have this form.
///
/// ```
/// use redbolt::time::{format_duration, parse_duration};
/// use std::time::Duration;
///
/// assert_eq!(parse_duration("250us")?, Duration::from_micros(250));
/// assert_eq!(parse_duration("1.5m")?, Duration::from_secs(90));
/// assert_eq!(parse_duration("30")?, Duration::from_secs(30));
/// assert_eq!(format_duration(Duration::from_secs(90)), "90s");
/// # Ok::<(), redbolt::time::DurationError>(())
/// ```
///
/// # Errors
///
/// Returns a [`DurationError`] if the text has no number, another unit or a sign, or if the
/// duration is longer than [`Duration::MAX`].
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    if text == FOREVER {
        return Ok(Duration::MAX);
    }
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
        return Err(DurationError::NotADuration);
    }
    let unit = ALIASES.iter().find(|(alias, _)| *alias == unit).map_or(unit, |(_, unit)| unit);
    let Some((_, length)) = UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err(DurationError::Unit);
    };
    let length = u128::from(*length);
    let digits = &fraction[..fraction.len().min(FRACTION)];
    let parts = length * digits_of(digits).ok_or(DurationError::TooLong)?;
    let nanos = digits_of(whole).and_then(|whole| whole.checked_mul(length));
    // A fraction has few digits.
    let rest = parts / 10_u128.pow(digits.len() as u32);
    let nanos = nanos.and_then(|nanos| nanos.checked_add(rest)).ok_or(DurationError::TooLong)?;
    let seconds = u64::try_from(nanos / 1_000_000_000).map_err(|_| DurationError::TooLong)?;
    Ok(Duration::new(seconds, (nanos % 1_000_000_000) as u32))
}

/// The value of digits; no digits are zero. `None` if the value is too large.
fn digits_of(text: &str) -> Option<u128> {
    if text.is_empty() { Some(0) } else { text.parse().ok() }
}

/// Returns a duration as [`parse_duration`] reads it: exact, and in the largest unit that needs no
/// fraction.
pub fn format_duration(duration: Duration) -> String {
    if duration == Duration::MAX {
        return FOREVER.to_owned();
    }
    let nanos = duration.as_nanos();
    let fits = |&&(_, length): &&(&str, u64)| nanos % u128::from(length) == 0;
    match UNITS.iter().find(fits).filter(|_| nanos > 0) {
        Some((unit, length)) => format!("{}{unit}", nanos / u128::from(*length)),
        None => "0s".to_owned(),
    }
}

/// The error returned when a text is no duration.
///
/// The message is the end of a sentence that names the text, such as `max_ttl is "soon", which is
/// not a duration …`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum DurationError {
    /// The text does not begin with a number.
    NotADuration,
    /// What stands behind the number is not a unit.
    Unit,
    /// The duration is longer than [`Duration::MAX`].
    TooLong,
}

impl fmt::Display for DurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotADuration => "which is not a duration such as 250us, 20ms, 30s, 1.5m or 1h",
            Self::Unit => "whose unit is not one of ns, us, ms, s, m and h",
            Self::TooLong => "which is too long",
        })
    }
}

impl core::error::Error for DurationError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_with_their_unit() {
        let rows = [
            ("30s", 30_000_000_000),
            ("30", 30_000_000_000),
            ("1.5s", 1_500_000_000),
            ("0.1s", 100_000_000),
            (".5s", 500_000_000),
            ("1.s", 1_000_000_000),
            ("250us", 250_000),
            ("250µs", 250_000),
            ("36.5us", 36_500),
            ("7ns", 7),
            ("1.9ns", 1),
            ("20ms", 20_000_000),
            ("2m", 120_000_000_000),
            ("2min", 120_000_000_000),
            ("1h", 3_600_000_000_000),
            ("0.0000000000009h", 3),
            ("0.00000000000000000000000000000000000000009h", 0),
            ("0", 0),
        ];
        for (text, nanos) in rows {
            assert_eq!(parse_duration(text), Ok(Duration::from_nanos(nanos)), "{text}");
        }
        for text in ["", "s", ".", ".s", "-1s", "+1s", "1.2.3s", "NaN", " 1s"] {
            assert_eq!(parse_duration(text), Err(DurationError::NotADuration), "{text}");
        }
        for text in ["1x", "1e9h", "1 s", "1S", "1d"] {
            assert_eq!(parse_duration(text), Err(DurationError::Unit), "{text}");
        }
        for text in ["99999999999999999999h", "18446744073709551616s", &"9".repeat(100)] {
            assert_eq!(parse_duration(text), Err(DurationError::TooLong), "{text}");
        }
    }

    #[test]
    fn durations_are_written_as_they_are_read() {
        for text in
            ["0s", "1500ns", "250us", "20ms", "1500ms", "30s", "90s", "2m", "1h", "168h", "forever"]
        {
            assert_eq!(parse_duration(text).map(format_duration), Ok(text.to_owned()));
        }
        let longest = Duration::MAX - Duration::from_nanos(1);
        for duration in [longest, Duration::from_nanos(u64::MAX), Duration::new(1, 1)] {
            assert_eq!(parse_duration(&format_duration(duration)), Ok(duration));
        }
    }
}
